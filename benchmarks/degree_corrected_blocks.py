"""degree-corrected-blocks, der and their rivals on six public networks: every measure, the attack, time and memory.

Writes docs/results/degree-corrected-blocks.json, from which `pages.py` makes docs/results/networks.md. Every experiment
runs in a separate process; `--again NAME` repeats those whose name starts so, and keeps the other results.
"""

from __future__ import annotations

import resource
import statistics
import time
from fractions import Fraction
from typing import Any

import numpy as np
from floor import best, data_folder, floor
from graph_workloads import METHODS, NETWORKS, large_graph, path_of, promise_of, read_graph
from plans import run_plans

from hedgerow import find_method
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.measures import DEGREES, DENSITIES, measure
from hedgerow.measures.comparison import Comparison

RUNS = 10
TIMED = ("ca-grqc", "ca-hepth", "wiki-vote", "email-enron", "soc-epinions1-undirected")


def run_measures(name: str) -> dict[str, Any]:
    """Publish several times by each method, each time with new queries; every measure that `evaluate` has."""
    data = read_graph(path_of(data_folder(), name))
    several = [_measure(data, seed) for seed in range(RUNS)]
    scores = {
        score: {way: _mean([run[score][way] for run in several]) for way in several[0][score]} for score in several[0]
    }
    vertices = data.domain.size("vertex")
    return {"vertices": vertices, "edges": len(data), "runs": RUNS, "scores": scores}


def _measure(data: Graph, seed: int) -> dict[str, dict[str, float]]:
    """Measure one release per method; by score and method, or baseline."""
    releases = {way: how.publish(data, "1", seed=seed) for way, how in METHODS.items()}
    first, *others = releases
    compared = Comparison(data, releases[first], promise_of(Fraction(1), 1), {})
    scores = measure(compared, {way: releases[way] for way in others}, np.random.default_rng(seed))
    return {
        score.name: {first: score.value, **dict(score.controls)}
        for score in scores
        if score.chart not in (DEGREES, DENSITIES)
    }


def _mean(values: list[float]) -> list[float]:
    return [statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5]


def run_speed(name: str) -> dict[str, Any]:
    """Time publishing at epsilon 1, reading, and the floor in the same run."""
    path = path_of(data_folder(), name)
    seconds = {"floor": best(lambda: floor(path), 3)[0], "reading": best(lambda: read_graph(path), 3)[0]}
    data, promise = read_graph(path), promise_of(Fraction(1), 1)
    for way in METHODS:
        method = find_method(way)()
        seconds[way] = best(lambda method=method: method.publish(data, promise), 3)[0]
    return {"vertices": data.domain.size("vertex"), "edges": len(data), "seconds": seconds}


def run_growth(method: str, edges: int) -> dict[str, Any]:
    """Publish a generated graph with ten edges per vertex in this process, and measure time and memory."""
    data = large_graph(edges // 10, edges)
    before = _gigabytes()
    start, start_wall = time.process_time(), time.perf_counter()
    release = find_method(method)().publish(data, promise_of(Fraction(1), 1))
    return {
        "method": method,
        "vertices": edges // 10,
        "edges": len(data),
        "released": len(release.data),
        "processor seconds": time.process_time() - start,
        "seconds": time.perf_counter() - start_wall,
        "before": before,
        "gigabytes": _gigabytes(),
    }


def _gigabytes() -> float:
    """The peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


PLANS = {
    **{f"speed {name}": lambda name=name: run_speed(name) for name in TIMED},
    **{
        f"growth {edges} {method}": lambda method=method, edges=edges: run_growth(method, edges)
        for edges in (10_000, 100_000, 1_000_000, 10_000_000)
        for method in ("der", "degree-corrected-blocks")
    },
    **{f"measures {name}": lambda name=name: run_measures(name) for name in NETWORKS},
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "degree-corrected-blocks")
