"""The arcs of a network in rows that stand beside each other, with their current weights, and which are anonymous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.kinds.graphs.methods.anonymity_windows import Distance, find_windows
from hedgerow.numerics.arrays import Flags, Floats, Integers


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What makes an arc anonymous; the numbers of the promise, for a network with or without directions."""

    k: int
    distance: Distance
    neighbourhood: str
    small_degree: bool
    directed: bool


class ArcRows:
    """Edges by the rows in which they stand, each row sorted by weight; weights are read where others change them.

    A directed edge is one arc, and stands in one row, or in two if both must hide it. An edge without direction is two
    arcs of one weight, one in the row of each of its ends.
    """

    def __init__(self, first: Integers, second: Integers, weights: Floats, vertices: int, goal: Goal) -> None:
        self.goal, self.weights = goal, weights
        self.twinned = not goal.directed
        #: whether an arc is anonymous only if it is so in all rows of its edge
        self.together = goal.neighbourhood == "both"
        sides = {"out": (first,), "in": (second,), "both": (first, second + vertices)}[goal.neighbourhood]
        sides = (first, second) if self.twinned else sides
        self.sides = np.column_stack(sides).astype(np.int64)
        rows, edges = self.sides.T.ravel(), np.tile(np.arange(len(first)), len(sides))
        order = np.lexsort((weights[edges], rows))
        ends = np.cumsum(np.bincount(rows, minlength=int(rows.max(initial=0)) + 1))
        self.edges: list[Integers] = [np.asarray(part, np.int64) for part in np.split(edges[order], ends[:-1])]
        self._all = np.sort(np.tile(weights, 2 if self.twinned else 1))
        self._flags = np.zeros(self.sides.shape, np.bool_)
        if self.together:
            for row in range(len(self.edges)):
                self._refresh(row)

    @property
    def arcs_per_edge(self) -> int:
        """Two without directions."""
        return 1 + self.twinned

    def count_anonymous(self) -> tuple[int, int]:
        """Count the anonymous arcs, and all of them, from the weights as they are."""
        anonymous = self.count_by_edge()
        return int(anonymous.sum()), self.arcs_per_edge * len(anonymous)

    def count_by_edge(self) -> Integers:
        """How many arcs of each edge are anonymous."""
        flags = np.zeros(self.sides.shape, np.bool_)
        for row, edges in enumerate(self.edges):
            flags[edges, self._side(row, edges)] = self._find_anonymous(row)
        if self.together:
            return self.arcs_per_edge * np.all(flags, axis=1).astype(np.int64)
        return np.array(flags.astype(np.int64).sum(axis=1))

    def others(self, edge: int, side: int) -> Integers:
        """The other edges of a row of an edge, by weight."""
        edges = self.edges[int(self.sides[edge, side])]
        return edges[edges != edge]

    def worth(self, edge: int, weight: float) -> int:
        """How many arcs of an edge are anonymous if it has this weight, exactly."""
        flags = [self._is_anonymous(edge, side, weight) for side in range(self.sides.shape[1])]
        return self.arcs_per_edge * all(flags) if self.together else sum(flags)

    def worth_in(self, windows: list[Flags]) -> Integers:
        """The same, where it is known in which of its rows an arc is anonymous."""
        if self.together:
            return self.arcs_per_edge * np.logical_and.reduce(windows).astype(np.int64)
        return np.array(np.sum(windows, axis=0), np.int64)

    def windows(self, edge: int, side: int) -> Floats:
        """The intervals of weights with which an edge is anonymous in a row."""
        goal = self.goal
        others = self.weights[self.others(edge, side)]
        short = goal.small_degree and len(others) + 1 < goal.k
        return find_windows(others, goal.k, goal.distance, self._elsewhere(edge, side) if short else None)

    def depending(self, edge: int, side: int) -> Floats:
        """The intervals of weights of an edge in which another edge of its row is anonymous; one per such edge."""
        goal, others = self.goal, self.others(edge, side)
        if self.together and self.sides.shape[1] > 1:
            others = others[self._flags[others, 1 - self._side(int(self.sides[edge, side]), others)]]
        row = self.weights[self.others(edge, side)]
        weights = self.weights[others]
        near = goal.distance.count_near(row, weights)
        if len(row) + 1 >= goal.k:
            decided = near == goal.k - 1
        elif goal.small_degree:
            moved = goal.distance.count_near(self.weights[[edge]], weights)
            # the edge itself and, without directions, the same edge backwards; that one is near wherever it matters
            elsewhere = goal.distance.count_near(self._all, weights) - near - self.arcs_per_edge * moved
            decided = (near == len(row)) & (elsewhere >= goal.k - 1 - len(row))
        else:
            decided = np.zeros(len(weights), np.bool_)
        numbers = goal.distance.scaled(weights[decided])
        reach = goal.distance.reach
        return goal.distance.unscaled(np.column_stack((numbers - reach, numbers + reach)))

    def moved(self, edge: int, before: float) -> None:
        """Bring rows into order after the weight of an edge was changed."""
        for row in set(map(int, self.sides[edge])):
            edges = self.edges[row]
            self.edges[row] = edges[np.argsort(self.weights[edges], kind="stable")]
        for _ in range(self.arcs_per_edge):
            _replace(self._all, before, float(self.weights[edge]))
        if self.together:
            for row in set(self.sides[edge].tolist()):
                self._refresh(row)

    def _refresh(self, row: int) -> None:
        edges = self.edges[row]
        self._flags[edges, self._side(row, edges)] = self._find_anonymous(row)

    def _side(self, row: int, edges: Integers) -> Integers:
        """In which of its rows each edge stands in this one."""
        return np.argmax(self.sides[edges] == row, axis=1) if len(edges) else edges

    def _find_anonymous(self, row: int) -> Flags:
        """Which edges of a row are anonymous in it."""
        goal, weights = self.goal, self.weights[self.edges[row]]
        near = goal.distance.count_near(weights, weights)
        if len(weights) >= goal.k or not goal.small_degree:
            return near >= goal.k
        elsewhere = goal.distance.count_near(self._all, weights) - near - self.twinned
        return (near == len(weights)) & (elsewhere >= goal.k - len(weights))

    def _is_anonymous(self, edge: int, side: int, weight: float) -> bool:
        goal, others = self.goal, self.weights[self.others(edge, side)]
        at = np.array([weight])
        near = 1 + int(goal.distance.count_near(others, at)[0])
        if near >= goal.k or not goal.small_degree or len(others) + 1 >= goal.k or near <= len(others):
            return near >= goal.k
        own = self.arcs_per_edge * goal.distance.are_near(float(self.weights[edge]), weight)
        elsewhere = int(goal.distance.count_near(self._all, at)[0]) - (near - 1) - own
        return elsewhere >= goal.k - near

    def _elsewhere(self, edge: int, side: int) -> Floats:
        """The weights of all arcs outside a row of an edge, but for the edge itself backwards."""
        row = self.weights[self.edges[int(self.sides[edge, side])]]
        own = np.repeat(self.weights[edge], self.twinned)
        gone = np.sort(np.concatenate((row, own)))
        # equal weights follow each other: take away as many as there are
        repeats = np.arange(len(gone)) - np.searchsorted(gone, gone)
        return np.delete(self._all, np.searchsorted(self._all, gone) + repeats)


def _replace(numbers: Floats, before: float, after: float) -> None:
    """Replace one of these sorted numbers, and keep them sorted."""
    place, new = int(np.searchsorted(numbers, before)), int(np.searchsorted(numbers, after))
    if new > place:
        numbers[place : new - 1] = numbers[place + 1 : new]
        numbers[new - 1] = after
    else:
        numbers[new + 1 : place + 1] = numbers[new:place]
        numbers[new] = after
