"""affinity-weights: how many arcs become anonymous, beside the thesis and its own alternatives; and times.

Writes docs/results/weights-affinity.json, from which `pages.py` makes docs/results/weights-affinity.md. Networks are
those of `--data` and those that the thesis describes; releases have fixed seeds, and `--again NAME` repeats the
experiments whose name starts so.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from floor import data_folder
from numpy.typing import NDArray
from plans import means, run_plans
from scipy.sparse import csgraph
from weighted_networks import load_network

from hedgerow import Domain, find_method
from hedgerow.errors import NotSatisfied
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, count_anonymous
from hedgerow.kinds.graphs.data import Graph, KeptPaths
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.kinds.graphs.methods.kept_pairs import choose_pairs

Floats = NDArray[np.float64]

SHARES = (0.05, 0.10, 0.15, 0.20, 0.25)
LEVELS = (2, 3, 4, 5, 10)
ORDERS = ("freq", "inverse", "random")
#: what counts as alike in each network, and how many releases are made; heavy-tailed weights by their logarithms
NETWORKS: Mapping[str, tuple[dict[str, Any], int]] = {
    "SYN1": ({"mu": "0.5"}, 2),
    "SYN2": ({"mu": "0.5"}, 1),
    "EIES jittered": ({"mu": "0.02"}, 3),
    "EIES messages": ({"mu": 10}, 3),
    "us-airports": ({"mu": "0.1", "relative": True}, 1),
    "netscience": ({"mu": "0.02"}, 1),
}
#: settings, on the networks of the thesis with the paths of a tenth of all pairs
WAYS: Mapping[str, Mapping[str, Any]] = {
    "drawn, by rows (default)": {},
    "drawn, by arcs": {"objective": "arc"},
    "closest, by rows": {"choice": "closest"},
    "closest, by arcs": {"choice": "closest", "objective": "arc"},
    "two sweeps": {"sweeps": 2},
    "approaching, where none is reached": {"strict": False},
}
CONDMAT_PAIRS = 1_000


def synthetic(vertices: int, part: float, seed: int) -> Graph:
    """Make a network with directions as the thesis does: weights are uniform in 10 to 100."""
    draw = np.random.default_rng(seed)
    source, target = np.nonzero(~np.eye(vertices, dtype=np.bool_) & (draw.random((vertices, vertices)) < part))
    domain = Domain.declare(vertex=range(vertices))
    weights = draw.uniform(10, 100, len(source))
    return Graph.from_columns(source=source, target=target, weights=weights, directed=True, domain=domain)


@cache
def load(name: str, seed: int) -> Graph:
    """A network by its name; synthetic and jittered ones are drawn."""
    if name == "SYN1":
        return synthetic(100, 1.0, seed)
    if name == "SYN2":
        return synthetic(200, 0.7, seed)
    if name == "EIES jittered":
        graph = load_network("EIES", data_folder())
        shifts = np.random.default_rng(seed).uniform(-0.4, 0.4, len(graph))
        return replace(graph, weights=graph.require_weights() + shifts)
    if name == "EIES messages":
        rows = np.loadtxt(data_folder() / "eies" / "eies_messages.edges")
        ends = [tuple(map(int, row[:2])) for row in rows]
        domain = Domain.declare(vertex=sorted({end for pair in ends for end in pair}))
        return Graph.from_edges(ends, weights=rows[:, 2].tolist(), directed=True, domain=domain)
    return load_network(name, data_folder())


def with_pairs(graph: Graph, share: float, seed: int) -> Graph:
    """Keep the paths of a share of all pairs that have one."""
    return replace(graph, paths=KeptPaths(listed=choose_pairs(graph, share, np.random.default_rng(seed)).pairs))


def run(graph: Graph, promise: MuWeightedKAnonymity, seed: int, **settings: Any) -> dict[str, float]:
    """Publish, and measure."""
    before, arcs = count_anonymous(graph, promise)
    start = time.process_time()
    try:
        released = find_method("affinity-weights")(**settings).publish(graph, promise, seed=seed).data
    except NotSatisfied:  # not a single arc is anonymous
        released = graph
    seconds = time.process_time() - start
    after, _ = count_anonymous(released, promise)
    old, new = graph.require_weights(), released.require_weights()
    return {
        "before": before / arcs,
        "after": after / arcs,
        "changed": float(np.mean(old != new)),
        "moved": float(np.mean(np.abs(new - old) / old)),
        "extreme": stay_extreme(graph, new),
        **compare_paths(graph, new),
        "seconds": seconds,
    }


def compare_paths(graph: Graph, weights: Floats) -> dict[str, float]:
    """The share of kept paths that are still shortest, and the mean relative difference of their lengths."""
    paths = graph.paths or KeptPaths()
    pairs, size = paths.listed, graph.domain.size("vertex")
    intervals = FeasibleIntervals.of(
        graph.first, graph.second, graph.require_weights(), size, pairs, directed=graph.directed
    )
    intervals.move_all(weights)
    sources, at = np.unique(intervals.paths.pairs[:, 0], return_inverse=True)
    distances = csgraph.dijkstra(graph.weighted(weights).to_matrix(), indices=sources)
    now = distances[at, intervals.paths.pairs[:, 1]]
    before = intervals.first_lengths
    kept = np.abs(intervals.lengths - now) <= intervals.tolerance
    return {"kept": float(np.mean(kept)), "lengths": float(np.mean(np.abs(now - before) / before))}


def stay_extreme(graph: Graph, weights: Floats) -> float:
    """How often the heaviest and the lightest of the arcs of a vertex are so afterwards: what singles an arc out."""
    source = graph.first if graph.directed else np.concatenate((graph.first, graph.second))
    edges = np.arange(len(graph)) if graph.directed else np.tile(np.arange(len(graph)), 2)
    same = total = 0
    for sign in (1, -1):
        chosen = []
        for values in (graph.require_weights(), weights):
            order = np.lexsort((edges, sign * values[edges], source))
            starts = np.flatnonzero(np.diff(source[order], prepend=-1))
            chosen.append(edges[order][starts][np.diff(starts, append=len(order)) > 1])
        same, total = same + int(np.sum(chosen[0] == chosen[1])), total + len(chosen[0])
    return same / total


def run_networks(name: str, share: float, k: int, order: str) -> dict[str, Any]:
    """The mean of some releases of a network."""
    numbers, releases = NETWORKS[name]
    promise = MuWeightedKAnonymity(**numbers, k=k, share="0.001")
    runs = [run(with_pairs(load(name, seed), share, seed), promise, seed, order=order) for seed in range(releases)]
    return {"network": name, "pairs": share, "k": k, "order": order, **means(runs)}


def run_ways(name: str) -> dict[str, Any]:
    """Each setting, with the paths of a tenth of all pairs."""
    numbers, releases = NETWORKS[name]
    promise = MuWeightedKAnonymity(**numbers, k=3, share="0.001")
    return {
        way: means([run(with_pairs(load(name, seed), 0.1, seed), promise, seed, **more) for seed in range(releases)])
        for way, more in WAYS.items()
    }


def run_controls(name: str) -> dict[str, Any]:
    """The alternatives of the thesis: weights left out, one constant added to all, all multiplied by one."""
    numbers, _ = NETWORKS[name]
    graph = with_pairs(load(name, 0), 0.1, 0)
    weights = graph.require_weights()
    promise = MuWeightedKAnonymity(**numbers, k=3, share=1)
    ways = {
        "all weights their mean": np.full(len(weights), weights.mean()),
        "the mean added to all": weights + weights.mean(),
        "all doubled": 2 * weights,
    }
    return {
        way: {
            "after": _share(graph.weighted(values), promise),
            "extreme": stay_extreme(graph, values),
            **compare_paths(graph, values),
        }
        for way, values in ways.items()
    }


def run_levels() -> dict[str, Any]:
    """The shares of anonymous arcs of the originals."""
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "EIES, mu = 10": ("EIES", {"mu": 10}),
        "SYN1, mu = 10": ("SYN1", {"mu": 10}),
        "SYN2, mu = 10": ("SYN2", {"mu": 10}),
        **{f"{name}, mu = 0.5": (name, {"mu": "0.5"}) for name in ("SYN1", "SYN2")},
        "EIES messages, mu = 10": ("EIES messages", {"mu": 10}),
        "EIES messages, mu = 10, no small out-degrees": ("EIES messages", {"mu": 10, "small_degree": False}),
    }
    return {
        case: [_share(load(name, 0), MuWeightedKAnonymity(**numbers, k=k, share=1)) for k in LEVELS]
        for case, (name, numbers) in cases.items()
    }


def _share(graph: Graph, promise: MuWeightedKAnonymity) -> float:
    anonymous, arcs = count_anonymous(graph, promise)
    return anonymous / arcs


def run_large() -> dict[str, Any]:
    """The largest network, with the paths of some pairs."""
    graph = load_network("condmat-weighted", data_folder())
    share = CONDMAT_PAIRS / graph.pairs
    graph = with_pairs(graph, share, 1)
    promise = MuWeightedKAnonymity(mu="0.05", k=3, share="0.001")
    result = run(graph, promise, 1)
    pairs = len((graph.paths or KeptPaths()).listed)
    return {"vertices": graph.domain.size("vertex"), "edges": len(graph), "pairs": pairs, **result}


def settings_of(name: str) -> Sequence[tuple[float, int, str]]:
    """Which shares of pairs, k and orders are tried."""
    wide = [(share, 3, "freq") for share in SHARES] + [(0.1, k, "freq") for k in LEVELS if k != 3]
    orders = [(0.1, 3, order) for order in ORDERS[1:]]
    return [*wide, *orders] if name in {"SYN1", "SYN2", "EIES jittered", "EIES messages"} else [(0.05, 3, "freq")]


PLANS = {
    "levels": run_levels,
    **{
        f"{name}, {share:.0%}, k = {k}, {order}": partial(run_networks, name, share, k, order)
        for name in NETWORKS
        for share, k, order in settings_of(name)
    },
    **{f"ways {name}": partial(run_ways, name) for name in ("SYN1", "EIES jittered")},
    **{f"controls {name}": partial(run_controls, name) for name in ("SYN1", "EIES jittered", "EIES messages")},
    "condmat-weighted": run_large,
}


if __name__ == "__main__":
    run_plans(__file__, PLANS, "weights-affinity")
