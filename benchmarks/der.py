"""der, degree-corrected-blocks and their rivals on public networks: the cut queries of the paper, and sweeps.

Writes docs/results/der.json, from which `pages.py` makes docs/results/networks.md. Every experiment runs in a separate
process; `--again NAME` repeats those whose name starts so, and keeps the other results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from floor import data_folder
from graph_workloads import METHODS, Way, full_cuts, path_of, read_graph
from plans import means, run_plans

from hedgerow.kinds.graphs.cut_queries import Cuts, community_cuts, contiguous_cuts, count_cuts, cut_errors, random_cuts
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.measures import compare_edges, degree_counts, jensen_shannon
from hedgerow.kinds.graphs.structure import find_communities
from hedgerow.measures.scoring import relative_errors

RUNS, SWEEP_RUNS = 10, 5
QUERIES, SWEEP_QUERIES = 20_000, 1_000
SHARES = ("0.2", "0.4", "0.6", "0.8", "1")
SMALL = (3, 5, 20, 100, 200, 500)
EPSILONS = ("0.2", "0.4", "0.6", "0.8", "1", "1.5", "2")
KS = (1, 2, 5, 10, 25)
LARGE_EPSILONS = ("2", "4", "6", "8", "10", "12", "14", "16")

#: the rows of the paper's table
WAYS = {
    "der": METHODS["der"],
    "der, clipped": Way("der", {"fitted": False}),
    "der, epsilon 2": Way("der", times=2),
    **{name: way for name, way in METHODS.items() if name != "der"},
}


def read_network(name: str) -> Graph:
    """Read a network from the folder of data sets."""
    return read_graph(path_of(data_folder(), name))


def cut_sets(vertices: int, queries: int) -> Iterator[tuple[str, Iterator[Cuts]]]:
    """The sets of queries of the paper, and sets of queries that all have the maximal size."""
    for share in SHARES:
        size = int(float(share) * vertices)
        yield f"{share}V", random_cuts(vertices, largest=size, queries=queries, rng=np.random.default_rng(size))
        rng = np.random.default_rng(size)
        yield f"exactly {share}V", full_cuts(vertices, size=size, queries=queries // 10, rng=rng)
    for size in SMALL:
        yield str(size), random_cuts(vertices, largest=size, queries=queries, rng=np.random.default_rng(size))


def run_table(name: str, ways: dict[str, Way], runs: int, queries: int) -> dict[str, Any]:
    """Publish several times in every way at epsilon 1; the mean error of each set of queries."""
    data = read_network(name)
    vertices = data.domain.size("vertex")
    releases = {f"{way} {seed}": how.publish(data, "1", seed=seed) for way, how in ways.items() for seed in range(runs)}
    errors: dict[str, dict[str, float]] = {release: {} for release in releases}
    for size, cuts in cut_sets(vertices, queries):
        for release, each in cut_errors(data, releases, cuts).items():
            errors[release][size] = float(each.mean())
    for release, graph in releases.items():
        errors[release]["edges"] = len(graph) / len(data)
    scores = {way: means([errors[f"{way} {seed}"] for seed in range(runs)]) for way in ways}
    return {"vertices": vertices, "edges": len(data), "runs": runs, "queries": queries, "scores": scores}


class Truth:
    """A network with a few workloads, and their answers."""

    def __init__(self, data: Graph, queries: int = SWEEP_QUERIES) -> None:
        self.data = data
        vertices, rng = data.domain.size("vertex"), np.random.default_rng(1)
        communities = find_communities(data)
        workloads = {
            "random cuts": random_cuts(vertices, largest=2 * vertices // 5, queries=queries, rng=rng),
            "contiguous cuts": contiguous_cuts(vertices, queries=queries, rng=rng),
            "community cuts": community_cuts(data, communities, queries=queries, rng=rng),
        }
        self.cuts = {name: [(some, count_cuts(data, some)) for some in cuts] for name, cuts in workloads.items()}

    def score(self, released: Graph) -> dict[str, float]:
        """Compare one release."""
        scores = {name: self._error(name, released) for name in self.cuts}
        scores["degrees"] = jensen_shannon(*degree_counts(self.data, released))
        scores["recall"] = compare_edges(self.data, released).recall
        return scores

    def _error(self, name: str, released: Graph) -> float:
        whole = len(self.data)
        errors = [relative_errors(exact, count_cuts(released, some), whole) for some, exact in self.cuts[name]]
        return float(np.concatenate(errors).mean())


def run_sweep(name: str, points: list[tuple[str, int]], runs: int = SWEEP_RUNS) -> dict[str, Any]:
    """Publish with several guarantees (epsilon, k): means over runs."""
    data = read_network(name)
    truth = Truth(data)
    sweep = {
        way: [
            {
                "epsilon": epsilon,
                "k": k,
                **means([truth.score(how.publish(data, epsilon, k, seed=seed)) for seed in range(runs)]),
            }
            for epsilon, k in points
        ]
        for way, how in METHODS.items()
    }
    return {"runs": runs, "queries": SWEEP_QUERIES, "sweep": sweep}


def laplace() -> dict[str, Any]:
    """`laplace-graph` on the smallest network: millions of edges, so one run and few queries."""
    return run_table("ca-grqc", {"laplace-graph": Way("laplace-graph")}, runs=1, queries=2_000)


SWEPT = ("ca-grqc", "wiki-vote")
PLANS = {
    **{f"k {name}": lambda name=name: run_sweep(name, [("1", k) for k in KS]) for name in SWEPT},
    **{f"epsilon {name}": lambda name=name: run_sweep(name, [(e, 1) for e in EPSILONS]) for name in SWEPT},
    **{f"large {name}": lambda name=name: run_sweep(name, [(e, 1) for e in LARGE_EPSILONS], 3) for name in SWEPT},
    **{
        f"table {name}": lambda name=name: run_table(name, WAYS, RUNS, QUERIES)
        for name in ("ca-grqc", "ca-hepth", "wiki-vote")
    },
    "laplace ca-grqc": laplace,
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "der")
