"""(K,C)_L-privacy: the paper's tables, the counterexamples to its algorithms, and brute force."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.data import Trajectories
from hedgerow.errors import DomainError, ParameterError
from hedgerow.privacy.linkage import KCL, count_violations
from hedgerow.publishers.trajectories.batch import suppress_in_batches
from hedgerow.publishers.trajectories.frequent import FrequentSequences, maximal_frequent
from hedgerow.publishers.trajectories.greedy import (
    Board,
    Instances,
    Operation,
    _Queue,
    suppress_greedily,
)
from hedgerow.publishers.trajectories.kcl import LocalSuppression
from hedgerow.publishers.trajectories.mining import Records, mine

VECTOR = json.loads((Path(__file__).parent / "vectors" / "kcl.json").read_text())
NAMES = ["a1", "d2", "b3", "e4", "c5", "f6", "c7", "e8", "e9"]
PAPER = [{NAMES.index(name) for name in text.split()} for text in VECTOR["records"]]
FLAGS = [[value == held for value in VECTOR["diagnosis"]] for held in ("HIV", "Hepatitis")]
HALF = Fraction(1, 2)


def records_of(sets, flags=(), size=None):
    held = [sorted(record) for record in sets]
    pairs = np.array([pair for record in held for pair in record], np.int64)
    marks = np.array(flags, np.bool_).reshape(len(flags), len(held))
    return Records(
        np.cumsum([0, *map(len, held)]), pairs, size or int(pairs.max(initial=0)) + 1, marks
    )


def board_of(sets, flags, k, c, longest):
    records = records_of(sets, flags)
    return Board(records, mine(records, k, c, longest), k, c, longest)


def named(key):
    return " ".join(NAMES[pair] for pair in key)


def violating(sets, flags, k, c, longest):
    """Brute force: every sequence that occurs, against the definition."""
    rows: dict[tuple[int, ...], list[int]] = {}
    for number, record in enumerate(sets):
        for size in range(1, longest + 1):
            for key in itertools.combinations(sorted(record), size):
                rows.setdefault(key, []).append(number)
    return {
        key
        for key, held in rows.items()
        if len(held) < k or any(sum(flag[row] for row in held) > c * len(held) for flag in flags)
    }


def minimal(keys):
    return {
        key
        for key in keys
        if not any(
            part in keys
            for size in range(1, len(key))
            for part in itertools.combinations(key, size)
        )
    }


# ---- the paper's own example


@pytest.mark.parametrize("longest", [2, 3])
def test_the_minimal_violating_sequences_of_the_paper(longest):
    board = board_of(PAPER, FLAGS, 2, HALF, longest)
    assert sorted(map(named, board.listed)) == sorted(VECTOR["mvs"][str(longest)])
    assert len(violating(PAPER, FLAGS, 2, HALF, 2)) == 12


def test_the_initial_score_table():
    board = board_of(PAPER, FLAGS, 2, HALF, 2)
    metric = Instances(board)
    for pair, via, valid, local, everywhere in VECTOR["initial scores"]:
        number, key = NAMES.index(pair), tuple(NAMES.index(name) for name in via.split())
        rows = board.listed[key]
        assert board.is_valid(number, rows) == valid
        if valid:
            gain = board.gain(Operation(number, key))
            assert Fraction(gain, metric.local(number, rows) + 1) == Fraction(local)
        gain = board.gain(Operation(number, None))
        assert Fraction(gain, metric.everywhere(number) + 1) == Fraction(everywhere)


def test_the_maximal_frequent_sequences_of_the_paper():
    found = maximal_frequent(records_of(PAPER), 2)
    held = {named(key): sorted(row + 1 for row in rows) for key, rows in found.items()}
    assert held == VECTOR["mfs"]["sequences"]


@pytest.mark.parametrize(
    "held", VECTOR["runs"], ids=lambda run: f"{run['l']} {run['mode']} {run['metric']}"
)
def test_the_runs_of_the_paper(held):
    board = board_of(PAPER, FLAGS, 2, HALF, held["l"])
    metric = Instances(board)
    if held["metric"] == "mfs":
        support = held["k_prime"]
        metric = FrequentSequences(maximal_frequent(records_of(PAPER), support), support)
    queue = _Queue(board, metric, local=held["mode"] == "local")
    done = []
    while board.listed:
        operation = queue.best()
        rows = board.listed.get(operation.via, ())
        queue.apply(operation)
        by = " via " + " ".join(str(row + 1) for row in sorted(rows)) if operation.via else ""
        done.append(NAMES[operation.pair] + by)
    assert done == held["operations"]
    if "result" in held:
        assert [named(sorted(record)) for record in board.records] == held["result"]
    assert sum(map(len, board.records)) == held.get("left", sum(map(len, board.records)))
    if "mfs lost" in held:
        kept = sum(
            sum(set(key) <= record for record in board.records) >= 2
            for key in maximal_frequent(records_of(PAPER), 2)
        )
        assert kept == 6 - held["mfs lost"]
    assert not violating(board.records, FLAGS, 2, HALF, held["l"])


def test_what_is_private_for_two_is_not_for_three():
    board = board_of(PAPER, FLAGS, 2, HALF, 2)
    suppress_greedily(board, Instances(board), local=True)
    left = minimal(violating(board.records, FLAGS, 2, HALF, 3))
    assert sorted(map(named, left)) == ["c5 c7 e9", "d2 c5 e9", "f6 c7 e8"]


# ---- counterexamples to the printed algorithms


def printed_test(sets, flags, k, c, listed, pair, key, longest):
    """The printed test: pairs of any MVS with `pair` are left out, and groups are of T(p) - T(m)."""
    holders = {n for n, record in enumerate(sets) if pair in record}
    rest = holders - {n for n in holders if set(key) <= sets[n]}
    gone = {n for n in holders if set(key) <= sets[n]}
    banned = {other for v in listed if pair in v for other in v} - {pair}
    pairs = {other for n in gone for other in sets[n]} - banned
    for size in range(1, longest + 1):
        for q in itertools.combinations(sorted(pairs), size):
            if not any(set(q) <= sets[n] for n in gone):
                continue
            group = [n for n in rest if set(q) <= sets[n]]
            few = 0 < len(group) < k
            if few or any(sum(f[n] for n in group) > c * len(group) for f in flags):
                return False
    return True


def test_x1_the_printed_test_is_unsound_for_three():
    p, x, y = 0, 1, 2
    sets = [{p, x, y}, {p, x}, {p, y}, {x, y}]
    board = board_of(sets, [], 2, Fraction(1), 3)
    assert set(board.listed) == {(p, x, y)}
    for pair in (p, x, y):
        assert printed_test(sets, [], 2, 1, board.listed, pair, (p, x, y), 3)
        assert not board.is_valid(pair, {0})
    edited = [{x, y}, {p, x}, {p, y}, {x, y}]
    assert (p, x) in violating(edited, [], 2, 1, 3)  # what the printed test lets through
    done = suppress_greedily(board, Instances(board), local=True)
    assert [operation.via for operation in done] == [None]


def test_x2_scores_go_stale_by_sequences_that_do_not_violate():
    x, y, u, w = range(4)
    sets = [{x, y, u}, {x, y, w}, {x, y}, {y, u}, {x, w}]
    board = board_of(sets, [], 2, Fraction(1), 2)
    assert set(board.listed) == {(x, u), (y, w)}
    assert board.is_valid(x, {0})
    assert board.is_valid(y, {1})
    both = [{y, u}, {x, w}, {x, y}, {y, u}, {x, w}]
    assert (x, y) in violating(both, [], 2, 1, 2)  # what the printed refreshing leads to
    done = suppress_greedily(board, Instances(board), local=True)
    assert done == [Operation(x, (x, u)), Operation(w, None)]
    assert not violating(board.records, [], 2, 1, 2)


def test_x3_candidates_are_pruned_by_all_their_parts():
    a, b, c, d = range(4)
    board = board_of([{a, b, c, d}, {a, b, c}, {a, b, d}], [], 2, Fraction(1), 4)
    assert set(board.listed) == {(c, d)}


def test_x4_a_gain_counts_all_that_vanishes():
    p, x, y = 0, 1, 2
    sets = [{p, x, y}, {p, x}, {p}, {p}, {p}, {x}, {x}, {y}, {y}]
    board = board_of(sets, [], 3, Fraction(1), 2)
    assert set(board.listed) == {(p, x), (p, y), (x, y)}
    assert board.gain(Operation(p, (p, x))) == 2


# ---- brute force


@st.composite
def databases(draw):
    size, rows = draw(st.integers(1, 7)), draw(st.integers(1, 10))
    masks = draw(st.lists(st.integers(0, 2**size - 1), min_size=rows, max_size=rows))
    sets = [{pair for pair in range(size) if mask >> pair & 1} for mask in masks]
    marks = st.lists(st.booleans(), min_size=rows, max_size=rows)
    flags = draw(st.lists(marks, max_size=2))
    c = Fraction(draw(st.integers(0, 4)), 4)
    return sets, flags, draw(st.integers(1, 4)), c, draw(st.integers(1, 4))


@given(databases())
@settings(max_examples=400)
def test_mining_and_validity_equal_brute_force(held):
    sets, flags, k, c, longest = held
    board = board_of(sets, flags, k, c, longest)
    assert set(board.listed) == minimal(violating(sets, flags, k, c, longest))
    for key, rows in list(board.listed.items())[:5]:
        assert rows == {n for n, record in enumerate(sets) if set(key) <= record}
        for pair in key:
            edited = [r - {pair} if n in rows else r for n, r in enumerate(sets)]
            covered = all(
                any(set(v) <= set(q) for v in board.listed)
                for q in violating(edited, flags, k, c, longest)
            )
            assert board.is_valid(pair, rows) == covered


@given(databases(), st.booleans(), st.booleans())
@settings(max_examples=400)
def test_nothing_violates_after_greedy_suppression(held, local, frequent):
    sets, flags, k, c, longest = held
    board = board_of(sets, flags, k, c, longest)
    before = len(board.listed)
    metric = Instances(board)
    if frequent:
        metric = FrequentSequences(maximal_frequent(records_of(sets), 2), 2)
    done = suppress_greedily(board, metric, local=local)
    assert not violating(board.records, flags, k, c, longest)
    assert len(done) <= before
    assert all(after <= record for after, record in zip(board.records, sets, strict=True))


@given(databases(), st.booleans())
@settings(max_examples=400)
def test_nothing_violates_after_suppression_in_batches(held, local):
    sets, flags, k, c, longest = held
    records = records_of(sets, flags)
    kept = suppress_in_batches(records, mine(records, k, c, longest), k, c, local=local)
    after = [set() for _ in sets]
    for row, pair in zip(records.record[kept].tolist(), records.pairs[kept].tolist(), strict=True):
        after[row].add(pair)
    assert not violating(after, flags, k, c, longest)


@given(databases(), st.booleans())
@settings(max_examples=300)
def test_the_queue_does_what_scoring_everything_anew_would(held, local):
    """The heap with its stamps and parked entries takes the operations of the plain loop."""
    sets, flags, k, c, longest = held
    board, plain = (board_of(sets, flags, k, c, longest) for _ in range(2))
    done = suppress_greedily(board, Instances(board), local=local)
    metric, expected = Instances(plain), []
    while plain.listed:
        entries = []
        for pair, keys in plain.having.items():
            if not keys:
                continue
            gain = len(keys)
            entries.append((-Fraction(gain, metric.everywhere(pair) + 1), -gain, True, pair, ()))
            for key in keys if local else ():
                rows = plain.listed[key]
                if plain.is_valid(pair, rows):
                    gain = plain.gain(Operation(pair, key))
                    entries.append((-Fraction(gain, len(rows) + 1), -gain, False, pair, key))
        _, _, everywhere, pair, key = min(entries)
        expected.append(Operation(pair, None if everywhere else key))
        plain.delete(pair, set(plain.holders[pair] if everywhere else plain.listed[key]))
    assert done == expected


def trajectories(sets, flags):
    traits = {"diagnosis": ["x" if flag else "y" for flag in flags[0]]} if flags else {}
    visits = [[("here", pair) for pair in sorted(record)] for record in sets]
    return Trajectories.from_records(visits, sensitive=traits)


@given(databases())
@settings(max_examples=200)
def test_the_checker_equals_brute_force(held):
    sets, flags, k, c, longest = held
    sensitive = ["diagnosis=x"] if flags else []
    promise = KCL(k=k, c=c, l=longest, sensitive=sensitive)
    found = count_violations(trajectories(sets, flags), promise)
    few = violating(sets, [], k, 1, longest)
    frequent = violating(sets, flags[:1], 1, c, longest)
    for size, counts in found.items():
        assert counts == (
            sum(len(key) == size for key in few),
            sum(len(key) == size for key in frequent),
        )


@given(databases(), st.sampled_from(["local", "global"]), st.sampled_from(["greedy", "batch"]))
@settings(max_examples=150)
@pytest.mark.filterwarnings("ignore")
def test_a_release_keeps_its_promise_and_what_kept_it_comes_back(held, mode, schedule):
    sets, flags, k, c, longest = held
    data = trajectories(sets, flags)
    promise = KCL(k=k, c=c, l=longest, sensitive=["diagnosis=x"] if flags else [])
    method = LocalSuppression(mode=mode, schedule=schedule)
    release = method.publish(data, promise)
    assert release.verdict.satisfied
    again = method.publish(release.data, promise)
    assert again.data.records() == release.data.records()


# ---- what is refused, and what is warned of


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"k": 0, "l": 1}, "k must be a whole number of at least 1; got 0"),
        ({"k": True, "l": 1}, "k must be a whole number of at least 1; got True"),
        ({"k": 2, "l": 1.5}, "l must be a whole number of at least 1; got 1.5"),
        ({"k": 2, "l": 1, "c": "120%"}, "c must be between 0 and 1; got 120%"),
        ({"k": 2, "l": 1, "c": "nan"}, "c must be a finite number; got nan"),
        ({"k": 2, "l": 1, "sensitive": ["HIV"]}, "given as COLUMN=VALUE; got 'HIV'"),
    ],
)
def test_bad_promises(given_, message):
    with pytest.raises(ParameterError, match=message):
        KCL(**given_)


def test_numbers_of_a_promise_are_read_as_written():
    assert KCL(k="30", c="60%", l="3").c == KCL(k=30, c=0.6, l=3).c == Fraction(3, 5)


def test_bad_parameters():
    with pytest.raises(ParameterError, match="k_prime must be at least 1 for metric mfs"):
        LocalSuppression(metric="mfs")
    with pytest.raises(ParameterError, match="schedule must be greedy or auto for metric mfs"):
        LocalSuppression(metric="mfs", k_prime=2, schedule="batch")


def test_a_person_with_two_records_is_refused():
    data = Trajectories.from_records([[("a", 1)], [("a", 2)]], persons=["x", "x"])
    with pytest.raises(DomainError, match="a person owns several records"):
        LocalSuppression().publish(data, KCL(k=1, l=1))


def test_a_record_at_two_places_is_refused():
    with pytest.raises(DomainError, match="at two places at one time"):
        Trajectories.from_records([[("a", 1), ("b", 1)]])


def test_an_unknown_sensitive_column_is_refused():
    with pytest.raises(DomainError, match="no sensitive column 'ward'"):
        LocalSuppression().publish(
            Trajectories.from_records([[("a", 1)]]), KCL(k=1, l=1, sensitive=["ward=3"])
        )


def test_more_than_there_are_records_suppresses_everything_and_says_so():
    data = trajectories([{0, 1}, {0}], [])
    with pytest.warns(UserWarning, match="k = 9 is more than there are records"):
        release = LocalSuppression().publish(data, KCL(k=9, l=2))
    assert [visits for visits, _ in release.data.records()] == [(), ()]


def test_a_sensitive_value_that_does_not_occur_or_is_everywhere_is_warned_of():
    data = trajectories([{0}, {0}], [[True, True]])
    with pytest.warns(UserWarning, match="does not occur"):
        LocalSuppression().publish(data, KCL(k=1, l=1, sensitive=["diagnosis=z"]))
    with pytest.warns(UserWarning, match="more frequent than c in all of the data"):
        LocalSuppression().publish(data, KCL(k=1, c="50%", l=1, sensitive=["diagnosis=x"]))
