"""The result page of n-grams."""

from __future__ import annotations

from typing import Any

from plots import growth_along
from tables import figure, growth_table, table

TOPS = (20, 40, 60, 80, 100)
#: true positives of the paper's Table 5, in per cent
PAPER = {"0.1": (100, 90, 93, 96, 94), "1": (100, 93, 97, 99, 97)}
WAYS = ("flow", "markov", "join", "single items", "original, cut", "empty release")


def ngram_pages(results: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    head = (
        "# Results: ngram and ngram-markov\n\nMade by `benchmarks/pages.py` from `ngram.json`; do not edit. "
        "l_max = 20, n_max = 5. Sequences are generated in three ways from the same noisy n-grams (with back-off): "
        "*flow* is `ngram-markov`, our method; *markov* is the same with `balance=no`, which uses the counts "
        "forwards only; *join* is `ngram`, the method of the paper. *Original, cut* is the original without noise, its "
        "sequences truncated to their first 20 items as the method does; *single items* is a release from counts of "
        "single items alone."
    )
    parts = [
        head,
        *(_msnbc(epsilon, results[f"msnbc {epsilon}"], results["limits"]) for epsilon in PAPER),
    ]
    parts += [_other(name, run) for name, run in results.items() if _is_other(name, run)]
    parts.append(_speed(results))
    axes = {"records": 1_000, "items": 1_000_000}
    parts += [f"![growth with {axis}](ngram-{axis}.svg)" for axis in axes]
    drawings = {f"ngram-{axis}.svg": growth_along("ngram", axis, results) for axis in axes}
    return {"ngram.md": "\n\n".join(parts) + "\n", **drawings}


def _is_other(name: str, run: dict[str, Any]) -> bool:
    return "scores" in run and not name.startswith("msnbc")


def _msnbc(epsilon: str, run: dict[str, Any], limits: dict[str, Any]) -> str:
    """Frequent n-grams compared with the figures of the paper, then the other figures."""
    rows = []
    for which, what in (("cut", "cut original"), ("whole", "whole original")):
        for way in ("flow", "markov", "join", "original, cut"):
            scores = run["scores"][way]
            cells = [scores[f"top {most} {which}"] for most in TOPS]
            rows.append([f"{way}, against the {what}", *(_percent(*cell) for cell in cells)])
    rows.append(["N-gram in the paper", *(f"{value}" for value in PAPER[epsilon])])
    for way in ("flow", "markov", "join", "single items"):
        cells = [run["scores"][way][f"top {most} with gaps"] for most in TOPS]
        rows.append([f"{way}, sequential patterns, by records", *(_percent(*c) for c in cells)])
    for n_max, scores in limits.items():
        cells = [_percent(scores[f"top {most} cut"], 0.0) for most in TOPS]
        rows.append([f"flow, epsilon 1,000, n_max = {n_max}, against the cut original", *cells])
    title = f"## MSNBC, epsilon {epsilon}: share of the top K n-grams that are kept, in per cent"
    head = ["", *(f"K = {most}" for most in TOPS)]
    return (
        f"{title}\n\n{run['records']:,} sequences over {run['items']} items; {run['runs']} "
        f"runs, {run['contexts']:,.0f} contexts. Mean and standard error. The paper does not say "
        "against which original it compares; against the whole one even the cut original without noise does "
        "not reach its figures. *Sequential patterns* are those of PrefixSpan, against the cut "
        "original. The last two lines show the limit of n-grams: nearly without "
        f"noise, for up to five and up to eight items.\n\n{table(head, rows)}\n\n"
        f"### MSNBC, epsilon {epsilon}: number, lengths, queries\n\n{_utility(run)}"
    )


def _other(name: str, run: dict[str, Any]) -> str:
    words = name.rsplit(maxsplit=1)
    return (
        f"## {words[0]}, epsilon {words[1]}\n\n{run['records']:,} sequences over "
        f"{run['items']:,} items; {run['runs']} runs, "
        f"{run['contexts']:,.0f} contexts.\n\n{_utility(run)}"
    )


def _utility(run: dict[str, Any]) -> str:
    scores = run["scores"]
    named = {
        "number": "released / original sequences",
        "length": "total variation of lengths",
        "top 20 whole": "share of the top 20 n-grams kept",
        "top 100 whole": "share of the top 100 n-grams kept",
        "top 100 with gaps": "share of the top 100 sequential patterns kept",
        "error": "mean relative error, all groups of queries",
    }
    groups = [name for name in scores["flow"] if "queries" in name]
    rows = [
        [named.get(name, f"mean relative error, {name}")] + [figure(*scores[way][name]) for way in WAYS]
        for name in (*named, *groups)
    ]
    return table(["", *WAYS], rows)


def _speed(results: dict[str, Any]) -> str:
    seconds = results["speed"]
    rows = [
        [way, f"{seconds[way]:.2f}", f"{seconds[way] / seconds['floor']:.1f}"] for way in ("flow", "markov", "join")
    ]
    for step, taken in (
        ("reading alone", seconds["reading"]),
        ("reading and publishing, flow", seconds["reading"] + seconds["flow"]),
        ("the whole job, with compressing, writing, reading back and checking", seconds["whole"]),
    ):
        rows.append([step, f"{taken:.2f}", f"{taken / seconds['floor']:.1f}"])
    return (
        "## Speed\n\nMSNBC, epsilon 1; flow, markov, join: publishing alone; the floor: gunzip, parse "
        "and sort.\n\n"
        f"{table(['', 'seconds', 'times the floor'], rows)}\n\n"
        f"Synthetic walks of mean length 5, epsilon 1:\n\n{growth_table(results)}"
    )


def _percent(value: float, error: float) -> str:
    return f"{100 * value:.1f}" + (f" +- {100 * error:.1f}" if error else "")
