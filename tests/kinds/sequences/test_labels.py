"""Labels: what sequences and trajectories have in common, so that a method need not ask which it has."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import Domain, Sequences, Trajectories
from hedgerow.frontiers import NextSymbol
from hedgerow.kinds.sequences.labels import Labels

CITY = Domain.declare(place=["home", "work", "shop"], time=range(8))


def visits(records, *, several):
    return Trajectories.from_records(records, domain=CITY, several=several)


def test_items_are_labels_at_the_only_time():
    data = Sequences.from_records([["b", "a"]], domain=Domain.declare(item=["a", "b"]))
    assert data.labels == Labels("item", 2, times=1, gap=0)
    made = data.from_labels(np.array([[1, 0, 1], [0, -1, -1]]), np.array([2, 5]))
    assert made.distinct_records() == [(("a",), 5), (("b", "a", "b"), 2)]


@pytest.mark.parametrize(("several", "gap"), [(False, 1), (True, 0)])
def test_labels_of_visits_are_places_at_times(several, gap):
    data = visits([[("home", 7)]], several=several)
    assert data.labels == Labels("place", 3, times=8, gap=gap)
    assert data.labels.size == 24
    made = data.from_labels(np.array([[18, 18 + 3 * gap + 2]]), np.array([2]))
    assert made.several == several
    assert made.records() == [((("home", 6), ("shop", 6 + gap)), ())] * 2


@pytest.mark.parametrize("several", [False, True])
def test_labels_come_back_as_they_were_counted(several):
    data = visits([[("home", 6), ("shop", 7)], [("work", 2)]], several=several)
    counted = data.positions(1).count(NextSymbol(data.labels.size))
    table = np.repeat(counted.codes, counted.counts)[:, None]
    made = data.from_labels(table, np.ones(len(table), np.int64))
    assert made.records() == data.truncated(1).records()
