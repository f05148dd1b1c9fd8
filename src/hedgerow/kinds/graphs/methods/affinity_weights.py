"""Weights that look like others beside them, moved within the intervals that keep shortest paths."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from hedgerow import progress
from hedgerow.errors import InternalError, NotSatisfied
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.anonymity_windows import (
    Distance,
    Interval,
    Steps,
    draw_within,
    find_most_near,
    find_nearest,
    list_nearby,
    take_closest,
)
from hedgerow.kinds.graphs.methods.arc_rows import ArcRows, Goal
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.kinds.graphs.methods.kept_pairs import choose_pairs
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.short_decimals import DIGITS, count_digits, find_place
from hedgerow.privacy import Ledger
from hedgerow.publisher import Publisher, param

#: after how many edges progress is told
_EDGES = 50


@dataclass(frozen=True, kw_only=True)
class AffinityWeights(Publisher[Graph]):
    r"""Publish a weighted network whose arcs look like others of their vertex, with chosen shortest paths kept.

    One edge after another is given a weight with which at least $k$ arcs beside it differ by at most $\mu$ [1]_. The
    interval in which its weight may move without changing a chosen shortest path, or the length of one by more than
    $\tau$, is exact and computed on the weights as they are then. The new weight is drawn uniformly in the part of that
    interval that is nearest to the old one among those that make most arcs anonymous.

    Privacy
    -------
    The promise is about what is published: a share of its arcs is anonymous, counted on the output by other code, and
    below the declared share nothing is published. Weights that are anonymous as they are, or that cannot be moved,
    stand exactly; the statement says how many. New weights are drawn with seven digits, or with as many as the weights
    of the data have at most, if these have more: where the weights of the data have fewer, moved ones show, unless
    `grain` is theirs. That weights are within $\mu$ of each other tells each of them to within
    $\mu$. Between which vertices paths are kept is not published.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> edges = [("Company A", f"Agent {n}") for n in range(1, 5)]
    >>> domain = Domain.declare(vertex=["Company A", *(target for _, target in edges)])
    >>> trade = Graph.from_edges(edges, weights=[40, 10, 48, 43], directed=True, domain=domain)
    >>> promise = MuWeightedKAnonymity(mu=10, k=3, share=1)
    >>> release = AffinityWeights(choice="closest").publish(trade, promise, seed=1)
    >>> release.data.weights.tolist()
    [40.0, 33.0, 48.0, 43.0]

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 5.
    """

    name: ClassVar[str] = "affinity-weights"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (MuWeightedKAnonymity,)
    units: ClassVar = ()
    uses: ClassVar = ("weights", "directions", "paths")
    needs: ClassVar = ("weights",)
    undone_by: ClassVar = ("exact weights",)
    reads_all_records: ClassVar[bool] = True
    recommended: ClassVar[str] = "weights among which none may stand out, where shortest paths must stay"

    pairs: float = param(0.0, "share of all pairs of vertices, drawn at random, whose shortest paths stay", ge=0, le=1)
    tau: float = param(0.2, "how much the length of a kept path may change, as a share of it", ge=0)
    order: str = param(
        "freq",
        "which edges are moved first: those on most kept paths, those on fewest, or in random order",
        choices=("freq", "inverse", "random"),
    )
    objective: str = param(
        "row", "whether a move is judged by its own arc, or by all arcs beside it", choices=("row", "arc")
    )
    choice: str = param(
        "uniform",
        "whether a weight is drawn in its interval, or is the closest one, which shows",
        choices=("uniform", "closest"),
    )
    strict: bool = param(True, "whether only moves are made that make an arc anonymous")
    sweeps: int = param(1, "how often edges are gone through that are not anonymous", ge=1)
    grain: float = param(0.0, "weights are drawn on multiples of this where there are any; 0: anywhere", ge=0)
    force: bool = param(False, "whether edges that are anonymous as they are get new weights, too")

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Go through the edges, move what can be moved, and check paths, lengths and arcs again from nothing."""
        promise = ledger.promised(MuWeightedKAnonymity)
        promise.warn_about(data)
        coins = ledger.coins()
        exact = data.require_weights()
        goal = goal_of(promise, directed=data.directed)
        first, second = data.first.astype(np.int64), data.second.astype(np.int64)
        vertices = data.domain.size("vertex")
        chosen = choose_pairs(data, self.pairs, coins)
        progress.count("shortest paths kept", len(chosen.pairs))
        progress.count("pairs without a path, left out", chosen.unreachable)
        feasible = FeasibleIntervals.of(first, second, exact, vertices, chosen.pairs, directed=data.directed)
        rows = ArcRows(first, second, feasible.weights, vertices, goal)
        sweep = EdgeSweep(self, feasible, rows, coins)
        order = sweep.order_edges()
        for number in range(self.sweeps):
            for done, edge in enumerate(order.tolist()):
                if done % _EDGES == 0:
                    progress.tell("moving weights" if number == 0 else "moving weights again", done, len(order))
                sweep.visit(edge)
            order = order[rows.count_by_edge()[order] < rows.arcs_per_edge]
        weights = feasible.weights.copy()
        require_kept(feasible, self.tau)
        counts = ArcRows(first, second, weights, vertices, goal).count_by_edge()
        require_share(int(counts.sum()), rows.arcs_per_edge * len(counts), promise)
        stands, each = weights == exact, rows.arcs_per_edge
        if not self.grain:
            warn_about_digits(exact, weights)
        ledger.disclose("arcs of the network", each * len(stands))
        ledger.disclose("arcs that stand with their exact weight", each * int(np.count_nonzero(stands)))
        exposed = each * int(np.count_nonzero(stands)) - int(counts[stands].sum())
        ledger.disclose("arcs that stand with their exact weight and are not anonymous", exposed)
        return data.weighted(weights)


def goal_of(promise: MuWeightedKAnonymity, *, directed: bool) -> Goal:
    """What is promised, as the search needs it."""
    return Goal(
        k=promise.k,
        distance=Distance(promise.mu, promise.relative),
        neighbourhood=promise.neighbourhood,
        small_degree=promise.small_degree,
        directed=directed,
    )


def require_kept(feasible: FeasibleIntervals, tau: float) -> None:
    """Check the paths from the weights alone, and their lengths."""
    changed = np.abs(feasible.lengths - feasible.first_lengths)
    far = changed > tau * feasible.first_lengths + feasible.tolerance
    lost = len(feasible.broken())
    if lost or np.any(far):
        msg = f"affinity-weights lost {lost} shortest paths and {np.count_nonzero(far)} lengths"
        raise InternalError(msg)


def require_share(anonymous: int, arcs: int, promise: MuWeightedKAnonymity) -> None:
    """Refuse to publish less than what is declared."""
    if anonymous < promise.share * arcs:
        msg = (
            f"affinity-weights made {anonymous:,} of {arcs:,} arcs anonymous ({anonymous / arcs:.1%}), and "
            f"{float(promise.share):.4g} of them is declared; nothing was released; a smaller share or k, a larger mu, "
            "fewer paths to keep or a larger tau helps"
        )
        raise NotSatisfied(msg)


def warn_about_digits(before: Floats, after: Floats) -> None:
    """Warn the owner if moved weights have digits that no weight of the data has."""
    moved = after[after != before]
    if not len(moved):
        return
    place = find_place(before)
    # weights of which seven digits end where the others do, or before, are not told from them
    if place > find_place(moved) and place > math.floor(math.log10(float(moved.min()))) - DIGITS + 1:
        grain = f"{Decimal(1).scaleb(place):f}"
        warnings.warn(
            f"moved weights show by their digits: all weights of the data are multiples of {grain}, and new ones are "
            f"not; with grain = {grain} (--set grain={grain}) they are, where there is one",
            stacklevel=3,
        )


# ---- one edge


@dataclass(frozen=True, eq=False)
class Prospect:
    """What weights of an edge would bring, before it is known how far its weight may move."""

    weight: float
    worth: int
    windows: Sequence[Floats]
    depending: Floats


class EdgeSweep:
    """Gives one edge after another a weight with which more arcs are anonymous."""

    def __init__(
        self, method: AffinityWeights, feasible: FeasibleIntervals, rows: ArcRows, coins: np.random.Generator
    ) -> None:
        self.method, self.feasible, self.rows, self.coins = method, feasible, rows, coins
        self._grain = Fraction(repr(method.grain))
        self._digits = max(DIGITS, count_digits(feasible.weights))

    def order_edges(self) -> Integers:
        """All edges in the order in which they are moved; of equal ones the first one comes first."""
        visits = self.feasible.visits
        if self.method.order == "random":
            return self.coins.permutation(len(visits))
        return np.argsort(-visits if self.method.order == "freq" else visits, kind="stable")

    def visit(self, edge: int) -> None:
        """Move an edge, unless it is anonymous as it is; no path is looked at before that is clear."""
        rows, weight = self.rows, float(self.feasible.weights[edge])
        worth = rows.worth(edge, weight)
        if worth == rows.arcs_per_edge and not self.method.force:
            return
        sides = range(rows.sides.shape[1])
        depending = [rows.depending(edge, side) for side in sides] if self.method.objective == "row" else []
        prospect = Prospect(
            weight,
            worth,
            [rows.windows(edge, side) for side in sides],
            np.concatenate([np.zeros((0, 2)), *depending]),
        )
        reach = Reach(self.feasible, edge, self.method.tau)
        part = self.find_best(prospect, reach)
        new = weight if part is None else self._take(edge, part, prospect, reach)
        if part is None and not self.method.strict:
            new = self._approach(edge, weight, reach)
        if new != weight:
            self.feasible.move(edge, new)
            rows.moved(edge, weight)

    def find_best(self, prospect: Prospect, reach: Reach) -> Interval | None:
        """The interval to take a weight from, with no more searches for paths than it takes to know it.

        Bounds that are not known yet are taken as wide as they can be: an interval that is best among more weights than
        there are, and lies within known bounds, is best.
        """
        while (part := self._best_within(prospect, reach.bounds)) is not None:
            above, below = part.high > prospect.weight, part.low < prospect.weight
            if not reach.know(above=above, below=below):
                break
        return part

    def _best_within(self, prospect: Prospect, bounds: Interval) -> Interval | None:
        if not bounds.low < bounds.high:
            return None
        steps = Steps.between(bounds, [*prospect.windows, prospect.depending])
        own = self.rows.worth_in([steps.cover(windows) > 0 for windows in prospect.windows])
        depending = steps.cover(prospect.depending)
        weight, closed = prospect.weight, prospect.depending
        now = prospect.worth + int(np.count_nonzero((closed[:, 0] <= weight) & (closed[:, 1] >= weight)))
        least = 0 if self.method.force else 1
        usable = (own >= prospect.worth + least) & (own + depending >= now + least)
        usable[[0, -1]] = False  # the bounds are open
        if not np.any(usable):
            return None
        value = own + depending
        return find_nearest(steps.intervals(usable & (value == value[usable].max())), weight)

    def _take(self, edge: int, part: Interval, prospect: Prospect, reach: Reach) -> float:
        """A weight of the interval; one that misses it by rounding is no use."""
        if not np.isfinite(part.high):
            return prospect.weight
        if self.method.choice == "closest":
            chosen = take_closest(part, prospect.weight, self._grain)
        else:
            chosen = draw_within(part, self._grain, self._digits, self.coins)
        least = prospect.worth if self.method.force else prospect.worth + 1
        low, high = reach.bounds
        usable = (x for x in list_nearby(chosen) if low < x < high and self.rows.worth(edge, x) >= least)
        return next(usable, prospect.weight)

    def _approach(self, edge: int, weight: float, reach: Reach) -> float:
        """A weight with more arcs near to it, although they are too few."""
        reach.know(above=True, below=True)
        if not reach.bounds.low < reach.bounds.high:
            return weight
        rows = [self.rows.weights[self.rows.others(edge, side)] for side in range(self.rows.sides.shape[1])]
        return find_most_near(weight, rows, reach.bounds, self.rows.goal.distance)[1]


class Reach:
    """How far the weight of an edge may move; what takes searches for paths is found when it is asked for."""

    def __init__(self, feasible: FeasibleIntervals, edge: int, tau: float) -> None:
        self._feasible, self._edge = feasible, edge
        self._weight = float(feasible.weights[edge])
        passing = feasible.pairs_of(edge)
        first, now = feasible.first_lengths[passing], feasible.lengths[passing]
        low = np.max(self._weight + first * (1 - tau) - now, initial=0.0)
        high = np.min(self._weight + first * (1 + tau) - now, initial=np.inf)
        self.bounds = Interval(float(low), float(high))
        self._above = self._below = False

    def know(self, *, above: bool, below: bool) -> bool:
        """Find out how far up, or down; whether anything was not known."""
        news = (above and not self._above) or (below and not self._below)
        low, high = self.bounds
        tolerance = self._feasible.tolerance
        if above and not self._above:
            self._above = True
            rise = self._feasible.rise(self._edge)
            high = min(high, self._weight + (rise - tolerance if rise > tolerance else 0.0))
        if below and not self._below:
            self._below = True
            fall = self._feasible.fall(self._edge)
            low = max(low, self._weight - (fall - tolerance if fall > tolerance else 0.0))
        self.bounds = Interval(low, high)
        return news
