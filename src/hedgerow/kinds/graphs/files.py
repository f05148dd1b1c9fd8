"""How graphs are read and written: edge lists, tables, GraphML, JSON, and graphs and matrices in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Axis, Domain, Source
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.formats import edge_list, graphml, node_link
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.edge_table import EdgeTable, OutputEdges
from hedgerow.formats.long_table import LongTable, ReadRequest, codes_of
from hedgerow.formats.long_table_codec import explain_columns, request_of, table_formats, table_from_memory
from hedgerow.formats.number_table import number_cells
from hedgerow.formats.options import read_choice
from hedgerow.formats.record_checker import RecordChecker
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.edge_objects import edges_of_object
from hedgerow.kinds.graphs.path_files import read_paths
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.statement import File

ROLE = "vertex"
_REQUEST = ReadRequest("graphs", list_role=None, required=("source", "target"), optional=(), columns={})
_WEIGHTED = _REQUEST._replace(optional=("weight",), nullable=("weight",), fractional=("weight",))
_COLUMNS = {
    "source": "one vertex of the edge; with directed=yes, the one that it leads from",
    "target": "the other vertex of the edge; without directed=yes, which of them comes first does not matter",
    "weight": "the weight of the edge, a number above 0, by the name of its column or attribute, or by the number of "
    "its field in an edge list; without it no weights are read",
}
_OPTIONS = {
    "loops": "if an edge joins a vertex to itself: error (the default), or drop the edge",
    "duplicates": "if an edge is listed twice, in the same or the other direction: collapse to one edge (the "
    "default), or error; with two weights it is an error anyway",
    "directed": "whether edges lead from source to target: no (the default: which vertex comes first does not matter, "
    "and data that declares directions is refused), or yes",
    "symmetrise": "whether edges that are declared to have a direction are read without it: no (the default: such "
    "data is refused), or yes",
    "weights": "if there is more to edges than two ends, in further fields, columns, attributes or cells other than 1, "
    "and no column is named as their weight: error (the default), or ignore it",
    "paths": "a file with pairs of vertices, an edge list or a table with source and target, for methods that keep "
    "the shortest paths between them; it is private, as the data is",
    "between": "a file with one vertex per line, for methods that keep the shortest paths between all of them",
    "on_unknown": "if a vertex is not in the domain: error (the default), or drop its edges",
}
#: the reading options that name a file
_PATHS = ("paths", "between")
#: where a weight is in a file of a format without columns
_PLACES = {
    "edges": "The third field of a line is the weight of the edge.",
    "graphml": "The `data` of an edge is its weight.",
    "json": "A third value of an edge is its weight.",
}


def _write_csv(edges: OutputEdges, columns: Mapping[str, str]) -> bytes:
    """Write a table with weights as their shortest decimals."""
    return edges.with_decimals(columns).write_csv().encode()


_TABLES = table_formats("edge")
_FORMATS: dict[str, Format[ReadRequest, EdgeTable | LongTable, OutputEdges]] = {
    "edges": Format(
        endings=("edges", "edgelist", "txt"),
        layout="one edge per line, its two vertices separated by a blank",
        read=edge_list.read,
        check=edge_list.check,
        write=edge_list.write,
    ),
    **_TABLES,
    "csv": replace(_TABLES["csv"], write=_write_csv),
    "graphml": Format(
        endings=("graphml",),
        layout="GraphML: one `node` element per vertex, one `edge` element per edge",
        read=graphml.read,
        check=graphml.check,
        write=graphml.write,
    ),
    "json": Format(
        endings=("json",),
        layout="node-link JSON: all vertices under `nodes`, one edge per line under `edges`",
        read=node_link.read,
        write=node_link.write,
    ),
}


def _request(columns: Mapping[str, str], options: Mapping[str, str]) -> ReadRequest:
    """Return what is read: weights only where the caller named them."""
    if read_choice(options, "weights", "error", "ignore") == "ignore" and "weight" in columns:
        msg = "a weight is named, and weights=ignore leaves it out; omit one of the two"
        raise ParameterError(msg)
    if _is_directed(options) and read_choice(options, "symmetrise", "no", "yes") == "yes":
        msg = "directed=yes reads directions, and symmetrise=yes leaves them out; omit one of the two"
        raise ParameterError(msg)
    return request_of(_WEIGHTED if "weight" in columns else _REQUEST)(columns, options)


def _is_directed(options: Mapping[str, str]) -> bool:
    return read_choice(options, "directed", "no", "yes") == "yes"


def _from_memory(source: Any, request: ReadRequest) -> EdgeTable | LongTable | None:
    """Take a graph, a matrix, pairs, or a table with a column for each end."""
    return edges_of_object(source, request) or table_from_memory(source, request)


def _make(content: EdgeTable | LongTable, domain: Domain | None, source: Source, options: Mapping[str, str]) -> Graph:
    """Make the graph of the edges that were read."""
    edges = content if isinstance(content, EdgeTable) else EdgeTable(content)
    directed = _is_directed(options)
    checker = RecordChecker(edges.numbered(pairs=not directed))
    _refuse_directions(edges, checker, options)
    _refuse_further(edges, checker, options)
    names = [checker.table.columns[role] for role in ("source", "target")]
    weights = _read_weights(checker)
    domain = domain or _infer_domain(edges, names, source)
    if domain.size(ROLE) < 2:  # noqa: PLR2004 - an edge has two ends
        msg = "a graph needs at least two vertices, and the domain has one; declare all vertices"
        raise DomainError(msg)
    first, second = _codes(edges, names, domain)
    kept = _known(edges, checker, (first, second), domain, options)
    kept &= _without_loops(checker, kept & (first == second), options)
    ordered = directed or edges.rows is not None or read_choice(options, "symmetrise", "no", "yes") == "yes"
    if read_choice(options, "duplicates", "collapse", "error") == "error":
        what = "the edge on this line is listed twice; list it once, let duplicates=collapse do so"
        checker.refuse(kept & _repeated(_keys(first, second, domain.size(ROLE), ordered=ordered)), what)
    if weights is not None:
        keys = _keys(first, second, domain.size(ROLE), ordered=directed)
        _refuse_disagreement(checker, kept & (weights > 0), keys, weights)
    kept &= checker.kept()[checker.row]
    graph = Graph.from_columns(
        source=first[kept],
        target=second[kept],
        domain=domain,
        weights=None if weights is None else weights[kept],
        directed=directed,
    )
    if edges.rows is None:
        progress.count("edges listed again", int(kept.sum()) - len(graph))
    if not options.keys() & {*_PATHS}:
        return graph
    return replace(graph, paths=read_paths(options, domain, directed=directed))


def _refuse_directions(edges: EdgeTable, checker: RecordChecker, options: Mapping[str, str]) -> None:
    """Refuse edges with directions, unless it is declared what becomes of them; with directed=yes, those without."""
    if _is_directed(options):
        if edges.directed is False:
            msg = f"{edges.table.where}: the edges are declared to have no direction; omit the reading option directed"
            raise ReadError(msg)
        checker.refuse(edges.unordered, "an edge says that it has no direction; correct it")
        return
    if read_choice(options, "symmetrise", "no", "yes") == "yes":
        return
    if edges.directed:
        msg = (
            f"{edges.table.where}: the edges are declared to be directed; read them as they are with the reading "
            "option directed=yes, or without directions with symmetrise=yes"
        )
        raise ReadError(msg)
    both = " read directions with directed=yes," if edges.directed is None else ""
    what = f"an edge is directed;{both} read it without directions with the reading option symmetrise=yes"
    checker.refuse(edges.one_way, what)


def _refuse_further(edges: EdgeTable, checker: RecordChecker, options: Mapping[str, str]) -> None:
    """Refuse edges that have more than two ends, unless it is declared what that is; then tell what is not read."""
    weighted = "weight" in checker.table.request.optional
    if weighted or read_choice(options, "weights", "error", "ignore") == "ignore":
        progress.count("edges with more than is read", int(edges.further.sum()))
        return
    if edges.table.others:
        msg = (
            f"{edges.table.where} has columns besides the two ends of edges; name that of the weight with --columns "
            "weight=NAME, or ignore all with the reading option weights=ignore"
        )
        raise ReadError(msg)
    checker.refuse(edges.further, edges.more)


def _read_weights(checker: RecordChecker) -> Floats | None:
    """Read the weights that are declared; refuse those that are no finite numbers above 0. What is left is NaN."""
    if "weight" not in checker.table.columns:
        return None
    name = checker.table.request.columns["weight"]
    weights, bad = number_cells(checker.table.where, name, checker.table.columns["weight"])
    bad |= ~(weights > 0)
    checker.refuse(bad, "the weight of the edge is missing, or not a finite number above 0; correct it")
    return np.where(bad, np.nan, weights)


def _refuse_disagreement(checker: RecordChecker, kept: Flags, keys: Integers, weights: Floats) -> None:
    """Refuse edges that are listed with two weights: the first line that says otherwise, or all lines of the edge.

    No other edge has a say in it.
    """
    lines = np.flatnonzero(kept)
    edges, first, edge = np.unique(keys[lines], return_index=True, return_inverse=True)
    differs = weights[lines] != weights[lines][first][edge]
    if not differs.any():
        return
    torn = np.zeros(len(edges), np.bool_)
    torn[edge[differs]] = True
    bad = np.zeros(len(keys), np.bool_)
    bad[lines] = torn[edge] if checker.table.request.drop_bad else differs
    what = (
        "the edge on this line was listed with another weight before; keep one of them, or read the network with "
        "directed=yes if its edges have directions"
    )
    checker.refuse(bad, what)
    progress.count("edges with two weights", int(torn.sum()))


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


def _keys(first: Integers, second: Integers, vertices: int, *, ordered: bool) -> Integers:
    """Number the edges by their ends; with `ordered`, an edge in the other direction is another one."""
    low, high = (first, second) if ordered else (np.minimum(first, second), np.maximum(first, second))
    return low * vertices + high


def _repeated(keys: Integers) -> Flags:
    """Return which edges are listed several times."""
    return pl.Series(keys).is_duplicated().to_numpy()


def _lay_out(data: Graph) -> OutputEdges:
    """Lay out published edges."""
    return OutputEdges(data.domain.values(ROLE), data.first, data.second, data.weights, data.directed)


def _written_columns(data: Graph, form: str, names: Mapping[str, str]) -> dict[str, str]:
    """Name the columns that are written: the weight, if there is one."""
    roles = ("source", "target", "weight")[: 2 if data.weights is None else 3]
    columns = {role: names.get(role, role) for role in roles}
    return edge_list.written_columns(columns) if form == "edges" else columns


def _reread_options(data: Graph, form: str) -> dict[str, str]:
    del form
    return {"directed": "yes"} if data.directed else {}


def _accepts_reread(options: Mapping[str, str]) -> bool:
    """Whether `_reread_options` can return these options."""
    return not options or options == {"directed": "yes"}


def _explain(file: File) -> str:
    """Describe a file for a receiver, and where weights and directions are in it."""
    text = explain_columns(_FORMATS)(file)
    if "weight" in file.columns and file.format in _PLACES:
        text += f" {_PLACES[file.format]}"
    return text


def _explain_order(file: File) -> str:
    directions = "lead from source to target" if file.options else "have no direction"
    return f"Edges {directions}. Each is listed once, in the order of the vertices."


CODEC = Codec(
    kind="graphs",
    columns=_COLUMNS,
    written=("source", "target"),
    sometimes_written=("weight",),
    written_columns=_written_columns,
    options=_OPTIONS,
    named_files=_PATHS,
    formats=_FORMATS,
    request=_request,
    from_memory=_from_memory,
    make=_make,
    lay_out=_lay_out,
    explain=_explain,
    order=_explain_order,
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
)
