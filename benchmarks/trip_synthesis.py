"""trip-synthesis on visits with times, beside the other methods for trajectories and the simplest rivals.

Writes docs/results/trip-synthesis.json, from which `pages.py` makes docs/results/trip-synthesis.md. Constants were
chosen on `sube-smartcard`, `singapore-bikes` and `geolife`; the page says what else was decided, and on which data. The
measures are those of `evaluate`.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from floor import data_folder
from numpy.typing import NDArray
from plans import run_plans
from trip_data import SOURCES, Source, made_up_walks

from hedgerow import Domain, PureDP, Sequences, Trajectories, TripSynthesis, find_method
from hedgerow.kinds.trajectories.mobility import Frame, LabelledVisits
from hedgerow.kinds.trajectories.mobility_measures import mobility_scores
from hedgerow.numerics.arrays import number_within_groups
from hedgerow.numerics.projections import project_to_simplex

Integers: TypeAlias = NDArray[np.int64]
Release: TypeAlias = Callable[[str, int], Trajectories]

EPSILONS = ("0.5", "1", "2")
SEEDS = range(100, 105)
#: what a release without times can be compared by
PLACES_ONLY = ("origin-destination", "places of visits", "transitions", "numbers of visits", "released", "records with")


class Comparison:
    """One original, and the measures of releases of it."""

    def __init__(self, data: Trajectories, l_max: int) -> None:
        self.data, self.l_max = data, l_max
        self.frame, self.truth = Frame.of(data.domain), LabelledVisits.of(data, data.domain)

    def scores(self, release: Trajectories) -> dict[str, float]:
        """All measures of one release, by name."""
        visits = LabelledVisits.of(release, self.data.domain)
        # the same drawn records for all releases
        rng = np.random.default_rng(1)
        measured = mobility_scores(self.frame, self.truth, visits, {}, rng, longest=self.l_max)
        filled = (int(np.count_nonzero(np.diff(some.starts))) for some in (release, self.data))
        released, original = filled
        return {score.name: score.value for score in measured} | {"released / original": released / original}


def publish(method: str, parameter: str, data: Trajectories, l_max: int, epsilon: str, seed: int) -> Trajectories:
    """A release of visits with times."""
    return find_method(method)(**{parameter: l_max}).publish(data, promise(epsilon, "trajectory"), seed=seed).data


def promise(epsilon: str, unit: str) -> PureDP:
    """The promise of all methods."""
    return PureDP(epsilon=epsilon, unit=unit)


def publish_places(
    method: str, parameter: str, data: Trajectories, l_max: int, epsilon: str, seed: int
) -> Trajectories:
    """A release of the places in their order, without times."""
    places = data.domain.size("place")
    record = np.repeat(np.arange(len(data)), np.diff(data.starts))
    sequences = Sequences.from_columns(row=record, item=data.pairs % places, domain=Domain.declare(item=range(places)))
    release = find_method(method)(**{parameter: l_max}).publish(sequences, promise(epsilon, "sequence"), seed=seed)
    starts, items, weights = release.data.arrays()
    size = np.repeat(np.diff(starts), weights)
    at = np.repeat(np.repeat(starts[:-1], weights), size) + number_within_groups(np.repeat(np.arange(len(size)), size))
    return without_times(np.repeat(np.arange(len(size)), size), items[at].astype(np.int64), len(size), data)


def without_times(row: Integers, place: Integers, records: int, data: Trajectories) -> Trajectories:
    """Records of places, all at one time, which no measure looks at."""
    still = np.zeros(len(row), np.int64)
    return Trajectories.from_columns(
        records=records, row=row, time=still, place=place, sensitive={}, domain=data.domain, several=True
    )


def independent_visits(data: Trajectories, _: str, seed: int) -> Trajectories:
    """The visits of the original, dealt to its records at random, and sorted by time: no noise."""
    record = np.repeat(np.arange(len(data)), np.diff(data.starts))
    pairs = np.random.default_rng(seed).permutation(data.pairs)
    time_, place = np.divmod(pairs, data.domain.size("place"))
    return Trajectories.from_columns(
        records=len(data), row=record, time=time_, place=place, sensitive={}, domain=data.domain, several=True
    )


def noisy_pairs(data: Trajectories, epsilon: str, seed: int) -> Trajectories:
    """A noisy origin-destination table that gets the whole budget, projected to its own total; two visits each."""
    places, filled = data.domain.size("place"), np.flatnonzero(np.diff(data.starts))
    first, last = (data.pairs[at] % places for at in (data.starts[filled], data.starts[filled + 1] - 1))
    exact = np.bincount(first * places + last, minlength=places**2)
    chance = -np.expm1(-float(epsilon))
    rng = np.random.default_rng(seed)
    noisy = exact + rng.geometric(chance, len(exact)) - rng.geometric(chance, len(exact))
    fitted = project_to_simplex(noisy[None, :].astype(float), np.array([float(max(1, noisy.sum()))]))[0]
    cells = np.repeat(np.arange(len(exact)), np.floor(fitted + rng.random(len(exact))).astype(np.int64))
    ends = np.column_stack(np.divmod(cells, places)).ravel()
    return without_times(np.repeat(np.arange(len(cells)), 2), ends, len(cells), data)


def cut(data: Trajectories, l_max: int, _epsilon: str, _seed: int) -> Trajectories:
    """The original, as far as it is used."""
    return data.truncated(l_max)


def rivals(data: Trajectories, l_max: int) -> dict[str, Release]:
    """Every method and control by name."""
    timed = {"trip-synthesis": "l_max", "continued-prefix-tree": "height", "prefix-tree": "height"}
    untimed = {"ngram-markov": "l_max", "variable-order-markov": "longest"}
    return {
        **{name: partial(publish, name, parameter, data, l_max) for name, parameter in timed.items()},
        **{
            f"{name}, places": partial(publish_places, name, parameter, data, l_max)
            for name, parameter in untimed.items()
        },
        "noisy origin-destination table": partial(noisy_pairs, data),
        "independent visits": partial(independent_visits, data),
        "original, cut": partial(cut, data, l_max),
    }


def measure(source: Source) -> dict[str, Any]:
    """Measure all methods on one data set, with every epsilon; what has no noise once."""
    data = source.load(data_folder())
    comparison = Comparison(data, source.l_max)
    scores: dict[str, dict[str, Any]] = {}
    for name, release in rivals(data, source.l_max).items():
        noiseless = name in {"independent visits", "original, cut"}
        for epsilon in EPSILONS[:1] if noiseless else EPSILONS:
            runs = [comparison.scores(release(epsilon, seed)) for seed in (SEEDS[:1] if noiseless else SEEDS)]
            kept = [key for key in runs[0] if not name.endswith(("places", "table")) or key_is_untimed(name, key)]
            scores.setdefault(name, {})["" if noiseless else epsilon] = {
                key: spread([run[key] for run in runs]) for key in kept
            }
    return {
        "records": int(np.count_nonzero(np.diff(data.starts))),
        "visits": len(data.pairs),
        "places": data.domain.size("place"),
        "times": data.domain.size("time"),
        "l_max": source.l_max,
        "used": source.used,
        "runs": len(SEEDS),
        "scores": scores,
    }


def key_is_untimed(name: str, key: str) -> bool:
    """Whether a release without times, or without anything but its ends, can be compared by this measure."""
    known = ("origin-destination", "released") if name.endswith("table") else PLACES_ONLY
    return any(part in key for part in known) and not any(timed in key for timed in ("times", "parts of the day"))


def spread(values: list[float]) -> list[float]:
    """The mean and the standard deviation over runs."""
    return [statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0]


def cost() -> dict[str, Any]:
    """Time and memory on a million made-up trajectories of 8 visits, 300 places with coordinates and 96 times."""
    data = made_up_walks(1_000_000, 8, 300, 96)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start, processor = time.perf_counter(), time.process_time()
    release = TripSynthesis(l_max=8).publish(data, promise("1", "trajectory"), seed=1)
    return {
        "records": len(data),
        "seconds": time.perf_counter() - start,
        "processor seconds": time.process_time() - processor,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "gigabytes of the data": before,
        "number": len(release.data) / len(data),
    }


PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: partial(measure, source) for name, source in SOURCES.items()},
    "cost": cost,
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "trip-synthesis")
