"""How graphs are read and written: edge lists, tables, GraphML, and graphs and matrices in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Axis, Domain, Source
from hedgerow.data.encoding import infer_axis, text_of
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats import edge_list, graphml
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.dataframes import is_from, to_list_series, to_long_table, to_series
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable, OutputEdges
from hedgerow.formats.long_table import LongTable, ReadRequest, codes_of
from hedgerow.formats.long_table_codec import explain_columns, request_of, table_formats, table_from_memory
from hedgerow.formats.options import read_choice
from hedgerow.formats.record_checker import RecordChecker
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Flags, Integers

ROLE = "vertex"
_REQUEST = ReadRequest("graphs", list_role=None, required=("source", "target"), optional=(), columns={})
_COLUMNS = {
    "source": "one vertex of the edge",
    "target": "the other vertex of the edge; which of them comes first does not matter",
}
_OPTIONS = {
    "loops": "if an edge joins a vertex to itself: error (the default), or drop the edge",
    "duplicates": "if an edge is listed twice, in the same or the other direction: collapse to one edge (the "
    "default), or error",
    "symmetrise": "whether edges that are declared to have a direction are read without it: no (the default: such "
    "data is refused), or yes",
    "weights": "if a line of an edge list has more than two fields: error (the default), or ignore the others",
    "on_unknown": "if a vertex is not in the domain: error (the default), or drop its edges",
}
_FORMATS: dict[str, Format[ReadRequest, EdgeTable | LongTable, OutputEdges]] = {
    "edges": Format(
        endings=("edges", "edgelist", "txt"),
        layout="one edge per line, its two vertices separated by a blank",
        read=edge_list.read,
        check=edge_list.check,
        write=edge_list.write,
    ),
    **table_formats("edge"),
    "graphml": Format(
        endings=("graphml",),
        layout="GraphML: one `node` element per vertex, one `edge` element per edge",
        read=graphml.read,
        check=graphml.check,
        write=graphml.write,
    ),
}


def _from_memory(source: Any, request: ReadRequest) -> EdgeTable | LongTable | None:
    """Take a graph, a matrix, pairs, or a table with a column for each end."""
    return edges_of_object(source, request) or table_from_memory(source, request)


def _make(content: EdgeTable | LongTable, domain: Domain | None, source: Source, options: Mapping[str, str]) -> Graph:
    """Make the graph of the edges that were read."""
    edges = content if isinstance(content, EdgeTable) else EdgeTable(content)
    checker = RecordChecker(edges.numbered())
    _refuse_directions(edges, checker, options)
    if read_choice(options, "weights", "error", "ignore") == "error":
        what = "the line has more than two fields; remove the others, ignore them with weights=ignore"
        checker.refuse(edges.further, what)
    names = [checker.table.columns[role] for role in ("source", "target")]
    domain = domain or _infer_domain(edges, names, source)
    if domain.size(ROLE) < 2:  # noqa: PLR2004 - an edge has two ends
        msg = "a graph needs at least two vertices, and the domain has one; declare all vertices"
        raise DomainError(msg)
    first, second = _codes(edges, names, domain)
    kept = _known(edges, checker, (first, second), domain, options)
    kept &= _without_loops(checker, kept & (first == second), options)
    if read_choice(options, "duplicates", "collapse", "error") == "error":
        ordered = read_choice(options, "symmetrise", "no", "yes") == "yes"
        what = "the edge on this line is listed twice; list it once, let duplicates=collapse do so"
        checker.refuse(kept & _repeated(first, second, domain.size(ROLE), ordered=ordered), what)
    kept &= checker.kept()
    graph = Graph.from_columns(source=first[kept], target=second[kept], domain=domain)
    progress.count("edges listed again", int(kept.sum()) - len(graph))
    return graph


def _refuse_directions(edges: EdgeTable, checker: RecordChecker, options: Mapping[str, str]) -> None:
    """Refuse directed edges, unless it is declared that directions do not matter."""
    if read_choice(options, "symmetrise", "no", "yes") == "yes":
        return
    remedy = "read it without directions with the reading option symmetrise=yes"
    if edges.directed:
        msg = f"{edges.table.where}: the edges are declared to be directed; {remedy}"
        raise ReadError(msg)
    checker.refuse(edges.one_way, f"an edge is directed; {remedy}")


def _infer_domain(edges: EdgeTable, names: list[pl.Series], source: Source) -> Domain:
    """Make a domain of the vertices that are listed, and of the ends of edges."""
    if edges.rows:
        return Domain(((ROLE, Axis(tuple(range(edges.rows)))),), source)
    distinct = (column.drop_nulls().unique().to_list() for column in names)
    values = [*edges.vertices, *(value for column in distinct for value in column)]
    if not values:
        msg = f"{edges.table.where}: there are no edges to infer the vertices from; declare a domain"
        raise ReadError(msg)
    return Domain(((ROLE, infer_axis(values)),), source)


def _codes(edges: EdgeTable, names: list[pl.Series], domain: Domain) -> tuple[Integers, Integers]:
    """Look the ends of edges up in the domain; those of a matrix are positions in it."""
    if edges.rows is None:
        first, second = (codes_of(column, domain.axis(ROLE)) for column in names)
        return first, second
    if edges.rows != domain.size(ROLE):
        msg = f"the matrix has {edges.rows} rows, and the domain {domain.size(ROLE)} vertices; a row is a vertex"
        raise ReadError(msg)
    first, second = (column.to_numpy() for column in names)
    return first, second


def _known(
    edges: EdgeTable,
    checker: RecordChecker,
    codes: tuple[Integers, Integers],
    domain: Domain,
    options: Mapping[str, str],
) -> Flags:
    """Return which edges have both ends in the domain; refuse the others, and vertices outside it, by default."""
    known: Flags = (codes[0] >= 0) & (codes[1] >= 0)
    if read_choice(options, "on_unknown", "error", "drop") == "drop":
        progress.count("edges with a vertex outside the domain", int((~known).sum()))
        return known
    declare = "is not in the domain; declare it (blanks around it count)"
    checker.refuse(~known, f"a vertex {declare}, drop its edges with the reading option on_unknown=drop")
    listed = domain.axis(ROLE).by_text
    if not checker.table.request.drop_bad and any(str(vertex) not in listed for vertex in edges.vertices):
        msg = f"{edges.table.where}: a vertex without edges {declare}, or pass the reading option on_unknown=drop"
        raise ReadError(msg)
    return known


def _without_loops(checker: RecordChecker, loops: Flags, options: Mapping[str, str]) -> Flags:
    """Refuse edges that join a vertex to itself, or return which edges do not."""
    if read_choice(options, "loops", "error", "drop") == "drop":
        progress.count("loops dropped", int(loops.sum()))
        return ~loops
    checker.refuse(loops, "an edge joins a vertex to itself; remove it, drop such edges with loops=drop")
    return ~loops


def _repeated(first: Integers, second: Integers, vertices: int, *, ordered: bool) -> Flags:
    """Return which edges are listed several times; with `ordered`, an edge in both directions is not."""
    low, high = (first, second) if ordered else (np.minimum(first, second), np.maximum(first, second))
    return pl.Series(low * vertices + high).is_duplicated().to_numpy()


# Edges from memory: networkx graphs, sparse adjacency matrices, arrays and lists of pairs.
#
# The libraries of these objects need not be installed: whoever has such an object has its library.

_PAIR = 2


def edges_of_object(source: Any, request: ReadRequest) -> EdgeTable | None:
    """Take the edges of an object; None if it is neither a graph, a matrix, an array nor a list."""
    if is_from("networkx", source) and hasattr(source, "is_directed"):
        return _from_networkx(source, request)
    if is_from("scipy", source) and hasattr(source, "tocoo"):
        return _from_matrix(source, request)
    if isinstance(source, np.ndarray):
        return _from_array(cast("Any", source), request)
    if isinstance(source, (list, tuple)):
        return _from_pairs(cast("list[Any]", source), request)
    return None


def _from_networkx(graph: Any, request: ReadRequest) -> EdgeTable:
    """Take nodes and edges of a networkx graph; no attribute is looked at."""
    pairs: list[tuple[Any, Any]] = list(graph.edges())
    (source, bad_source), (target, bad_target) = (to_series([pair[end] for pair in pairs]) for end in (0, 1))
    what = "nodes must be texts or whole numbers; rename them with networkx.relabel_nodes"
    edges = _columns(source, target).refuse("the graph", bad_source | bad_target, what, request)
    texts = list(map(text_of, graph.nodes))
    vertices = [text for text in texts if text is not None]
    if len(vertices) < len(texts) and not request.drop_bad:
        msg = f"the graph: {what}, or leave them out with the reading option on_bad=drop"
        raise ReadError(msg)
    return EdgeTable(edges.to_table("the graph", request), vertices=vertices, directed=bool(graph.is_directed()))


def _from_matrix(matrix: Any, request: ReadRequest) -> EdgeTable:
    """Take the pairs with a value other than 0 in an adjacency matrix; their ends are rows.

    A pair is one edge if both cells of it are set, and has a direction if only one is.
    """
    if len(matrix.shape) != _PAIR or matrix.shape[0] != matrix.shape[1]:
        msg = f"the matrix must have as many columns as rows; its shape is {tuple(matrix.shape)}"
        raise ReadError(msg)
    cells = matrix.tocsr(copy=True)
    cells.sum_duplicates()
    cells = cells.tocoo()
    rows = int(matrix.shape[0])
    filled = cells.data != 0  # a cell may be stored although it is 0
    row, column = (np.asarray(ends)[filled].astype(np.int64) for ends in (cells.row, cells.col))
    pairs = np.minimum(row, column) * rows + np.maximum(row, column)
    distinct, times = np.unique(pairs, return_counts=True)
    low, high = distinct // rows, distinct % rows
    edges = EdgeColumns(pl.Series(low), pl.Series(high), low + 1, (times == 1) & (low != high))
    bad = np.isin(distinct, pairs[np.isnan(cells.data[filled])])
    edges = edges.refuse("the matrix", bad, "a cell is not a number; correct it", request)
    return EdgeTable(edges.to_table("the matrix", request), rows=rows, one_way=edges.marked)


def _from_array(array: Any, request: ReadRequest) -> EdgeTable:
    """Take the rows of an array with two columns."""
    if array.ndim != _PAIR or array.shape[1] != _PAIR:
        msg = f"an array of edges needs two columns, one per end; its shape is {array.shape}"
        raise ReadError(msg)
    if array.dtype.kind not in "iuU":
        return _from_pairs(array.tolist(), request)
    names = (request.columns[role] for role in ("source", "target"))
    frame = pl.DataFrame({name: pl.Series(array[:, end]) for end, name in enumerate(names)})
    return EdgeTable(to_long_table("the array", frame, request, np.arange(1, len(frame) + 1)))


def _from_pairs(pairs: list[Any], request: ReadRequest) -> EdgeTable:
    """Take pairs of vertices, each read alone."""
    lists = to_list_series(pairs)
    ends = [lists.list.get(end, null_on_oob=True) for end in (0, 1)]
    bad = (lists.list.len() != _PAIR).fill_null(value=True).to_numpy()
    what = "an edge must be a pair of vertices, which are texts or whole numbers; correct it"
    edges = _columns(*ends).refuse("the list", bad, what, request)
    return EdgeTable(edges.to_table("the list", request))


def _columns(source: pl.Series, target: pl.Series) -> EdgeColumns:
    """Make the columns of edges that are numbered from 1 on."""
    line = np.arange(1, len(source) + 1, dtype=np.int64)
    return EdgeColumns(source, target, line, np.zeros(len(line), np.bool_))


def _lay_out(data: Graph) -> OutputEdges:
    """Lay out published edges."""
    return OutputEdges(data.domain.values(ROLE), data.first, data.second)


CODEC = Codec(
    kind="graphs",
    columns=_COLUMNS,
    written=("source", "target"),
    options=_OPTIONS,
    formats=_FORMATS,
    request=request_of(_REQUEST),
    from_memory=_from_memory,
    make=_make,
    lay_out=_lay_out,
    explain=explain_columns(_FORMATS),
    order="Edges have no direction. Each is listed once, in the order of the vertices.",
)
