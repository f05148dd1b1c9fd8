"""The result page of trajectories at coarser places and times."""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import table

_FIGURES = {
    "visits": "visits",
    "moves": "moves",
    "directed": "directed",
    "records with two": "records >= 2",
    "precision of places": "P place",
    "precision of times": "P time",
    "U": "U",
    "hour TV": "hour TV",
    "place TV": "place TV",
    "flow TV": "move TV",
}


def generalisation_page(results: dict[str, Any]) -> str:
    """Write the page."""
    measured = {name: results["data"][name] for name in _ORDER if name in results["data"]}
    released = [run["violations"] for data in measured.values() for run in data["runs"] if "violations" in run]
    checked = f"{len(released)} releases of labels were verified: {sum(released)} violations or overlaps."
    tables = [_data(name, data) for name, data in measured.items()]
    parts = [_HEAD, checked, _before_after(measured), *tables, _choice(measured)]
    if "speed" in results:
        parts.append(_speed(results["speed"]))
    parts.append(_losses(measured))
    return "\n\n".join(parts) + "\n"


_ORDER = ("sube-smartcard", "foursquare-nyc", "singapore-bikes", "oldenburg", "geolife")
_HEAD = """# Results: kcl-generalisation

Made by `benchmarks/pages.py` from `kcl-generalisation.json`; do not edit. Trajectories at coarser places and times
under (K,C)_L-privacy, beside suppression of visits (`kcl-reinsertion`, growing) at fixed levels, where the first
visit of a record in each bin is taken. C = 60 % where there are sensitive values. Levels are searched for. Persons
are counted where records have owners.

All figures are relative to the exact visits. *Visits*: represented by a label. *Moves*: consecutive visits to
different places that are represented by labels of disjoint regions. *Directed*: those whose labels have disjoint bins,
so that it can be seen which was first. *Records >= 2*: with two labels or more, of those
with two visits or more. *P place*, *P time*: the share of the bits of where and when that labels keep, on average.
*U*: the mean precision of visits and of moves (a quarter time, three quarters place), where what is lost counts as
nothing. *TV*: total variation between exact and published distributions, of hours, of places and of moves between
places at the level that is named; labels are spread evenly over their region and bin, and a move without direction
counts as half a move either way. Seconds are processor time, of the method and of the search. *One place*: the stricter
rule for those who know that nobody is at two places at one time (`one_place`), with levels of its own.

**Tuned and reported data.** The rules and constants are those of a specification whose author measured sube,
foursquare and singapore. We chose the default between `peel` and `grow` on sube-smartcard and foursquare-nyc alone;
nothing of the method was changed after the other data sets were run."""


def _before_after(data: dict[str, Any]) -> str:
    """What an attacker finds, and what is kept: by the version that published the order of visits, and now."""
    rows: list[list[str]] = []
    gains: list[float] = []
    for name, each in data.items():
        now = {(run["k"], run["l"], run["method"]): run for run in each["runs"]}
        for old in each["before"]:
            new = now.get((old["k"], old["l"], old["method"]))
            if new is None or old["method"] not in _COMPARED:
                continue
            levels = [f"{run['place']} x {run['bin']}" for run in (old, new)]
            gains.append(new["U"] / old["U"] - 1)
            rows.append(
                [
                    *(name, str(old["k"]), str(old["l"]), old["method"], " / ".join(dict.fromkeys(levels))),
                    *(f"{old['attack'][what]:,}" for what in ("below K", "smallest", "records")),
                    *(f"{new['attack']['below K']:,}", f"{new['in the order of visits']['below K']:,}"),
                    *(f"{old[figure]:.3f} / {new[figure]:.3f}" for figure in ("visits", "moves", "U")),
                    f"{100 * gains[-1]:+.1f} %",
                ]
            )
    head = [
        *("data", "K", "L", "method", "levels", "before: sets below K", "fewest left", "records", "now: sets below K"),
        *("if in order", "visits", "moves", "U", "U, change"),
    ]
    low, middle, high = (100 * gain for gain in np.quantile(gains, (0, 0.5, 1)))
    said = f"U changes by {low:+.1f} to {high:+.1f} %, half of the rows by more than {middle:+.1f} %."
    return f"{_CHANGE}\n\n{said}\n\n{table(head, rows)}"


_COMPARED = ("mixed", "mixed, bins up to 4 h", "mixed, levels of an attack")
_CHANGE = """## What changed: labels are a set

Labels of a record used to stand in the order of the first visits that they stand for. That order told more than the
labels: under a label there is no visit before the bins of those before it. An attacker (`label_attack.py`) knows up to
L exact visits of a record, and reads whole lines: all known visits must be under labels, and none before what the order
allows. *Sets below K*: sets of known visits, out of all sets of every record, for which fewer than K persons are left
(*fewest left*), and how many *records* they are of. *Before*: the earlier version, whose order was that of visits.
*Now*: sets of labels; *if in order*: the same labels, had they been written in the order of visits. A set of labels is
held by more records than each order of it, so more is kept. The price is direction: of the moves that can be seen all
used to have one, and now only those between disjoint bins (*directed*, in the tables below)."""


def _data(name: str, data: dict[str, Any]) -> str:
    persons = f", {data['persons']:,} owners" if data["persons"] else ""
    facts = f"{data['records']:,} records{persons}, {data['visits']:,} visits, {data['places']:,} places"
    role = "Used to choose the default." if data["tuned"] else "Reported only."
    rows = [
        [
            str(run["k"]),
            str(run["l"]),
            run["method"],
            f"{run['place']} x {run['bin']}",
            *(f"{run[figure]:.3f}" for figure in _FIGURES),
            f"{run['seconds']:.1f}" + (f" + {run['search']:.1f}" if "search" in run else ""),
        ]
        for run in sorted(data["runs"], key=lambda run: (-run["l"], run["k"]))
        if run["method"] != "mixed, grow"
    ]
    head = ["K", "L", "method", "levels", *_FIGURES.values(), "s"]
    what = " ".join(data["what"].split())
    compared = f"Places and moves are compared at level {data['compared']}."
    text = " ".join(filter(None, (what, f"{facts}.", compared, role, data.get("note"))))
    return f"## {name}\n\n{text}\n\n{table(head, rows)}"


def _choice(data: dict[str, Any]) -> str:
    """`peel` and `grow`, after all steps, at the same levels."""
    rows = []
    for name, each in data.items():
        runs = {(run["k"], run["l"], run["method"]): run for run in each["runs"]}
        for (k, longest, method), peeled in runs.items():
            grown = runs.get((k, longest, "mixed, grow"))
            if method == "mixed" and grown is not None:
                pairs = (f"{peeled[figure]:.3f} / {grown[figure]:.3f}" for figure in _SHOWN)
                seconds = f"{peeled['seconds']:.1f} / {grown['seconds']:.1f}"
                levels = f"{peeled['place']} x {peeled['bin']}"
                rows.append([name, str(k), str(longest), levels, *pairs, seconds])
    head = ["data", "K", "L", "levels", *(_FIGURES[figure] for figure in _SHOWN), "s"]
    return (
        "## Deleting and giving back (peel), or starting from nothing (grow)\n\nAfter climbing and refining, at the "
        "same levels; peel / grow. Growing gives labels to busy places first: it keeps more moves, and changes the "
        f"shares of places more.\n\n{table(head, rows)}"
    )


_SHOWN = ("U", "visits", "moves", "records with two", "place TV", "flow TV")


def _losses(data: dict[str, Any]) -> str:
    """Where the method loses, in figures of the tables."""
    runs = {(name, run["k"], run["l"], run["method"]): run for name, each in data.items() for run in each["runs"]}
    mixed = {key[:3]: run for key, run in runs.items() if key[3] == "mixed"}
    whole = sum(run["bin"] == data[name]["period"] for (name, _, _), run in mixed.items())
    worse = sum(run["hour TV"] > runs[*key, "suppression"]["hour TV"] for key, run in mixed.items())
    bounded = {key: runs[*key, "mixed, bins up to 4 h"] for key in mixed if (*key, "mixed, bins up to 4 h") in runs}
    hours = [run["hour TV"] for run in bounded.values()]
    fewer = [100 * (1 - run["moves"] / mixed[key]["moves"]) for key, run in bounded.items()]
    precise = [run["precision of places"] for key, run in mixed.items() if key[1:] == (30, 3)]
    few = mixed["geolife", 30, 3]["moves"]
    directed = [run["directed"] / run["moves"] for run in mixed.values() if run["moves"]]
    price = [1 - run["U"] / runs[*key[:3], "one level"]["U"] for key, run in runs.items() if key[3] == "one place"]
    return f"""## Where it loses

- *Hours.* The search prefers precise places to precise times: in {whole} of {len(mixed)} settings (data, K, L) it takes
  the whole period for a bin. In {worse} the profile of the day is worse than that of suppression, which keeps bins of
  two hours. With bins of up to 4 hours (`coarsest`) the distance is {min(hours):.2f} to {max(hours):.2f}, at
  {min(fewer):.0f} to {max(fewer):.0f} % fewer moves.
- *Direction.* {100 * min(directed):.0f} to {100 * max(directed):.0f} % of the moves that can be seen have a direction.
- *Large regions.* At K = 30 and L = 3 the precision of places is {min(precise):.2f} to {max(precise):.2f}. The method
  warns below 0.4; set `coarsest`.
- *Few persons.* geolife has 179: at K = 30 a sixth of them must share any three labels, and {few:.2f} of the moves are
  left.
- *One place at a time.* Labels for those who know it have at most {100 * max(price):.1f} % less U than labels of one
  level for those who do not: at these levels few records have as many labels as times in a bin.
- *Moves by the hour* are not there to be kept at realistic K. Take a method with an epsilon."""


def _speed(speed: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{run['records']:,}",
            f"{run['visits']:,}",
            f"{run['seconds']:.0f}",
            f"{run['wall']:.0f}",
            f"{run['gigabytes']:.1f}",
        ]
        for name, run in speed.items()
    ]
    head = ["data", "records", "visits", "s, processor", "s, clock", "GB"]
    return (
        "## A million records\n\nMeasured with the version before labels were sets. Made-up data, K = 30, L = 3, with "
        "the search for levels and the check of the release, on two cores shared with other work. *Bus*: 944 stops in "
        "59 lines, by hour. *Commuters*: 300 places with coordinates, a grid of six sizes, by quarter of an hour; "
        "finer labels (`refine`) take most of the time, and "
        f"the aim of three minutes is missed.\n\n{table(head, rows)}"
    )
