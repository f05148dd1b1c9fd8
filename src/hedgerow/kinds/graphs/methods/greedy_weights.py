"""Weights that are changed while chosen shortest paths stay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow import progress
from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.kinds.graphs.methods.kept_pairs import choose_pairs
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.short_decimals import round_to_digits, shorten_within
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher, param

#: a fraction is inside (0, 1), and not at its ends
_INSIDE = 2.0**-53
#: the largest of published weights; the reciprocal is the smallest
_LARGEST = 1e280
#: after how many edges progress is told
_EDGES = 50


@dataclass(frozen=True, kw_only=True)
class GreedyWeights(Publisher[Graph]):
    r"""Publish a network with other weights, on which the shortest paths of chosen pairs are the same [1]_.

    $H$ is a set of pairs of vertices: those that the data names, and a random share of all. $f(e)$ is the number of
    pairs whose shortest path passes edge $e$. Edges on no path ($f = 0$) are made heavier, edges on all paths
    ($f = |H|$) lighter. Each of the others is moved once, by descending $f$: up if more of its pairs have a path that
    is not longer than it was than one that is, and down otherwise, by a random part of what keeps all paths.

    How far that is follows from a lemma that replaces Propositions 4.2.2 to 4.2.5 of the thesis, the last of which is
    wrong without directions (`hedgerow.kinds.graphs.methods.feasible_interval`). All paths are computed again at the
    end, from the weights that are published; if one is lost, nothing is published. New weights have seven digits, and
    more only where less would lose a path.

    Privacy
    -------
    None. Nothing is asked of the ledger, and nothing is promised. The edges are published as they are. Orders of
    magnitude survive; and whoever guesses $H$ knows that a weight on no path was only raised (unless `two_sided`), that
    one on all paths was only lowered, and that the true weights of each path sum to less than those of any other way.
    Some weights cannot be moved without losing a path, and are published exactly: the statement says how many, since
    whoever receives the release should know, and not which. The number of pairs in $H$ and how many of them are
    single edges are told to the owner only: they would help to guess $H$.

    Examples
    --------
    >>> from hedgerow import Distortion, Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> edges = [("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")]
    >>> graph = Graph.from_edges(edges, weights=[1, 2, 5], domain=domain).keeping([("ann", "cleo")])
    >>> release = GreedyWeights().publish(graph, Distortion(), seed=1)
    >>> release.data.weights.round(2).tolist()
    [0.98, 9.36, 1.09]

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 4, Algorithm 1.
    """

    name: ClassVar[str] = "greedy-weights"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    uses: ClassVar = ("weights", "directions", "paths")
    needs: ClassVar = ("weights",)
    undone_by: ClassVar = ("path inequalities",)

    share: float = param(0.0, "share of all pairs of vertices that keep their paths, beside those named", ge=0, le=1)
    rise: float = param(1.0, "weights on no path rise by up to this part of themselves", gt=0)
    fall: float = param(0.5, "weights on all paths fall by up to this part of themselves", gt=0, lt=1)
    least: float = param(0.0, "a weight moves by at least this part of what keeps all paths", ge=0, lt=1)
    ties: str = param("unique", "may a kept path get a rival of its length", choices=("unique", "allow"))
    two_sided: bool = param(False, "weights on no path may fall as well; takes longer")
    turn: bool = param(False, "move a weight the other way where it is stuck")

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Follow Algorithm 1."""
        coins = ledger.coins()
        self._require_moderate(data.require_weights())
        # 1. the paths that must stay
        chosen = choose_pairs(data, self.share, coins)
        intervals = FeasibleIntervals.of(
            data.first,
            data.second,
            data.require_weights(),
            data.domain.size("vertex"),
            chosen.pairs,
            directed=data.directed,
        )
        # 2. how many of them pass each edge
        visits, pairs = intervals.visits, len(chosen.pairs)
        unvisited, on_all = np.flatnonzero(visits == 0), np.flatnonzero((visits == pairs) & (visits > 0))
        # 3. edges on none
        if self.two_sided:
            self._move_unvisited(intervals, unvisited, coins)
        else:
            rises = self.rise * self._draw(coins, len(unvisited))
            intervals.move_all(_changed(intervals.weights, unvisited, rises, up=True))
        # 4. edges on all
        falls = np.minimum(self.fall * self._draw(coins, len(on_all)), 1 - self._margin(intervals, on_all))
        intervals.move_all(_changed(intervals.weights, on_all, -falls, up=False))
        # 5. the others, by descending number of paths; ties by number of the edge
        partial = np.flatnonzero((visits > 0) & (visits < pairs))
        partial = partial[np.argsort(-visits[partial], kind="stable")]
        # 6. and 7. each of them once
        for done, edge in enumerate(partial.tolist()):
            if done % _EDGES == 0:
                progress.tell("moving weights on kept paths", done, len(partial))
            self._move_partial(intervals, edge, coins)
        # 8. checked on what is published
        self._require_paths(intervals)
        self._report(intervals, data, chosen.unreachable, ledger)
        return data.weighted(intervals.weights.copy())

    def _require_moderate(self, weights: Floats) -> None:
        """Refuse weights at the limits of floating-point numbers."""
        if np.any((weights > _LARGEST / (1 + self.rise)) | (weights < 1 / _LARGEST)):
            msg = "a weight is too large or too small to be changed; give all weights in another unit"
            raise ParameterError(msg)

    def _draw(self, coins: np.random.Generator, number: int) -> Floats:
        """Draw fractions between the least and 1, without these."""
        return self.least + (1 - self.least) * np.clip(coins.random(number), _INSIDE, 1 - _INSIDE)

    def _margin(self, intervals: FeasibleIntervals, edges: Integers) -> Floats:
        """The part of each weight that is left at least: weights stay above 0."""
        return np.minimum(1.0, intervals.tolerance / 2 / intervals.weights[edges])

    def _move_partial(self, intervals: FeasibleIntervals, edge: int, coins: np.random.Generator) -> None:
        """Raise the weight of an edge if its paths did not get longer so far, or lower it."""
        through = intervals.pairs_of(edge)
        longer = intervals.lengths[through] > intervals.first_lengths[through] + intervals.tolerance
        up = int(longer.sum()) * 2 < len(through)
        # a fraction is drawn for each edge, moved or not, so that one edge does not decide what the next one draws
        fraction = float(self._draw(coins, 1)[0])
        for way in (up, not up) if self.turn else (up,):
            weight = float(intervals.weights[edge])
            bound = intervals.rise(edge) if way else intervals.fall(edge)
            bound = weight if math.isinf(bound) else bound
            if bound > intervals.tolerance:
                most = bound - self._gap(intervals, bound, weight, up=way)
                step = min(fraction * bound, most)
                low, high = (weight, weight + most) if way else (weight - most, weight)
                intervals.move(edge, shorten_within(weight + step if way else weight - step, low, high))
                return

    def _gap(self, intervals: FeasibleIntervals, bound: float, weight: float, *, up: bool) -> float:
        """What is left of a bound at least: a path that was the only shortest one stays so, and weights above 0."""
        closed = self.ties == "allow" and (up or bound < weight)
        return 0.0 if closed else intervals.tolerance / 2

    def _move_unvisited(self, intervals: FeasibleIntervals, edges: Integers, coins: np.random.Generator) -> None:
        """Draw new weights from whole intervals, one by one: two that fall on one rival path add up."""
        for done, (edge, fraction) in enumerate(zip(edges.tolist(), self._draw(coins, len(edges)), strict=True)):
            if done % _EDGES == 0:
                progress.tell("moving weights on no kept path", done, len(edges))
            weight = float(intervals.weights[edge])
            bound = intervals.fall(edge)
            lowest = weight - max(0.0, bound - self._gap(intervals, bound, weight, up=False))
            highest = weight * (1 + self.rise)
            intervals.move(edge, shorten_within(lowest + float(fraction) * (highest - lowest), lowest, highest))

    def _require_paths(self, intervals: FeasibleIntervals) -> None:
        """Compute all shortest paths again; refuse if one that must stay was lost."""
        progress.tell("checking all kept paths")
        lost = len(intervals.broken(unique=self.ties == "unique"))
        if lost:
            msg = f"{self.name} lost {lost} of the shortest paths that must stay; nothing was released"
            raise NotSatisfied(msg)

    def _report(self, intervals: FeasibleIntervals, data: Graph, unreachable: int, ledger: Ledger) -> None:
        sizes = np.diff(intervals.paths.starts)
        progress.count("shortest paths kept", len(sizes))
        progress.count("kept paths of a single edge", int((sizes == 1).sum()))
        progress.count("kept paths with a rival of their length before", int((~intervals.paths.unique).sum()))
        progress.count("pairs without a path, left out", unreachable)
        same = np.count_nonzero(intervals.weights == data.weights)
        ledger.disclose("weights published as they were", int(same))


def _changed(weights: Floats, edges: Integers, parts: Floats, *, up: bool) -> Floats:
    """Change the weights of some edges by parts of themselves, with few digits: the others tell the factor."""
    changed = weights.copy()
    rounded = round_to_digits(weights[edges] * (1 + parts), up=False)
    # down, so that nothing rises by more than it may; a weight with many digits must not fall by that
    changed[edges] = np.maximum(rounded, weights[edges]) if up else rounded
    return changed
