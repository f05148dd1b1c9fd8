"""The result page of n-grams."""

from __future__ import annotations

from typing import Any

from plots import growth_along
from tables import figure, made_up, table

TOPS = (20, 40, 60, 80, 100)
#: true positives of the paper's Table 5, in per cent
PAPER = {"0.1": (100, 90, 93, 96, 94), "1": (100, 93, 97, 99, 97)}
WAYS = ("flow", "markov", "join", "single items", "original, cut", "empty release")


def ngram_pages(results: dict[str, Any]) -> dict[str, str]:
    """Write the page, and the pictures it shows."""
    head = (
        "# Results: ngram and ngram-markov\n\nMade by `benchmarks/pages.py` from `ngram.json`; do not edit. "
        "l_max = 20, n_max = 5. Sequences are written in three ways from the same noisy grams (with back-off): "
        "*flow* is `ngram-markov`, ours; *markov* is the same with `balance=no`, which follows the counts "
        "forwards only; *join* is `ngram`, the paper's. *Original, cut* is the original without noise, its "
        "sequences cut to their first 20 items as the method cuts them; *single items* is a release of counts of "
        "items alone."
    )
    parts = [
        head,
        *(_msnbc(epsilon, results[f"msnbc {epsilon}"], results["limits"]) for epsilon in PAPER),
    ]
    parts += [_other(name, held) for name, held in results.items() if _is_other(name, held)]
    parts.append(_speed(results))
    axes = {"records": 1_000, "items": 1_000_000}
    parts += [f"![growth with {axis}](ngram-{axis}.svg)" for axis in axes]
    drawn = {f"ngram-{axis}.svg": growth_along("ngram", axis, results) for axis in axes}
    return {"ngram.md": "\n\n".join(parts) + "\n", **drawn}


def _is_other(name: str, held: dict[str, Any]) -> bool:
    return "scores" in held and not name.startswith("msnbc")


def _msnbc(epsilon: str, held: dict[str, Any], limits: dict[str, Any]) -> str:
    """Frequent grams beside the paper's, then everything else."""
    rows = []
    for which, what in (("cut", "cut original"), ("whole", "whole original")):
        for way in ("flow", "markov", "join", "original, cut"):
            scores = held["scores"][way]
            cells = [scores[f"top {most} {which}"] for most in TOPS]
            rows.append([f"{way}, against the {what}", *(_percent(*cell) for cell in cells)])
    rows.append(["N-gram in the paper", *(f"{value}" for value in PAPER[epsilon])])
    for way in ("flow", "markov", "join", "single items"):
        cells = [held["scores"][way][f"top {most} with gaps"] for most in TOPS]
        rows.append([f"{way}, patterns with gaps, by records", *(_percent(*c) for c in cells)])
    for n_max, found in limits.items():
        cells = [_percent(found[f"top {most} cut"], 0.0) for most in TOPS]
        rows.append([f"flow, epsilon 1,000, n_max = {n_max}, against the cut original", *cells])
    title = f"## MSNBC, epsilon {epsilon}: share of the top K grams that is kept, in per cent"
    head = ["", *(f"K = {most}" for most in TOPS)]
    return (
        f"{title}\n\n{held['records']:,} sequences over {held['items']} items; {held['runs']} "
        f"runs, {held['contexts']:,.0f} contexts. Mean and standard error. The paper does not say "
        "against which original; against the whole one even the cut original without noise does "
        "not reach its figures. *Patterns with gaps* are those of PrefixSpan, against the cut "
        "original. The two last lines say what grams can say at all: nearly without "
        f"noise, of five items and of eight.\n\n{table(head, rows)}\n\n"
        f"### MSNBC, epsilon {epsilon}: number, lengths, queries\n\n{_utility(held)}"
    )


def _other(name: str, held: dict[str, Any]) -> str:
    words = name.rsplit(maxsplit=1)
    return (
        f"## {words[0]}, epsilon {words[1]}\n\n{held['records']:,} sequences over "
        f"{held['items']:,} items; {held['runs']} runs, "
        f"{held['contexts']:,.0f} contexts.\n\n{_utility(held)}"
    )


def _utility(held: dict[str, Any]) -> str:
    scores = held["scores"]
    named = {
        "number": "sequences, released over original",
        "length": "total variation of lengths",
        "top 20 whole": "share of the top 20 grams kept",
        "top 100 whole": "share of the top 100 grams kept",
        "top 100 with gaps": "share of the top 100 patterns with gaps kept",
        "error": "mean relative error, all groups of queries",
    }
    groups = [name for name in scores["flow"] if "queries" in name]
    rows = [
        [named.get(name, f"mean relative error, {name}")] + [figure(*scores[way][name]) for way in WAYS]
        for name in (*named, *groups)
    ]
    return table(["", *WAYS], rows)


def _speed(results: dict[str, Any]) -> str:
    held = results["speed"]
    rows = [[way, f"{held[way]:.2f}", f"{held[way] / held['floor']:.1f}"] for way in ("flow", "markov", "join")]
    for way, seconds in (
        ("reading alone", held["reading"]),
        ("reading and publishing, flow", held["reading"] + held["flow"]),
        ("all of it: also compressing, writing, reading again, checking", held["whole"]),
    ):
        rows.append([way, f"{seconds:.2f}", f"{seconds / held['floor']:.1f}"])
    return (
        "## Speed\n\nMSNBC, epsilon 1; flow, markov, join: publishing alone; the floor: gunzip, parse "
        "and sort.\n\n"
        f"{table(['', 'seconds', 'times the floor'], rows)}\n\n"
        f"Made-up walks of mean length 5, epsilon 1:\n\n{made_up(results)}"
    )


def _percent(value: float, error: float) -> str:
    return f"{100 * value:.1f}" + (f" +- {100 * error:.1f}" if error else "")
