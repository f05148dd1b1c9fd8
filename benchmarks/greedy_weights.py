"""greedy-weights: lengths and weights that stay close, beside the thesis; controls; and times.

Writes docs/results/weights-greedy.json, from which `pages.py` makes docs/results/weights-greedy.md. Networks are those
of `--data`; releases have fixed seeds, and `--again NAME` repeats the experiments whose name starts so.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from floor import data_folder
from numpy.typing import NDArray
from plans import means, run_plans
from scipy.sparse import csgraph
from weighted_networks import load_network, synthetic_network

from hedgerow import find_method
from hedgerow.kinds.graphs.data import Graph, KeptPaths
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.kinds.graphs.methods.kept_pairs import choose_pairs
from hedgerow.privacy.distortion import Distortion

Floats = NDArray[np.float64]

#: the relative change that the figures of the thesis are read at
WITHIN = 0.15
SHARES = (0.77, 0.54, 0.25)
SMALL = ("EIES", "us-airports", "netscience")
#: networks, and how many releases of each
NETWORKS = {"EIES": 20, "us-airports": 5, "netscience": 5, "synthetic": 2}
#: settings; others than the default with the most pairs, and not on the synthetic network, which takes minutes
WAYS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "stuck ones turned": {"turn": True},
    "two-sided": {"two_sided": True},
    "at least half": {"least": 0.5, "turn": True},
}
CONDMAT_PAIRS = 1_000


def load(name: str) -> Graph:
    """A network by its name."""
    return synthetic_network() if name == "synthetic" else load_network(name, data_folder())


def with_pairs(graph: Graph, share: float, seed: int) -> Graph:
    """Keep the paths of a share of all pairs, without those that have none."""
    pairs = choose_pairs(graph, share, np.random.default_rng(seed)).pairs
    return replace(graph, paths=KeptPaths(listed=pairs))


def intervals_of(graph: Graph) -> FeasibleIntervals:
    """The paths of a graph that must stay, before anything is changed."""
    paths = graph.paths or KeptPaths()
    return FeasibleIntervals.of(
        graph.first,
        graph.second,
        graph.require_weights(),
        graph.domain.size("vertex"),
        paths.listed,
        directed=graph.directed,
    )


def judge(intervals: FeasibleIntervals, before: Floats, after: Floats) -> dict[str, float]:
    """Measure a release: changes of lengths and weights, categories, and paths of other weights than before."""
    intervals.move_all(after)
    visits, pairs = intervals.visits, len(intervals.lengths)
    partly = (visits > 0) & (visits < pairs)
    moved = np.abs(after - before) / before
    distances = true_lengths(intervals)
    lengths = np.abs(distances - intervals.first_lengths) / intervals.first_lengths
    return {
        "lengths": float((lengths <= WITHIN).mean()),
        "weights": float((moved <= WITHIN).mean()),
        "weights on kept paths": float((moved[visits > 0] <= WITHIN).mean()),
        "partial": float(partly.mean()),
        "stuck": float((moved[partly] == 0).mean()) if partly.any() else 0.0,
        "unchanged": float((moved == 0).mean()),
        "mean change": float(moved.mean()),
        "single edges": float((np.diff(intervals.paths.starts) == 1).mean()),
        "lost": float(len(intervals.broken(unique=False))),
        "lost or tied": float(len(intervals.broken())),
        "pairs": float(pairs),
    }


def true_lengths(intervals: FeasibleIntervals) -> Floats:
    """The distances of all pairs on the current weights."""
    sources, row = np.unique(intervals.paths.pairs[:, 0], return_inverse=True)
    lengths = np.empty(len(row))
    for rows, table in intervals.paths.arcs.distances_from(sources):
        some = (row >= rows[0]) & (row <= rows[-1])
        lengths[some] = table[row[some] - rows[0], intervals.paths.pairs[some, 1]]
    return lengths


def publish(name: str, share: float, way: str) -> dict[str, Any]:
    """Publish a network several times, with other pairs each time: means and standard errors."""
    graph = load(name)
    before = graph.require_weights()
    runs: list[dict[str, float]] = []
    for seed in range(NETWORKS[name]):
        chosen = with_pairs(graph, share, seed)
        intervals = intervals_of(chosen)
        start = time.perf_counter()
        release = find_method("greedy-weights")(**WAYS[way]).publish(chosen, Distortion(), seed=seed)
        seconds = time.perf_counter() - start
        runs.append({**judge(intervals, before, release.data.require_weights()), "seconds": seconds})
    return {**means(runs), "releases": len(runs), "edges": len(graph)}


def spoil(name: str, share: float, way: str) -> dict[str, Any]:
    """Publish controls: other weights that anyone could make, and how many paths they lose."""
    graph = load(name)
    before = graph.require_weights()
    runs: list[dict[str, float]] = []
    for seed in range(min(3, NETWORKS[name])):
        chosen = with_pairs(graph, share, seed)
        release = find_method("greedy-weights")().publish(chosen, Distortion(), seed=seed).data.require_weights()
        change = float(np.mean(np.abs(release - before) / before))
        draw = np.random.default_rng(seed)
        after = {
            "all equal": np.full_like(before, before.mean()),
            "a constant added": before + before.mean(),
            "all multiplied": before * (1 + change),
            # the mean of an absolute normal number is the root of 2 / pi deviations
            "normal factors": before
            * np.maximum(0.05, 1 + change * np.sqrt(np.pi / 2) * draw.normal(size=len(before))),
        }[way]
        runs.append(judge(intervals_of(chosen), before, after))
    return {**means(runs), "releases": len(runs)}


def time_condmat() -> dict[str, Any]:
    """Publish 16,264 vertices and 47,594 edges with 1,000 pairs that have a path."""
    graph = load("condmat-weighted")
    size = graph.domain.size("vertex")
    pairs = np.random.default_rng(1).integers(size, size=(4 * CONDMAT_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    apart = FeasibleIntervals.unreachable(graph.first, graph.second, size, pairs, directed=False)
    return _time(replace(graph, paths=KeptPaths(listed=pairs[~apart][:CONDMAT_PAIRS])))


def time_synthetic() -> dict[str, Any]:
    """Publish 1,600 vertices with 70 % of all pairs as edges and 77 % of all pairs in H."""
    return _time(with_pairs(synthetic_network(), SHARES[0], 1))


def _time(graph: Graph) -> dict[str, Any]:
    """Publish, and compare finding the paths with scipy's bare Dijkstra from the same sources."""
    start = time.perf_counter(), time.process_time()
    release = find_method("greedy-weights")().publish(graph, Distortion(), seed=1)
    seconds, busy = time.perf_counter() - start[0], time.process_time() - start[1]
    begin = time.process_time()
    intervals = intervals_of(graph)
    paths = time.process_time() - begin
    sources = np.unique(intervals.paths.pairs[:, 0])
    matrix = graph.to_matrix()
    begin = time.process_time()
    step = max(1, 4_000_000 // matrix.shape[0])
    for at in range(0, len(sources), step):
        csgraph.dijkstra(matrix, indices=sources[at : at + step])
    bare = time.process_time() - begin
    return {
        **judge(intervals, graph.require_weights(), release.data.require_weights()),
        "seconds": seconds,
        "seconds of the processor": busy,
        "load of the machine": os.getloadavg()[0],
        "visited": int((intervals.visits > 0).sum()),
        "edges": len(graph),
        "vertices": graph.domain.size("vertex"),
        "seconds of paths": paths,
        "seconds of scipy's Dijkstra": bare,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


CONTROLS = ("all equal", "a constant added", "all multiplied", "normal factors")
PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"{name}, {share:.0%}, {way}": partial(publish, name, share, way)
        for name in SMALL
        for share in SHARES
        for way in WAYS
        if way == "default" or share == SHARES[0]
    },
    "time, condmat-weighted": time_condmat,
    "time, synthetic": time_synthetic,
    **{
        f"control, {name}, {SHARES[0]:.0%}, {way}": partial(spoil, name, SHARES[0], way)
        for name in SMALL
        for way in CONTROLS
    },
    **{f"synthetic, {share:.0%}, default": partial(publish, "synthetic", share, "default") for share in SHARES},
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "weights-greedy")
