"""The result page of trip-synthesis."""

from __future__ import annotations

from typing import Any

from mobility_names import SHORT_NAMES
from tables import table

HEAD = """# Results: trip-synthesis

Made by `benchmarks/pages.py` from `trip-synthesis.json`, which `benchmarks/trip_synthesis.py` wrote; do not edit.

Timed visits under differential privacy, one record protected. All measures but four are total variation distances
between the original, uncut, and the release: 0 is equal, 1 has nothing in common. *OD error* is the mean relative error
of the counts of 2,000 origin-destination pairs drawn from records; *top OD* the share of the 50 most frequent pairs
that are among the 50 of the release; *two visits* the share of records with two visits and more; *number* the number of
records, as a part of the original's. Mean of 5 runs (seeds 100 to 104), with the standard deviation in brackets from
0.0015 on. Every method uses the same number of visits of a record.

Constants, the questions and their shares were chosen on `sube-smartcard`, `singapore-bikes` and `geolife`, mostly at
epsilon 1, on a prototype, so their tables flatter the method. Two things were decided later. How cards are dealt to
records of one visit was decided on `sube-smartcard`, with seeds that are among those of its tables. That transitions
start from the mixture that fits best was decided on made-up round trips and kept for what it did on `sube-smartcard`
and `geolife` (seeds 0 to 2); by then one run on each of `bus` (a larger version), `gowalla-nyc` and `oldenburg` had
been looked at, and transitions of `bus` were known to be poor. Nothing else was chosen on the data marked as held
out. Metro and bus are made up (`benchmarks/transit.py`); `oldenburg` are trips simulated on real roads.

The rivals:

- *continued-prefix-tree* and *prefix-tree*, on places and times.
- *ngram-markov* and *variable-order-markov*, on places alone: they publish no times.
- *noisy origin-destination table*: Laplace noise on every pair, with the whole budget; it publishes nothing else.
- *independent visits*: the visits of the original, dealt to its records at random. No noise, so not a release.
- *original, cut*: the original, as far as it is used."""
COST = """## Cost

1,000,000 made-up trajectories of 8 visits, 300 places with coordinates, 96 times that increase strictly, epsilon 1; one
thread, on two cores that others used at the same time. The aim was 30 seconds and 3 GB."""
LOSSES = """## Where another method is better

By more than the standard deviations of both; independent visits and the cut original are not releases. In short:

- *Popularity of places*: `continued-prefix-tree` spends up to half of its budget on that one question, and is better on
  few records with many visits.
- *Transitions*: a Markov chain of places spends most of its budget on them, and knows longer habits; inner visits here
  follow a first-order walk. On `bus` and, at epsilon 0.5, on `sube-smartcard` with one visit per hour,
  `continued-prefix-tree` is better as well; on `bus` and `metro` so are independent visits.
- *Origin-destination pairs*: a table that gets the whole budget is better than one that gets a seventh of it. It says
  nothing else.
- *Times and places together* have a floor: hours are asked in blocks and places in groups.
- Against AdaTrace, whose code was run beside an earlier prototype with more questions, on `geolife`: the distance
  travelled at every epsilon, and trips at epsilon 2. This was not repeated with the method as it is."""
SHORT = {
    **SHORT_NAMES,
    "total variation of parts of the day and places of visits": "4 h x place",
    "total variation of parts of the day and places of first visits": "start: 4 h x place",
    "total variation of numbers of visits": "length",
    "share of records with two visits or more": "two visits",
    "released / original": "number",
}
OURS = "trip-synthesis"
HIGHER = {"top OD"}
NOT_COMPARED = {"two visits", "number"}
CONTROLS = {"independent visits", "original, cut"}


def trip_page(results: dict[str, Any]) -> str:
    """Write the page."""
    runs = {name: run for name, run in results.items() if "scores" in run}
    parts = [HEAD, *(_section(name, run) for name, run in runs.items())]
    if "cost" in results:
        parts.append(f"{COST}\n\n{_cost(results['cost'])}")
    parts.append(f"{LOSSES}\n\n" + "\n".join(_losses(name, run) for name, run in runs.items()))
    return "\n\n".join(parts) + "\n"


def _short(scores: dict[str, list[float]]) -> dict[str, list[float]]:
    """The figures that are shown, by their short names."""
    return {
        short: figure
        for name, figure in scores.items()
        for long, short in SHORT.items()
        if name.split(", cut")[0] == long
    }


def _section(name: str, run: dict[str, Any]) -> str:
    rows = [
        [
            method if not epsilon else f"{method}, epsilon {epsilon}",
            *(_figure(_short(scores).get(s)) for s in SHORT.values()),
        ]
        for method, by_epsilon in run["scores"].items()
        for epsilon, scores in by_epsilon.items()
    ]
    return (
        f"## {name}: {run['records']:,} records, {run['visits']:,} visits, {run['places']} places, {run['times']} "
        f"times, l_max {run['l_max']}\n\n{run['used'].capitalize()}.\n\n{table(['', *SHORT.values()], rows)}"
    )


def _figure(spread: list[float] | None) -> str:
    if spread is None:
        return "-"
    mean, deviation = spread
    return f"{mean:.3f}" + (f" ({deviation:.3f})" if deviation >= 0.0015 else "")


def _losses(name: str, run: dict[str, Any]) -> str:
    """Where a rival is better than our method, by more than the standard deviations of both."""
    said: list[str] = []
    for method, by_epsilon in run["scores"].items():
        if method == OURS or method in CONTROLS:
            continue
        better: list[str] = []
        for epsilon, scores in by_epsilon.items():
            ours, theirs = _short(run["scores"][OURS][epsilon]), _short(scores)
            lost = [
                short for short in theirs if short not in NOT_COMPARED and _is_better(theirs[short], ours[short], short)
            ]
            if lost:
                better.append(f"{epsilon}: {', '.join(lost)}")
        if better:
            said.append(f"{method} (epsilon {'; '.join(better)})")
    return f"- {name}: {'. '.join(said) if said else 'none'}."


def _is_better(theirs: list[float], ours: list[float], short: str) -> bool:
    gain = theirs[0] - ours[0] if short in HIGHER else ours[0] - theirs[0]
    return gain > theirs[1] + ours[1] + 0.0005


def _cost(run: dict[str, Any]) -> str:
    row = [f"{run['seconds']:.0f}", f"{run['processor seconds']:.0f}", f"{run['gigabytes']:.1f}"]
    return table(["seconds", "processor seconds", "GB, with the data"], [row])
