"""Edges from memory: networkx graphs, sparse adjacency matrices, arrays and lists of pairs.

The libraries of these objects need not be installed: whoever has such an object has its library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np
import polars as pl

from hedgerow.data.encoding import text_of
from hedgerow.errors import ReadError
from hedgerow.formats import edge_list
from hedgerow.formats.dataframes import is_from, list_cells, to_long_table, to_series
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable
from hedgerow.formats.long_table import ReadRequest
from hedgerow.numerics.arrays import Flags

_PAIR = 2
#: numbers whose text is a shorter decimal than that of the same number in 64 bits
_SPELLED = (np.float16, np.float32, Decimal)
_MORE_ATTRIBUTES = (
    "the edge has attributes; name that of the weight, with columns={'weight': NAME}, or ignore all with weights=ignore"
)
_MORE_CELLS = (
    "the cell is not 1; say that cells are weights, with columns={'weight': 'value'}, or that only what is not 0 "
    "matters, with weights=ignore"
)
_MORE_PARTS = (
    "the edge has more than two ends; give the number of its weight, with columns={'weight': '3'}, or ignore the rest "
    "with weights=ignore"
)


def edges_of_object(source: Any, request: ReadRequest) -> EdgeTable | None:
    """Take the edges of an object; None if it is neither a graph, a matrix, an array nor a list."""
    if is_from("networkx", source) and hasattr(source, "is_directed"):
        return _from_networkx(source, request)
    if is_from("scipy", source) and hasattr(source, "tocoo"):
        return _from_matrix(source, request)
    if isinstance(source, np.ndarray):
        return _from_array(cast("Any", source), request)
    if isinstance(source, (list, tuple)):
        return _from_lists(cast("list[Any]", source), request)
    return None


def _from_networkx(graph: Any, request: ReadRequest) -> EdgeTable:
    """Take nodes and edges of a networkx graph, and the attribute that is declared to be the weight."""
    listed: list[tuple[Any, Any, Mapping[Any, Any]]] = list(graph.edges(data=True))
    (source, bad_source), (target, bad_target) = (to_series([edge[end] for edge in listed]) for end in (0, 1))
    columns = {"source": source, "target": target}
    read: set[str] = set()
    if "weight" in request.optional:
        name = request.columns["weight"]
        columns["weight"], read = weight_series([edge[2].get(name) for edge in listed]), {name}
    further = np.array([bool(edge[2].keys() - read) for edge in listed], np.bool_)
    what = "nodes must be texts or whole numbers; rename them with networkx.relabel_nodes"
    edges = EdgeColumns.numbered(columns, {"further": further})
    edges = edges.refuse("the graph", bad_source | bad_target, what, request)
    texts = list(map(text_of, graph.nodes))
    vertices = [text for text in texts if text is not None]
    if len(vertices) < len(texts) and not request.drop_bad:
        msg = f"the graph: {what}, or leave them out with the reading option on_bad=drop"
        raise ReadError(msg)
    table = edges.to_table("the graph", request)
    directed = bool(graph.is_directed())
    return EdgeTable(table, vertices=vertices, directed=directed, marks=edges.marks, more=_MORE_ATTRIBUTES)


def weight_series(values: Sequence[Any]) -> pl.Series:
    """Turn weights that are Python values into a column of texts or numbers; what is neither is null."""
    if set(map(type, values)) == {float}:
        return pl.Series(values, dtype=pl.Float64)
    texts = [str(value) if type(value) in _SPELLED else value for value in values]
    return to_series(texts, fractions=True)[0]


def _from_matrix(matrix: Any, request: ReadRequest) -> EdgeTable:
    """Take the cells of an adjacency matrix that are not 0; their ends are rows.

    A pair is one edge if both of its cells are set, and has a direction if only one is. If cells are weights, one that
    is stored although it is 0 is one, too.
    """
    if len(matrix.shape) != _PAIR or matrix.shape[0] != matrix.shape[1]:
        msg = f"the matrix must have as many columns as rows; its shape is {tuple(matrix.shape)}"
        raise ReadError(msg)
    weighted = "weight" in request.optional
    cells = matrix.tocsr(copy=True)
    cells.sum_duplicates()
    cells = cells.tocoo()
    if cells.data.dtype.kind not in "biuf":
        msg = f"the matrix must have cells that are real numbers; their type is {cells.data.dtype}"
        raise ReadError(msg)
    filled = (cells.data != 0) | weighted
    row, column = (np.asarray(ends)[filled].astype(np.int64) for ends in (cells.row, cells.col))
    data, rows = cells.data[filled], int(matrix.shape[0])
    one_way = ~np.isin(row * rows + column, column * rows + row)
    columns = {"source": pl.Series(row), "target": pl.Series(column)}
    if weighted:
        columns["weight"] = _series(data)
    edges = EdgeColumns(columns, row + 1, {"one_way": one_way, "further": (data != 1) & (not weighted)})
    pairs = np.minimum(row, column) * rows + np.maximum(row, column)
    bad = np.isin(pairs, pairs[data != data])  # noqa: PLR0124 - only NaN is not equal to itself
    edges = edges.refuse("the matrix", bad, "a cell is not a number; correct it", request)
    return EdgeTable(edges.to_table("the matrix", request), rows=rows, marks=edges.marks, more=_MORE_CELLS)


def _series(cells: Any) -> pl.Series:
    """Make a column of the cells of a matrix, of a type that columns can have."""
    if cells.dtype.kind == "f":
        return pl.Series(cells.astype(np.float32 if cells.dtype.itemsize <= 4 else np.float64))  # noqa: PLR2004 - bytes
    return pl.Series(cells.astype(np.int64) if cells.dtype.kind == "b" else cells)


def _from_array(array: Any, request: ReadRequest) -> EdgeTable:
    """Take the rows of an array: two columns, or more if one of them is the weight."""
    fields = edge_list.field_numbers(request)
    if array.ndim != _PAIR or array.shape[1] < max(fields.values()):
        weight = " and the weight" if "weight" in fields else ""
        msg = f"an array of edges needs a column for each end{weight}; its shape is {array.shape}"
        raise ReadError(msg)
    if array.dtype.kind not in "iuU" or "weight" in fields:
        return _from_lists(array.tolist(), request, "the array")
    frame = pl.DataFrame({request.columns[role]: pl.Series(array[:, number - 1]) for role, number in fields.items()})
    table = to_long_table("the array", frame, request, np.arange(1, len(frame) + 1))
    further = np.full(len(frame), array.shape[1] > len(fields))
    return EdgeTable(table, marks={"further": further}, more=_MORE_PARTS)


def _from_lists(listed: list[Any], request: ReadRequest, where: str = "the list") -> EdgeTable:
    """Take pairs of vertices, and a number after them if it is declared to be the weight; each is read alone."""
    fields = edge_list.field_numbers(request)
    edges = [list_cells(edge) or [] for edge in listed]
    columns: dict[str, pl.Series] = {}
    bad = np.zeros(len(edges), np.bool_)
    for role, number in fields.items():
        cells = [edge[number - 1] if len(edge) >= number else None for edge in edges]
        columns[role] = weight_series(cells) if role == "weight" else to_series(cells)[0]
        if role != "weight":
            bad |= columns[role].is_null().to_numpy()
    marks = {"further": _more_than(edges, len(fields)), "unordered": _are_sets(listed)}
    bad |= marks["unordered"] & (marks["further"] | ("weight" in fields))  # what comes first in a set says nothing
    what = "an edge must be a pair of vertices, which are texts or whole numbers; correct it"
    taken = EdgeColumns.numbered(columns, marks).refuse(where, bad, what, request)
    return EdgeTable(taken.to_table(where, request), marks=taken.marks, more=_MORE_PARTS)


def _more_than(edges: list[list[Any]], size: int) -> Flags:
    return np.array([len(edge) > size for edge in edges], np.bool_)


def _are_sets(edges: list[Any]) -> Flags:
    return np.array([isinstance(edge, (set, frozenset)) for edge in edges], np.bool_)
