"""The result page of greedy-weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tables import table

Results = Mapping[str, Any]

SHARES = ("77%", "54%", "25%")
#: what the thesis prints: lengths and weights within 15 %, where they can be read, and the share of partially visited
PRINTED = {
    ("EIES", "77%"): (".60", ".54", "13 %"),
    ("EIES", "54%"): ("", "", "15 %"),
    ("EIES", "25%"): ("", "", "9 %"),
    ("synthetic", "77%"): ("", "", "19 %"),
    ("synthetic", "54%"): ("", "", "14 %"),
    ("synthetic", "25%"): ("", "", "20 %"),
}
NAMES = ("EIES", "us-airports", "netscience", "synthetic")
WAYS = ("default", "stuck ones turned", "two-sided", "at least half")
CONTROLS = ("all equal", "a constant added", "all multiplied", "normal factors")


def weights_greedy_page(results: Results) -> dict[str, str]:
    """Write the page."""
    parts = [_HEAD, _by_share(results), _READING, _by_setting(results), _CONTROLS, _controls(results), _TIMES]
    parts += [_times(results), _END]
    return {"weights-greedy.md": "\n\n".join(parts) + "\n"}


def _mean(figure: list[float], digits: int = 3) -> str:
    mean, error = figure
    shown = f"{mean:.{digits}f}"
    return shown if error < 0.5 * 10**-digits else f"{shown} +- {error:.{digits}f}"


def _percent(figure: list[float]) -> str:
    return f"{100 * figure[0]:.1f} %"


def _beside(value: str, printed: str) -> str:
    return f"{value} ({printed})" if printed else value


def _by_share(results: Results) -> str:
    rows: list[list[str]] = []
    for name in NAMES:
        for share in SHARES:
            of = results.get(f"{name}, {share}, default")
            if of is None:
                continue  # releases of the synthetic network take minutes each, and may be missing
            lengths, weights, partial = PRINTED.get((name, share), ("", "", ""))
            rows.append(
                [
                    f"{name}, {share}",
                    _beside(_mean(of["lengths"]), lengths),
                    _beside(_mean(of["weights on kept paths"]), weights),
                    _mean(of["weights"]),
                    _mean(of["mean change"]),
                    _beside(_percent(of["partial"]), partial),
                    _percent(of["stuck"]),
                    _percent(of["unchanged"]),
                    f"{of['lost or tied'][0]:.0f} of {of['pairs'][0]:,.0f}",
                    f"{of['seconds'][0]:.1f}",
                ]
            )
    head = ["network, share of pairs", "lengths within 15 %", "weights on paths within 15 %", "all weights within 15 %"]
    head += ["mean change of a weight", "partially visited", "of them stuck", "all unchanged", "paths lost", "seconds"]
    return table(head, rows)


def _by_setting(results: Results) -> str:
    rows: list[list[str]] = []
    for name in NAMES[:3]:
        for way in WAYS:
            of = results[f"{name}, 77%, {way}"]
            rows.append(
                [
                    f"{name}, {way}",
                    _mean(of["lengths"]),
                    _mean(of["weights"]),
                    _mean(of["mean change"]),
                    _percent(of["stuck"]),
                    _percent(of["unchanged"]),
                    f"{of['lost or tied'][0]:.0f}",
                ]
            )
    head = ["network, setting", "lengths within 15 %", "weights within 15 %", "mean change of a weight"]
    return table([*head, "partial ones stuck", "all unchanged", "paths lost"], rows)


def _controls(results: Results) -> str:
    rows: list[list[str]] = []
    for name in NAMES[:3]:
        ours = results[f"{name}, 77%, default"]
        each = {"greedy-weights": ours} | {way: results[f"control, {name}, 77%, {way}"] for way in CONTROLS}
        for way, of in each.items():
            lost = of["lost"][0] / of["pairs"][0]
            figures = [_mean(of[figure]) for figure in ("lengths", "weights", "mean change")]
            rows.append([f"{name}, {way}", f"{100 * lost:.1f} %", *figures])
    head = ["network, weights", "paths lost", "lengths within 15 %", "weights within 15 %", "mean change of a weight"]
    return table(head, rows)


def _times(results: Results) -> str:
    rows: list[list[str]] = []
    for name in ("condmat-weighted", "synthetic"):
        of = results.get(f"time, {name}")
        if of is None:
            continue
        ratio = of["seconds of paths"] / of["seconds of scipy's Dijkstra"]
        rows.append(
            [
                name,
                f"{of['vertices']:,} / {of['edges']:,}",
                f"{of['pairs']:,.0f}",
                f"{of['visited']:,}",
                f"{of['seconds']:.0f}",
                f"{of['seconds of the processor']:.0f}",
                f"{of['load of the machine']:.1f}",
                f"{ratio:.2f}",
                f"{of['gigabytes']:.1f}",
                f"{of['lost or tied']:.0f}",
            ]
        )
    head = ["network", "vertices / edges", "pairs", "edges on their paths", "seconds", "of the processor"]
    return table(
        [*head, "load of the machine", "paths found, as a ratio to scipy's Dijkstra", "GB", "paths lost"], rows
    )


_HEAD = """\
# Results: weights that change while shortest paths stay

Made by `benchmarks/pages.py` from `weights-greedy.json`; do not edit. `greedy-weights` promises nothing about \
privacy; it promises that no shortest path of the chosen pairs changes, which is checked before anything is \
published.

EIES (time 2, with directions, weights 1 to 4; 34 vertices that have edges, 830 edges), us-airports (500 vertices, \
2,980 edges) and netscience (1,589 vertices, 2,742 edges) are published with a random share of all pairs of \
vertices; pairs without a path are left out. Means of 20, 5 and 5 releases (2 of the synthetic network, where it is \
listed), each with other pairs, and standard errors. In brackets what L. Liu's thesis (Kentucky, 2015, Figures 4.13 \
to 4.15) prints."""
_READING = """\
On EIES most weights are equal or tied, and many edges are pairs of $H$ themselves: what is stuck is stuck by ties, \
and is published exactly. The thesis reports 9 to 15 % partially visited edges on EIES; with 25 to 77 % of all pairs \
in $H$ most edges are on some path of it, so that those shares cannot arise.

On `us-airports` the weights are numbers of seats, over five orders of magnitude; most edges are on no path and rise \
by up to their double, and half of all lengths change by more than 15 %. No path was lost in any release.

## Settings

With 77 % of all pairs. *Stuck ones turned*: `turn`; *two-sided*: `two_sided`; *at least half*: `turn` and \
`least=0.5`, so that a weight moves by at least half of what keeps all paths."""
_CONTROLS = """\
## Beside what anyone could do

All weights equal to their mean, the mean added to all, all multiplied by one factor, and independent normal \
factors, the last two with the mean change of `greedy-weights`. One factor for all loses no path and hides nothing: \
one known weight gives the others. The others lose paths."""
_TIMES = """\
## Time

On a machine of two processors that had much other work to do; *of the processor* is the time of this process alone. \
The synthetic network is that of the thesis: 70 % of all pairs are edges, weights are uniform in 10 to 100, and $H$ \
is 77 % of all pairs."""
_END = """\
Run again with `benchmarks/greedy_weights.py --data FOLDER`."""
