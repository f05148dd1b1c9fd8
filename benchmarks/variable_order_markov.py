"""variable-order-markov beside ngram, prefix-tree, a first-order Markov chain and independent items.

Writes docs/results/variable-order-markov.json, from which `pages.py` makes docs/results/variable-order-markov.md. The
constants of the method were chosen on some of the data (`sequence_workloads.CHOSEN_ON`); on the others nothing was
chosen. Every experiment runs in a separate process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import ngram
import numpy as np
from floor import data_folder
from plans import growth_plans, means, run_plans
from sequence_rivals import first_order, independent
from sequence_workloads import CHOSEN_ON, REPORTED_ON, Truth

from hedgerow import PureDP, Sequences, find_method

RUNS = 5
EPSILONS = ("0.1", "0.5", "1", "2")
#: methods that are timed on all of MSNBC
TIMED = ("variable-order-markov", "ngram", "ngram-markov")
#: seeds of the runs; constants were chosen with others
FIRST_SEED = 100

Way = Callable[[Sequences, str, int], Sequences]


def method(name: str, **parameters: Any) -> Way:
    """Publish by a registered method."""

    def publish(data: Sequences, epsilon: str, seed: int) -> Sequences:
        promise = PureDP(epsilon=epsilon, unit="sequence")
        return find_method(name)(**parameters).publish(data, promise, seed=seed).data

    return publish


WAYS: dict[str, Way] = {
    "variable-order-markov": method("variable-order-markov"),
    "ngram": method("ngram"),
    "ngram-markov": method("ngram-markov"),
    "prefix-tree": method("prefix-tree", height=12),
    "first-order chain": first_order,
    "independent items": independent,
}
#: journeys among places, for which another method of ours is recommended
JOURNEYS = ("gowalla-nyc", "foursquare-nyc", "sube-smartcard", "singapore-bikes")
JOURNEY_WAYS: dict[str, Way] = {"continued-prefix-tree": method("continued-prefix-tree")}


def run_source(name: str, epsilon: str) -> dict[str, Any]:
    """Publish several times in each way; means and standard errors."""
    data = {**CHOSEN_ON, **REPORTED_ON}[name](data_folder())
    truth = Truth(data)
    scores: dict[str, Any] = {}
    ways = {**WAYS, **(JOURNEY_WAYS if name in JOURNEYS else {})}
    for way, publish in ways.items():
        runs = []
        for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
            start = time.process_time()
            released = publish(data, epsilon, seed)
            seconds = time.process_time() - start
            runs.append({**truth.score(released), "CPU seconds": seconds})
        scores[way] = means(runs)
    return {
        "records": len(data),
        "items": data.domain.size("item"),
        "mean length": len(data.items) / len(data),
        "runs": RUNS,
        "chosen on": name in CHOSEN_ON,
        "scores": scores,
    }


def run_speed() -> dict[str, Any]:
    """Processor time of publishing all of MSNBC, and the items released: the median of five runs, ways in turn."""
    data = ngram.msnbc(data_folder())
    results: dict[str, Any] = {}
    for epsilon in EPSILONS:
        runs: dict[str, list[tuple[float, int]]] = {way: [] for way in TIMED}
        for seed in range(RUNS):
            for way, taken in runs.items():
                start = time.process_time()
                released = method(way)(data, epsilon, seed)
                seconds = time.process_time() - start
                taken.append((seconds, int(np.diff(released.starts) @ released.weights)))
        for way, taken in runs.items():
            seconds, items = (statistics.median(part) for part in zip(*taken, strict=True))
            results[f"{way} {epsilon}"] = {"CPU seconds": seconds, "items released": items}
    return results


PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"{name}, epsilon {epsilon}": lambda name=name, epsilon=epsilon: run_source(name, epsilon)
        for name in {**REPORTED_ON, **CHOSEN_ON}
        for epsilon in EPSILONS
    },
    "speed": run_speed,
    **growth_plans("variable-order-markov", ngram.made_up),
}


if __name__ == "__main__":
    run_plans(__file__, PLANS, "variable-order-markov")
