r"""Edges drawn in blocks of vertices, each block with a number of edges.

An edge of a block of rows and columns joins vertex $i$ of its rows to vertex $j$ of its columns with a probability
proportional to $\theta_i \theta_j$, $\theta$ being the weights of vertices: the degree-corrected block model, whose
weights `degree_model` fits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgerow.kinds.graphs.methods.degree_model import prefix_sums
from hedgerow.kinds.graphs.methods.memory_limits import require_few_pairs
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Flags, Floats, Integers, index_ranges, sort_distinct

#: the product of two of these can still be divided by
_LEAST_RATE = 1e-150
#: pairs are drawn at random and drawn again if they are taken; blocks with a greater density are listed instead
_LISTED = 0.25
#: after this many draws what is missing is placed with equal weights, since a few pairs have almost all the weight
_DRAWS = 30


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
    before = prefix_sums(weights)
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


def _contains(keys: Integers, new: Integers) -> Flags:
    """Whether each of the new keys is among the sorted ones."""
    if len(keys) == 0:
        return np.zeros(len(new), np.bool_)
    return keys[np.minimum(np.searchsorted(keys, new), len(keys) - 1)] == new
