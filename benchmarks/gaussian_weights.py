"""gaussian-weights: lengths, weights and shortest paths that are left, repeated releases, and times.

Writes docs/results/weights-gaussian.json, from which `pages.py` makes docs/results/weights-gaussian.md.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from plans import means, run_plans
from scipy.sparse.csgraph import dijkstra
from weight_workloads import CONTROLS, ShortestPaths, read_weighted, synthetic

from hedgerow import Distortion, Domain, GaussianWeights, Graph, PathBands, open_key

SIGMAS = (0.1, 0.15, 0.2)
#: runs, and sources of paths (0: all), for each network
SIZES = {
    "eies": (50, 0),
    "us-airports": (10, 0),
    "netscience": (10, 0),
    "condmat-weighted": (3, 100),
    "synthetic": (3, 100),
}


def network(name: str) -> Graph:
    """A network by its name."""
    return synthetic(1_600, 0.7) if name == "synthetic" else read_weighted(name)


def sources_of(graph: Graph, number: int) -> Any:
    """The vertices that paths start from: all, or some at random."""
    vertices = graph.domain.size("vertex")
    return np.sort(np.random.default_rng(1).permutation(vertices)[: number or vertices])


def compare(name: str) -> dict[str, Any]:
    """Publish a network several times with every sigma, and compare lengths, weights and paths."""
    graph, (runs, number) = network(name), SIZES[name]
    paths = ShortestPaths(graph, sources_of(graph, number))
    withins = {".15": 0.15, ".2": 0.2, ".4": 0.4}
    ways: dict[str, Callable[[int], Graph]] = {
        f"sigma {sigma}": lambda seed, sigma=sigma: publish(GaussianWeights(sigma=sigma), graph, seed)
        for sigma in SIGMAS
    }
    ways |= {control: lambda seed, make=make: make(graph, seed) for control, make in CONTROLS.items()}
    scores = {}
    for way, make in ways.items():
        own = (
            {"1 sigma": float(way.split()[1]), "2 sigma": 2 * float(way.split()[1])} if way.startswith("sigma") else {}
        )
        scores[way] = means([paths.compare(make(seed), {**withins, **own}) for seed in range(runs)])
    pairs = int(paths.reached.sum())
    return {
        "vertices": graph.domain.size("vertex"),
        "edges": len(graph),
        "directed": graph.directed,
        "pairs": pairs,
        "runs": runs,
        "scores": scores,
    }


def publish(method: GaussianWeights, graph: Graph, seed: int) -> Graph:
    """Publish once."""
    return method.publish(graph, Distortion(), seed=seed).data


def repeat() -> dict[str, Any]:
    """Estimate weights from the mean of several releases: without a key, with one, and with one of a drift."""
    graph, sigma, rows = read_weighted("netscience"), 0.2, {}
    fresh = GaussianWeights(sigma=sigma, calibrated=True)
    keyed = GaussianWeights(sigma=sigma, calibrated=True, network="netscience")
    with tempfile.TemporaryDirectory() as folder:
        key = open_key(Path(folder) / "key", keyed, graph)
        for releases in (1, 4, 16):
            drifting = [graph.weighted(graph.require_weights() * 1.01**step) for step in range(releases)]
            level = np.mean([each.require_weights() for each in drifting], axis=0)
            rows[str(releases)] = {
                "without a key": error(
                    [publish(fresh, graph, seed) for seed in range(releases)], graph.require_weights()
                ),
                "with a key": error(
                    [keyed.publish(graph, Distortion(), key=key).data for _ in range(releases)], graph.require_weights()
                ),
                "with a key, 1 % a release": error(
                    [keyed.publish(each, Distortion(), key=key).data for each in drifting], level
                ),
            }
    once = publish(fresh, graph, 99).require_weights()
    weights = graph.require_weights()
    inside = (once / (1 + 2 * sigma) <= weights) & (weights <= once / (1 - 2 * sigma))
    return {"sigma": sigma, "releases": rows, "inside the interval": float(inside.mean())}


def error(releases: list[Graph], weights: Any) -> float:
    """The relative deviation of the mean of releases from the weights."""
    mean = np.mean([each.require_weights() for each in releases], axis=0)
    return float(np.sqrt(np.mean((mean / weights - 1) ** 2)))


def least(job: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The least processor time of a job, in seconds, and its last result: other work on the machine does not count."""
    shortest, result = math.inf, None
    for _ in range(runs):
        start = time.process_time()
        result = job()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def times() -> dict[str, Any]:
    """Publish a million edges, beside one sort of their weights; and find paths, beside Dijkstra."""
    draw, vertices = np.random.default_rng(1), 200_000
    ends = np.sort(draw.integers(0, vertices, (1_000_000, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    _, place = np.unique(ends @ (vertices, 1), return_index=True)
    domain = Domain.declare(vertex=range(vertices))
    source, target = ends[place].T
    graph = Graph.from_columns(source=source, target=target, domain=domain, weights=draw.uniform(10, 100, len(place)))
    rows: dict[str, Any] = {"edges": len(graph)}
    rows["one sort of the weights"], _ = least(lambda: np.sort(graph.require_weights()), 3)
    rows["publish"], _ = least(lambda: GaussianWeights().publish(graph, Distortion()), 3)
    keyed = GaussianWeights(network="a")
    with tempfile.TemporaryDirectory() as folder:
        key = open_key(Path(folder) / "key", keyed, graph)
        rows["publish with a key"], _ = least(lambda: keyed.publish(graph, Distortion(), key=key), 3)
        rows |= command(graph, Path(folder))
    condmat = read_weighted("condmat-weighted")
    bare = condmat.to_matrix()
    sources = sources_of(condmat, 20)
    rows["Dijkstra, 20 sources"], _ = least(lambda: dijkstra(bare, indices=sources), 3)
    rows["lengths and paths kept, 20 sources"], _ = least(
        lambda: ShortestPaths(condmat, sources).compare(condmat, {".15": 0.15}), 3
    )
    bands, values = PathBands(condmat, sigma=0.1), condmat.domain.values("vertex")
    rows["Dijkstra, 1 source"], lengths = least(lambda: dijkstra(bare, indices=[0])[0], 3)
    far = int(np.argmax(np.where(np.isfinite(lengths), lengths, -math.inf)))
    rows["second-shortest path of 1 pair"], _ = least(lambda: bands.margin(values[0], values[far]), 3)
    return rows


def command(graph: Graph, folder: Path) -> dict[str, float]:
    """Take the processor time of the whole command on a CSV file of the network, as a process of its own."""
    values = graph.domain.values("vertex")
    rows = zip(graph.first.tolist(), graph.second.tolist(), graph.require_weights().tolist(), strict=True)
    lines = (f"{values[source]},{values[target]},{weight:.4f}" for source, target, weight in rows)
    (folder / "roads.csv").write_text("\n".join(("source,target,weight", *lines)) + "\n")
    line = [sys.executable, "-m", "hedgerow", "publish", str(folder / "roads.csv"), "--kind", "graphs"]
    line += ["--method", "gaussian-weights", "--columns", "weight=weight", "--assert-public-domain"]
    keyed = ["--key", str(folder / "cli.key"), "--set", "network=roads"]
    seconds = {}
    for name, more in (("whole command", []), ("whole command with a key", keyed)):
        out = ["--out", str(folder / name.replace(" ", "-"))]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*line, *out, *more], check=True, capture_output=True)  # noqa: S603 - our own command
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds


PLANS = {
    **{name: (lambda name=name: compare(name)) for name in SIZES},
    "repeated releases": repeat,
    "times": times,
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "weights-gaussian")
