"""(K,C)_L-privacy: the tables and runs of the paper."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from kcl_cases import arrays_of, minimal, operations_of, state_of, trajectories, violating
from project import VECTORS

from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.methods.kcl import (
    FrequentSequences,
    Instances,
    LocalSuppression,
    Operation,
    OperationQueue,
    occurrences_of,
    suppress_globally,
)
from hedgerow.kinds.trajectories.sequence_mining import compare_maximal_frequent, mine_maximal_frequent, mine_sequences

VECTOR = json.loads((VECTORS / "kcl.json").read_text())
NAMES = ["a1", "d2", "b3", "e4", "c5", "f6", "c7", "e8", "e9"]
PAPER = [{NAMES.index(name) for name in text.split()} for text in VECTOR["records"]]
FLAGS = [[value == sensitive for value in VECTOR["diagnosis"]] for sensitive in ("HIV", "Hepatitis")]
HALF = Fraction(1, 2)


def named(key):
    return " ".join(NAMES[pair] for pair in key)


@pytest.mark.parametrize("longest", [2, 3])
def test_the_minimal_violating_sequences_of_the_paper(longest):
    state = state_of(PAPER, FLAGS, 2, HALF, longest)
    assert sorted(map(named, state.listed)) == sorted(VECTOR["mvs"][str(longest)])
    assert len(violating(PAPER, FLAGS, 2, HALF, 2)) == 12


def test_the_initial_score_table():
    state = state_of(PAPER, FLAGS, 2, HALF, 2)
    metric = Instances(arrays_of(PAPER))
    for pair, via, valid, local, everywhere in VECTOR["initial scores"]:
        number, key = NAMES.index(pair), tuple(NAMES.index(name) for name in via.split())
        rows = state.listed[key]
        assert state.is_valid(number, rows) == valid
        if valid:
            gain = state.gain(Operation(number, key))
            visits = state.visits(number, rows)
            (loss,) = metric.local(visits, np.zeros(len(visits), np.int64), 1)
            assert Fraction(gain, int(loss) + 1) == Fraction(local)
        gain = state.gain(Operation(number, None))
        assert Fraction(gain, int(metric.everywhere()[number]) + 1) == Fraction(everywhere)


def mfs_of(support):
    visits = arrays_of(PAPER)
    levels = mine_maximal_frequent(visits, support)
    return {key: rows for level in levels for key, rows in occurrences_of(visits, level)}


def test_the_maximal_frequent_sequences_of_the_paper():
    rows_of = {named(key): sorted(row + 1 for row in rows) for key, rows in mfs_of(2).items()}
    assert rows_of == VECTOR["mfs"]["sequences"]
    assert {named(key) for key in mfs_of(3)} == set(VECTOR["mfs"]["three"])
    assert {named(key): len(rows) for key, rows in mfs_of(4).items()} == VECTOR["mfs"]["four"]
    per_pair = FrequentSequences(arrays_of(PAPER), 2).everywhere().tolist()
    assert dict(zip(NAMES, per_pair, strict=True)) == VECTOR["mfs"]["per pair"]


def test_both_readings_of_the_loss_of_frequent_sequences():
    """Global suppression by instances (d2, a1, b3): four of six are lost, five are found anew."""
    left = [record - {NAMES.index(name) for name in ("d2", "a1", "b3")} for record in PAPER]
    assert compare_maximal_frequent(arrays_of(PAPER), arrays_of(left, size=9), 2) == (6, 4, 5)


def metric_of(run):
    visits = arrays_of(PAPER)
    return FrequentSequences(visits, run["k_prime"]) if run["metric"] == "mfs" else Instances(visits)


def suppressed(run):
    """What the vector calls operations, and the records that are left."""
    if run["mode"] == "global":
        visits = arrays_of(PAPER, FLAGS)
        deleted = suppress_globally(visits, mine_sequences(visits, 2, HALF, run["l"]), metric_of(run))
        return [NAMES[pair] for pair in deleted], [record - set(deleted) for record in PAPER]
    state = state_of(PAPER, FLAGS, 2, HALF, run["l"])
    queue, done = OperationQueue(state, metric_of(run)), []
    while state.listed:
        operation = queue.best()
        rows = state.listed.get(operation.via, ())
        queue.apply(operation)
        by = " via " + " ".join(str(row + 1) for row in sorted(rows)) if operation.via else ""
        done.append(NAMES[operation.pair] + by)
    return done, state.records


@pytest.mark.parametrize("run", VECTOR["runs"], ids=lambda run: f"{run['l']} {run['mode']} {run['metric']}")
def test_the_runs_of_the_paper(run):
    done, records = suppressed(run)
    assert done == run["operations"]
    if "result" in run:
        assert [named(sorted(record)) for record in records] == run["result"]
    assert sum(map(len, records)) == run.get("left", sum(map(len, records)))
    if "mfs lost" in run:
        kept = sum(sum(set(key) <= record for record in records) >= 2 for key in mfs_of(2))
        assert kept == 6 - run["mfs lost"]
    assert not violating(records, FLAGS, 2, HALF, run["l"])


def test_what_is_private_for_two_is_not_for_three():
    state = state_of(PAPER, FLAGS, 2, HALF, 2)
    operations_of(state, Instances(arrays_of(PAPER)))
    left = minimal(violating(state.records, FLAGS, 2, HALF, 3))
    assert sorted(map(named, left)) == ["c5 c7 e9", "d2 c5 e9", "f6 c7 e8"]


def test_the_paper_s_table_is_what_is_published():
    """Table 5.2."""
    paths = [[(visit[0], int(visit[1:])) for visit in text.split()] for text in VECTOR["records"]]
    data = Trajectories.from_records(paths, sensitive={"diagnosis": VECTOR["diagnosis"]})
    sensitive = ["diagnosis=HIV", "diagnosis=Hepatitis"]
    release = LocalSuppression().publish(data, KCL(k=2, c="50%", l=2, sensitive=sensitive))
    left = [" ".join(f"{place}{time}" for place, time in visits) for visits, _ in release.data.records()]
    assert sorted(left) == sorted(VECTOR["runs"][0]["result"])


def test_traditional_anonymity_is_a_special_case():
    """k-anonymity: L is the longest record and C all; confidence bounding: K is 1."""
    longest = max(map(len, PAPER))
    data = trajectories(PAPER, FLAGS[:1])
    for promise, flags in (
        (KCL(k=2, l=longest), []),
        (KCL(k=1, c="50%", l=longest, sensitive=["diagnosis=x"]), FLAGS[:1]),
    ):
        for mode in ("local", "global"):
            release = LocalSuppression(mode=mode).publish(data, promise)
            left = [{time for _, time in visits} for visits, _ in release.data.records()]
            marks = [[known == ("x",) for _, known in release.data.records()]] if flags else []
            assert not violating(left, marks, promise.k, promise.c, longest)
