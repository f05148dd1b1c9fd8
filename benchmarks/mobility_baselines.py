"""Today's methods for trajectories by the measures that all of them share: what newer methods have to beat.

Writes docs/results/mobility-baselines.json, from which `pages.py` makes docs/results/mobility-baselines.md. No constant
of these methods was chosen on these data and measures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from floor import data_folder
from plans import run_plans
from trip_data import SOURCES, first_of_each_time

from hedgerow import KCL, PureDP, Trajectories, find_method
from hedgerow.kinds.trajectories.adatrace_measures import map_scores
from hedgerow.kinds.trajectories.mobility import Frame, LabelledVisits
from hedgerow.kinds.trajectories.mobility_measures import mobility_scores

EPSILONS = ("0.5", "1", "2")
SEEDS = range(100, 105)
#: K and L of the releases by suppression
LINKAGE = ((5, 2), (10, 2), (30, 2), (5, 3), (10, 3), (30, 3))
SUPPRESSION: dict[str, dict[str, Any]] = {"kcl": {}, "kcl-reinsertion": {"schedule": "grow"}}
#: where `kcl`, one operation at a time, was stopped after about three minutes without a result (K = 30, L = 2)
TOO_LONG = ("singapore-bikes, days",)
DATA = ("sube-smartcard", "singapore-bikes, trips", "singapore-bikes, days")


class Comparison:
    """One original, and the measures of releases of it."""

    def __init__(self, data: Trajectories, longest: int) -> None:
        self.data, self.longest = data, longest
        self.frame, self.truth = Frame.of(data.domain), LabelledVisits.of(data, data.domain)

    def scores(self, visits: LabelledVisits) -> dict[str, float]:
        """All measures of one release, by name; the same records and discs are drawn for all releases."""
        rng = np.random.default_rng(1)
        scores = mobility_scores(self.frame, self.truth, visits, {}, rng, longest=self.longest)
        scores += map_scores(self.data.domain.axis("place"), self.truth, visits, {}, rng)
        return {score.name: score.value for score in scores}

    def tree(self, method: str, epsilon: str) -> dict[str, list[float]]:
        """The mean and standard deviation of the measures of a prefix tree over some seeds."""
        publisher, promise = find_method(method)(height=self.longest), PureDP(epsilon=epsilon, unit="trajectory")
        runs = [publisher.publish(self.data, promise, seed=seed).data for seed in SEEDS]
        measured = [self.scores(LabelledVisits.of(run, self.data.domain)) for run in runs]
        return {name: _spread([run[name] for run in measured]) for name in measured[0]}

    def suppression(self, method: str, k: int, l_: int) -> dict[str, list[float]]:
        """The measures of a release by suppression, which draws nothing; it takes one visit per record and time."""
        release = find_method(method)(**SUPPRESSION[method]).publish(first_of_each_time(self.data), KCL(k=k, l=l_))
        return _once(self.scores(LabelledVisits.of(release.data, self.data.domain)))


def measure(source: str) -> dict[str, Any]:
    """Measure controls and methods on one data set."""
    data, longest = SOURCES[source].load(data_folder()), SOURCES[source].l_max
    compared = Comparison(data, longest)
    rng = np.random.default_rng(7)
    scores: dict[str, dict[str, list[float]]] = {
        "original, cut": _once(compared.scores(LabelledVisits.of(data.truncated(longest), data.domain))),
        "independent visits": _once(compared.scores(compared.truth.independent(rng))),
        "shuffled times": _once(compared.scores(compared.truth.with_shuffled_times(rng))),
    }
    start = time.process_time()
    for method in ("prefix-tree", "continued-prefix-tree"):
        scores |= {f"{method}, epsilon {epsilon}": compared.tree(method, epsilon) for epsilon in EPSILONS}
    for method in SUPPRESSION if source not in TOO_LONG else ("kcl-reinsertion",):
        scores |= {f"{method}, K = {k}, L = {l_}": compared.suppression(method, k, l_) for k, l_ in LINKAGE}
    return {
        "records": len(data),
        "visits": len(data.pairs),
        "visits at a time of their own": len(first_of_each_time(data).pairs),
        "places": data.domain.size("place"),
        "times": data.domain.size("time"),
        "longest": longest,
        "processor seconds": time.process_time() - start,
        "scores": scores,
    }


def _once(scores: dict[str, float]) -> dict[str, list[float]]:
    return {name: [value, 0.0] for name, value in scores.items()}


def _spread(values: list[float]) -> list[float]:
    return [statistics.mean(values), statistics.stdev(values)]


PLANS: dict[str, Callable[[], dict[str, Any]]] = {name: partial(measure, name) for name in DATA}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "mobility-baselines")
