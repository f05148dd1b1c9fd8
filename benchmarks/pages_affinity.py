"""The result page of affinity-weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tables import table

Results = Mapping[str, Any]

#: reference runs by one sweep with closest weights: anonymous after, difference of lengths
REFERENCE: Mapping[str, tuple[str, str]] = {
    "SYN1, 5%, k = 3, freq": (".996", ".029"),
    "SYN1, 10%, k = 3, freq": (".991", ".024"),
    "SYN1, 10%, k = 3, inverse": (".988", ".020"),
    "SYN1, 10%, k = 3, random": (".989", ".021"),
    "SYN1, 25%, k = 3, freq": (".981", ".016"),
    "EIES jittered, 5%, k = 3, freq": (".977", ".040"),
    "EIES jittered, 10%, k = 3, freq": (".961", ".031"),
    "EIES jittered, 25%, k = 3, freq": (".928", ".030"),
}
#: what counts as alike
MU = {
    "SYN1": "0.5",
    "SYN2": "0.5",
    "EIES jittered": "0.02",
    "EIES messages": "10",
    "us-airports": "0.1 of logarithms",
    "netscience": "0.02",
}
LEVELS = (2, 3, 4, 5, 10)

_HEAD = """# Results: weights that look like others beside them

Made by `benchmarks/pages.py` from `weights-affinity.json`; do not edit. `affinity-weights` moves weights until \
most arcs are mu-weighted k-anonymous, and keeps the shortest paths of H exactly. The thesis is L. Liu, *Privacy \
preserving data mining for numerical matrices, social networks, and big data*, Kentucky, 2015, chapter 5.

Networks: SYN1 (complete, 100 vertices) and SYN2 (200 vertices, 70 % of all pairs), both with directions and \
weights uniform in 10 to 100, as in the thesis; EIES with weights 1 to 4 that were each shifted by up to 0.4; \
messages among 32 of its researchers; us-airports and netscience, without directions. tau = 0.2, one sweep, unless \
a line says otherwise."""

_ORIGINALS = """## Originals

The share of arcs that are anonymous before anything is done. For mu = 10 the thesis prints 62, 42 and 49 % (EIES, \
SYN1 and SYN2, k = 3), which is impossible: the weights of EIES are 1 to 4, and a hundred uniform weights in 10 to \
100 have neighbours within 10."""

_RUNS = """## After publishing

H is a random share of all pairs that have a path. *Anonymous* are shares of arcs; the others stand exposed, and \
whoever computes the definition finds them. *Paths kept* are those of H that are still shortest; *lengths* the mean \
relative difference of distances in H. *Moved* is the mean relative change of all weights, those that stand \
included. *Extreme*: how often the heaviest and the lightest of the arcs of a vertex are so afterwards. In \
brackets: reference runs of another program, with closest weights. The thesis reports 94 % anonymous for EIES with \
10 % of all pairs, and 90 % with 15 %, with 94 % of paths kept and lengths that differ by 0.21; about 80 % with 25 \
% in all three networks. Its scales cannot be those it prints, so that these are qualitative; its 94 % of paths are \
less than all of them, as here. Where 0 % are anonymous, nothing is published. Large k are out of reach where few \
arcs are alike as they are: a weight only joins others of which there are enough, and moves one after another \
cannot make a new group."""

_WAYS = """## Settings

Paths of a tenth of all pairs, k = 3. Moves that are judged by all arcs of the row, the default, make more arcs \
anonymous with fewer changed weights, and move those further. Closest weights lie exactly mu from another, which \
shows that they were moved; drawing costs no arcs if moves are judged by rows, one in a hundred if by arcs, and \
somewhat longer or shorter paths. The reference runs for EIES lie between strict moves and moves that only approach \
others, and theirs is another draw of the shifts."""

_CONTROLS = """## The alternatives of the thesis

Weights left out (all get their mean, k = 3, paths of a tenth of all pairs), one constant added to all, all \
doubled. Only the first hides anything, and loses the paths; adding leaves all differences as they were, and \
doubling all paths."""


def affinity_page(results: Results) -> str:
    """Write the page."""
    parts = [_HEAD, _ORIGINALS, _levels(results["levels"]), _RUNS, _runs(results)]
    parts += [_WAYS, *(_ways(results, name) for name in ("SYN1", "EIES jittered") if f"ways {name}" in results)]
    parts += [_CONTROLS, _controls(results), _large(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _levels(levels: Results) -> str:
    rows = [[case, *map(_percent, shares)] for case, shares in levels.items()]
    return table(["% anonymous", *(f"k = {k}" for k in LEVELS)], rows)


def _line(run: Results) -> list[str]:
    names = ("before", "after", "kept", "lengths", "changed", "moved", "extreme", "seconds")
    mean = {name: run[name][0] for name in names}
    blocked = 1 - mean["after"]
    return [
        _percent(mean["before"]),
        _percent(mean["after"]),
        _percent(blocked),
        _percent(mean["kept"]),
        f"{mean['lengths']:.3f}",
        _percent(mean["changed"]),
        f"{mean['moved']:.3f}",
        _percent(mean["extreme"]),
        f"{mean['seconds']:.1f}",
    ]


_COLUMNS = [
    "% before",
    "% anonymous",
    "% exposed",
    "% paths kept",
    "lengths",
    "% changed",
    "moved",
    "% extreme",
    "seconds",
]


def _runs(results: Results) -> str:
    rows = []
    for name, run in results.items():
        if "network" not in run:
            continue
        line = _line(run)
        if name in REFERENCE:
            after, lengths = REFERENCE[name]
            line[1], line[4] = f"{line[1]} ({100 * float(after):.1f})", f"{line[4]} ({lengths})"
        rows.append([run["network"], MU[run["network"]], f"{run['pairs']:.0%}", str(run["k"]), run["order"], *line])
    return table(["network", "mu", "H", "k", "order", *_COLUMNS], rows)


def _ways(results: Results, name: str) -> str:
    rows = [[way, *_line(run)] for way, run in results[f"ways {name}"].items()]
    return table([name, *_COLUMNS], rows)


def _controls(results: Results) -> str:
    rows = [
        [
            name.removeprefix("controls "),
            way,
            _percent(run["after"]),
            _percent(run["kept"]),
            f"{run['lengths']:.3f}",
            _percent(run["extreme"]),
        ]
        for name, ways in results.items()
        if name.startswith("controls ")
        for way, run in ways.items()
    ]
    return table(["network", "control", "% anonymous", "% paths kept", "lengths", "% extreme"], rows)


def _large(results: Results) -> str:
    run = results.get("condmat-weighted")
    if run is None:
        return ""
    return (
        f"## A large network\n\ncondmat-weighted: {run['vertices']:,} vertices, {run['edges']:,} edges, the paths of "
        f"{run['pairs']:,} pairs, mu = 0.05, k = 3: from {_percent(run['before'])} to {_percent(run['after'])} % "
        f"anonymous arcs, {_percent(run['kept'])} % of paths kept, lengths {run['lengths']:.4f}, "
        f"{_percent(run['changed'])} % of weights changed, in {run['seconds']:.0f} seconds of processor time."
    )
