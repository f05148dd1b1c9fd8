"""(K,C)_L-privacy: the paper's tables, the counterexamples to its algorithms, and brute force."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from kcl_cases import board_of, minimal, records_of, trajectories, violating
from project import VECTORS

from hedgerow.data import Domain, Trajectories
from hedgerow.errors import DomainError, NotSatisfied, ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.privacy.kcl import KCL, count_violations
from hedgerow.publishers.trajectories import batch, giving_back, kcl
from hedgerow.publishers.trajectories.greedy import (
    Operation,
    _Queue,
    occurring,
    suppress_greedily,
)
from hedgerow.publishers.trajectories.kcl import LocalSuppression
from hedgerow.publishers.trajectories.metrics import METRICS, FrequentSequences, Instances
from hedgerow.samples.walks import Walks, walks
from hedgerow.steps.frequent import count_lost, maximal_frequent
from hedgerow.steps.mining import mine

VECTOR = json.loads((VECTORS / "kcl.json").read_text())
NAMES = ["a1", "d2", "b3", "e4", "c5", "f6", "c7", "e8", "e9"]
PAPER = [{NAMES.index(name) for name in text.split()} for text in VECTOR["records"]]
FLAGS = [[value == held for value in VECTOR["diagnosis"]] for held in ("HIV", "Hepatitis")]
HALF = Fraction(1, 2)
VIOLATING = giving_back._violating


def named(key):
    return " ".join(NAMES[pair] for pair in key)


# ---- the paper's own example


@pytest.mark.parametrize("longest", [2, 3])
def test_the_minimal_violating_sequences_of_the_paper(longest):
    board = board_of(PAPER, FLAGS, 2, HALF, longest)
    assert sorted(map(named, board.listed)) == sorted(VECTOR["mvs"][str(longest)])
    assert len(violating(PAPER, FLAGS, 2, HALF, 2)) == 12


def test_the_initial_score_table():
    board = board_of(PAPER, FLAGS, 2, HALF, 2)
    metric = Instances(records_of(PAPER))
    for pair, via, valid, local, everywhere in VECTOR["initial scores"]:
        number, key = NAMES.index(pair), tuple(NAMES.index(name) for name in via.split())
        rows = board.listed[key]
        assert board.is_valid(number, rows) == valid
        if valid:
            gain = board.gain(Operation(number, key))
            visits = board.visits(number, rows)
            (loss,) = metric.local(visits, np.zeros(len(visits), np.int64), 1)
            assert Fraction(gain, int(loss) + 1) == Fraction(local)
        gain = board.gain(Operation(number, None))
        assert Fraction(gain, int(metric.everywhere()[number]) + 1) == Fraction(everywhere)


def mfs_of(support):
    records = records_of(PAPER)
    return {key: rows for level in maximal_frequent(records, support) for key, rows in occurring(records, level)}


def test_the_maximal_frequent_sequences_of_the_paper():
    held = {named(key): sorted(row + 1 for row in rows) for key, rows in mfs_of(2).items()}
    assert held == VECTOR["mfs"]["sequences"]
    assert {named(key) for key in mfs_of(3)} == set(VECTOR["mfs"]["three"])
    assert {named(key): len(rows) for key, rows in mfs_of(4).items()} == VECTOR["mfs"]["four"]
    per_pair = FrequentSequences(records_of(PAPER), 2).everywhere().tolist()
    assert dict(zip(NAMES, per_pair, strict=True)) == VECTOR["mfs"]["per pair"]


def test_both_readings_of_the_loss_of_frequent_sequences():
    """Global suppression by instances (d2, a1, b3): four of six are lost, five are found anew."""
    left = [record - {NAMES.index(name) for name in ("d2", "a1", "b3")} for record in PAPER]
    assert count_lost(records_of(PAPER), records_of(left, size=9), 2) == (6, 4, 5)


@pytest.mark.parametrize("held", VECTOR["runs"], ids=lambda run: f"{run['l']} {run['mode']} {run['metric']}")
def test_the_runs_of_the_paper(held):
    board = board_of(PAPER, FLAGS, 2, HALF, held["l"])
    metric = Instances(records_of(PAPER))
    if held["metric"] == "mfs":
        metric = FrequentSequences(records_of(PAPER), held["k_prime"])
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
        kept = sum(sum(set(key) <= record for record in board.records) >= 2 for key in mfs_of(2))
        assert kept == 6 - held["mfs lost"]
    assert not violating(board.records, FLAGS, 2, HALF, held["l"])


def test_what_is_private_for_two_is_not_for_three():
    board = board_of(PAPER, FLAGS, 2, HALF, 2)
    suppress_greedily(board, Instances(records_of(PAPER)), local=True)
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
    done = suppress_greedily(board, Instances(records_of(sets)), local=True)
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
    done = suppress_greedily(board, Instances(records_of(sets)), local=True)
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


# ---- what is refused, and what is warned of


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"k": 0, "l": 1}, "k must be a whole number of at least 1; got 0"),
        ({"k": True, "l": 1}, "k must be a whole number of at least 1; got True"),
        ({"k": 10**18, "l": 1}, r"k must be below 10\^18; no data has so many records"),
        ({"k": 10**5000, "l": 1}, r"k must be below 10\^18"),
        ({"k": "9" * 5000, "l": 1}, r"k must be below 10\^18"),
        ({"k": 2, "l": str(2**63)}, r"l must be below 10\^18"),
        ({"k": 2, "l": 1.5}, "l must be a whole number of at least 1; got 1.5"),
        ({"k": 2, "l": 1, "c": "120%", "sensitive": ["d=x"]}, "between 0 and 1; got 120%"),
        ({"k": 2, "l": 1, "c": "nan", "sensitive": ["d=x"]}, "c must be a finite number; got nan"),
        ({"k": 2, "l": 1, "c": 1, "sensitive": ["HIV"]}, "given as COLUMN=VALUE; got 'HIV'"),
        ({"k": 2, "l": 1, "c": "60%"}, "c and sensitive belong together"),
        ({"k": 2, "l": 1, "sensitive": ["d=x"]}, "c and sensitive belong together"),
    ],
)
def test_bad_promises(given_, message):
    with pytest.raises(ParameterError, match=message):
        KCL(**given_)


def test_numbers_of_a_promise_are_read_as_written():
    held = {"sensitive": ["d=x"]}
    assert KCL(k="30", c="60%", l="3", **held).c == KCL(k=30, c=0.6, l=3, **held).c == Fraction(3, 5)


def test_bad_parameters():
    with pytest.raises(ParameterError, match="k_prime must be at least 1 for metric mfs"):
        LocalSuppression(metric="mfs")
    for held in ({"mode": "global"}, {"give_back": False}):
        with pytest.raises(ParameterError, match="can be grow only in mode local and with"):
            LocalSuppression(schedule="grow", **held)


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
            Trajectories.from_records([[("a", 1)]]), KCL(k=1, l=1, c="50%", sensitive=["ward=3"])
        )


@pytest.mark.parametrize("k", [9, 10**18 - 1])
@pytest.mark.parametrize("mode", ["local", "global"])
def test_more_than_there_are_records_suppresses_everything_and_says_so(k, mode):
    data = trajectories([{0, 1}, {0}], [[True, False]])
    promise = KCL(k=k, l=10**18 - 1, c="50%", sensitive=["diagnosis=x"])
    with pytest.warns(UserWarning, match=f"k = {k} is more than there are records"):
        release = LocalSuppression(mode=mode).publish(data, promise)
    with pytest.warns(UserWarning, match="is more than there are records"):
        scores = {score.name: score.value for score in evaluate(release, data, seed=1)}
    assert [visits for visits, _ in release.data.records()] == [(), ()]
    assert scores["visits that were suppressed"] == 1
    assert count_violations(data, promise) == {1: (2, 1), 2: (1, 1)}


def test_a_sensitive_value_that_does_not_occur_or_is_everywhere_is_warned_of():
    data = trajectories([{0}, {0}], [[True, True]])
    with pytest.warns(UserWarning, match="does not occur"):
        LocalSuppression().publish(data, KCL(k=1, l=1, c="50%", sensitive=["diagnosis=z"]))
    with pytest.warns(UserWarning, match="more frequent than c in all of the data"):
        LocalSuppression().publish(data, KCL(k=1, c="50%", l=1, sensitive=["diagnosis=x"]))


WARDS = Domain.declare(place=["a"], time=[1], diagnosis=["flu", "HIV"])


@pytest.mark.parametrize("written", ["HIVV", "hiv", "HIV "])
def test_a_sensitive_value_outside_a_declared_domain_is_refused(written):
    """It is misspelt: the right one would be published without any promise about it."""
    data = Trajectories.from_records(
        [[("a", 1)]] * 4, sensitive={"diagnosis": ["HIV", "HIV", "flu", "HIV"]}, domain=WARDS
    )
    promise = KCL(k=2, l=1, c="50%", sensitive=[("diagnosis", written)])
    message = f"the domain has no value '{written}' of the sensitive column 'diagnosis'; check how"
    with pytest.raises(DomainError, match=message):
        LocalSuppression().publish(data, promise)
    with pytest.raises(DomainError, match=message):
        promise.verify({"": data})


def test_a_declared_value_that_nobody_has_is_only_warned_of():
    data = Trajectories.from_records([[("a", 1)]] * 2, sensitive={"diagnosis": ["flu", None]}, domain=WARDS)
    with pytest.warns(UserWarning, match="a sensitive value of 'diagnosis' does not occur"):
        LocalSuppression().publish(data, KCL(k=2, l=1, c="50%", sensitive=["diagnosis=HIV"]))


# ---- planted bugs, and metrics of one's own


@pytest.mark.parametrize(
    ("module", "name", "broken"),
    [
        # local suppressions are applied without looking at clean sequences
        (batch, "_to_give_up", lambda *_: np.zeros(0, np.int64)),
        # one record too few is enough to get a visit back
        (
            giving_back,
            "_violating",
            lambda sequences, held, kept, flags, limits: VIOLATING(
                sequences, held, kept, flags, limits._replace(k=limits.k - 1)
            ),
        ),
        # nobody looks at sensitive values when visits are given back
        (
            giving_back,
            "_violating",
            lambda sequences, held, kept, flags, limits: VIOLATING(sequences, held, kept, flags[:0], limits),
        ),
        # only pairs that violate by themselves are found
        (kcl, "mine", lambda records, k, c, _: mine(records, k, c, 1)),
    ],
    ids=["no validity", "one too few", "values given away", "only single visits"],
)
def test_a_planted_bug_is_found_by_the_checker(monkeypatch, module, name, broken):
    """The checker shares no code with the method: whatever the method does wrong it refuses."""
    data = walks(Walks(1_000, 6, 8))
    promise = KCL(k=5, c="40%", l=3, sensitive=["diagnosis=HIV"])
    method = LocalSuppression(schedule="batch", give_back=module is giving_back)
    method.publish(data, promise)
    monkeypatch.setattr(module, name, broken)
    with pytest.raises(NotSatisfied, match="nothing was released"):
        method.publish(data, promise)


class Evenings(Instances):
    """Only visits at time 3 are worth anything."""

    def __init__(self, records, visits, _):
        super().__init__(records)
        self._worth = np.array([time == 3 for _, time in visits])

    def local(self, visits, of, operations):
        return np.bincount(of, self._worth[self.pairs[visits]], operations)

    def everywhere(self):
        return self.held * self._worth

    def kept(self, alive):
        return float(self._worth[self.pairs[alive]].sum())


@pytest.mark.parametrize("schedule", ["greedy", "batch"])
def test_a_metric_of_ones_own_can_be_plugged_in(monkeypatch, schedule):
    monkeypatch.setitem(METRICS, "evenings", Evenings)
    data = trajectories([{1, 3}, {1, 3}, {1}, {3}, {2, 3}, {2}, {2}], [])
    promise = KCL(k=3, l=2)
    kept = {
        metric: [
            sum(time == 3 for _, time in visits)
            for visits, _ in LocalSuppression(schedule=schedule, metric=metric, give_back=False)
            .publish(data, promise)
            .data.records()
        ]
        for metric in ("instances", "evenings")
    }
    assert sum(kept["evenings"]) == 4 > sum(kept["instances"])
    with pytest.raises(ParameterError, match="must be one of instances, mfs, evenings"):
        LocalSuppression(metric="nothing")


def test_much_data_is_grown_and_nothing_mined_for_it(monkeypatch):
    data, promise = walks(Walks(400, 5, 6)), KCL(k=5, l=2)
    grown = LocalSuppression(schedule="grow").publish(data, promise)
    monkeypatch.setattr(kcl, "_GROW", 10)
    monkeypatch.setattr(kcl, "mine", None)  # calling it would fail
    assert LocalSuppression().publish(data, promise).data.records() == grown.data.records()
    for other in ({"mode": "global"}, {"give_back": False}):  # these cannot grow
        with pytest.raises(TypeError):
            LocalSuppression(**other).publish(data, promise)


def test_singletons_first_changes_nothing_for_instances():
    data, promise = walks(Walks(300, 9, 12)), KCL(k=5, l=2)
    for schedule in ("greedy", "batch"):
        plain, first = (
            LocalSuppression(schedule=schedule, give_back=False, pre_suppress_singletons=held)
            .publish(data, promise)
            .data.records()
            for held in (False, True)
        )
        assert plain == first


def test_giving_back_never_loses():
    promise = KCL(k=5, c="60%", l=3, sensitive=["diagnosis=HIV"])
    data = walks(Walks(1_000, 6, 8))
    visits = [
        sum(len(held) for held, _ in LocalSuppression(**given).publish(data, promise).data.records())
        for given in ({"give_back": False, "mode": "global"}, {"give_back": False}, {})
    ]
    assert visits == sorted(visits)
    assert visits[2] > 1.3 * visits[1]


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
            held = [{time for _, time in visits} for visits, _ in release.data.records()]
            marks = [[known == ("x",) for _, known in release.data.records()]] if flags else []
            assert not violating(held, marks, promise.k, promise.c, longest)


def test_much_knowledge_costs_no_more_than_the_longest_record():
    data = trajectories([{0, 1, 2}, {0, 1}] * 3, [])
    for schedule in ("greedy", "batch", "grow"):
        LocalSuppression(schedule=schedule).publish(data, KCL(k=2, l=10**9))


@pytest.mark.parametrize("schedule", ["batch", "grow"])
def test_more_sequences_than_memory_holds_are_refused_at_once(schedule):
    data = trajectories([set(range(40))] * 10, [])
    with pytest.raises(ParameterError, match="too many sequences of up to 40 visits"):
        LocalSuppression(schedule=schedule).publish(data, KCL(k=2, l=40))


def test_frequent_sequences_are_cut_where_there_are_too_many():
    data = trajectories([set(range(40))] * 10, [])
    with pytest.warns(UserWarning, match="choose a larger k_prime"):
        release = LocalSuppression(metric="mfs", k_prime=2).publish(data, KCL(k=2, l=1))
    assert sum(len(visits) for visits, _ in release.data.records()) == 400


def test_of_equal_frequent_sequences_more_visits_are_taken():
    data, promise = walks(Walks(1_000, 6, 8)), KCL(k=5, l=3)
    kept = [
        sum(len(v) for v, _ in LocalSuppression(**given).publish(data, promise).data.records())
        for given in ({"metric": "mfs", "k_prime": 800}, {"give_back": False})
    ]
    assert kept[0] > kept[1]
