"""Which children of two vertices become one vertex: by the best assignment, or greedily one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges

__all__ = ["MAPPINGS", "ChildMapping", "SiblingPairs"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_PAIR = 2


def _solve(costs: Floats) -> tuple[Integers, Integers]:
    """Return rows and columns of an assignment of least cost."""
    from scipy import optimize  # noqa: PLC0415 - listing the methods does not need it

    return cast("Any", optimize).linear_sum_assignment(costs)  # SciPy is not typed


class SiblingPairs(NamedTuple):
    """Blocks of pairs of children: for each pair of parents all children of the one with all of the other.

    A block has one row per child of the first parent, and one column per child of the second; blocks, rows and columns
    follow one another. `saving` is what a pair saves together with everything below it, 0 if it must not be formed.
    `order` is the criterion of greedy matching: the smallest comes first.
    """

    rows: Integers
    columns: Integers
    saving: Floats
    order: Floats

    @property
    def starts(self) -> Integers:
        """Where each block starts."""
        sizes = self.rows * self.columns
        return np.cumsum(sizes) - sizes


class ChildMapping(NamedTuple):
    """A way to match children: how much each block saves, and which pairs are matched, by their places.

    `ordered` says whether it uses the order of pairs.

    Examples
    --------
    >>> saving = np.array([3.0, 2.0, 2.0, 0.0])
    >>> block = SiblingPairs(np.array([2]), np.array([2]), saving, -saving)
    >>> {name: (way.totals(block).tolist(), way.matched(block).tolist()) for name, way in MAPPINGS.items()}
    {'assignment': ([4.0], [1, 2]), 'greedy': ([3.0], [0])}
    """

    totals: Callable[[SiblingPairs], Floats]
    matched: Callable[[SiblingPairs], Integers]
    ordered: bool


def _assignment_totals(pairs: SiblingPairs) -> Floats:
    """The most that each block can save; one row or column and two by two need no solver."""
    rows, columns, starts, saving = pairs.rows, pairs.columns, pairs.starts, pairs.saving
    totals = np.zeros(len(rows))
    least = np.minimum(rows, columns)
    filled = np.flatnonzero(least)
    if len(filled):
        totals[filled] = np.maximum.reduceat(saving, starts[filled])
    square = np.flatnonzero((rows == _PAIR) & (columns == _PAIR))
    at = starts[square]
    totals[square] = np.maximum(saving[at] + saving[at + 3], saving[at + 1] + saving[at + 2])
    large = np.flatnonzero((least > 1) & (rows + columns > _PAIR + _PAIR))
    if len(large):
        totals[large] = [-matrix[_solve(matrix)].sum() for matrix in _matrices(pairs, large)]
    return totals


def _assigned_pairs(pairs: SiblingPairs) -> Integers:
    """The pairs of a best assignment, without those that must not be formed."""
    chosen = [np.zeros(0, np.int64)]
    every = np.arange(len(pairs.rows))
    for start, wide, matrix in zip(pairs.starts, pairs.columns, _matrices(pairs, every), strict=True):
        row, column = _solve(matrix)
        chosen.append(start + row * wide + column)
    places = np.concatenate(chosen)
    return places[pairs.saving[places] > 0]


def _matrices(pairs: SiblingPairs, blocks: Integers) -> list[Floats]:
    """The costs of blocks as matrices: negative savings, since the solver minimises."""
    costs = -pairs.saving
    every: tuple[list[int], ...] = tuple(part[blocks].tolist() for part in (pairs.starts, pairs.rows, pairs.columns))
    shapes = zip(*every, strict=True)
    return [costs[start : start + high * wide].reshape(high, wide) for start, high, wide in shapes]


def _match_greedily(pairs: SiblingPairs) -> tuple[Integers, Integers]:
    """Match the smaller side one after another, each with the cheapest partner that is free; return blocks and places.

    A pair that must not be formed never is, and does not use up a partner.
    """
    rows, columns, starts = pairs.rows, pairs.columns, pairs.starts
    cost = np.where(pairs.saving > 0, pairs.order, np.inf)
    chosen = [np.zeros((2, 0), np.int64)]
    shapes = set(zip(rows.tolist(), columns.tolist(), strict=True))
    for high, wide in sorted(shape for shape in shapes if min(shape)):
        blocks = np.flatnonzero((rows == high) & (columns == wide))
        places = index_ranges(starts[blocks], rows[blocks] * columns[blocks]).reshape(-1, high, wide)
        if high > wide:
            places = places.transpose(0, 2, 1)
        chosen.extend(_match_stack(blocks, places, cost[places]))
    block, place = np.concatenate(chosen, axis=1)
    return block, place


def _match_stack(blocks: Integers, places: Integers, cost: Floats) -> list[Integers]:
    """Match blocks of one shape at once; return the block and the place of each pair."""
    chosen: list[Integers] = []
    every = np.arange(len(blocks))
    for row in range(cost.shape[1]):
        best = cost[:, row].argmin(axis=1)
        allowed = np.isfinite(cost[every, row, best])
        chosen.append(np.stack([blocks[allowed], places[every, row, best][allowed]]))
        cost[every[allowed], :, best[allowed]] = np.inf
    return chosen


def _greedy_totals(pairs: SiblingPairs) -> Floats:
    block, place = _match_greedily(pairs)
    totals = np.zeros(len(pairs.rows))
    np.add.at(totals, block, pairs.saving[place])
    return totals


def _greedy_pairs(pairs: SiblingPairs) -> Integers:
    return np.sort(_match_greedily(pairs)[1])


#: the mappings of the paper: Algorithm 3 (a linear sum assignment problem) and Algorithm 2
MAPPINGS: Mapping[str, ChildMapping] = {
    "assignment": ChildMapping(_assignment_totals, _assigned_pairs, ordered=False),
    "greedy": ChildMapping(_greedy_totals, _greedy_pairs, ordered=True),
}
