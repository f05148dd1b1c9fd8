"""Edges from memory: networkx graphs, sparse adjacency matrices, arrays and lists of pairs.

The libraries of these objects need not be installed: whoever has such an object has its library.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl

from hedgerow.data.encoding import text_of
from hedgerow.errors import ReadError
from hedgerow.io.edge_table import EdgeColumns, EdgeTable
from hedgerow.io.long_table import ReadRequest
from hedgerow.io.python_cells import to_list_series, to_series
from hedgerow.io.tables import to_long_table

__all__ = ["edges_of_object"]

_PAIR = 2


def edges_of_object(source: Any, request: ReadRequest) -> EdgeTable | None:
    """Take the edges of an object; None if it is neither a graph, a matrix, an array nor a list."""
    if _is_from("networkx", source) and hasattr(source, "is_directed"):
        return _from_networkx(source, request)
    if _is_from("scipy", source) and hasattr(source, "tocoo"):
        return _from_matrix(source, request)
    if isinstance(source, np.ndarray):
        return _from_array(cast("Any", source), request)
    if isinstance(source, (list, tuple)):
        return _from_pairs(cast("list[Any]", source), request)
    return None


def _is_from(library: str, source: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == library for kind in type(source).__mro__)


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
