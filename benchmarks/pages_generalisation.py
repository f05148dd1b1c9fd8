"""The result page of trajectories at coarser places and times."""

from __future__ import annotations

from typing import Any

from tables import table

_FIGURES = {
    "visits": "visits",
    "moves": "moves",
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
    parts = [_HEAD, checked, *(_data(name, data) for name, data in measured.items()), _choice(measured)]
    if "speed" in results:
        parts.append(_speed(results["speed"]))
    parts.append(_LOSSES)
    return "\n\n".join(parts) + "\n"


_ORDER = ("sube-smartcard", "foursquare-nyc", "singapore-bikes", "oldenburg", "geolife")
_HEAD = """# Results: kcl-generalisation

Made by `benchmarks/pages.py` from `kcl-generalisation.json`; do not edit. Trajectories at coarser places and times
under (K,C)_L-privacy, beside suppression of visits (`kcl-reinsertion`, growing) at fixed levels, where the first
visit of a record in each bin is taken. C = 60 % where there are sensitive values. Levels are searched for. Persons
are counted where records have owners.

All figures are relative to the exact visits. *Visits*: represented by a label. *Moves*: consecutive visits to
different places that are represented by labels of disjoint regions. *Records >= 2*: with two labels or more, of those
with two visits or more. *P place*, *P time*: the share of the bits of where and when that labels keep, on average.
*U*: the mean precision of visits and of moves (a quarter time, three quarters place), where what is lost counts as
nothing. *TV*: total variation between exact and published distributions, of hours, of places and of moves between
places at the level that is named; labels are spread evenly over their region and bin. Seconds are processor time, of
the method and of the search.

**Tuned and reported data.** The rules and constants are those of a specification whose author measured sube,
foursquare and singapore. We chose the default between `peel` and `grow` on sube-smartcard and foursquare-nyc alone;
nothing of the method was changed after the other data sets were run."""


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
    text = f"{what} {facts}. Places and moves are compared at level {data['compared']}. {role}"
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


_LOSSES = """## Where it loses

- *Hours.* The search prefers precise places to precise times: in 26 of 30 settings (data, K, L) it takes the whole
  period for a bin. In 26, too, the profile of the day is worse than that of suppression, which keeps bins of two
  hours. With bins of up to 4 hours (`coarsest`) the distance is 0.06 to 0.13, at 16 to 85 % fewer moves.
- *Large regions.* At K = 30 and L = 3 the precision of places is 0.25 to 0.51. The method warns below 0.4; set
  `coarsest`.
- *Few persons.* geolife has 179: at K = 30 a sixth of them must share any three labels, and 0.15 of the moves are left.
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
        "## A million records\n\nMade-up data, K = 30, L = 3, with the search for levels and the check of the release, "
        "on two cores shared with other work. *Bus*: 944 stops in 59 lines, by hour. *Commuters*: 300 places with "
        "coordinates, a grid of six sizes, by quarter of an hour; finer labels (`refine`) take most of the time, and "
        f"the aim of three minutes is missed.\n\n{table(head, rows)}"
    )
