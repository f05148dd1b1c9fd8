"""The result page of today's methods for trajectories by the measures that all of them share."""

from __future__ import annotations

from typing import Any

from mobility_names import SHORT_NAMES
from tables import table

HEAD = """# Results: today's methods for trajectories, by shared measures

Made by `benchmarks/pages.py` from `mobility-baselines.json`, which `benchmarks/mobility_baselines.py` wrote; do not
edit. These are the figures that newer methods have to beat: [trip-synthesis](trip-synthesis.md),
[kcl-generalisation](kcl-generalisation.md).

All are distances from the original (total variation: 0 is equal, 1 has nothing in common), except *OD error*, the mean
relative error of 2,000 origin-destination counts, *top OD*, the share of the 50 largest pairs that are found, and *two
visits*, the share of records with two visits and more. The measures are defined in the
[guide](../trajectories.md#what-a-release-is-good-for). Trees: mean of 5 runs (seeds 100 to 104), with the standard
deviation in brackets from 0.0015 on; they use as many visits of a record as the cut original has. Suppression (`kcl`;
`kcl-reinsertion`, growing; no sensitive values) takes the first visit of a record at each time, and is compared with
all visits; it draws nothing. On days of bikes `kcl` was stopped after about three minutes. Independent visits and
shuffled times are made of the original: no releases, but what a release must be better than. `prefix-tree` asks for
first times here, as it does since `trip-synthesis` was added."""
SHORT = {
    **SHORT_NAMES,
    "total variation of times and places of visits": "time x place",
    "total variation of numbers of visits": "length",
    "share of records with two visits or more": "two visits",
}
ADATRACE = "AdaTrace, "
SEVEN = """By the seven measures of AdaTrace, with our definitions. Cells that nobody visits are tied, so that the
original itself does not reach a tau of 1. Travel distances have 20 buckets up to the largest of the original: where one
record travels much farther than the others, nearly all are in the first bucket, and the measure says little."""


def mobility_page(results: dict[str, Any]) -> str:
    """Write the page."""
    return "\n\n".join([HEAD, *(_section(name, run) for name, run in results.items())]) + "\n"


def _section(name: str, run: dict[str, Any]) -> str:
    single = run["visits at a time of their own"]
    facts = (
        f"{run['records']:,} records, {run['visits']:,} visits ({single:,} are the first of their record at their "
        f"time), {run['places']:,} places, {run['times']} times; up to {run['longest']} visits of a record are used."
    )
    first = next(iter(run["scores"].values()))
    shared = {long: short for full in first for long, short in SHORT.items() if full.split(", cut")[0] == long}
    parts = [f"## {name}", facts, _table(run["scores"], shared)]
    seven = {full: full.removeprefix(ADATRACE) for full in first if full.startswith(ADATRACE)}
    if seven:
        parts += [SEVEN, _table(run["scores"], seven)]
    return "\n\n".join(parts)


def _table(scores: dict[str, dict[str, list[float]]], columns: dict[str, str]) -> str:
    rows = [[name, *(_figure(figures, long) for long in columns)] for name, figures in scores.items()]
    return table(["", *columns.values()], rows)


def _figure(figures: dict[str, list[float]], long: str) -> str:
    mean, deviation = next(figure for name, figure in figures.items() if name.split(", cut")[0] == long)
    return f"{mean:.3f}" + (f" ({deviation:.3f})" if deviation >= 0.0015 else "")
