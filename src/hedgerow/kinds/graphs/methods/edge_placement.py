r"""Edges between blocks of vertices, placed such that vertices get their expected degrees.

Every block has a number of edges. An edge of a block of rows and columns joins vertex $i$ of its rows to vertex $j$ of
its columns with a probability proportional to $\theta_i \theta_j$: the degree-corrected block model of B. Karrer and M.
E. J. Newman, "Stochastic blockmodels and community structure in networks", Physical Review E 83, 2011. The weights
$\theta$ are fitted such that vertices have their expected degrees, by iterative proportional fitting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Regions
from hedgerow.kinds.graphs.methods.memory_limits import require_few_pairs
from hedgerow.numerics.arrays import Floats, Integers, index_ranges, sort_distinct
from hedgerow.numerics.rounding import on_grid

_ROUNDS = 15
#: one round changes a weight by at most this factor
_STEP = 5.0
_TINY = 1e-9
#: the product of two of these can still be divided by
_LEAST_RATE = 1e-150
#: pairs are drawn at random and drawn again if they are taken; blocks with a greater density are listed instead
_LISTED = 0.25
#: after this many draws what is missing is placed with equal weights, since a few pairs have almost all the weight
_DRAWS = 30


def fit_weights(degrees: Floats, blocks: Regions, edges: Integers) -> Floats:
    """Return the weight of each vertex with which blocks of so many edges give vertices their expected degrees.

    Examples
    --------
    >>> blocks = Regions.whole(4).quadrants(np.array([2]), np.array([2]))[[0, 1, 3]]
    >>> weights = fit_weights(np.array([2.0, 1.0, 2.0, 1.0]), blocks, np.array([1, 1, 1]))
    >>> (weights / weights.sum()).round(3).tolist()
    [0.333, 0.167, 0.333, 0.167]
    """
    total = float(degrees.sum())
    wanted = degrees * (2 * float(edges.sum()) / total) if total > 0 else degrees
    weights = degrees + _TINY
    for _ in range(_ROUNDS):
        expected = weights * _edges_per_weight(weights, blocks, edges)
        weights = weights * np.clip(wanted / np.maximum(expected, _TINY), 1 / _STEP, _STEP)
    return on_grid(weights)


def _edges_per_weight(weights: Floats, blocks: Regions, edges: Integers) -> Floats:
    """For each vertex, the edges of its blocks per weight: the sum over its rows and its columns."""
    before = _prefix_sums(weights)
    rows = edges / np.maximum(before[blocks.bottom] - before[blocks.top], _TINY)
    columns = edges / np.maximum(before[blocks.right] - before[blocks.left], _TINY)
    size = len(weights) + 1
    starts = np.bincount(blocks.top, rows, size) + np.bincount(blocks.left, columns, size)
    ends = np.bincount(blocks.bottom, rows, size) + np.bincount(blocks.right, columns, size)
    return np.maximum(np.cumsum(starts - ends)[:-1], 0.0)


def place_edges(
    blocks: Regions, edges: Integers, weights: Floats, coins: np.random.Generator
) -> tuple[Integers, Integers]:
    """Place so many distinct edges in each block; return their rows and columns.

    A block is a square on the diagonal or has no row among its columns.
    """
    cells = blocks.cells
    listed = edges > _LISTED * cells
    require_few_pairs(int(cells[listed].sum()))
    some, others = np.flatnonzero(listed), np.flatnonzero(~listed)
    drawn = _draw(blocks[others], edges[others], weights, coins)
    row, column = blocks[others[drawn.at]].unrank(drawn.position)
    taken = _list(blocks[some], edges[some], weights, coins)
    other_row, other_column = blocks[some[taken.at]].unrank(taken.position)
    return np.concatenate((row, other_row)), np.concatenate((column, other_column))


class _Placed(NamedTuple):
    """Cells: the block of each, and its position in the block."""

    at: Integers
    position: Integers


def _draw(blocks: Regions, edges: Integers, weights: Floats, coins: np.random.Generator) -> _Placed:
    """Draw pairs by weight, and draw again those that are taken or loops."""
    ends = np.cumsum(blocks.cells)  # cells are numbered one block after another, so that numbers stay below the pairs
    begins = ends - blocks.cells
    before = _prefix_sums(weights)
    keys, missing = np.zeros(0, np.int64), edges
    draws = 0
    while missing.any():
        at = np.repeat(np.arange(len(edges)), missing)
        chosen = blocks[at]
        if draws < _DRAWS:
            first = _pick(before, chosen.top, chosen.bottom, coins)
            second = _pick(before, chosen.left, chosen.right, coins)
            row, column = np.minimum(first, second), np.maximum(first, second)
            position = chosen.rank(row, column)[row < column]
            at = at[row < column]
        else:
            position = coins.integers(0, chosen.cells)
        new = sort_distinct(begins[at] + position)
        keys = np.sort(np.concatenate((keys, new[~_contains(keys, new)])), kind="stable")
        missing = edges - np.diff(np.searchsorted(keys, ends), prepend=0)
        draws += 1
    at = np.repeat(np.arange(len(edges)), edges)
    return _Placed(at, keys - begins[at])


def _list(blocks: Regions, edges: Integers, weights: Floats, coins: np.random.Generator) -> _Placed:
    """List all cells of blocks, and take those with the earliest arrival at a rate of their weight."""
    cells = blocks.cells
    at = np.repeat(np.arange(len(edges)), cells)
    position = index_ranges(np.zeros(len(edges), np.int64), cells)
    row, column = blocks[at].unrank(position)
    rates = np.maximum(weights, _LEAST_RATE)
    arrival = coins.standard_exponential(len(at)) / (rates[row] * rates[column])
    order = np.lexsort((arrival, at))
    kept = order[index_ranges(np.cumsum(cells) - cells, edges)]
    return _Placed(at[kept], position[kept])


def _pick(before: Floats, low: Integers, high: Integers, coins: np.random.Generator) -> Integers:
    """Pick one vertex per interval, by weight."""
    point = before[low] + coins.random(len(low)) * (before[high] - before[low])
    return np.clip(np.searchsorted(before, point, "right") - 1, low, high - 1)


def _prefix_sums(weights: Floats) -> Floats:
    return np.concatenate((np.zeros(1), np.cumsum(weights)))


def _contains(keys: Integers, new: Integers) -> NDArray[np.bool_]:
    """Whether each of the new keys is among the sorted ones."""
    if len(keys) == 0:
        return np.zeros(len(new), np.bool_)
    return keys[np.minimum(np.searchsorted(keys, new), len(keys) - 1)] == new
