"""Rules of timed visits, by hand: what each record is counted as, on one machine and on shards."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.frontiers import LOCAL, FirstAndLast, InnerVisit, Step, StepType, SymbolLists
from hedgerow.frontiers.sharded import ShardedEngine

PLACES, TIMES = 3, 4
visits = st.tuples(st.integers(0, TIMES - 1), st.integers(0, PLACES - 1))
records = st.lists(st.lists(visits, max_size=7).map(sorted), max_size=12)
LENGTHS = np.array([0, 0, 1, 2, 2])
CLASSES = np.arange(TIMES**2).reshape(TIMES, TIMES) * 2 % 5
ENDS = np.arange(PLACES**2).reshape(PLACES, PLACES) * 3 % 4


def lists_of(given_records) -> SymbolLists:
    starts = np.cumsum([0, *map(len, given_records)])
    values = np.array([time * PLACES + place for record in given_records for time, place in record], np.int64)
    return SymbolLists.from_arrays(starts, values, np.ones(len(given_records), np.int64), PLACES * TIMES)


def counted(given_records, rule, *, first: bool) -> list[Counter]:
    """The counts by code, on one machine and on three shards, with a rule that was sent there."""
    copy = pickle.loads(pickle.dumps(rule))  # noqa: S301 - our own bytes
    tables = []
    for engine in (LOCAL, ShardedEngine(3)):
        rows = engine.open_symbols(lists_of(given_records))
        table = (rows.first() if first else rows).count(copy)
        tables.append(Counter(dict(zip(table.codes.tolist(), table.counts.tolist(), strict=True))))
    return tables


@given(records)
def test_records_by_length_times_and_ends(given_records):
    expected = Counter()
    for record in filter(None, given_records):
        (first_time, first), (last_time, last) = record[0], record[-1]
        length = LENGTHS[min(len(record), 4)]
        expected[int((length * 5 + CLASSES[first_time, last_time]) * 4 + ENDS[first, last])] += 1
    rule = FirstAndLast(LENGTHS, CLASSES, ENDS)
    assert rule.size == 3 * 5 * 4
    assert counted(given_records, rule, first=True) == [expected, expected]


@given(records)
def test_inner_visits(given_records):
    classes = np.arange(PLACES * TIMES) % 5
    inner = [visit for record in given_records for visit in record[1:-1]]
    expected = Counter(int(classes[time * PLACES + place]) for time, place in inner)
    assert counted(given_records, InnerVisit(classes), first=False) == [expected, expected]


@given(records)
def test_steps_by_times_and_places(given_records):
    expected = Counter()
    for record in given_records:
        for (time, place), (next_time, next_place) in itertools.pairwise(record):
            expected[int(CLASSES[time, next_time] * 4 + ENDS[place, next_place])] += 1
    assert counted(given_records, Step(CLASSES, ENDS), first=False) == [expected, expected]


@given(records)
def test_types_of_steps(given_records):
    expected = Counter()
    for record in given_records:
        places = [place for _, place in record]
        for number, there in enumerate(places[1:]):
            past = places[: number + 1]
            kind = 3
            if there == past[-1]:
                kind = 0
            elif there == past[-2:][0]:
                kind = 1
            elif there in past:
                kind = 2
            expected[4 * min(number, 3) + kind] += 1
    assert counted(given_records, StepType(PLACES), first=False) == [expected, expected]
