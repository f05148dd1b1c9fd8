"""The result page of networks: the cut queries of the paper, and sweeps of epsilon and k."""

from __future__ import annotations

from typing import Any

from pages_graph_measures import choices_part, growth_part, measures_part, speed_part
from panels import panels
from plots import growth
from tables import figure, table

SHARES = ("0.2", "0.4", "0.6", "0.8", "1")
SMALL = ("3", "5", "20", "100", "200", "500")
METHODS = ("der", "degree-corrected-blocks", "tmf", "random-graph")
#: mean relative errors of the paper's Table 7.2
PAPER = {
    "ca-grqc": (0.040, 0.033, 0.036, 0.050, 0.047),
    "ca-hepth": (0.035, 0.037, 0.036, 0.045, 0.042),
    "wiki-vote": (0.041, 0.046, 0.045, 0.042, 0.047),
}
SWEPT = ("ca-grqc", "wiki-vote")
CHARTS = {
    "random cuts, up to 0.4V: relative error": "random cuts",
    "cuts between intervals: relative error": "contiguous cuts",
    "cuts around a community: relative error": "community cuts",
    "degrees: Jensen-Shannon divergence": "degrees",
}

HEAD = (
    "# Results: networks\n\nMade by `benchmarks/pages.py` from `der.json`, `degree-corrected-blocks.json` and "
    "`graph-choices.json`; do not edit. `der` is the method of the paper, corrected; `degree-corrected-blocks` is "
    "ours; `tmf`, `random-graph` (a random graph with a private number of edges) and `laplace-graph` are rivals. The "
    "guarantee is epsilon = 1, k = 1 unless stated otherwise, and the unit is one edge. A figure is a mean over runs "
    "with its standard error; every run has new noise.\n\nThe networks are public: `ca-grqc` without loops (14,484 "
    "edges; the paper counts 14,496), `ca-hepth` whole (9,877 vertices; the paper has an extract of 5,000 and does not "
    "say which), `wiki-vote` and `soc-epinions1-undirected` without directions, `email-enron`, and `facebook-ego`. "
    "Vertices are ordered by their numbers, as published."
)

SHORT = "## In short\n\nTODO"


def network_pages(cuts: dict[str, Any], measured: dict[str, Any], choices: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    drawings = {**_sweep_charts(cuts), **_growth_charts(measured)}
    parts = [
        HEAD,
        SHORT,
        _table_part(cuts),
        _sweep_part(cuts),
        measures_part(measured),
        speed_part(measured),
        growth_part(measured),
        choices_part(choices),
    ]
    return {"networks.md": "\n\n".join(parts) + "\n", **drawings}


def _table_part(cuts: dict[str, Any]) -> str:
    runs = [name for name in PAPER if f"table {name}" in cuts]
    first = cuts[f"table {runs[0]}"]
    text = (
        "## The cut queries of the paper\n\nThe mean relative error of cuts between random vertices (relative to the "
        f"true count, at least 0.001 of all edges), {first['queries']:,} queries per set and {first['runs']} runs. "
        "The paper does not say how the vertices of a query are divided. Here their number is uniform from 2 to the "
        "maximal size, and a fair coin puts each on one side. *der, clipped* clips the counts of leaves one by one as "
        "the paper does (`fitted=no`); *der, epsilon 2* is what the printed method really spends: it charges an edge "
        "once, though an edge is two cells of the matrix. So the printed figures at epsilon 1 compare with that row."
    )
    return "\n\n".join([text, *(_cut_tables(name, cuts) for name in runs), _reading()])


def _cut_tables(name: str, cuts: dict[str, Any]) -> str:
    run = cuts[f"table {name}"]
    scores = {**run["scores"], **cuts.get(f"laplace {name}", {}).get("scores", {})}
    printed = [["the paper, as printed", *(f"{value:.3f}" for value in PAPER[name]), ""]]
    large = printed + _rows(scores, [*(f"{share}V" for share in SHARES), "edges"])
    exact = _rows(scores, [f"exactly {share}V" for share in SHARES])
    note = (
        "\n\n`laplace-graph` publishes "
        f"{scores['laplace-graph']['edges'][0]:.0f} times as many edges as there are; one run, "
        f"{cuts[f'laplace {name}']['queries']:,} queries per set."
        if "laplace-graph" in scores
        else ""
    )
    return (
        f"### {name}: {run['vertices']:,} vertices, {run['edges']:,} edges\n\n"
        + table(["maximal size", *(f"{share}V" for share in SHARES), "edges, released / original"], large)
        + note
        + "\n\nSmall sets:\n\n"
        + table(["maximal size", *SMALL], _rows(scores, list(SMALL)))
        + f"\n\nAll queries of the maximal size ({run['queries'] // 10:,} per set):\n\n"
        + table(["size", *(f"{share}V" for share in SHARES)], exact)
    )


def _rows(scores: dict[str, Any], columns: list[str]) -> list[list[str]]:
    return [[way, *(figure(*values[column]) for column in columns)] for way, values in scores.items()]


def _reading() -> str:
    return (
        "The printed figures hardly depend on the size of the sets. Ours fall with it, as they must: a larger cut has "
        "more edges, and a relative error of their number that is smaller. With queries of uniform size the small ones "
        "dominate the mean; with queries of the maximal size alone `der` is below the print from 0.6V on. A constant "
        "error of 4 % is what clipping the leaves one by one causes in the number of edges (see the last column of "
        "*der, clipped*). So the print cannot be reproduced by either reading, and the rivals in the same rows are "
        "what to compare with."
    )


SWEEPS = (
    "## Sweeps of epsilon and k\n\nMeans of {runs} runs, {queries:,} queries per workload. The guarantee (epsilon, k) "
    "is epsilon / k for one edge, so k = 25 at epsilon 1 is as strict as epsilon = 0.04. `random-graph` hardly depends "
    "on either: it asks for one number."
)
LARGE = (
    "### Large epsilon\n\nThe share of edges that are kept; means of {runs} runs. `tmf` keeps most edges once epsilon "
    "exceeds the logarithm of the number of pairs per edge, about 6.9 for `ca-grqc` and 5.5 for `wiki-vote`. `der` "
    "arranges edges with less than half of its budget. `degree-corrected-blocks` arranges none: it keeps the edges "
    "that degrees and blocks imply."
)


def _sweep_part(cuts: dict[str, Any]) -> str:
    pictures = [f"![{axis}, {name}](networks-{axis}-{name}.svg)" for axis in ("epsilon", "k") for name in SWEPT]
    large = "![edges that are kept at large epsilon](networks-large-epsilon.svg)"
    run, last = cuts[f"epsilon {SWEPT[0]}"], cuts[f"large {SWEPT[0]}"]
    return "\n\n".join([SWEEPS.format(**run), *pictures, LARGE.format(**last), large])


def _sweep_charts(cuts: dict[str, Any]) -> dict[str, str]:
    drawings = {}
    for axis, fixed in (("epsilon", "k = 1"), ("k", "epsilon = 1")):
        for name in SWEPT:
            sweep = cuts[f"{axis} {name}"]["sweep"]
            charts = {title: _series(sweep, axis, score) for title, score in CHARTS.items()}
            drawings[f"networks-{axis}-{name}.svg"] = panels(f"{name}, {fixed}", axis, charts)
    kept = {name: _series(cuts[f"large {name}"]["sweep"], "epsilon", "recall") for name in SWEPT}
    drawings["networks-large-epsilon.svg"] = panels("Share of edges that are kept, k = 1", "epsilon", kept)
    return drawings


def _series(sweep: dict[str, Any], axis: str, score: str) -> dict[str, list[tuple[float, float]]]:
    return {way: [(float(point[axis]), point[score][0]) for point in sweep[way]] for way in METHODS}


def _growth_charts(measured: dict[str, Any]) -> dict[str, str]:
    runs = [run for name, run in measured.items() if name.startswith("growth ")]
    methods = list(dict.fromkeys(run["method"] for run in runs))
    memory = {way: [(run["edges"], run["gigabytes"]) for run in runs if run["method"] == way] for way in methods}
    memory["before publishing"] = [(run["edges"], run["before"]) for run in runs if run["method"] == methods[0]]
    times = {way: [(run["edges"], run["processor seconds"]) for run in runs if run["method"] == way] for way in methods}
    return {
        "networks-memory.svg": growth("Peak memory, ten edges per vertex", "edges", "GB", memory),
        "networks-times.svg": growth("Time, ten edges per vertex", "edges", "processor seconds", times),
    }
