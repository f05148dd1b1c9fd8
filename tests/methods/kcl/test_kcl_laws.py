"""(K,C)_L-privacy: every part of the method against brute force on random databases."""

from __future__ import annotations

import itertools
import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kcl_cases import (
    board_of,
    databases,
    held_by,
    minimal,
    promise_of,
    records_of,
    trajectories,
    violating,
)
from project import VECTORS

from hedgerow.data import Trajectories
from hedgerow.privacy import kcl
from hedgerow.privacy.kcl import KCL, count_violations
from hedgerow.publishers.trajectories.batch import _State, suppress_in_batches
from hedgerow.publishers.trajectories.giving_back import give_back
from hedgerow.publishers.trajectories.greedy import Operation, occurring, suppress_greedily
from hedgerow.publishers.trajectories.kcl import LocalSuppression
from hedgerow.publishers.trajectories.metrics import METRICS, FrequentSequences, Instances
from hedgerow.steps.frequent import maximal_frequent
from hedgerow.steps.mining import mine


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
            covered = all(any(set(v) <= set(q) for v in board.listed) for q in violating(edited, flags, k, c, longest))
            assert board.is_valid(pair, rows) == covered


@given(databases(), st.booleans(), st.booleans())
@settings(max_examples=400)
def test_nothing_violates_after_greedy_suppression(held, local, frequent):
    sets, flags, k, c, longest = held
    board = board_of(sets, flags, k, c, longest)
    before = len(board.listed)
    records = records_of(sets)
    metric = FrequentSequences(records, 2) if frequent else Instances(records)
    done = suppress_greedily(board, metric, local=local)
    assert not violating(board.records, flags, k, c, longest)
    assert len(done) <= before
    assert all(after <= record for after, record in zip(board.records, sets, strict=True))


def left_of(sets, records, kept):
    after = [set() for _ in sets]
    for row, pair in zip(records.record[kept].tolist(), records.pairs[kept].tolist(), strict=True):
        after[row].add(pair)
    return after


@given(databases(), st.booleans(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=400)
def test_nothing_violates_after_suppression_in_batches(held, local, metric):
    sets, flags, k, c, longest = held
    records, promise = records_of(sets, flags), promise_of(k, c, longest)
    mined = mine(records, k, c, longest)
    kept = suppress_in_batches(records, mined, promise, METRICS[metric](records, (), 2), local=local)
    assert not violating(left_of(sets, records, kept), flags, k, c, longest)


@given(databases(), st.data())
@settings(max_examples=300)
def test_what_a_batch_keeps_up_equals_counting_anew(held, data):
    """Supports, marks and scores after deleting some visits are those of what is left."""
    sets, flags, k, c, longest = held
    records = records_of(sets, flags)
    mined = mine(records, k, c, longest)
    state = _State(records, mined, promise_of(k, c, longest), Instances(records))
    whole = _State(records, mined, promise_of(k, c, longest), Instances(records))
    if not len(records.pairs):
        return
    gone = data.draw(st.lists(st.integers(0, len(records.pairs) - 1), min_size=1, max_size=4))
    for visit in dict.fromkeys(gone):
        state.delete(np.array([visit]))
    for now, before in ((state.clean, whole.clean), (state.listed, whole.listed)):
        left = np.logical_and.reduce([state.alive[column] for column in before.places.T])
        assert np.array_equal(now.live, left)
        assert np.array_equal(now.support, np.bincount(before.at[left], minlength=len(now.sizes)))
    there = whole.clean.live & state.clean.live
    for marked, flag in zip(state.marked, records.flags, strict=True):
        holding = there & flag[records.record[state.clean.places[:, 0]]]
        assert np.array_equal(marked, np.bincount(state.clean.at[holding], minlength=len(marked)))
    kept, fresh = state.score.copy(), state
    live = np.flatnonzero(state.listed.support)
    assert np.all(state.listed.live[state.first[live]])
    fresh.rate(live)
    # a score may be too high until it is looked at, never too low
    assert np.all(kept[live] >= fresh.score[live] - 1e-6) or np.array_equal(kept, fresh.score)
    assert np.all(state.score[state.listed.support == 0] == 0)


@given(databases(), st.sampled_from(["nothing", "suppressed"]), st.randoms())
@settings(max_examples=400)
def test_nothing_violates_after_giving_back_and_nothing_is_taken(held, start, random):
    sets, flags, k, c, longest = held
    records, promise = records_of(sets, flags), promise_of(k, c, longest)
    alive = np.zeros(len(records.pairs), np.bool_)
    if start == "suppressed":
        mined = mine(records, k, c, longest)
        alive = suppress_in_batches(records, mined, promise, Instances(records), local=True)
    order = random.sample(range(records.size), records.size)
    kept = give_back(records, alive, promise, np.array(order))
    assert not violating(left_of(sets, records, kept), flags, k, c, longest)
    assert np.all(kept[alive])


@given(databases())
@settings(max_examples=400)
def test_one_pair_is_given_back_to_as_many_as_can_have_it(held):
    """With no sensitive value what is given back is the largest set of records there is."""
    sets, _, k, _, longest = held
    records, promise = records_of(sets), KCL(k=k, l=longest)
    mined = mine(records, k, promise.c, longest)
    alive = suppress_in_batches(records, mined, promise, Instances(records), local=True)
    for pair in range(records.size):
        kept = give_back(records, alive, promise, np.array([pair]))
        after = left_of(sets, records, kept)
        without = [n for n, record in enumerate(sets) if pair in record and pair not in after[n]]
        for size in range(1, len(without) + 1):
            for some in itertools.combinations(without, size):
                more = [held | {pair} if n in some else held for n, held in enumerate(after)]
                assert violating(more, [], k, 1, longest)


@given(databases())
@settings(max_examples=300)
def test_maximal_frequent_sequences_equal_brute_force(held):
    sets, _, k, _, _ = held
    records = records_of(sets)
    levels = maximal_frequent(records, k)
    found = {key: rows for level in levels for key, rows in occurring(records, level)}
    longest = max(map(len, sets))
    rare = violating(sets, [], k, 1, longest)
    frequent = {
        key for record in sets for size in range(1, longest + 1) for key in itertools.combinations(sorted(record), size)
    } - rare
    assert set(found) == {key for key in frequent if not any(set(key) < set(o) for o in frequent)}
    assert all(rows == {n for n, r in enumerate(sets) if set(key) <= r} for key, rows in found.items())


@given(databases(), st.data())
@settings(max_examples=300)
def test_the_loss_of_frequent_sequences_equals_counting(held, data):
    sets, _, k, _, _ = held
    records = records_of(sets)
    metric = FrequentSequences(records, k)
    levels = maximal_frequent(records, k)
    live = {key: rows for level in levels for key, rows in occurring(records, level)}
    current = [set(record) for record in sets]
    for _ in range(3):
        places = [(n, pair) for n, record in enumerate(current) for pair in sorted(record)]
        if not places:
            return
        pair = data.draw(st.sampled_from(places))[1]
        rows = {n for n, held in places if held == pair}
        gone = set(data.draw(st.lists(st.sampled_from(sorted(rows)), min_size=1)))
        visits = np.flatnonzero((records.pairs == pair) & np.isin(records.record, list(gone)))
        lost = [key for key, held in live.items() if pair in key and len(held - gone) < k]
        assert metric.local(visits, np.zeros(len(visits), np.int64), 1).tolist() == [len(lost)]
        metric.deleted(visits)
        live = {key: held - gone if pair in key else held for key, held in live.items() if key not in lost}
        for row in gone:
            current[row].discard(pair)
        having = [sum(number in key for key in live) for number in range(records.size)]
        assert metric.everywhere().tolist() == having


@given(databases(), st.booleans(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=300)
def test_the_queue_does_what_scoring_everything_anew_would(held, local, name):
    """The heap with its stamps and parked entries takes the operations of the plain loop."""
    sets, flags, k, c, longest = held
    board, plain = (board_of(sets, flags, k, c, longest) for _ in range(2))
    records = records_of(sets)
    made = METRICS[name](records, (), 2)
    done = suppress_greedily(board, made, local=local)
    metric, expected = METRICS[name](records, (), 2), []
    while plain.listed:
        entries = []
        for pair, keys in plain.having.items():
            if not keys:
                continue
            gain = len(keys)
            loss = int(metric.everywhere()[pair])
            entries.append((-Fraction(gain, loss + 1), -gain, True, pair, ()))
            for key in keys if local else ():
                rows = plain.listed[key]
                if plain.is_valid(pair, rows):
                    gain = plain.gain(Operation(pair, key))
                    visits = plain.visits(pair, rows)
                    (loss,) = metric.local(visits, np.zeros(len(visits), np.int64), 1)
                    entries.append((-Fraction(gain, int(loss) + 1), -gain, False, pair, key))
        _, _, everywhere, pair, key = min(entries)
        expected.append(Operation(pair, None if everywhere else key))
        rows = set(plain.holders[pair] if everywhere else plain.listed[key])
        metric.deleted(plain.visits(pair, rows))
        plain.delete(pair, rows)
    assert done == expected


@given(databases(), st.sampled_from([1, 3, 10**9]))
@settings(max_examples=300)
def test_the_checker_equals_brute_force(held, at_once):
    """Also where it looks at the sequences part by part, a few at once."""
    sets, flags, k, c, longest = held
    names, marks = held_by(flags)
    promise = KCL(k=k, c=c, l=longest, sensitive=names) if names else KCL(k=k, l=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kcl, "_AT_ONCE", at_once)
        found = count_violations(trajectories(sets, flags), promise)
    few = violating(sets, [], k, 1, longest)
    frequent = violating(sets, marks, 1, c, longest)
    for size, counts in found.items():
        assert counts == (
            sum(len(key) == size for key in few),
            sum(len(key) == size for key in frequent),
        )


def test_the_paper_s_table_comes_out_by_default():
    """Table 5.2: nothing can be given back there, and growing from nothing keeps less."""
    vector = json.loads((VECTORS / "kcl.json").read_text())
    paths = [[(visit[0], int(visit[1:])) for visit in text.split()] for text in vector["records"]]
    data = Trajectories.from_records(paths, sensitive={"diagnosis": vector["diagnosis"]})
    sensitive = ["diagnosis=HIV", "diagnosis=Hepatitis"]
    release = LocalSuppression().publish(data, KCL(k=2, c="50%", l=2, sensitive=sensitive))
    found = [" ".join(f"{place}{time}" for place, time in v) for v, _ in release.data.records()]
    assert sorted(found) == sorted(vector["runs"][0]["result"])


@pytest.mark.parametrize("digits", [3, 16, 18, 20, 40])
@pytest.mark.parametrize("schedule", ["greedy", "batch", "grow"])
def test_a_share_of_many_digits_is_kept_exactly(digits, schedule):
    """A thousand records, all ill, then a third of them and one more: whole numbers do not wrap."""
    share = "0." + "3" * digits
    promise = KCL(k=2, c=share, l=1, sensitive=["diagnosis=x"])
    all_ill = trajectories([{1}] * 1_000, [[True] * 1_000])
    assert count_violations(all_ill, promise) == {1: (0, 1)}
    for ill in (1_000, 334, 333):
        data = trajectories([{1}] * 1_000, [[number < ill for number in range(1_000)]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = LocalSuppression(schedule=schedule).publish(data, promise)
        visits = sum(len(visits) for visits, _ in release.data.records())
        assert visits == (1_000 if ill <= promise.c * 1_000 else 0)


@given(
    databases(),
    st.sampled_from(["local", "global"]),
    st.sampled_from(["greedy", "batch", "grow"]),
    st.sampled_from(["instances", "mfs"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=400)
@pytest.mark.filterwarnings("ignore")
def test_a_release_keeps_its_promise_and_what_kept_it_comes_back(held, mode, schedule, metric, give_back, first):
    sets, flags, k, c, longest = held
    data = trajectories(sets, flags)
    names, _ = held_by(flags)
    promise = KCL(k=k, c=c, l=longest, sensitive=names) if names else KCL(k=k, l=longest)
    if schedule == "grow":
        mode, give_back = "local", True
    method = LocalSuppression(
        mode=mode,
        schedule=schedule,
        metric=metric,
        k_prime=2,
        give_back=give_back,
        pre_suppress_singletons=first,
    )
    release = method.publish(data, promise)
    assert release.verdict.satisfied
    again = method.publish(release.data, promise)
    assert again.data.records() == release.data.records()
