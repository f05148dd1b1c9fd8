"""Pairwise marginals on eight public data sets, beside its variant without pairs and simple rivals.

Writes docs/results/pairwise-marginals.json, from which `pages.py` makes docs/results/pairwise-marginals.md. Each
experiment runs in a separate process, so that its peak memory can be measured.
"""

from __future__ import annotations

import resource
import statistics
import time
from functools import partial
from typing import Any

from plans import run_plans
from set_accuracy import Workload
from set_collections import PURPOSES, collect
from set_rivals import IndependentItems, NoisyPairs
from set_workloads import generate

from hedgerow import Publisher, PureDP, Sets, find_method

RUNS, FIRST_SEED = 5, 100
EPSILONS = ("0.1", "0.5", "1", "2")
#: the raked histogram counts all itemsets, of up to so many items
FEW_ITEMS = 20


def methods(data: Sets) -> dict[str, Publisher[Any]]:
    """The methods to compare, by the name in the table."""
    compared: dict[str, Publisher[Any]] = {
        "pairwise-marginals": find_method("pairwise-marginals")(),
        "without pairs": find_method("pairwise-marginals")(pairs="off"),
        "noisy pairs": NoisyPairs(),
        "independent items": IndependentItems(),
        "noisy-singletons": find_method("noisy-singletons")(),
        "diffpart": find_method("diffpart")(),
    }
    if data.domain.size("item") <= FEW_ITEMS:
        compared["raked-histogram"] = find_method("raked-histogram")()
    return compared


def compare(name: str, epsilon: str) -> dict[str, Any]:
    """Publish with every method, and measure; mean and standard deviation over runs."""
    data = collect(name)
    workload, promise = Workload.of(data), PureDP(epsilon=epsilon, unit="record")
    rows: dict[str, Any] = {}
    for label, method in methods(data).items():
        runs, seconds, notes = [], [], {}
        for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
            start = time.process_time()
            release = method.publish(data, promise, seed=seed)
            seconds.append(time.process_time() - start)
            runs.append(workload.figures(release.data))
            for note, value in release.evidence.notes:
                notes.setdefault(note, []).append(value)
        figures = {key: [run[key] for run in runs] for key in runs[0]}
        rows[label] = {
            "seconds": min(seconds),
            "notes": notes,
            "figures": {key: [statistics.mean(values), statistics.stdev(values)] for key, values in figures.items()},
        }
    return {
        "purpose": PURPOSES[name],
        "records": len(data),
        "items": data.domain.size("item"),
        "runs": RUNS,
        "methods": rows,
    }


def time_publishing(data: Sets) -> dict[str, Any]:
    """Time and memory of one release."""
    start, processor = time.perf_counter(), time.process_time()
    find_method("pairwise-marginals")().publish(data, PureDP(epsilon=1, unit="record"))
    return {
        "records": len(data),
        "items": data.domain.size("item"),
        "seconds": time.perf_counter() - start,
        "processor seconds": time.process_time() - processor,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


PLANS = {f"{name} {epsilon}": partial(compare, name, epsilon) for name in PURPOSES for epsilon in EPSILONS} | {
    "time retail": lambda: time_publishing(collect("retail")),
    "time generated": lambda: time_publishing(generate(1_000_000, 1_000)),
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "pairwise-marginals")
