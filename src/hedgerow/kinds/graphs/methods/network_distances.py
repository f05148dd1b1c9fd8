"""How far the weight of an edge may rise or fall: by a table of all distances, or by searches as they are needed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hedgerow.kinds.graphs.methods.stored_paths import Arcs, StoredPaths, components_of, search, search_nearer
from hedgerow.numerics.arrays import Flags, Floats, Integers, index_ranges

#: how many lengths are compared at once
_AT_ONCE = 4_000_000
#: how many vertices on each side of an edge are tried first
_PROBED = 20


class Detours(NamedTuple):
    """Distances without an edge, between the vertices whose shortest paths may pass it, from `before` to `after`."""

    edge: int
    before: Integers
    after: Integers
    passing: Flags
    lengths: Floats


class AllDistances:
    """The distances between all vertices, kept up to date while weights change one by one."""

    def __init__(self, paths: StoredPaths, tolerance: float, *, directed: bool) -> None:
        self._paths = paths
        self._arcs = paths.arcs
        self._tolerance = tolerance
        self._directed = directed
        size = paths.arcs.vertices
        self._table: Floats = np.empty((size, size))
        for rows, table in paths.arcs.distances_from(np.arange(size)):
            self._table[rows] = table
        self._wanted = np.zeros((size, size), np.bool_)
        self._wanted[paths.pairs[:, 0], paths.pairs[:, 1]] = True
        if not directed:
            self._wanted |= self._wanted.T
        # without directions, the arcs out of a vertex are those into it, turned round
        order = np.lexsort((self._arcs.tail, self._arcs.head))
        self._into = order
        self._into_starts = np.concatenate(
            (np.zeros(1, np.int64), np.cumsum(np.bincount(self._arcs.head, minlength=size)))
        )
        self._detours: Detours | None = None

    def rise(self, edge: int, lengths: Floats) -> float:
        """How much longer the next best way is for the pair that loses least without the edge."""
        pairs, against = self._paths.through(edge)
        if not len(pairs):
            return math.inf
        detours = self._find_detours(edge)
        starts, ends = _orient(self._paths.pairs[pairs], against)
        size = self._arcs.vertices
        row, column = np.full(size, -1), np.full(size, -1)
        row[detours.before] = np.arange(len(detours.before))
        column[detours.after] = np.arange(len(detours.after))
        rows, columns = row[starts], column[ends]
        if np.any(rows < 0) or np.any(columns < 0):
            return 0.0  # the path is a shortest one up to rounding only: leave it as it is
        return max(0.0, float(np.min(detours.lengths[rows, columns] - lengths[pairs])))

    def fall(self, edge: int, lengths: Floats) -> float:
        """How much longer the best way through the edge is for a pair whose path does not pass it; or its weight."""
        del lengths  # they are in the table
        tail, head, weight = self._ends(edge)
        pairs, _ = self._paths.through(edge)
        wanted = self._wanted
        ends = self._paths.pairs[pairs]
        wanted[ends[:, 0], ends[:, 1]] = False
        if not self._directed:
            wanted[ends[:, 1], ends[:, 0]] = False
        with np.errstate(invalid="ignore"):
            before = self._to(tail) + weight - self._to(head)
            after = weight + self._table[head] - self._table[tail]
        best = weight
        for most in (_PROBED, len(before)):
            rows, columns = _smallest(before, best, most), _smallest(after, best, most)
            if len(rows) and len(columns):
                best = min(best, self._least_excess(rows, columns, tail, head, weight))
        wanted[ends[:, 0], ends[:, 1]] = True
        if not self._directed:
            wanted[ends[:, 1], ends[:, 0]] = True
        return max(0.0, best)

    def _least_excess(self, rows: Integers, columns: Integers, tail: int, head: int, weight: float) -> float:
        block = np.ix_(rows, columns)
        wanted = self._wanted[block]
        if not wanted.any():
            return math.inf
        at, to = np.nonzero(wanted)
        starts, ends = rows[at], columns[to]
        excess = self._table[starts, tail] + weight + self._table[head, ends] - self._table[starts, ends]
        return float(excess.min())

    def moved(self, edge: int, before: float) -> None:
        """Bring the table up to date after one weight has changed."""
        places = self._arcs.places[edge]
        after = float(self._arcs.weights[places[0]])
        if after > before:
            self._arcs.weights[places] = before
            detours = self._find_detours(edge)
            self._arcs.weights[places] = after
            block = np.ix_(detours.before, detours.after)
            old = self._table[block]
            new = np.where(detours.passing, np.minimum(old + (after - before), detours.lengths), old)
        else:
            tail, head, weight = self._ends(edge)
            with np.errstate(invalid="ignore"):
                rows = np.flatnonzero(self._to(tail) + weight < self._to(head))
                columns = np.flatnonzero(weight + self._table[head] < self._table[tail])
            block = np.ix_(rows, columns)
            new = np.minimum(self._table[block], self._to(tail)[rows, None] + (weight + self._table[head, columns]))
        self._table[block] = new
        if not self._directed:
            self._table[block[1].ravel()[:, None], block[0].ravel()] = new.T
        self._detours = None

    def _ends(self, edge: int) -> tuple[int, int, float]:
        place = self._arcs.places[edge, 0]
        return int(self._arcs.tail[place]), int(self._arcs.head[place]), float(self._arcs.weights[place])

    def _to(self, vertex: int) -> Floats:
        """Distances to a vertex."""
        return self._table[:, vertex] if self._directed else self._table[vertex]

    def _find_detours(self, edge: int) -> Detours:
        """Compute distances without an edge."""
        if self._detours is not None and self._detours.edge == edge:
            return self._detours
        tail, head, weight = self._ends(edge)
        table, tolerance = self._table, self._tolerance
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero(self._to(tail) - self._to(head) <= tolerance - weight)
            columns = np.flatnonzero(table[head] - table[tail] <= tolerance - weight)
        old = table[np.ix_(rows, columns)]
        passing = self._to(tail)[rows, None] + (weight + table[head, columns]) <= old + tolerance
        passing &= rows[:, None] != columns
        lengths = old.copy()
        sizes = self._into_starts[columns + 1] - self._into_starts[columns]
        work = np.cumsum(passing @ sizes)
        begin = 0
        while begin < len(rows):
            # rows do not depend on each other: as many at once as fit
            done = work[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(work, done + _AT_ONCE, side="right")))
            some = slice(begin, end)
            lengths[some][passing[some]] = self._go_round(edge, rows[some], columns, passing[some])
            begin = end
        self._detours = Detours(edge, rows, columns, passing, lengths)
        return self._detours

    def _go_round(self, edge: int, rows: Integers, columns: Integers, passing: Flags) -> Floats:
        """Distances without an edge, of the pairs that pass it.

        From the last vertex that is reached without it all the same, and from there on step by step.
        """
        at, to = np.nonzero(passing)
        if not len(at):
            return np.zeros(0)
        begins = self._into_starts[columns[to]]
        sizes = self._into_starts[columns[to] + 1] - begins
        arcs = self._into[index_ranges(begins, sizes)]
        owner = np.repeat(np.arange(len(at)), sizes)
        tails = self._arcs.tail[arcs]
        weights = self._arcs.weights[arcs]
        weights[self._arcs.edge[arcs] == edge] = np.inf
        number = np.full((len(rows), self._arcs.vertices), -1)
        number[at, columns[to]] = np.arange(len(at))
        other = number[at[owner], tails]
        reached = self._table[rows[at][owner], tails]
        reached[other >= 0] = np.inf
        lengths = np.minimum.reduceat(reached + weights, np.cumsum(sizes) - sizes)
        inner = np.flatnonzero(other >= 0)
        heads, firsts = np.unique(owner[inner], return_index=True)
        other, weights = other[inner], weights[inner]
        while len(inner):
            tried = np.minimum.reduceat(lengths[other] + weights, firsts)
            better = tried < lengths[heads]
            if not better.any():
                break
            lengths[heads[better]] = tried[better]
        return lengths


def _orient(ends: Integers, against: Flags) -> tuple[Integers, Integers]:
    """The ends of paths that pass an edge: on the side of its first vertex, on the side of its second."""
    return np.where(against, ends[:, 1], ends[:, 0]), np.where(against, ends[:, 0], ends[:, 1])


def _smallest(values: Floats, below: float, most: int) -> Integers:
    """Which values are below a bound; at most so many of the smallest."""
    low = np.flatnonzero(values < below)
    return low if len(low) <= most else low[np.argpartition(values[low], most - 1)[:most]]


class Searches:
    """Distances that are searched for as they are needed, in the part of the network that can matter."""

    def __init__(self, paths: StoredPaths, tolerance: float, *, directed: bool) -> None:
        self._paths = paths
        self._tolerance = tolerance
        self._directed = directed
        self._arcs = paths.arcs
        ends = np.unique(paths.pairs)
        kept = _can_matter(paths.arcs, ends)
        self._number = np.cumsum(kept) - 1
        inside = np.flatnonzero(kept[paths.arcs.tail] & kept[paths.arcs.head])
        self._place = np.full(len(paths.arcs.tail), -1)
        self._place[inside] = np.arange(len(inside))
        self._small = self._matrix(inside, reverse=False)
        self._back: Any = None
        if directed:
            order = np.lexsort((paths.arcs.tail[inside], paths.arcs.head[inside]))
            self._back = self._matrix(inside[order], reverse=True)
            self._back_place = np.full(len(paths.arcs.tail), -1)
            self._back_place[inside[order]] = np.arange(len(inside))
        self._ends = self._number[paths.pairs]

    def _matrix(self, arcs: Integers, *, reverse: bool) -> Any:
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while

        size = int(self._number[-1]) + 1 if len(self._number) else 0
        tail, head = self._number[self._arcs.tail[arcs]], self._number[self._arcs.head[arcs]]
        if reverse:
            tail, head = head, tail
        starts = np.zeros(size + 1, np.int32)
        np.cumsum(np.bincount(tail, minlength=size), out=starts[1:])
        return csr_array((self._arcs.weights[arcs], head.astype(np.int32), starts), shape=(size, size))

    def _set(self, edge: int, weight: float) -> bool:
        """Set a weight in the matrices; False if the edge cannot matter."""
        places = self._arcs.places[edge]
        if self._place[places[0]] < 0:
            return False
        self._small.data[self._place[places]] = weight
        if self._back is not None:
            self._back.data[self._back_place[places]] = weight
        return True

    def rise(self, edge: int, lengths: Floats) -> float:
        """How much longer the next best way is for the pair that loses least without the edge."""
        pairs, against = self._paths.through(edge)
        if not len(pairs):
            return math.inf
        starts, ends = _orient(self._ends[pairs], against)
        matrix = self._small
        if len(np.unique(ends)) < len(np.unique(starts)):
            starts, ends = ends, starts
            matrix = self._back if self._directed else self._small
        current = float(self._arcs.weights[self._arcs.places[edge, 0]])
        self._set(edge, math.inf)
        best = math.inf
        for source in np.unique(starts):
            some = starts == source
            wanted = lengths[pairs[some]]
            # a way that is longer than this does not count
            limit = float(wanted.max()) + best
            distances = search(matrix, int(source), limit)
            best = min(best, float(np.min(distances[ends[some]] - wanted)))
            if best <= 0:
                break
        self._set(edge, current)
        return max(0.0, best)

    def fall(self, edge: int, lengths: Floats) -> float:
        """How much longer the best way through the edge is for a pair whose path does not pass it; or its weight."""
        place = self._arcs.places[edge, 0]
        weight = float(self._arcs.weights[place])
        if self._place[place] < 0 or not len(lengths):
            return weight
        others = np.ones(len(lengths), np.bool_)
        others[self._paths.through(edge)[0]] = False
        if not others.any():
            return weight
        starts, ends = self._ends[others].T
        tail, head = int(self._number[self._arcs.tail[place]]), int(self._number[self._arcs.head[place]])
        limit = float(lengths[others].max()) + self._tolerance
        if self._directed:
            to_tail, from_head = search(self._back, tail, limit), search(self._small, head, limit)
            through = to_tail[starts] + weight + from_head[ends]
        else:
            # a way through the edge that is longer by less than its weight starts nearer to one end, and ends nearer to
            # the other; so one search from both ends is enough, for both directions
            distances, nearer = search_nearer(self._small, (tail, head), limit)
            across = nearer[starts] != nearer[ends]
            through = np.where(across, distances[starts] + weight + distances[ends], np.inf)
        return max(0.0, min(weight, float(np.min(through - lengths[others]))))

    def moved(self, edge: int, before: float) -> None:
        """Set the new weight of an edge."""
        del before
        self._set(edge, float(self._arcs.weights[self._arcs.places[edge, 0]]))


def _can_matter(arcs: Arcs, ends: Integers) -> Flags:
    """Which vertices can be on a path between pairs: not in other components, and not in dead ends."""
    labels = components_of(arcs.matrix)
    kept = np.isin(labels, np.unique(labels[ends]))
    last = np.zeros(arcs.vertices, np.bool_)
    last[ends] = True
    low, high = np.minimum(arcs.tail, arcs.head), np.maximum(arcs.tail, arcs.head)
    joined = np.unique(low * arcs.vertices + high)
    low, high = joined // arcs.vertices, joined % arcs.vertices
    while True:
        both = kept[low] & kept[high]
        low, high = low[both], high[both]
        degrees = np.bincount(np.concatenate((low, high)), minlength=arcs.vertices)
        dead = kept & ~last & (degrees <= 1)
        if not dead.any():
            return kept
        kept[dead] = False
