r"""How far one weight of a network may change so that chosen shortest paths stay shortest paths.

Let $P_h$ be the stored path of pair $h$, of length $d_h$, and $e = (i, j)$ an edge of weight $w$. With $d_h^-$ the
distance without $e$, and $\mathrm{via}_h = \min(d(s, i) + w + d(j, t))$, over both directions of $e$ if it has none,

- $e$ may rise by less than $\min \{d_h^- - d_h : e \in P_h\}$, and
- it may fall by less than $w$ and $\min \{\mathrm{via}_h - d_h : e \notin P_h\}$:

within this open interval every $P_h$ stays a shortest path, and the only one if it was; beyond its ends one is lost.
A path through $e$ and its rivals through $e$ change alike, and other rivals do not change; so a rise is stopped by the
best rival without $e$, and a fall only threatens paths without $e$, by walks through it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.graphs.methods.network_distances import AllDistances, Searches
from hedgerow.kinds.graphs.methods.stored_paths import Arcs, StoredPaths
from hedgerow.numerics.arrays import Flags, Floats, Integers

#: weights and lengths that differ by less than this part of the longest kept path, or of the heaviest weight if that is
#: less, are not told apart
TOLERANCE = 1e-9
#: up to so many vertices, all distances are kept in memory
_MOST_IN_TABLE = 2_500


class FeasibleIntervals:
    """Current weights of a network, one shortest path for each of several pairs, and how far weights may change.

    Examples
    --------
    A square whose path from 0 to 2 leads through 1, with a detour through 3:

    >>> first, second = np.array([0, 0, 1, 2]), np.array([1, 3, 2, 3])
    >>> square = FeasibleIntervals.of(first, second, np.array([1.0, 2, 1, 2]), 4, np.array([[0, 2]]), directed=False)
    >>> square.visits.tolist(), square.rise(0), square.fall(1)
    ([1, 0, 1, 0], 2.0, 2.0)
    >>> square.move(0, 2.5)
    >>> square.lengths.tolist(), square.first_lengths.tolist(), square.rise(2), square.broken().tolist()
    ([3.5], [2.0], 0.5, [])
    """

    def __init__(self, paths: StoredPaths, *, weights: Floats, directed: bool, in_table: bool) -> None:
        self.paths = paths
        self.weights = weights
        self.directed = directed
        self.first_lengths = paths.lengths()
        heaviest = float(weights.max(initial=0.0))
        # an edge that is far too heavy for any kept path must not decide how finely these are told apart
        self.tolerance = TOLERANCE * min(heaviest, float(self.first_lengths.max(initial=0.0)) or heaviest)
        self.lengths = self.first_lengths.copy()
        self._in_table = in_table

    @classmethod
    def of(
        cls,
        first: NDArray[Any],
        second: NDArray[Any],
        weights: Floats,
        vertices: int,
        pairs: NDArray[Any],
        *,
        directed: bool,
        in_table: bool | None = None,
    ) -> FeasibleIntervals:
        """Find a shortest path for each pair (h x 2); all pairs must be reachable.

        Without directions, a pair is the same in both orders. `in_table` says whether all distances are kept in memory;
        None decides by the sizes.
        """
        weights = np.array(weights, np.float64)
        arcs = Arcs.of(first, second, weights, vertices, directed=directed)
        ends = np.asarray(pairs, np.int64).reshape(-1, 2)
        ends = ends if directed else np.sort(ends, axis=1)
        paths = StoredPaths.find(arcs, ends, tie=TOLERANCE / 4)
        if in_table is None:
            # a table costs one search per vertex, and as much per edge as few searches
            in_table = vertices <= _MOST_IN_TABLE and len(paths.passed) > vertices
        return cls(paths, weights=weights, directed=directed, in_table=in_table)

    @staticmethod
    def unreachable(
        first: NDArray[Any], second: NDArray[Any], vertices: int, pairs: NDArray[Any], *, directed: bool
    ) -> Flags:
        """Whether no path leads from the first to the second vertex of each pair.

        Examples
        --------
        >>> FeasibleIntervals.unreachable(np.array([0]), np.array([1]), 3, np.array([[1, 0], [0, 2]]), directed=False)
        array([False,  True])
        """
        arcs = Arcs.of(first, second, np.ones(len(first)), vertices, directed=directed)
        return arcs.unreachable(np.asarray(pairs, np.int64).reshape(-1, 2), directed=directed)

    @property
    def visits(self) -> Integers:
        """How many paths pass each edge."""
        return self.paths.visits

    def pairs_of(self, edge: int) -> Integers:
        """Which pairs have a path that passes an edge."""
        return self.paths.through(edge)[0]

    @cached_property
    def _distances(self) -> AllDistances | Searches:
        if self._in_table:
            return AllDistances(self.paths, self.tolerance, directed=self.directed)
        return Searches(self.paths, self.tolerance, directed=self.directed)

    def rise(self, edge: int) -> float:
        """By how much the weight of an edge may rise before a path is lost; infinite if nothing stops it."""
        return self._distances.rise(edge, self.lengths) if self.visits[edge] else math.inf

    def fall(self, edge: int) -> float:
        """By how much the weight of an edge may fall before a path is lost, or the weight is 0."""
        return self._distances.fall(edge, self.lengths)

    def move(self, edge: int, weight: float) -> None:
        """Set the weight of an edge, to one within its interval."""
        before = float(self.weights[edge])
        self.weights[edge] = weight
        self.paths.arcs.weights[self.paths.arcs.places[edge]] = weight
        self.lengths[self.pairs_of(edge)] += weight - before
        if "_distances" in self.__dict__:  # else they are computed when asked for, from the weights as they are then
            self._distances.moved(edge, before)

    def move_all(self, weights: Floats) -> None:
        """Set all weights at once; the caller knows that no path is lost."""
        self.weights[:] = weights
        self.paths.arcs.set_weights(weights)
        self.lengths[:] = self.paths.lengths()
        self.__dict__.pop("_distances", None)

    def broken(self, *, unique: bool = True) -> Integers:
        """Which paths are no shortest path any more, or have a rival of their length although they had none.

        Computed from the weights alone, with scipy's Dijkstra.

        Parameters
        ----------
        unique
            Whether a rival of the same length counts; otherwise only shorter ones do.
        """
        longer, tied = self.paths.changed()
        return np.flatnonzero(longer | (tied & self.paths.unique) if unique else longer)
