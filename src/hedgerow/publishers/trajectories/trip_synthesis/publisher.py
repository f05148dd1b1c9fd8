"""Trip synthesis: timed trajectories from low-dimensional noisy tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.noise_limits import SCALES, require_little_noise
from hedgerow.publishers.trajectories.trip_synthesis.length_classes import ENDS, count_departures, inner_visits
from hedgerow.publishers.trajectories.trip_synthesis.pair_table import (
    PlaceMargins,
    fit_ends,
    fit_steps,
    fit_times,
    place_margins,
    simplex,
    time_margins,
)
from hedgerow.publishers.trajectories.trip_synthesis.place_closeness import CLOSENESS, Closeness
from hedgerow.publishers.trajectories.trip_synthesis.trip_bridges import (
    Kernels,
    bridge,
    fresh_part,
    place_kernel,
    time_kernel,
)
from hedgerow.publishers.trajectories.trip_synthesis.trip_coupling import TripModel, couple
from hedgerow.publishers.trajectories.trip_synthesis.trip_questions import (
    LENGTHS,
    Questions,
    ask_lengths,
    share_out,
)

__all__ = ["TripSynthesis"]

Floats: TypeAlias = NDArray[np.float64]

#: most places, and most times
_VALUES = 2_000


@dataclass(frozen=True, kw_only=True)
class TripSynthesis(Publisher[Trajectories]):
    r"""Publish timed trajectories, synthesised from noisy tables of their ends, times, lengths and steps.

    The number of visits, the first and last time and the first and last place of a record are one point in a table of
    five dimensions. Each margin of it is a histogram of records, hence cheap whatever the length of records is. Only
    visits between the first and the last cost more. No threshold decides what is published: every table starts from a
    coarse model (a gravity model for pairs of places) and is corrected by finer noisy answers as far as these differ
    by more than noise. Records are sampled by exchanging cards between decks that keep the fitted tables; inner visits
    are bridges between the first and the last. The idea of synthesis from noisy mobility statistics is known [1]_,
    [2]_; the questions, the shrinkage, the coupling and the bridges are our own.

    Privacy
    -------
    A record is truncated to its first `l_max` visits; one without visits is in no question. Questions about whole
    records (lengths, times, places, pairs and the tables that join two of them): a record is in one cell of each
    (L1 = 1). Questions about inner visits and steps: whole-number weights, public for each number of visits, so that
    all inner visits, or all steps, of a record weigh at most 27,720 together (L1 = 27,720). Lengths get three
    hundredths of the budget; the shares of all other questions depend on the noisy lengths only and add up to the rest,
    exactly. Blocks of times and groups of places depend on noisy answers and on the public order of places; classes of
    distances and of gaps are public. Fitting, coupling and bridges use noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(place=["centre", "harbour", "station"], time=range(24))
    >>> trips = [[("station", 7), ("centre", 8)]] * 3000 + [[("harbour", 12)]] * 1000
    >>> data = Trajectories.from_records(trips, domain=domain)
    >>> release = TripSynthesis(l_max=4).publish(data, PureDP(epsilon=1, unit="trajectory"), seed=3)
    >>> visits = [visits for visits, _ in release.data.records()]
    >>> round(len(visits), -3), round(visits.count((("station", 7), ("centre", 8))), -3)
    (4000, 3000)

    References
    ----------
    .. [1] M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei. "Utility-aware synthesis of differentially private and
       attack-resilient location traces". CCS 2018.
    .. [2] X. He, G. Cormode, A. Machanavajjhala, C. M. Procopiuc, D. Srivastava. "DPT: differentially private
       trajectory synthesis using hierarchical reference systems". PVLDB 8(11), 2015.
    """

    name: ClassVar[str] = "trip-synthesis"
    kinds: ClassVar = (Trajectories,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("trajectory", "person")
    recommended: ClassVar[str] = "visits with times: when, from where to where, and how long"

    l_max: int = param(8, "how many visits of a record are used, from the first on", ge=1, le=60)
    closeness: str = param(
        "auto", "how close places are: by coordinates, by declared paths, or unknown", choices=CLOSENESS
    )

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Ask for margins, fit the tables of pairs, couple them to records, and bridge their first and last visits."""
        times, gap = data.domain.size("time"), data.labels.gap
        # where times increase strictly, no record has more visits than there are times
        longest = min(self.l_max, times) if gap else self.l_max
        _require_feasible(data.domain, longest, float(ledger.budget))
        closeness = Closeness.of(data.domain.axis("place"), self.closeness)
        visits, coins = data.positions(longest), ledger.coins()
        lengths = ask_lengths(visits, longest, ledger)
        ask = Questions(visits, closeness, times, longest, ledger, share_out(ledger.budget, lengths))
        number = float(lengths.sum())
        first, last = (simplex(noisy.values, number) for noisy in (ask.first_times(), ask.last_times()))
        single = float(lengths[0]) if gap else None
        when = fit_times(first, last, ask.durations(), ask.gaps, ask.time_blocks, single=single)
        inner_answers = ask.inner_places() if longest > ENDS else []
        margins = place_margins(ask.first_places(), ask.last_places(), inner_answers, number, inner_visits(lengths))
        close = ask.lengths_and_closeness()
        where = fit_ends(margins, close.values.reshape(longest, -1).sum(axis=0), closeness.classes, ask.ends())
        cross = ask.cross_tables(when, where)
        model = TripModel(lengths, when, where, ask.lengths_and_gaps(), close, cross, ask.gaps, closeness.classes, gap)
        trips = couple(model, coins)
        kernels, inner_times = None, np.zeros((0, times))
        if longest > ENDS:
            inner_times = time_margins(ask.inner_times(), first + last, inner_visits(lengths))
            kernels = self._kernels(ask, lengths, (first, last, inner_times), margins, where, gap)
        hours, places = bridge(trips, longest, kernels, (margins.inner, inner_times), coins)
        table = np.where(hours < 0, -1, hours * len(where) + places)
        return data.from_labels(table, np.ones(len(table), np.int64))

    @staticmethod
    def _kernels(
        ask: Questions,
        lengths: Floats,
        times: tuple[Floats, Floats, Floats],
        margins: PlaceMargins,
        where: Floats,
        gap: int,
    ) -> Kernels:
        """Ask for steps, and fit how places and times follow each other."""
        types = ask.step_types()
        fresh, classes = fresh_part(types), ask.closeness.classes
        rows, columns = (
            fresh * count_departures(lengths, ends, margins.inner) for ends in (margins.first, margins.last)
        )
        steps = fit_steps(rows, columns, where, ask.closeness_of_steps(), classes, ask.steps())
        first, last, inner = times
        departures = count_departures(lengths, first, inner)
        block, gaps = ask.gaps_of_steps(departures)
        hours = time_kernel(departures, block, gaps, ask.gaps, first + last, gap)
        return Kernels(place_kernel(types, steps), hours, gap)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `l_max` visits of a record are used."""
        return {"longest": self.l_max}


def _require_feasible(domain: Domain, longest: int, epsilon: float) -> None:
    """Refuse more places or times than tables of pairs can have, and noise that alone produces too many records."""
    for axis in ("place", "time"):
        if domain.size(axis) > _VALUES:
            msg = (
                f"trip-synthesis counts all pairs of {axis}s, so there may be {_VALUES:,} of them; declare coarser ones"
            )
            raise ParameterError(msg)
    noise = SCALES * sqrt(2 * longest) / (float(LENGTHS) * epsilon)
    require_little_noise(noise * longest, "visits", "take a larger epsilon, or a smaller l_max")
