"""Sets of few items: the most frequent items of public data, and the methods that are compared on them."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from set_accuracy import Workload
from set_collections import collect
from set_rivals import IndependentItems
from set_workloads import foodmart

from hedgerow import Domain, Publisher, PureDP, Sets, find_method

RUNS, FIRST_SEED = 5, 100
#: which data the constants of raked-histogram from 11 items on were chosen on ("c"), and which only verify them ("v")
PURPOSES = {
    "groceries": "c",
    "bms-webview-2": "c",
    "kosarak-subset": "c",
    "retail": "v",
    "bms-webview-1": "v",
    "foodmart categories": "v",
    "msnbc": "v",
}
METHODS = ("raked-histogram", "pairwise-marginals", "diffpart", "noisy-singletons", "flat-laplace")


def compare(name: str, items: int, epsilon: str) -> dict[str, Any]:
    """Publish with every method, and measure; mean and standard deviation over runs."""
    data = most_frequent(foodmart(1) if name.startswith("foodmart") else collect(name), items)
    workload, promise = Workload.of(data), PureDP(epsilon=epsilon, unit="record")
    methods: dict[str, Publisher[Any]] = {method: find_method(method)() for method in METHODS}
    rows: dict[str, Any] = {}
    for label, method in {**methods, "independent items": IndependentItems()}.items():
        runs, seconds = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
            start = time.process_time()
            release = method.publish(data, promise, seed=seed)
            seconds.append(time.process_time() - start)
            runs.append(workload.figures(release.data))
        figures = {key: [run[key] for run in runs] for key in runs[0]}
        rows[label] = {
            "seconds": min(seconds),
            "figures": {key: [statistics.mean(values), statistics.stdev(values)] for key, values in figures.items()},
        }
    return {"purpose": PURPOSES[name], "records": len(data), "items": items, "runs": RUNS, "methods": rows}


def most_frequent(data: Sets, items: int) -> Sets:
    """Keep the most frequent items, which are taken as public; records without any of them are gone."""
    sizes = np.diff(data.starts)
    row = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.bincount(data.items, data.weights[row], data.domain.size("item"))
    head = np.sort(np.argsort(-counts, kind="stable")[:items])
    rank = np.full(len(counts), -1)
    rank[head] = np.arange(len(head))
    kept = rank[data.items] >= 0
    domain = Domain.declare(item=range(len(head)))
    return Sets.from_columns(row=row[kept], item=rank[data.items][kept], domain=domain)
