"""Shortest paths between many pairs of vertices, found and stored as arrays, and whether they are still shortest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Flags, Floats, Integers, index_ranges

#: how many distances are worked on at once
_AT_ONCE = 4_000_000
#: lengths that differ by less than this part of the longest path from the same vertex are one length when paths are
#: found; and a path whose length exceeds the distance by more than that part of it is not the shortest
_ROUNDING, _LONGER = 1e-12, 1e-9


@dataclass(frozen=True, eq=False)
class Arcs:
    """The edges of a network, each in the directions in which it may be passed, as a matrix whose weights change.

    Parameters
    ----------
    tail, head, edge
        Where each arc starts and ends, and which edge it is; sorted by tail, then head.
    places
        Which arcs each edge is: two without directions, the first of which leads from `first` to `second`.
    matrix
        The sparse matrix of weights; its `data` is the weight of each arc.
    """

    tail: Integers
    head: Integers
    edge: Integers
    places: Integers
    matrix: Any

    @classmethod
    def of(cls, first: NDArray[Any], second: NDArray[Any], weights: Floats, vertices: int, *, directed: bool) -> Arcs:
        """Make the arcs of a network."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while

        edges = len(first)
        tail = np.asarray(first if directed else np.concatenate((first, second)), np.int64)
        head = np.asarray(second if directed else np.concatenate((second, first)), np.int64)
        order = np.argsort(tail * vertices + head, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        edge = order % edges if edges else order
        starts = np.zeros(vertices + 1, np.int32)
        np.cumsum(np.bincount(tail, minlength=vertices), out=starts[1:])
        matrix: Any = csr_array((weights[edge], head[order].astype(np.int32), starts), shape=(vertices, vertices))
        return cls(tail[order], head[order], edge, places.reshape(1 if directed else 2, edges).T.copy(), matrix)

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return self.matrix.shape[0]

    @property
    def weights(self) -> Floats:
        """The current weight of each arc."""
        return self.matrix.data

    def set_weights(self, weights: Floats) -> None:
        """Give all edges new weights."""
        self.matrix.data[:] = weights[self.edge]

    def distances_from(self, sources: Integers) -> Iterator[tuple[Integers, Floats]]:
        """Yield distances from vertices to all others, a block of them at a time, with the rows that they are."""
        step = max(1, _AT_ONCE // max(1, self.vertices))
        for begin in range(0, len(sources), step):
            rows = np.arange(begin, min(begin + step, len(sources)))
            yield rows, search(self.matrix, sources[rows])

    def unreachable(self, pairs: Integers, *, directed: bool) -> Flags:
        """Whether there is no path from the first to the second vertex of each pair."""
        labels = components_of(self.matrix, strong=directed)
        missing: Flags = labels[pairs[:, 0]] != labels[pairs[:, 1]]
        if directed:
            unsure = np.flatnonzero(missing)
            sources, row = np.unique(pairs[unsure, 0], return_inverse=True)
            for rows, table in self.distances_from(sources):
                some = (row >= rows[0]) & (row <= rows[-1])
                missing[unsure[some]] = np.isinf(table[row[some] - rows[0], pairs[unsure[some], 1]])
        return missing


@dataclass(frozen=True, eq=False)
class StoredPaths:
    """One shortest path for each pair of vertices, as the arcs that it passes.

    Of several shortest paths, the one with the fewest edges is stored; of several such paths, the one that is smallest
    in lexicographic order when it is read from its end.

    Parameters
    ----------
    pairs
        One row per path: from which vertex to which one.
    starts, passed
        Path number `h` passes the arcs `passed[starts[h] : starts[h + 1]]`, in this order.
    unique
        Whether there was no other path of the same length.
    tie
        How much longer a path may be to count as one of the same length: a part of the longest path from its source, or
        of the heaviest weight if that is less, so that an edge that is far too heavy to be passed does not decide.
    """

    arcs: Arcs
    pairs: Integers
    starts: Integers
    passed: Integers
    unique: Flags
    tie: Floats

    @classmethod
    def find(cls, arcs: Arcs, pairs: Integers, *, tie: float) -> StoredPaths:
        """Find a shortest path for each pair; `tie` is the part of lengths up to which a path is not unique."""
        by_pair: list[Integers] = [np.zeros(0, np.int64)]
        by_arc: list[Integers] = [np.zeros(0, np.int64)]
        ambiguous: list[tuple[Integers, Flags]] = []
        heaviest, scale = float(arcs.weights.max(initial=0.0)), np.zeros(len(pairs))
        distances = np.zeros(len(pairs))
        sources, row = np.unique(pairs[:, 0], return_inverse=True)
        order = np.argsort(row, kind="stable")
        for rows, table in arcs.distances_from(sources):
            begin, end = np.searchsorted(row[order], (rows[0], rows[-1] + 1))
            some = order[begin:end]
            last = np.empty(table.shape, np.int64)
            several = np.empty(table.shape, np.bool_)
            inside = row[some] - rows[0]
            longest = np.zeros(len(rows))
            distances[some] = table[inside, pairs[some, 1]]
            np.maximum.at(longest, inside, distances[some])
            longest = np.minimum(longest, heaviest)
            scale[some] = longest[inside]
            useful = _drop_long_arcs(arcs, sources[rows], table, tie * float(longest.max()))
            for place, lengths in enumerate(table):
                tight = _are_tight(useful, lengths, tie * longest[place])
                several[place] = _have_several(arcs, tight)
                rounding = _ROUNDING * longest[place]
                last[place] = _last_arcs(arcs, tight, lengths, int(sources[rows[place]]), rounding)
            for at, taken, unsure in _walk_back(arcs, pairs[some], inside, last, several):
                by_pair.append(some[at])
                by_arc.append(taken)
                ambiguous.append((some[at], unsure))
        stored = cls._collect(arcs, pairs, np.concatenate(by_pair), np.concatenate(by_arc), ambiguous, tie * scale)
        if np.any(stored.lengths() > distances * (1 + _LONGER)):
            msg = (
                "paths that must stay are of lengths so different that sums do not tell the shortest; keep short and "
                "long ones in releases of their own, or leave out edges that are far too heavy"
            )
            raise DomainError(msg)
        return stored

    @classmethod
    def _collect(
        cls,
        arcs: Arcs,
        pairs: Integers,
        owners: Integers,
        taken: Integers,
        ambiguous: list[tuple[Integers, Flags]],
        tie: Floats,
    ) -> StoredPaths:
        """Sort the arcs that were found, from the ends of paths, by path."""
        order = np.argsort(owners[::-1], kind="stable")
        starts = np.zeros(len(pairs) + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=len(pairs)), out=starts[1:])
        unique = np.ones(len(pairs), np.bool_)
        for at, unsure in ambiguous:
            unique[at[unsure]] = False
        return cls(arcs, pairs, starts, taken[::-1][order], unique, tie)

    def lengths(self) -> Floats:
        """The current length of each path."""
        if not len(self.passed):
            return np.zeros(len(self.pairs))
        return np.add.reduceat(self.arcs.weights[self.passed], self.starts[:-1])

    @cached_property
    def visits(self) -> Integers:
        """How many paths pass each edge."""
        return np.bincount(self.arcs.edge[self.passed], minlength=len(self.arcs.places))

    @cached_property
    def _by_edge(self) -> tuple[Integers, Integers, Flags]:
        """Where each edge starts; the paths that pass it; and whether they pass it from `second` to `first`."""
        edge = self.arcs.edge[self.passed]
        order = np.argsort(edge, kind="stable")
        owner = np.repeat(np.arange(len(self.pairs)), np.diff(self.starts))
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.visits)))
        against = self.passed != self.arcs.places[edge, 0]
        return starts, owner[order], against[order]

    def through(self, edge: int) -> tuple[Integers, Flags]:
        """The paths that pass an edge, and whether each passes it from `second` to `first`."""
        starts, owner, against = self._by_edge
        some = slice(starts[edge], starts[edge + 1])
        return owner[some], against[some]

    def changed(self) -> tuple[Flags, Flags]:
        """Whether each path is no shortest path any more, and whether there is another one of its length.

        All is computed again from the weights, by scipy's Dijkstra.
        """
        lengths = self.lengths()
        longer = np.zeros(len(lengths), np.bool_)
        tied = np.zeros(len(lengths), np.bool_)
        sources, row = np.unique(self.pairs[:, 0], return_inverse=True)
        order = np.argsort(row, kind="stable")
        for rows, table in self.arcs.distances_from(sources):
            begin, end = np.searchsorted(row[order], (rows[0], rows[-1] + 1))
            some = order[begin:end]
            inside = row[some] - rows[0]
            ties = np.zeros(len(rows))
            ties[inside] = self.tie[some]  # one for all paths from a vertex
            useful = _drop_long_arcs(self.arcs, sources[rows], table, float(ties.max()))
            tight = (_are_tight(useful, to_all, tie) for to_all, tie in zip(table, ties, strict=True))
            several = np.stack([_have_several(self.arcs, arcs) for arcs in tight])
            longer[some] = lengths[some] > table[inside, self.pairs[some, 1]] * (1 + _LONGER)
            sizes = np.diff(self.starts)[some]
            entries = index_ranges(self.starts[some], sizes)
            unsure = several[np.repeat(inside, sizes), self.arcs.head[self.passed[entries]]]
            tied[some] = np.logical_or.reduceat(unsure, np.cumsum(sizes) - sizes)
        return longer, tied


def search(matrix: Any, sources: Integers | int, limit: float = np.inf) -> Floats:
    """Distances from vertices to all others, or infinity beyond a limit: one row per source, or one for a number."""
    from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

    return cast("Any", csgraph).dijkstra(matrix, indices=sources, limit=limit)


def search_tree(matrix: Any, source: int) -> Integers:
    """The vertex before each one on a shortest path from the source; negative if there is none."""
    from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

    return cast("Any", csgraph).dijkstra(matrix, indices=source, return_predecessors=True)[1].astype(np.int64)


def search_nearer(matrix: Any, sources: tuple[int, int], limit: float) -> tuple[Floats, Flags]:
    """Distances from the nearer of two vertices, or infinity beyond a limit; and whether that is the first one."""
    from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

    more: Any = {"min_only": True, "return_predecessors": True}
    distances, _, nearest = cast("Any", csgraph).dijkstra(matrix, indices=sources, limit=limit, **more)
    return distances, nearest == sources[0]


def components_of(matrix: Any, *, strong: bool = False) -> Integers:
    """The number of the component of each vertex."""
    from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

    return cast("Any", csgraph).connected_components(matrix, directed=strong, connection="strong")[1]


class _Ends(NamedTuple):
    """Some arcs, with their ends and weights."""

    arcs: Integers
    tail: Integers
    head: Integers
    weights: Floats


def _drop_long_arcs(arcs: Arcs, sources: Integers, table: Floats, within: float) -> _Ends:
    """Leave out arcs that are longer than a way round, as far as distances from their tails are known."""
    row = np.full(arcs.vertices, -1)
    row[sources] = np.arange(len(sources))
    row = row[arcs.tail]
    useful = np.flatnonzero((row < 0) | (arcs.weights <= table[row, arcs.head] + within))
    return _Ends(useful, arcs.tail[useful], arcs.head[useful], arcs.weights[useful])


def _are_tight(some: _Ends, lengths: Floats, within: float) -> Integers:
    """Which arcs end a shortest path from the source of these distances."""
    with np.errstate(invalid="ignore"):
        before, after = lengths[some.tail], lengths[some.head]
        # a path does not come back: arcs too light to change a sum would close circles
        return some.arcs[(before + some.weights - after <= within) & (before < after)]


def _have_several(arcs: Arcs, tight: Integers) -> Flags:
    """Whether shortest paths reach each vertex by several arcs."""
    return np.bincount(arcs.head[tight], minlength=arcs.vertices) > 1


def _last_arcs(arcs: Arcs, tight: Integers, lengths: Floats, source: int, rounding: float) -> Integers:
    """The arc by which the chosen path from the source reaches each vertex."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while

    size = arcs.vertices
    tight = tight[lengths[arcs.tail[tight]] + arcs.weights[tight] - lengths[arcs.head[tight]] <= rounding]
    counts = np.bincount(arcs.head[tight], minlength=size)
    last = np.full(size, -1)
    if np.any(counts > 1):
        ones = (np.ones(len(tight)), (arcs.tail[tight], arcs.head[tight]))
        steps = search(csr_array(ones, shape=(size, size)), source)
        tight = tight[steps[arcs.tail[tight]] + 1 == steps[arcs.head[tight]]]
    # arcs are sorted by tail, and the one that is written last stays: the smallest
    last[arcs.head[tight[::-1]]] = tight[::-1]
    missing = np.isfinite(lengths) & (last < 0)
    missing[source] = False
    if np.any(missing):
        # weights so far apart that the lightest are lost in sums: the tree that scipy finds has no circles
        before = search_tree(arcs.matrix, source)
        ends = np.flatnonzero(before >= 0)
        keys = arcs.tail * size + arcs.head
        last[ends] = np.searchsorted(keys, before[ends] * size + ends)
    return last


def _walk_back(
    arcs: Arcs, pairs: Integers, rows: Integers, last: Integers, several: Flags
) -> Iterator[tuple[Integers, Integers, Flags]]:
    """Walk all paths back, one arc per round: which paths, by which arcs, and whether others reach the same vertex."""
    walking = np.arange(len(pairs))
    at = pairs[:, 1]
    while len(walking):
        inside = rows[walking]
        taken = last[inside, at]
        if np.any(taken < 0):
            msg = "a pair of vertices has no path between them"
            raise DomainError(msg)
        yield walking, taken, several[inside, at]
        at = arcs.tail[taken]
        going = at != pairs[walking, 0]
        walking, at = walking[going], at[going]
