"""Utility of synthetic trajectories, whose visits are not those of the original.

Journeys are compared as sequences of places, by origin and destination, by duration, and by the times and places of
visits. For the owner only: no guarantee covers these figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Sequences, Trajectories, Value
from hedgerow.measures.containment import containment_scores
from hedgerow.measures.scoring import exact_score
from hedgerow.measures.sequences import measure_sequences
from hedgerow.score import Score

__all__ = ["as_sequences", "measure_journeys"]

Integers: TypeAlias = NDArray[np.int64]

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class _Journeys:
    """Journeys as codes: times of first and last visit, duration, origin and destination, time and label per visit."""

    starts: Integers
    finishes: Integers
    durations: Integers
    origin_destination: Integers
    times: Integers
    visits: Integers

    @classmethod
    def of(cls, data: Trajectories) -> _Journeys:
        starts, pairs, _ = data.arrays()
        places = data.domain.size("place")
        filled = np.flatnonzero(np.diff(starts))
        first, last = pairs[starts[filled]], pairs[starts[filled + 1] - 1]
        begin, end = first // places, last // places
        between = (first % places) * places + last % places
        return cls(begin, end, end - begin, between, pairs // places, pairs)


def as_sequences(data: Trajectories) -> Sequences:
    """The places of each record in order; records without visits are left out."""
    starts, pairs, _ = data.arrays()
    domain = Domain((("item", data.domain.axis("place")),), data.domain.source)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Sequences.from_columns(row=row, item=pairs % data.domain.size("place"), domain=domain)


def measure_journeys(
    original: Trajectories,
    released: Trajectories,
    controls: Mapping[str, Trajectories],
    rng: np.random.Generator,
    *,
    longest: int,
    queries: int = 2_000,
) -> list[Score]:
    """Compare released visits with the original, both over the same places and times.

    Parameters
    ----------
    controls
        Other releases by name.
    rng
        Draws the workloads.
    longest
        How many visits of a record were used.
    queries
        How many queries each group of the workload has.
    """
    place_sequences = {name: as_sequences(control) for name, control in controls.items()}
    before, after = as_sequences(original), as_sequences(released)
    scores = measure_sequences(before, after, place_sequences, rng, longest=longest, queries=queries)
    scores += containment_scores(before, after, place_sequences, rng)
    truth, ours = _Journeys.of(original), _Journeys.of(released)
    others = {name: _Journeys.of(control) for name, control in controls.items()}
    return [*scores, *_distances(truth, ours, others), *_charts(original.domain, truth, ours)]


def _distances(truth: _Journeys, ours: _Journeys, controls: Mapping[str, _Journeys]) -> list[Score]:
    named = {
        "starts": "times of first visits",
        "finishes": "times of last visits",
        "durations": "durations",
        "origin_destination": "origin-destination pairs",
        "times": "times of visits",
        "visits": "times and places of visits",
    }
    return [
        exact_score(
            f"total variation of {what}",
            _total_variation(getattr(truth, field), getattr(ours, field)),
            {
                name: _total_variation(getattr(truth, field), getattr(control, field))
                for name, control in controls.items()
            },
            better="lower",
        )
        for field, what in named.items()
    ]


def _total_variation(first: Integers, second: Integers) -> float:
    """The total variation distance between two lists of codes; 1 if just one of them is empty."""
    if not len(first) or not len(second):
        return float(len(first) != len(second))
    codes, place = np.unique(np.concatenate((first, second)), return_inverse=True)
    one = np.bincount(place[: len(first)], minlength=len(codes)) / len(first)
    other = np.bincount(place[len(first) :], minlength=len(codes)) / len(second)
    return 0.5 * float(np.abs(one - other).sum())


def _charts(domain: Domain, truth: _Journeys, ours: _Journeys) -> list[Score]:
    times, places = domain.values("time"), domain.values("place")
    durations = range(min(_SHOWN, len(times)))
    pairs = _most_frequent(truth.origin_destination, _SHOWN)
    return [
        *_bars(
            "records by duration, in time steps",
            {code: f"{code}" for code in durations},
            truth.durations,
            ours.durations,
        ),
        *_by_time("records by time of first visit", times, truth.starts, ours.starts),
        *_by_time("visits by time", times, truth.times, ours.times),
        *_bars(
            "the most frequent origin-destination pairs",
            {code: _pair_name(places, code) for code in pairs},
            truth.origin_destination,
            ours.origin_destination,
        ),
    ]


def _by_time(chart: str, times: tuple[Value, ...], truth: Integers, ours: Integers) -> list[Score]:
    shown = sorted(_most_frequent(truth, _SHOWN + 4))
    return _bars(chart, {code: f"{times[code]}" for code in shown}, truth, ours)


def _bars(chart: str, shown: Mapping[int, str], truth: Integers, ours: Integers) -> list[Score]:
    before, after = _count_codes(truth), _count_codes(ours)
    return [
        exact_score(
            f"{chart}: {name}",
            after.get(code, 0),
            {"original": before.get(code, 0)},
            chart=chart,
            at=name,
        )
        for code, name in shown.items()
    ]


def _count_codes(codes: Integers) -> dict[int, int]:
    distinct, counts = np.unique(codes, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def _most_frequent(codes: Integers, many: int) -> list[int]:
    """The most frequent codes, most frequent first."""
    ranked = sorted(_count_codes(codes).items(), key=lambda counted: (-counted[1], counted[0]))
    return [code for code, _ in ranked[:many]]


def _pair_name(places: tuple[Value, ...], pair: int) -> str:
    first, last = divmod(pair, len(places))
    return f"{places[first]} to {places[last]}"
