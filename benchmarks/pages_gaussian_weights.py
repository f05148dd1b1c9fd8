"""The result page of gaussian-weights."""

from __future__ import annotations

from typing import Any

from tables import figure, table

HEAD = """# Results: gaussian-weights

Made by `benchmarks/pages.py` from `weights-gaussian.json`; do not edit.

Every weight is multiplied by a normal factor. Nothing is promised (`Distortion`); the figures say what is left of
lengths and paths, and what repeated releases tell. Lengths are those of shortest paths between all pairs that have one,
or from 100 vertices on the two large networks. *Paths kept*: one shortest path per pair is fixed before, and counts if
it is a shortest one after. Weights are taken as lengths, also where they count meetings or seats.

Controls: *hidden* publishes the mean weight on every edge, *shuffled* the weights on other edges. The synthetic network
is that of the thesis: 1,600 vertices, 70 % of all pairs, weights uniform between 10 and 100. Figures are means with
standard errors. No constant was chosen on these data."""
THESIS = """## Beside the thesis

The thesis prints, for EIES at sigma .1, the shares within .15 of the original: lengths .8699, weights .8565; for sigma
.15, about 74 % and 98 % of lengths within one and two sigma. It counts 48 researchers and 820 edges; the public copy
has {vertices} vertices with edges and {edges} arcs. A weight is within one sigma with probability .683 and within two
with .954, whatever the network is; without directions and `calibrated`, more often, since the mean of two draws is
closer.

Paths of EIES change often because its weights are 1 to 4: most pairs have several shortest paths, of which one is
left. There, equal weights on all edges (*hidden*) keep more paths: most vertices are adjacent, and few edges are the
shortest way anyhow."""
REPEATED = """## Repeated releases

Netscience at sigma {sigma}, `calibrated`: the deviation of the mean of all releases from the weights, as a share. With
a key, a published weight stays as it is; where weights grow by 1 % a release, it is drawn afresh every time. Of the
95 % intervals w* / (1 +- 2 sigma) of one release, {inside:.1%} contain the weight."""
TIMES = """## Times

Processor time in seconds, of {edges:,} edges on 200,000 vertices, and of path searches in condmat-weighted. *Whole
command* reads CSV, writes it, and reads it again to verify it."""


def gaussian_weights_page(results: dict[str, Any]) -> str:
    """Write the page."""
    networks = {name: run for name, run in results.items() if "scores" in run}
    repeated, times = results["repeated releases"], results["times"]
    parts = [HEAD, "## Lengths, weights, paths", _networks(networks), THESIS.format(**networks["eies"])]
    parts += [_sigmas(networks), REPEATED.format(sigma=repeated["sigma"], inside=repeated["inside the interval"])]
    parts += [_repeated(repeated["releases"]), TIMES.format(edges=times["edges"]), _times(times)]
    return "\n\n".join(parts) + "\n"


def _networks(networks: dict[str, Any]) -> str:
    names = ["lengths within .15", "lengths within .4", "weights within .15", "weights within .4"]
    names += ["paths kept", "paths of several edges kept"]
    rows = [
        [_described(name, run), way, *(figure(*scores[each]) for each in names)]
        for name, run in networks.items()
        for way, scores in run["scores"].items()
    ]
    return table(["network", "published", *names], rows)


def _sigmas(networks: dict[str, Any]) -> str:
    names = ["lengths within 1 sigma", "lengths within 2 sigma", "weights within 1 sigma", "weights within 2 sigma"]
    rows = [
        [name, way, *(figure(*scores[each]) for each in names)]
        for name, run in networks.items()
        for way, scores in run["scores"].items()
        if names[0] in scores
    ]
    return table(["network", "published", *names], rows)


def _described(name: str, run: dict[str, Any]) -> str:
    return f"{name} ({run['vertices']:,} vertices, {run['edges']:,} edges, {run['runs']} runs)"


def _repeated(releases: dict[str, Any]) -> str:
    ways = list(next(iter(releases.values())))
    rows = [[number, *(f"{run[way]:.3f}" for way in ways)] for number, run in releases.items()]
    return table(["releases", *ways], rows)


def _times(times: dict[str, Any]) -> str:
    floor, single = times["one sort of the weights"], times["Dijkstra, 1 source"]
    several = times["Dijkstra, 20 sources"]
    beside = {
        "publish": (floor, "the sort"),
        "publish with a key": (floor, "the sort"),
        "lengths and paths kept, 20 sources": (several, "Dijkstra, 20 sources"),
        "second-shortest path of 1 pair": (single, "Dijkstra, 1 source"),
    }
    rows = []
    for name, seconds in times.items():
        if name != "edges":
            ratio = f"{seconds / beside[name][0]:.1f} times {beside[name][1]}" if name in beside else ""
            rows.append([name, f"{seconds:.3f}", ratio])
    return table(["what", "processor seconds", "beside"], rows)
