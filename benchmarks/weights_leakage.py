"""What outsiders read in published weights: the table behind the statements of methods for weighted networks.

Writes docs/results/weights-leakage.json, from which `pages.py` makes docs/results/weights-leakage.md. Releases are made
with fixed seeds, so that every figure can be computed again; `--again NAME` repeats those whose name starts so.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np
from floor import data_folder
from numpy.typing import NDArray
from plans import run_plans
from weighted_networks import load_network

from hedgerow import Distortion, Domain, Graph, find_method
from hedgerow.kinds.graphs.attacks import (
    average_releases,
    bound_by_releases,
    effective_deviation,
    factor_interval,
    shrink_factor,
    stand_out,
)
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, find_anonymous
from hedgerow.kinds.graphs.path_lengths import lengths_from
from hedgerow.kinds.graphs.structure import label_components
from hedgerow.kinds.graphs.weight_bounds import Bounds, all_kept_pairs, bound_by_paths
from hedgerow.kinds.graphs.weight_measures import kendall_tau

Floats = NDArray[np.float64]

NETWORKS = ("eies", "us-airports", "netscience")
SIGMAS = (0.1, 0.2)
RELEASES = (1, 2, 4, 16)
SEEDS = 5
#: share of all pairs whose paths stay: a quarter as in the thesis, or about a thousand pairs
SHARES = {"eies": 0.25, "us-airports": 0.008, "netscience": 0.014}
#: edges whose weights are bounded by linear programming
TARGETS = 100
#: mu and share of the promise, by network: weights of EIES are 1 to 4, those of airports go to two million
PROMISES = {"us-airports": (1000, 3, "10%"), "netscience": ("0.01", 3, "10%")}
WITHIN = (0.05, 0.1, 0.25)


def read_network(name: str) -> Graph:
    """Read a public network with its weights; of netscience, its largest component."""
    graph = load_network("EIES" if name == "eies" else name, data_folder())
    return largest_part(graph) if name == "netscience" else graph


def largest_part(graph: Graph) -> Graph:
    """The largest connected component, whose vertices are named as before."""
    labels = label_components(graph)
    inside = labels == np.bincount(labels).argmax()
    edges, place = inside[graph.first], np.cumsum(inside) - 1
    values = graph.domain.values("vertex")
    return Graph.from_columns(
        source=place[graph.first[edges]],
        target=place[graph.second[edges]],
        domain=Domain.declare(vertex=[values[code] for code in np.flatnonzero(inside).tolist()]),
        weights=graph.require_weights()[edges],
        directed=graph.directed,
    )


def mean_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each figure."""
    return {name: statistics.mean(run[name] for run in runs) for name in runs[0]}


def judge(guess: Floats, truth: Floats) -> dict[str, float]:
    """The relative error of a guess, and how many weights it has within some share."""
    errors = np.abs(guess - truth) / truth
    shares = {f"within {100 * share:g} %": float((errors <= share + 1e-9).mean()) for share in WITHIN}
    error = {"error": float(np.sqrt((errors**2).mean())), "median error": float(np.median(errors))}
    return {**error, "exact": float((errors <= 1e-9).mean()), **shares}


def are_whole(graph: Graph) -> bool:
    """Whether all weights are whole numbers."""
    weights = graph.require_weights()
    return bool(np.all(weights == np.rint(weights)))


def measure_edges(name: str) -> dict[str, Any]:
    """How many weights are distances, which no method that keeps all lengths can change."""
    graph = read_network(name)
    lengths = lengths_from(graph, np.arange(graph.domain.size("vertex")))
    weights = graph.require_weights()
    lightest = weights == weights.min()
    distance = weights <= lengths[graph.first, graph.second] * (1 + 1e-9)
    return {
        "vertices": graph.domain.size("vertex"),
        "edges": len(graph),
        "weights that are distances": float(distance.mean()),
        "lightest edges that are distances": float(distance[lightest].mean()),
        "commonest weight": float(np.unique(weights, return_counts=True)[1].max() / len(weights)),
        "weights": [float(weights.min()), float(np.median(weights)), float(weights.max())],
    }


def attack_factors(name: str, sigma: float) -> dict[str, Any]:
    """gaussian-weights: interval, best multiple, rounding, order, and the mean of several releases."""
    graph = read_network(name)
    truth = graph.require_weights()
    method = find_method("gaussian-weights")(sigma=sigma)
    deviation = effective_deviation({"sigma": sigma}, directed=graph.directed)
    runs: list[dict[str, float]] = []
    averaged: dict[int, list[dict[str, float]]] = {count: [] for count in RELEASES}
    control: list[dict[str, float]] = []
    for seed in range(SEEDS):
        releases = [
            method.publish(graph, Distortion(), seed=100 * seed + number).data for number in range(max(RELEASES))
        ]
        published = releases[0].require_weights()
        interval = factor_interval(published, deviation)
        runs.append(
            {
                "deviation": deviation,
                "intervals that have the weight": float(interval.hold(truth).mean()),
                "half width": float(np.median(interval.half_widths())),
                "error of the release": judge(published, truth)["error"],
                "error of the best multiple": judge(shrink_factor(published, deviation), truth)["error"],
                "tau": kendall_tau(truth, published),
            }
        )
        for count in RELEASES:
            guess = average_releases(releases[:count])
            averaged[count].append(judge(np.maximum(1, np.rint(guess)) if are_whole(graph) else guess, truth))
        others = truth[np.random.default_rng(seed).permutation(len(truth))]
        control.append(judge(np.maximum(1, np.rint(published)) if are_whole(graph) else published, others))
    return {
        **mean_of(runs),
        "releases": {str(count): mean_of(each) for count, each in averaged.items()},
        "others": mean_of(control),
    }


def choose_pairs(graph: Graph, share: float) -> Graph:
    """Draw pairs of different vertices, joined by a path, whose shortest paths must stay."""
    size, coins = graph.domain.size("vertex"), np.random.default_rng(1)
    count = round(share * size * (size - 1) / (1 if graph.directed else 2))
    lengths = lengths_from(graph, np.arange(size))
    source, target = np.nonzero(np.isfinite(lengths) & (lengths > 0))
    kept = np.ones(len(source), np.bool_) if graph.directed else source < target
    source, target = source[kept], target[kept]
    chosen = coins.choice(len(source), min(count, len(source)), replace=False)
    values = graph.domain.values("vertex")
    return graph.keeping(
        [(values[one], values[other]) for one, other in zip(source[chosen], target[chosen], strict=True)]
    )


def summarise(bounds: Bounds, truth: Floats, others: Floats, otherwise: Floats) -> dict[str, Any]:
    """How many bounds hold, how wide they are, and how far off their middles are."""
    widths = bounds.half_widths()
    return {
        "hold": float(bounds.hold(truth).mean()),
        "hold for others": float(bounds.hold(others).mean()),
        "half width": float(np.median(widths)),
        "bounded": {f"{100 * share:g} %": float((widths <= share).mean()) for share in WITHIN},
        "middle": judge(bounds.middles(otherwise), truth),
        "middle, others": judge(bounds.middles(otherwise), others),
    }


def attack_paths(name: str) -> dict[str, Any]:
    """greedy-weights: categories, bounds by kept paths, weights that stand, one release and two."""
    graph = choose_pairs(read_network(name), SHARES[name])
    truth, pairs, whole = graph.require_weights(), all_kept_pairs(graph), are_whole(graph)
    method = find_method("greedy-weights")()
    parameters = {"rise": method.rise, "fall": method.fall, "least": method.least, "two_sided": method.two_sided}
    releases = [method.publish(graph, Distortion(), seed=seed).data for seed in (1, 2)]
    published = releases[0].require_weights()
    draw = np.random.default_rng(1)
    targets = np.sort(draw.choice(len(truth), min(TARGETS, len(truth)), replace=False))
    others = truth[draw.permutation(len(truth))]
    _, paths = bound_by_releases(releases[:1], pairs, parameters)
    stand, digits = published == truth, stand_out(published)
    results: dict[str, Any] = {
        "pairs": len(pairs),
        "edges on no path": float(paths.never().mean()),
        "edges on all paths": float(paths.always().mean()),
        "sign of the change is known": float((paths.never() | paths.always()).mean()),
        "tau": kendall_tau(truth, published),
        "release": judge(published, truth),
        "stand": float(stand.mean()),
        "few digits": told_by(digits, stand),
        "whole numbers": told_by(published == np.rint(published), stand) if are_whole(graph) else None,
    }
    equal = releases[1].require_weights() == published
    results["equal twice"] = told_by(equal, stand)
    for count, each in (("one release", releases[:1]), ("two releases", releases)):
        box, paths = bound_by_releases(each, pairs, parameters, whole=whole)
        bounds = bound_by_paths(releases[0], paths, box, targets)
        bounds = bounds.whole() if whole else bounds
        alone, fallback = box.at(targets), published[targets]
        results[count] = {
            "edge by edge": summarise(alone, truth[targets], others[targets], fallback),
            "by paths": summarise(bounds.at(targets), truth[targets], others[targets], fallback),
        }
    return results


def told_by(guess: NDArray[np.bool_], stand: NDArray[np.bool_]) -> list[float | None]:
    """How many of all weights stand and are guessed to, and how many of the guesses are right."""
    return [float((stand & guess).mean()), float(stand[guess].mean()) if guess.any() else None]


def attack_windows(name: str) -> dict[str, Any]:
    """affinity-weights: arcs that stand with their weight, and how they are told."""
    graph = choose_pairs(read_network(name), SHARES[name])
    truth = graph.require_weights()
    mu, k, share = PROMISES[name]
    promise = MuWeightedKAnonymity(mu=mu, k=k, share=share)
    releases = [find_method("affinity-weights")().publish(graph, promise, seed=seed).data for seed in (1, 2)]
    published = releases[0].require_weights()
    stand, digits = published == truth, stand_out(published)
    anonymous = find_anonymous(releases[0], promise)
    alone = ~anonymous[: len(truth)]
    equal = releases[1].require_weights() == published
    return {
        "mu": float(promise.mu),
        "k": k,
        "anonymous before": float(find_anonymous(graph.weighted(truth), promise).mean()),
        "anonymous": float(anonymous.mean()),
        "stand": float(stand.mean()),
        "tau": kendall_tau(truth, published),
        "release": judge(published, truth),
        "few digits": told_by(digits, stand),
        "whole numbers": told_by(published == np.rint(published), stand) if are_whole(graph) else None,
        "not anonymous": told_by(alone, stand),
        "equal twice": told_by(equal, stand),
    }


PLANS = {
    **{f"edges, {name}": partial(measure_edges, name) for name in NETWORKS},
    **{
        f"gaussian-weights, {name}, sigma {sigma}": partial(attack_factors, name, sigma)
        for name in NETWORKS
        for sigma in SIGMAS
    },
    **{f"greedy-weights, {name}": partial(attack_paths, name) for name in NETWORKS},
    **{f"affinity-weights, {name}": partial(attack_windows, name) for name in PROMISES},
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "weights-leakage")
