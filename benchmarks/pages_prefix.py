"""The result page of prefix trees."""

from __future__ import annotations

from typing import Any

from plots import growth_along
from tables import figure, growth_table, table

TOPS = (100, 150, 200, 250, 300)
QUERIES = (3, 6, 9, 12)
WAYS = ("hybrid, printed", "simple, printed, bounded", "hybrid", "simple")
CONTROLS = ("ngram", "single items", "original, cut", "empty release")
NETWORKS = {"metro": 0, "bus": 1}
#: true positives of the paper's tables on the agency's data, Metro and Bus
PAPER_TOP = {
    "Simple in the paper, on the agency's data": (
        (99, 97), (143, 139), (178, 168), (209, 195), (241, 212),
    ),
    "Hybrid in the paper, on the agency's data": (
        (100, 100), (149, 144), (185, 177), (220, 209), (257, 233),
    ),
}  # fmt: skip
PAPER_EPSILON = {
    "0.5": ((227, 194), (244, 215)),
    "0.75": ((239, 206), (253, 224)),
    "1": ((241, 212), (257, 233)),
    "1.25": ((243, 216), (259, 238)),
    "1.5": ((248, 224), (261, 242)),
}
PAPER_HEIGHT = {
    6: ((234, 212), (241, 221)),
    8: ((240, 217), (254, 232)),
    10: ((241, 215), (255, 236)),
    12: ((241, 212), (257, 233)),
    14: ((241, 212), (258, 233)),
    16: ((240, 210), (258, 231)),
    18: ((240, 209), (255, 230)),
    20: ((238, 206), (254, 228)),
}


def prefix_pages(results: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    head = (
        "# Results: prefix-tree and continued-prefix-tree\n\nMade by `benchmarks/pages.py` from "
        "`prefix-tree.json`; do not edit. *Printed* is the method of the paper, `prefix-tree`: sequences end "
        "where the tree does, every level has the same budget, and the thresholds and the split between groups "
        "and places are those of the paper (noise is integer). These figures were measured with the printed inference "
        "as well, which `prefix-tree` corrects. The printed simple tree grows so many empty prefixes on these data "
        "that they do not fit in memory, so their number is bounded. *Hybrid* and *simple* are our method, "
        "`continued-prefix-tree`, with and without groups; *ngram* is `ngram-markov`. *Original, cut* has no noise, "
        "but only as many items per sequence as the method uses; *single items* is a release from counts of single "
        "items alone.\n\nMetro and Bus are synthetic "
        "(`benchmarks/transit.py`): home, work, and one visit in five elsewhere, with the numbers "
        "of records and places and the mean length of the paper's two data sets, which are not "
        "public. The figures of the paper are shown as printed; they are on other data and not directly comparable."
    )
    parts = [head, *(_main(name, results) for name in NETWORKS)]
    parts += [_timed(name, results[f"timed {name}"]) for name in NETWORKS]
    parts += [_real(name.removeprefix("real "), run) for name, run in results.items() if name.startswith("real ")]
    parts.append(_speed(results))
    axes = {"records": 1_000, "items": 1_000_000}
    parts += [f"![growth with {axis}](prefix-tree-{axis}.svg)" for axis in axes]
    drawings = {f"prefix-tree-{axis}.svg": growth_along("prefix-tree", axis, results) for axis in axes}
    return {"prefix-tree.md": "\n\n".join(parts) + "\n", **drawings}


def _main(name: str, results: dict[str, Any]) -> str:
    run, which = results[f"main {name}"], NETWORKS[name]
    scores = run["scores"]
    top = [[way, *(f"{scores[way][f'top {most}'][0]:.0f}" for most in TOPS)] for way in (*WAYS, *CONTROLS)]
    top += [[way, *(f"{pair[which]}" for pair in figures)] for way, figures in PAPER_TOP.items()]
    return (
        f"## {name.capitalize()}, synthetic: {run['records']:,} sequences over {run['places']} "
        "places, epsilon 1, height 12\n\nMean of 3 runs. How many of the top k sequential patterns "
        "(PrefixSpan, at least two places) are among the top k of the release; the others are "
        f"false positives.\n\n{table(['', *(f'k = {n}' for n in TOPS)], top)}\n\n"
        f"{_figures(scores)}\n\n{_sweeps(results[f'sweep {name}'], which)}"
    )


def _figures(scores: dict[str, Any]) -> str:
    named = {f"sets up to {most}": f"error of sets of up to {most} places" for most in QUERIES}
    named |= {name: f"error of {name}" for name in scores["hybrid"] if "occurrences" in name}
    named |= {"number": "released / original sequences", "length": "total variation of lengths"}
    ways = (*WAYS, *CONTROLS)
    rows = [[what, *(figure(*scores[way][name]) for way in ways)] for name, what in named.items()]
    return (
        "Mean relative errors of two kinds of queries: how many records contain all places of a set, drawn "
        "uniformly, in any order (the query of the paper); and how often n-grams of places, drawn "
        f"from records, occur.\n\n{table(['', *ways], rows)}"
    )


def _sweeps(runs: dict[str, Any], which: int) -> str:
    def rows(keys: dict[str, str], paper: dict[Any, Any]) -> list[list[str]]:
        return [
            [
                shown,
                *(f"{runs[key][way]['top 300']:.0f}" for way in WAYS),
                *(f"{pair[which]}" for pair in paper[shown if shown in paper else int(shown)]),
                *(f"{runs[key][way]['sets up to 6']:.3f}" for way in WAYS),
            ]
            for key, shown in keys.items()
        ]

    head = [
        *(f"top 300, {way}" for way in WAYS),
        "top 300, Simple in the paper",
        "top 300, Hybrid in the paper",
        *(f"error, {way}" for way in WAYS),
    ]
    epsilons = rows({f"{value} 12": value for value in PAPER_EPSILON}, PAPER_EPSILON)
    heights = rows({f"1 {value}": f"{value}" for value in PAPER_HEIGHT}, PAPER_HEIGHT)
    return (
        "One run each; the error is that of sets of up to 6 places.\n\n"
        f"{table(['epsilon (height 12)', *head], epsilons)}\n\n"
        f"{table(['height (epsilon 1)', *head], heights)}"
    )


def _timed(name: str, run: dict[str, Any]) -> str:
    scores = run["scores"]
    ways = [way for way in next(iter(scores.values())) if way != "original"]
    rows = [
        [what, *(f"{values[way]:.3f}" for way in ways)]
        for what, values in scores.items()
        if "variation" in what or "ratio" in what
    ]
    return (
        f"## {name.capitalize()}, synthetic, with hours: {run['records']:,} trajectories, "
        "epsilon 1, height 12\n\nAn hour may have several visits. One run; *first visits* is a "
        f"tree of height 1.\n\n{table(['', *ways], rows)}"
    )


def _real(name: str, run: dict[str, Any]) -> str:
    scores = run["scores"]
    ways = (*WAYS, *CONTROLS)
    top = [[way, *(f"{scores[way][f'top {most}'][0]:.0f}" for most in TOPS)] for way in ways]
    return (
        f"## {name}: {run['records']:,} sequences over {run['places']:,} items, epsilon 1\n\n"
        f"Mean of 3 runs. Top k sequential patterns that are kept:\n\n"
        f"{table(['', *(f'k = {n}' for n in TOPS)], top)}\n\n{_figures(scores)}"
    )


def _speed(results: dict[str, Any]) -> str:
    rows = [
        [source, step, f"{seconds[step]:.2f}", f"{seconds[step] / seconds['floor']:.1f}"]
        for source, seconds in results["speed"].items()
        for step in ("reading", "as printed", "publishing")
    ]
    return (
        "## Speed\n\nEpsilon 1, default parameters; *as printed*: the simple tree, whose "
        "sequences are not continued. The floor: gunzip, parse and sort the same file.\n\n"
        f"{table(['data', 'step', 'seconds', 'times the floor'], rows)}\n\n"
        f"Synthetic walks of mean length 5, epsilon 1:\n\n{growth_table(results)}"
    )


def times_page(results: dict[str, Any]) -> str:
    """Write the page about times: before and after the questions on first times and durations."""
    head = (
        "# Results: continued-prefix-tree with times\n\nMade by `benchmarks/pages.py` from "
        "`prefix-tree-times.json`, which `benchmarks/prefix_times.py` wrote; do not edit. Total "
        "variation distance between the original and the release, 0 to 1, lower is better; mean and "
        "standard deviation over 10 runs (seeds 100 to 109). *Before*: first times were "
        "drawn from the prefixes that passed the threshold, and later times by the popularity of "
        "times. *Now*: first times and durations are asked for, with three hundredths of "
        "the budget each. *Even hours* is the uniform distribution of first visits over hours, "
        "which needs no data; *first hours alone* is a noisy histogram of first hours with the "
        "whole budget, which publishes nothing else. Records are those of smart cards, synthetic "
        "passengers, persons on one day, and trips; the unit is one record, so that a person who owns "
        "several records is protected less.\n\nConstants were chosen on `sube-smartcard` and on synthetic "
        "metro journeys (seeds 0 to 4). Nothing was chosen on `gowalla-nyc` and "
        "`foursquare-nyc`. On `singapore-bikes` a bug was discovered and fixed: journeys that met a "
        "counted visit were cut short."
    )
    return "\n\n".join([head, *(_times(name, runs) for name, runs in results.items())]) + "\n"


def _times(name: str, runs: dict[str, Any]) -> str:
    now, before = runs["now"], runs["before"]
    start = [
        [
            epsilon,
            _spread(before["scores"][epsilon]["start hour"]),
            _spread(scores["start hour"]),
            f"{now['even hours']:.3f}",
            _spread(scores["rival"]),
        ]
        for epsilon, scores in now["scores"].items()
    ]
    others = [what for what in now["scores"]["1"] if what not in {"start hour", "rival"}]
    rows = [
        [
            what,
            *(_spread(which["scores"][epsilon][what]) for epsilon in now["scores"] for which in (before, now)),
        ]
        for what in others
    ]
    columns = [f"epsilon {eps}, {when}" for eps in now["scores"] for when in ("before", "now")]
    heads = ["start hour: epsilon", "before", "now", "even hours", "first hours alone"]
    return (
        f"## {name}: {now['records']:,} records, {now['visits']:,} visits, {now['places']} places, "
        f"24 hours, height {now['height']}\n\n{table(heads, start)}\n\n"
        f"{table(['', *columns], rows)}"
    )


def _spread(mean_and_deviation: list[float]) -> str:
    mean, deviation = mean_and_deviation
    return f"{mean:.3f} +- {deviation:.3f}"
