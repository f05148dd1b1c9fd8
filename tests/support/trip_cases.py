"""Small data for trip synthesis, and the exact answers that it asks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow import Domain, PureDP, Trajectories, TripSynthesis
from hedgerow.audit import Recorder
from hedgerow.data import Axis
from hedgerow.privacy import ExactAnswers, NoisyAnswers
from hedgerow.privacy.questions import CellQuestion
from hedgerow.publisher import publish_with

__all__ = [
    "PEAKS",
    "TRIP",
    "asked",
    "exact_answers",
    "largest_error",
    "published",
    "random_trips",
    "start_hours",
    "total_variation",
    "trips_of",
]

TRIP = PureDP(epsilon=1, unit="trajectory")
PLACES = "ABCDEFGH"


def trips_of(records, *, places=4, times=24, several=True, coordinates=(), paths=()) -> Trajectories:
    """Make records given as texts: `A7 B8` is a visit to A at 7 and one to B at 8."""
    axis = Axis(tuple(PLACES[:places]), paths, coordinates)
    domain = Domain.declare(place=axis, time=range(times))
    visits = [[(visit[0], int(visit[1:])) for visit in record.split()] for record in records]
    return Trajectories.from_records(visits, domain=domain, several=several)


def random_trips(
    number: int, seed: int, *, places=3, times=6, most=6, several=True, coordinates=False, paths=False
) -> Trajectories:
    """Records of any number of visits up to `most`, also none."""
    draw = np.random.default_rng(seed)
    names = tuple(f"p{place}" for place in range(places))
    points = tuple((float(x), float(y)) for x, y in draw.random((places, 2))) if coordinates else ()
    groups = tuple((f"g{place % 2}",) for place in range(places)) if paths else ()
    domain = Domain.declare(place=Axis(names, groups, points), time=range(times), records_per_person=2)
    records = []
    for _ in range(number):
        size = int(draw.integers(0, most + 1))
        hours = draw.integers(0, times, size) if several else draw.permutation(times)[:size]
        records.append([(names[draw.integers(places)], int(hour)) for hour in np.sort(hours)])
    return Trajectories.from_records(
        records, domain=domain, several=several, persons=[row // 2 for row in range(number)]
    )


def asked(data: Trajectories, seed: int | None = None, epsilon="1", **parameters):
    """The questions of a run, without noise or with noise of a seed."""
    recorder = Recorder(ExactAnswers() if seed is None else NoisyAnswers(seed))
    promise = PureDP(epsilon=epsilon, unit="trajectory")
    publish_with(TripSynthesis(**parameters), data, promise, recorder)
    return [question for question, _ in recorder.transcript if isinstance(question, CellQuestion)]


def exact_answers(data: Trajectories, **parameters) -> dict[str, np.ndarray]:
    """The exact answer of every question, by label."""
    return {question.label: question.exact for question in asked(data, **parameters)}


def published(data: Trajectories, *, epsilon="1", seed: int | None = None, **parameters) -> Trajectories:
    """A release, without noise or with noise of a seed."""
    answers = ExactAnswers() if seed is None else NoisyAnswers(seed)
    promise = PureDP(epsilon=epsilon, unit="trajectory")
    return publish_with(TripSynthesis(**parameters), data, promise, answers).data


def start_hours(data: Trajectories) -> np.ndarray:
    """Records by their first time."""
    first = data.starts[:-1][np.diff(data.starts) > 0]
    return np.bincount(data.pairs[first] // data.domain.size("place"), minlength=data.domain.size("time"))


def total_variation(one, other) -> float:
    """Half the sum of the differences of two distributions."""
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def largest_error(data: Trajectories, share: Fraction) -> float:
    """The largest total variation of start hours: exceeded in 1 of 10,000 runs, by a sum of exponential variables."""
    hours, number = data.domain.size("time"), len(data)
    return (hours + 8 * np.sqrt(hours)) / float(share) / (2 * number) + hours / number


PEAKS = {
    "one hour": ["A7 B8"] * 3000,
    "two peaks": ["A7 B8 C9"] * 1500 + ["C17 A18"] * 1500,
    "all hours": [f"A{hour} B23" for hour in range(24)] * 100,
    "a rare hour": ["A7"] * 2990 + ["B3 C4"] * 10,
}
