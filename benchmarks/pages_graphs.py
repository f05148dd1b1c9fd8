"""The result page of networks: the cut queries of the paper, and sweeps of epsilon and k."""

from __future__ import annotations

from typing import Any

from pages_graph_measures import choices_part, growth_part, mark_best, measures_part, number, speed_part, with_error
from panels import panels
from plots import growth
from tables import table

SHARES = ("0.2", "0.4", "0.6", "0.8", "1")
SMALL = ("3", "5", "20", "100", "200", "500")
METHODS = ("der", "degree-corrected-blocks", "noisy-degrees", "tmf", "random-graph")
#: mean relative errors of the paper's Table 7.2
PAPER = {
    "ca-grqc": (0.040, 0.033, 0.036, 0.050, 0.047),
    "ca-hepth": (0.035, 0.037, 0.036, 0.045, 0.042),
    "wiki-vote": (0.041, 0.046, 0.045, 0.042, 0.047),
}
SWEPT = ("ca-grqc", "wiki-vote")
TABLED = ("2", "4", "8", "12", "16")
CHARTS = {
    "random cuts, up to 0.4V: relative error": "random cuts",
    "cuts between intervals: relative error": "contiguous cuts",
    "cuts around a community: relative error": "community cuts",
    "degrees: Jensen-Shannon divergence": "degrees",
}

HEAD = (
    "# Results: networks\n\nMade by `benchmarks/pages.py` from `der.json`, `degree-corrected-blocks.json` and "
    "`graph-choices.json`; do not edit. `der` is the method of the paper, corrected; `degree-corrected-blocks` is "
    "ours; `noisy-degrees` (edges drawn by noisy degrees, the simplest rival that knows more than the number of "
    "edges), `tmf`, `random-graph` (a random graph with a private number of edges) and `laplace-graph` are rivals. The "
    "guarantee is epsilon = 1, k = 1 unless stated otherwise, and the unit is one edge. A figure is a mean over runs "
    "with its standard error; every run has new noise.\n\nThe networks are public: `ca-grqc` without loops (14,484 "
    "edges; the paper counts 14,496), `ca-hepth` whole (9,877 vertices; the paper has an extract of 5,000 and does not "
    "say which), `wiki-vote` and `soc-epinions1-undirected` without directions, `email-enron`, and `facebook-ego`. "
    "Vertices are ordered by their numbers, as published."
)

SHORT = (
    "## In short\n\n"
    "- **Cuts between random vertices do not measure structure.** On the workload of the paper a random graph with the "
    "right number of edges is as good as `der`. Degrees help: `noisy-degrees`, which asks for nothing else, has the "
    "lowest error, and `degree-corrected-blocks`, which spends half of its budget on them, is close to it.\n"
    "- **`degree-corrected-blocks` is best for what depends on the order of the vertices**: intervals on all six "
    "networks, and communities, ego networks, triangles and kept edges where the order is related to the edges "
    "(`wiki-vote`, `email-enron`, `facebook-ego`, `soc-epinions1-undirected`; `der` is better at communities of "
    "`wiki-vote`).\n"
    "- **`noisy-degrees` is best for the distribution of degrees** (on `email-enron` and `facebook-ego` they tie), and "
    "the method to take if the order of the vertices means nothing.\n"
    "- **No method keeps communities, triangles or clustering of `ca-grqc` and `ca-hepth`** at epsilon 1: the numbers "
    "of their vertices are unrelated to the edges. Bold there means best, not good.\n"
    "- **`facebook-ego` flatters methods that use the order.** Its numbers follow the ego networks it was collected "
    "from: the order was made from the edges, and the guarantee does not cover what such an order discloses. An order "
    "of private data that was made from its edges must not be declared public. In `wiki-vote`, `email-enron` and "
    "`soc-epinions1-undirected`, too, low numbers have more edges (a random graph is far off on intervals); whether "
    "these numbers were made from the edges is not documented."
)
LOSSES = (
    "## Where degree-corrected-blocks loses\n\n"
    "- **Degrees, and cuts between random vertices**: `noisy-degrees` has all of the budget for degrees. Its "
    "divergence of degree distributions is up to a quarter lower, and its errors of random cuts are up to 6 % lower "
    "(`ca-grqc`, `ca-hepth`); on the larger networks there is hardly a difference.\n"
    "- **Ego networks of sparse networks** (`ca-grqc`, `ca-hepth`): the noise of a degree is larger than most degrees, "
    "so some vertices get many edges that they do not have. A random graph, in which all vertices are alike, errs "
    "less.\n"
    "- **Communities of `wiki-vote`**, where `der` is better, and pairs of communities of `ca-hepth`, where a random "
    "graph is.\n"
    "- **Paths** of `ca-grqc` and `ca-hepth` are too short, since vertices of high degree are joined at random.\n"
    "- **The largest component** of `wiki-vote` and `soc-epinions1-undirected` loses too many vertices: those of low "
    "degree are given no edge, or edges among themselves. In a random graph nearly all vertices are connected.\n"
    "- **The number of edges** is up to 1 % off; `random-graph` and `tmf` ask for nothing else, or nearly so.\n"
    "- **Very small budgets on sparse networks**: on `ca-grqc` a random graph has the lowest errors of cuts if epsilon "
    "/ k is 0.2 or less (see the sweeps), because the noise of degrees and counts is larger than what they tell.\n"
    "- **Large epsilon**: it arranges no edges, so more budget helps it little. `tmf` keeps most edges from an epsilon "
    "of 6 to 8 on, where it is better at single edges and communities, and is better in everything from about 12 on.\n"
    "- **Inference**: it tells an attacker more about edges than the rivals do, since it keeps more of the degrees "
    "and blocks (see the attack)."
)


def network_pages(cuts: dict[str, Any], measured: dict[str, Any], choices: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    drawings = {**_sweep_charts(cuts), **_growth_charts(measured)}
    parts = [
        HEAD,
        SHORT,
        _table_part(cuts),
        measures_part(measured),
        LOSSES,
        _sweep_part(cuts),
        speed_part(measured),
        growth_part(measured),
        choices_part(choices),
    ]
    return {"networks.md": "\n\n".join(parts) + "\n", **drawings}


QUERIES = (
    "## The cut queries of the paper\n\nThe mean relative error of cuts between random vertices (relative to the true "
    "count, at least 0.001 of all edges), {queries:,} queries per set, {runs} runs. The paper does not say how "
    "the vertices of a query are divided. Here their number is uniform from 2 to the maximal size, and a fair coin "
    "puts each on one side. *der, clipped* clips the counts of leaves one by one, as the paper does (`fitted=no`). "
    "*der, epsilon 2* has the budget that the printed method really spends: an edge is two cells of its matrix, and is "
    "charged once; so the print compares with this row. Bold: the best at epsilon 1, and those within two "
    "standard errors of it."
)
READING = (
    "**The printed figures are not reproduced.** They hardly depend on the size of the sets, whereas a larger cut has "
    "a smaller relative error, for every method here. At 0.2V and 0.4V the print is far below a random graph with the "
    "right number of edges. On `ca-grqc` it is even below `tmf` at epsilon 8, which keeps two thirds of the edges "
    "and still errs more (see *large epsilon*). So its queries probably were other ones. If all queries have "
    "the maximal size, `der` is below the print from 0.6V on, and on `ca-grqc` *der, clipped* levels off at 5 % as the "
    "print does: clipping the leaves one by one adds edges that do not exist. Compare within a table, not with the "
    "print."
)


def _table_part(cuts: dict[str, Any]) -> str:
    intro = QUERIES.format(**cuts[f"table {next(iter(PAPER))}"])
    return "\n\n".join([intro, READING, *(_cut_tables(name, cuts) for name in PAPER)])


def _cut_tables(name: str, cuts: dict[str, Any]) -> str:
    run, further = cuts[f"table {name}"], cuts.get(f"laplace {name}")
    scores = {**run["scores"], **(further["scores"] if further else {})}
    printed = [["the paper, as printed", *(f"{value:.3f}" for value in PAPER[name]), ""]]
    large = _rows(scores, [f"{share}V" for share in SHARES])
    large = printed + [[*row, with_error(*scores[row[0]]["edges"])] for row in large]
    sizes = [f"{share}V" for share in SHARES[:-1]] + ["V"]
    note = (
        f"\n\n`laplace-graph` publishes {scores['laplace-graph']['edges'][0]:.0f} times as many edges as there are; "
        f"{further['runs']} run, {further['queries']:,} queries per set."
        if further
        else ""
    )
    return (
        f"### {name}: {run['vertices']:,} vertices, {run['edges']:,} edges\n\n"
        + table(["maximal size", *sizes, "edges, released / original"], large)
        + f"{note}\n\nSmall sets:\n\n"
        + table(["maximal size", *SMALL], _rows(scores, list(SMALL)))
        + f"\n\nAll queries of the maximal size ({run['queries'] // 10:,} per set):\n\n"
        + table(["size", *sizes], _rows(scores, [f"exactly {share}V" for share in SHARES]))
    )


def _rows(scores: dict[str, Any], columns: list[str]) -> list[list[str]]:
    """One row per method; twice the budget does not compete."""
    rows = {way: [way] for way in scores}
    for column in columns:
        values = {way: tuple(values[column]) for way, values in scores.items()}
        rivals = {way: value for way, value in values.items() if way != "der, epsilon 2"}
        cells = {way: with_error(*value) for way, value in values.items()}
        cells |= dict(zip(rivals, mark_best(rivals, "lower", None), strict=True))
        for way, cell in cells.items():
            rows[way].append(cell)
    return list(rows.values())


SWEEPS = (
    "## Sweeps of epsilon and k\n\nMeans of {runs} runs, {queries:,} queries per workload. The guarantee (epsilon, k) "
    "is epsilon / k for one edge, so k = 25 at epsilon 1 is as strict as epsilon = 0.04. `random-graph` hardly depends "
    "on either: it asks for one number."
)
LARGE = (
    "### Large epsilon\n\nThe share of edges that are kept; means of {runs} runs. `tmf` keeps most edges once epsilon "
    "exceeds the logarithm of the number of pairs per edge, about 6.9 for `ca-grqc` and 5.5 for `wiki-vote`. `der` "
    "arranges edges with about 40 % of its budget. `degree-corrected-blocks` arranges none: it keeps the edges "
    "that degrees and blocks imply."
)


def _sweep_part(cuts: dict[str, Any]) -> str:
    pictures = [f"![{axis}, {name}](networks-{axis}-{name}.svg)" for axis in ("epsilon", "k") for name in SWEPT]
    large = "![edges that are kept at large epsilon](networks-large-epsilon.svg)"
    run, last = cuts[f"epsilon {SWEPT[0]}"], cuts[f"large {SWEPT[0]}"]
    tables = [_large_table(name, cuts[f"large {name}"]["sweep"]) for name in SWEPT]
    return "\n\n".join([SWEEPS.format(**run), *pictures, LARGE.format(**last), large, *tables])


def _large_table(name: str, sweep: dict[str, Any]) -> str:
    """The other figures at large epsilon."""
    scores = (*CHARTS.values(), "recall")
    rows = [
        [way, point["epsilon"], *(number(point[score][0]) for score in scores)]
        for way in METHODS[:3]
        for point in sweep[way]
        if point["epsilon"] in TABLED
    ]
    head = [name, "epsilon", "random cuts, up to 0.4V", "intervals", "communities", "degrees: Jensen-Shannon"]
    return table([*head, "edges kept: recall"], rows)


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
        "networks-times.svg": growth("Processor time, ten edges per vertex", "edges", "seconds", times),
    }
