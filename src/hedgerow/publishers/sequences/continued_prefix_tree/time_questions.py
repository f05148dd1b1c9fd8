"""Ask for the times of visits, the first times of journeys, and their durations."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Duration, Frontier, NextSymbol
from hedgerow.privacy import Laplace, Ledger
from hedgerow.publishers.sequences.continued_prefix_tree.time_estimates import (
    TimeAnswers,
    size_class,
    time_blocks,
)
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups
from hedgerow.steps.time_classes import duration_classes

__all__ = ["ask_times", "note_times"]

Integers: TypeAlias = NDArray[np.int64]

#: the part of the budget for each of the three questions
_PART = Fraction(3, 100)
#: the expected count of a cell of the table of durations, in scales of its noise
_CELL = 6


def ask_times(positions: Frontier, groups: PlaceGroups, number: int, height: int, ledger: Ledger) -> TimeAnswers:
    """Ask for times of visits, for first times, and for durations.

    `number` is the noisy number of records, from which the number of blocks of times follows.
    """
    spend = ledger.budget * _PART
    label, first = NextSymbol(groups.labels.size), positions.first()
    counted, firsts = positions.count(label), first.count(label)
    # a visit moves one cell by 1, and a record has at most `height` of them
    exact = _by_time(counted.codes, counted.counts, groups)
    visits = ledger.ask(exact, Laplace(l1=height), spend=spend, label="times")
    # a record has one first visit, or none
    exact = _by_time(firsts.codes, firsts.counts, groups)
    starts = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first times")
    spans = duration_classes(groups.times)
    sizes = 1 + int(size_class(np.array([height]), height)[0])
    most = int(number * spend / (_CELL * sizes * (int(spans[-1]) + 1)))
    block = time_blocks(np.maximum(starts, 0).astype(np.float64), max(1, most))
    durations = np.zeros((0, 0, 0))
    if height > 1:
        # a record is in one cell, or in none if it has one visit
        duration = Duration(groups.places, size_class(np.arange(height + 1), height), block, spans)
        exact = first.count(duration).by_code()
        noisy = ledger.ask(exact, Laplace(l1=1), spend=spend, label="durations")
        durations = noisy.reshape(duration.shape).astype(np.float64)
    return TimeAnswers(
        visits=visits.astype(np.float64),
        visit_scale=height / float(spend),
        starts=starts.astype(np.float64),
        start_scale=1 / float(spend),
        durations=durations,
        duration_scale=1 / float(spend),
        block=block,
    )


def _by_time(codes: Integers, counts: Integers, groups: PlaceGroups) -> Integers:
    exact = np.zeros(groups.times, np.int64)
    np.add.at(exact, codes // groups.places, counts)
    return exact


def note_times(times: TimeAnswers, total: float, missing: int, ledger: Ledger) -> None:
    """Note in the statement which answers about times were not significant.

    `total` is the number of generated records; `missing` is how many of them start with a visit that is not in the
    tree.
    """
    if len(times.starts) == 1:
        return
    ledger.note(
        "records that start with none of these first visits: their first place and first time were "
        "drawn independently of each other",
        missing,
    )
    if not times.starts_significant(total):
        ledger.note(
            "of these, records whose first times were spread evenly: the noisy answer does not differ "
            "significantly from an even distribution",
            missing,
        )
    if len(times.durations) and not times.durations_significant:
        ledger.note(
            "answers about durations that are not significantly different from noise: if a journey is not "
            "counted to its end, its last time is drawn from all later times",
            1,
        )
