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
from hedgerow.measures.scoring import exact_score
from hedgerow.measures.sequences import measure_sequences
from hedgerow.score import Score

__all__ = ["as_sequences", "measure_journeys"]

Integers: TypeAlias = NDArray[np.int64]

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class _Journeys:
    """Counts of what journeys are like: time apart, first and last place, time, time and place."""

    records: int
    durations: Integers
    ends: Integers
    times: Integers
    visits: Integers

    @classmethod
    def of(cls, data: Trajectories) -> _Journeys:
        starts, pairs, _ = data.arrays()
        places, times = data.domain.size("place"), data.domain.size("time")
        filled = np.flatnonzero(np.diff(starts))
        first, last = pairs[starts[filled]], pairs[starts[filled + 1] - 1]
        between = (first % places) * places + last % places
        return cls(
            len(filled),
            np.bincount(last // places - first // places, minlength=times),
            np.bincount(between, minlength=places * places),
            np.bincount(pairs // places, minlength=times),
            np.bincount(pairs, minlength=places * times),
        )


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
    plain = {name: as_sequences(held) for name, held in controls.items()}
    scores = measure_sequences(
        as_sequences(original), as_sequences(released), plain, rng, longest=longest, queries=queries
    )
    truth, ours = _Journeys.of(original), _Journeys.of(released)
    beside = {name: _Journeys.of(held) for name, held in controls.items()}
    return [*scores, *_distances(truth, ours, beside), *_pictures(original.domain, truth, ours)]


def _distances(truth: _Journeys, ours: _Journeys, beside: Mapping[str, _Journeys]) -> list[Score]:
    named = {
        "durations": "durations",
        "ends": "origins and destinations",
        "times": "times of visits",
        "visits": "times and places of visits",
    }
    return [
        exact_score(
            f"total variation of {what}",
            _apart(getattr(truth, field), getattr(ours, field)),
            {
                name: _apart(getattr(truth, field), getattr(held, field))
                for name, held in beside.items()
            },
            better="lower",
        )
        for field, what in named.items()
    ]


def _apart(first: Integers, second: Integers) -> float:
    """The total variation of two tables of counts; an empty one is half away from any other."""
    one, other = (held / max(1, held.sum()) for held in (first, second))
    return 0.5 * float(np.abs(one - other).sum())


def _pictures(domain: Domain, truth: _Journeys, ours: _Journeys) -> list[Score]:
    times, places = domain.values("time"), domain.values("place")
    scores = [
        exact_score(
            f"records that take {apart} steps of time",
            int(ours.durations[apart]),
            {"original": int(truth.durations[apart])},
            chart="records by how long they take, in steps of time",
            at=f"{apart}",
        )
        for apart in range(min(_SHOWN, len(times)))
    ]
    scores += [
        exact_score(
            f"visits at {times[number]}",
            int(ours.times[number]),
            {"original": int(truth.times[number])},
            chart="visits by time",
            at=f"{times[number]}",
        )
        for number in _most(truth.times)
    ]
    return scores + [
        exact_score(
            f"records from {_way(places, pair)}",
            int(ours.ends[pair]),
            {"original": int(truth.ends[pair])},
            chart="the most frequent origins and destinations",
            at=_way(places, pair),
        )
        for pair in np.argsort(-truth.ends, kind="stable")[:_SHOWN].tolist()
    ]


def _most(counts: Integers) -> list[int]:
    return np.sort(np.argsort(-counts, kind="stable")[: _SHOWN + 4]).tolist()


def _way(places: tuple[Value, ...], pair: int) -> str:
    first, last = divmod(pair, len(places))
    return f"{places[first]} to {places[last]}"
