"""Measures of trajectories at coarser places and times: what all methods share, and how coarse the labels are.

For the owner only: no guarantee covers these figures. A release does not tell which of its records is which of the
original, so labels are compared as a whole; each stands for one visit or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Domain, Trajectories
from hedgerow.data.coarse_trajectories import CoarseTrajectories
from hedgerow.errors import ParameterError
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.labelled_visits import LabelledVisits, Spread
from hedgerow.measures.mobility_comparison import compare_labels
from hedgerow.privacy import Guarantee
from hedgerow.score import Score, exact_score

__all__ = ["count_levels", "generalisation_controls", "labelled_visits", "measure_generalisation"]

Integers: TypeAlias = NDArray[np.int64]


def labelled_visits(data: CoarseTrajectories, domain: Domain) -> LabelledVisits:
    """The labels of a release, with the places and times that they stand for."""
    levels = data.levels
    if levels.places[0].regions != tuple(map(str, domain.values("place"))):
        msg = "the release has labels over other places than the data; give the domain that it was published with"
        raise ParameterError(msg)
    place_level, region, time_level, number = levels.split(data.labels)
    firsts = np.cumsum([0, *(len(level.regions) for level in levels.places)])
    places = np.arange(domain.size("place"))
    regions = Spread(
        labels=int(firsts[-1]),
        values=len(places),
        rows=np.concatenate([first + level.of_place for first, level in zip(firsts, levels.places, strict=False)]),
        columns=np.tile(places, len(levels.places)),
    )
    times = [int(value) for value in domain.values("time")]
    ends = np.cumsum([0, *levels.times.counts()])
    bins = Spread(
        labels=int(ends[-1]),
        values=len(times),
        rows=np.concatenate([first + of for first, of in zip(ends, levels.bins_of(times), strict=False)]),
        columns=np.tile(np.arange(len(times)), len(levels.times.widths)),
    )
    return LabelledVisits(data.starts, firsts[place_level] + region, ends[time_level] + number, regions, bins)


def generalisation_controls(original: Trajectories, promise: Guarantee) -> dict[str, Dataset | Control]:
    """The controls: an empty release, and exact visits by suppression, the first of each record at each time."""
    starts, pairs, _ = original.arrays()
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    time = pairs // original.domain.size("place")
    first = np.append(True, (record[1:] != record[:-1]) | (time[1:] != time[:-1]))[: len(pairs)]
    exact = replace(original.keep_visits(first), several=False)
    suppression = Control("kcl-reinsertion", {"schedule": "grow"}, data=exact, guarantee=promise)
    return {"empty release": original.truncated(0), "suppression": suppression}


def measure_generalisation(
    compared: Comparison, controls: Mapping[str, Trajectories], rng: np.random.Generator, *, longest: int
) -> list[Score]:
    """Compare labels with the original visits, and with the controls."""
    original, released = compared.original, compared.released
    visits = labelled_visits(released, original.domain)
    others = {name: LabelledVisits.of(data, original.domain) for name, data in controls.items()}
    shared = compare_labels(original, visits, others, rng, longest=longest)
    return [*shared, *_label_scores(original, released), *_level_chart(released)]


def _label_scores(original: Trajectories, released: CoarseTrajectories) -> list[Score]:
    """How many labels there are, and how many moves between places can still be seen."""
    starts, pairs, _ = original.arrays()
    places = pairs % original.domain.size("place")
    inner = np.ones(max(0, len(pairs) - 1), np.bool_)
    inner[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(pairs))] - 1] = False
    moves = int((inner & (places[1:] != places[:-1])).sum())
    seen = _count_moves(released)
    emptied = float((np.diff(released.starts) == 0).mean()) if len(released) else 0.0
    return [
        exact_score("labels per visit of the original", len(released.labels) / max(1, len(pairs)), {}),
        exact_score("share of records without labels", emptied, {}, better="lower"),
        exact_score("moves between regions per move of the original", seen / max(1, moves), {}, better="higher"),
    ]


def _count_moves(data: CoarseTrajectories) -> int:
    """Count consecutive labels of a record whose regions have no place in common."""
    place_level, region, _, _ = data.levels.split(data.labels)
    record = np.repeat(np.arange(len(data)), np.diff(data.starts))
    # one place of each region tells its region on every coarser level
    some = [np.unique(level.of_place, return_index=True)[1] for level in data.levels.places]
    place = np.array(
        [some[level][at] for level, at in zip(place_level.tolist(), region.tolist(), strict=True)], np.int64
    )
    coarser = np.maximum(place_level[1:], place_level[:-1])
    apart = np.zeros(len(coarser), np.bool_)
    for number, level in enumerate(data.levels.places):
        here = coarser == number
        apart[here] = level.of_place[place[1:][here]] != level.of_place[place[:-1][here]]
    return int((apart & (record[1:] == record[:-1])).sum())


def count_levels(data: CoarseTrajectories) -> list[tuple[str, int]]:
    """How many labels there are of each pair of levels that occurs, as a name and a number."""
    place_level, _, time_level, _ = data.levels.split(data.labels)
    widths = len(data.levels.times.widths)
    counts: list[int] = np.bincount(place_level * widths + time_level).tolist()
    return [
        (f"level {data.levels.places[pair // widths].name}, bins of {data.levels.times.widths[pair % widths]}", count)
        for pair, count in enumerate(counts)
        if count
    ]


def _level_chart(released: CoarseTrajectories) -> list[Score]:
    chart = "labels by level of places and width of time bins"
    return [exact_score(f"{chart}: {name}", count, {}, chart=chart, at=name) for name, count in count_levels(released)]
