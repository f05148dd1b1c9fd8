"""How graphs are read and written: edge lists, tables, GraphML, and graphs and matrices in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Axis, Domain, Graph, Source
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import DomainError, ReadError
from hedgerow.io.codec import Format
from hedgerow.io.edge_table import EdgeTable, OutputEdges
from hedgerow.io.graph_objects import edges_of_object
from hedgerow.io.long_table import Flags, Integers, LongTable, ReadRequest, codes_of
from hedgerow.io.long_table_codec import long_table_codec
from hedgerow.io.options import read_choice
from hedgerow.io.record_checker import RecordChecker
from hedgerow.io.tables import to_long_table, to_table

__all__ = ["CODEC"]

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
_FORMATS = {
    "edges": Format(
        "hedgerow.io.edge_list",
        ("edges", "edgelist", "txt"),
        "one edge per line, its two vertices separated by a blank",
    ),
    "csv": Format(
        "hedgerow.io.delimited", ("csv",), "a comma-separated table with a header: one edge per line", has_columns=True
    ),
    "parquet": Format(
        "hedgerow.io.parquet",
        ("parquet",),
        "a Parquet table: one edge per row",
        has_columns=True,
        libraries=("polars",),
    ),
    "graphml": Format(
        "hedgerow.io.graphml", ("graphml",), "GraphML: one `node` element per vertex, one `edge` element per edge"
    ),
}


def _from_memory(source: Any, request: ReadRequest) -> EdgeTable | LongTable | None:
    """Take a graph, a matrix, pairs, or a table with a column for each end."""
    edges = edges_of_object(source, request)
    if edges is not None:
        return edges
    table = to_table(source, request)
    if table is None:
        return None
    return to_long_table("the table", table.frame, request, np.arange(1, len(table.frame) + 1), table.unreadable)


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


CODEC = replace(
    long_table_codec(
        _REQUEST,
        columns=_COLUMNS,
        written=("source", "target"),
        options=_OPTIONS,
        make=_make,
        lay_out=OutputEdges,
        formats=_FORMATS,
        order="Edges have no direction. Each is listed once, in the order of the vertices.",
    ),
    from_memory=_from_memory,
)
