"""How much of visits with times is kept where no visit stands for one of the original's.

Journeys are compared as sequences of places, by where they begin and end, by how long they take,
and by when people are where. For the owner only: no guarantee covers these figures.
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
    """Codes of what journeys are like: when they begin and end, time apart, ends, time, visit."""

    starts: Integers
    finishes: Integers
    durations: Integers
    ends: Integers
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
    """The places of each record in order; those without visits are left out."""
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
        How many queries a group of the workload has.
    """
    plain = {name: as_sequences(control) for name, control in controls.items()}
    before, after = as_sequences(original), as_sequences(released)
    scores = measure_sequences(before, after, plain, rng, longest=longest, queries=queries)
    scores += containment_scores(before, after, plain, rng)
    truth, ours = _Journeys.of(original), _Journeys.of(released)
    beside = {name: _Journeys.of(control) for name, control in controls.items()}
    return [*scores, *_distances(truth, ours, beside), *_pictures(original.domain, truth, ours)]


def _distances(truth: _Journeys, ours: _Journeys, beside: Mapping[str, _Journeys]) -> list[Score]:
    named = {
        "starts": "times of first visits",
        "finishes": "times of last visits",
        "durations": "durations",
        "ends": "origins and destinations",
        "times": "times of visits",
        "visits": "times and places of visits",
    }
    return [
        exact_score(
            f"total variation of {what}",
            _apart(getattr(truth, field), getattr(ours, field)),
            {name: _apart(getattr(truth, field), getattr(control, field)) for name, control in beside.items()},
            better="lower",
        )
        for field, what in named.items()
    ]


def _apart(first: Integers, second: Integers) -> float:
    """The total variation of two lists of codes; an empty one is as far away as can be."""
    if not len(first) or not len(second):
        return float(len(first) != len(second))
    codes, place = np.unique(np.concatenate((first, second)), return_inverse=True)
    one = np.bincount(place[: len(first)], minlength=len(codes)) / len(first)
    other = np.bincount(place[len(first) :], minlength=len(codes)) / len(second)
    return 0.5 * float(np.abs(one - other).sum())


def _pictures(domain: Domain, truth: _Journeys, ours: _Journeys) -> list[Score]:
    times, places = domain.values("time"), domain.values("place")
    spans = list(range(min(_SHOWN, len(times))))
    ways = _most(truth.ends, _SHOWN)
    return [
        *_bars(
            "records by how long they take, in steps of time",
            {code: f"{code}" for code in spans},
            truth.durations,
            ours.durations,
        ),
        *_by_time("records by the time of their first visit", times, truth.starts, ours.starts),
        *_by_time("visits by time", times, truth.times, ours.times),
        *_bars(
            "the most frequent origins and destinations",
            {code: _way(places, code) for code in ways},
            truth.ends,
            ours.ends,
        ),
    ]


def _by_time(chart: str, times: tuple[Value, ...], truth: Integers, ours: Integers) -> list[Score]:
    shown = sorted(_most(truth, _SHOWN + 4))
    return _bars(chart, {code: f"{times[code]}" for code in shown}, truth, ours)


def _bars(chart: str, shown: Mapping[int, str], truth: Integers, ours: Integers) -> list[Score]:
    before, after = _counted(truth), _counted(ours)
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


def _counted(codes: Integers) -> dict[int, int]:
    seen, counts = np.unique(codes, return_counts=True)
    return dict(zip(seen.tolist(), counts.tolist(), strict=True))


def _most(codes: Integers, many: int) -> list[int]:
    """The most frequent codes, most frequent first."""
    ranked = sorted(_counted(codes).items(), key=lambda counted: (-counted[1], counted[0]))
    return [code for code, _ in ranked[:many]]


def _way(places: tuple[Value, ...], pair: int) -> str:
    first, last = divmod(pair, len(places))
    return f"{places[first]} to {places[last]}"
