"""The result page of what outsiders read in published weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tables import table

Results = Mapping[str, Any]

NETWORKS = ("eies", "us-airports", "netscience")

_HEAD = """# Results: what outsiders read in published weights

Made by `benchmarks/pages.py` from `weights-leakage.json`; do not edit. `gaussian-weights` and `greedy-weights` \
promise nothing, and `affinity-weights` says which arc is special no more, not what a weight is. This page shows \
how much of the weights comes back. Which edges there are is public in all of them.

Data: `eies` (who knows whom among researchers, directed, whole weights from 1 to 4), `us-airports` (seats between \
the 500 busiest airports in 2002, whole weights from 9 to two million) and the largest component of `netscience` \
(co-authors, weights with up to three decimals). Errors are relative to the weight."""

_FACTORS = """## gaussian-weights

The attacker knows sigma and the law of the factors. *Intervals*: from w* / (1 + 2 s) to w* / (1 - 2 s), where s is \
sigma with directions, and sigma over the root of 2 without, since both ends draw. *Within*: share of weights that \
the mean of so many releases of the same data has within 5 % and 10 %, and exactly; means of whole numbers are \
rounded. *Others*: the same guess for other edges (control). Means of five seeds, releases without a key."""

_PATHS = """## greedy-weights

The attacker knows between which vertices paths were kept. Weights on no such path were only raised, those on all of \
them only lowered, and each kept path was no longer than any other way: linear programming bounds single weights, \
here those of 100 edges drawn at random. Weights of `eies` and `us-airports` are known to be whole numbers, so that \
bounds are rounded inwards, and a whole number of up to three digits stands as it was. *Bounded*: share of edges \
whose bounds are within 5 %, 10 % and 25 % of their middle. *Edge by edge*: without the inequalities of paths. \
*Others*: share of the same bounds that hold for the weights of other edges (control). The second release is of the \
same data and pairs, by other coins: what stands with one weight in both was moved in neither.

*Told by*: share of all weights that an outsider recovers exactly, and how many of these guesses are right. New \
weights have seven digits. *Few digits*: at most five, which one new weight in a hundred has, too. *Whole numbers*: \
where weights are known to be whole; new weights of six digits before the point are whole one time in ten, longer \
ones always."""

_WINDOWS = """## affinity-weights

Arcs that were anonymous before, and arcs that could not be moved, stand with their exact weight. *Told by*: share \
of all weights that an outsider recovers exactly, and how many of these guesses are right; by few digits or as whole \
numbers (new weights have seven digits or more; the parameter `grain` is against it), as not anonymous in the \
release, as equal in two releases."""


def weight_pages(results: Results) -> dict[str, str]:
    """Write the page."""
    parts = [_HEAD, _edges(results), _FACTORS, _factors(results), _PATHS, _categories(results), _bounds(results)]
    parts += [_WINDOWS, _windows(results), _END]
    return {"weights-leakage.md": "\n\n".join(parts) + "\n"}


_END = """## What an owner needs to know

- **Whole numbers come back by rounding.** Noise that leaves a small count nearly as large as it was leaves it \
readable.
- **A second release of the same data is an attack**: noise averages out, and what was not moved stands out.
- **The lightest edge is a distance**: a method that keeps the lengths of all paths cannot change it (Prop. 4.2.1), \
and most edges of a network with ties are distances, too.
- **Orders of magnitude, and the order of weights, survive** (Kendall's tau of released and original weights).
- **Bounds hold, always.** Where they are wide, the attacker has the release itself, which is near enough for many \
uses.
- An attack that fails shows nothing: whoever knows some weights, or what they are made of, knows more."""


def _percent(share: float | None, digits: int = 1) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f}"


def _told(guess: Sequence[float | None] | None) -> str:
    return "-" if guess is None else " / ".join(map(_percent, guess))


def _edges(results: Results) -> str:
    head = ["network", "vertices", "edges", "weights: least, median, most", "weights that are distances, %"]
    head += ["lightest edges that are, %", "commonest weight, %"]
    rows = []
    for name in NETWORKS:
        run = results[f"edges, {name}"]
        weights = ", ".join(f"{weight:,g}" for weight in run["weights"])
        shares = ("weights that are distances", "lightest edges that are distances", "commonest weight")
        rows.append([name, f"{run['vertices']:,}", f"{run['edges']:,}", weights, *(_percent(run[of]) for of in shares)])
    return table(head, rows)


def _factors(results: Results) -> str:
    head = [
        "network, sigma",
        "tau",
        "intervals that have the weight, %",
        "their half width, %",
        "error of the release, %",
    ]
    counts = ("1", "2", "4", "16")
    head += [f"{count} release{'s' if count != '1' else ''}: within 5 / 10 % / exact" for count in counts]
    head += ["others: within 5 / 10 % / exact"]
    rows = []
    for title, run in results.items():
        if not title.startswith("gaussian-weights"):
            continue
        _, name, sigma = title.split(", ")
        figures = ("intervals that have the weight", "half width", "error of the release")
        cells = [_judged(run["releases"][count]) for count in counts]
        row = [f"{name}, {sigma.removeprefix('sigma ')}", f"{run['tau']:.3f}", *(_percent(run[of]) for of in figures)]
        rows.append([*row, *cells, _judged(run["others"])])
    return table(head, rows)


def _judged(run: Results) -> str:
    return " / ".join(_percent(run[of]) for of in ("within 5 %", "within 10 %", "exact"))


def _categories(results: Results) -> str:
    head = ["network", "pairs kept", "edges on no path, %", "on all, %", "tau", "release within 5 / 10 % / exact"]
    head += ["stand as they were, %", "told by few digits / right, %", "told by whole numbers / right, %"]
    head += ["told by a second release / right, %"]
    rows = []
    for name in NETWORKS:
        run = results[f"greedy-weights, {name}"]
        shares = [_percent(run[of]) for of in ("edges on no path", "edges on all paths")]
        told = [_told(run[of]) for of in ("few digits", "whole numbers", "equal twice")]
        row = [name, f"{run['pairs']:,}", *shares, f"{run['tau']:.3f}", _judged(run["release"]), _percent(run["stand"])]
        rows.append([*row, *told])
    return table(head, rows)


def _bounds(results: Results) -> str:
    head = ["network, releases", "bounds that hold / for others, %", "bounded within 5 / 10 / 25 %", "edge by edge"]
    head += ["median half width, % / edge by edge", "middle within 10 % / exact"]
    rows = []
    for name in NETWORKS:
        for count in ("one release", "two releases"):
            run = results[f"greedy-weights, {name}"][count]
            by_paths, alone = run["by paths"], run["edge by edge"]
            held = f"{_percent(by_paths['hold'])} / {_percent(by_paths['hold for others'])}"
            bounded = [" / ".join(map(_percent, each["bounded"].values())) for each in (by_paths, alone)]
            widths = " / ".join(_percent(each["half width"]) for each in (by_paths, alone))
            middle = " / ".join(_percent(by_paths["middle"][of]) for of in ("within 10 %", "exact"))
            rows.append([f"{name}, {count}", held, *bounded, widths, middle])
    return table(head, rows)


def _windows(results: Results) -> str:
    head = ["network, mu, k", "anonymous before, %", "in the release, %", "tau", "stand as they were, %"]
    ways = {"few digits": "few digits", "whole numbers": "whole numbers", "not anonymous": "not anonymous"}
    ways |= {"equal twice": "a second release"}
    head += [f"told by: {way} / right, %" for way in ways.values()]
    rows = []
    for title, run in results.items():
        if title.startswith("affinity-weights"):
            shares = [_percent(run[of]) for of in ("anonymous before", "anonymous")]
            told = [_told(run[way]) for way in ways]
            name = f"{title.split(', ')[1]}, {run['mu']:g}, {run['k']}"
            rows.append([name, *shares, f"{run['tau']:.3f}", _percent(run["stand"]), *told])
    return table(head, rows)
