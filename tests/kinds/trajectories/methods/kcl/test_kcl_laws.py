"""(K,C)_L-privacy: every part of the method against brute force on random databases."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kcl_cases import (
    arrays_of,
    databases,
    minimal,
    operations_of,
    promise_for,
    sensitive_of,
    state_of,
    trajectories,
    violating,
)

from hedgerow.kinds.trajectories import criterion
from hedgerow.kinds.trajectories.criterion import KCL, count_violations
from hedgerow.kinds.trajectories.methods.kcl import (
    METRICS,
    FrequentSequences,
    LocalSuppression,
    Operation,
    occurrences_of,
    suppress_globally,
)
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import SuppressionWithReinsertion
from hedgerow.kinds.trajectories.sequence_mining import mine_maximal_frequent, mine_sequences


@given(databases())
@settings(max_examples=400)
def test_mining_and_validity_equal_brute_force(database):
    sets, flags, k, c, longest = database
    state = state_of(sets, flags, k, c, longest)
    assert set(state.listed) == minimal(violating(sets, flags, k, c, longest))
    for key, rows in list(state.listed.items())[:5]:
        assert rows == {n for n, record in enumerate(sets) if set(key) <= record}
        for pair in key:
            edited = [r - {pair} if n in rows else r for n, r in enumerate(sets)]
            covered = all(any(set(v) <= set(q) for v in state.listed) for q in violating(edited, flags, k, c, longest))
            assert state.is_valid(pair, rows) == covered


@given(databases(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=400)
def test_nothing_violates_after_greedy_suppression(database, metric):
    sets, flags, k, c, longest = database
    state = state_of(sets, flags, k, c, longest)
    before = len(state.listed)
    done = operations_of(state, METRICS[metric](arrays_of(sets), (), 2))
    assert not violating(state.records, flags, k, c, longest)
    assert len(done) <= before
    assert all(after <= record for after, record in zip(state.records, sets, strict=True))


@given(databases(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=400)
def test_nothing_violates_after_global_suppression(database, metric):
    sets, flags, k, c, longest = database
    visits = arrays_of(sets, flags)
    mined = mine_sequences(visits, k, c, longest)
    deleted = suppress_globally(visits, mined, METRICS[metric](visits, (), 2))
    assert not violating([record - set(deleted) for record in sets], flags, k, c, longest)
    assert len(deleted) <= sum(len(level.codes) for level in mined.violating)


@given(databases())
@settings(max_examples=300)
def test_maximal_frequent_sequences_equal_brute_force(database):
    sets, _, k, _, _ = database
    visits = arrays_of(sets)
    maximal = dict(sequence for level in mine_maximal_frequent(visits, k) for sequence in occurrences_of(visits, level))
    longest = max(map(len, sets))
    rare = violating(sets, [], k, 1, longest)
    frequent = {
        key for record in sets for size in range(1, longest + 1) for key in itertools.combinations(sorted(record), size)
    } - rare
    assert set(maximal) == {key for key in frequent if not any(set(key) < set(o) for o in frequent)}
    assert all(rows == {n for n, r in enumerate(sets) if set(key) <= r} for key, rows in maximal.items())


@given(databases(), st.data())
@settings(max_examples=300)
def test_the_loss_of_frequent_sequences_equals_counting(database, data):
    sets, _, k, _, _ = database
    arrays = arrays_of(sets)
    metric = FrequentSequences(arrays, k)
    live = dict(sequence for level in mine_maximal_frequent(arrays, k) for sequence in occurrences_of(arrays, level))
    current = [set(record) for record in sets]
    for _ in range(3):
        places = [(n, pair) for n, record in enumerate(current) for pair in sorted(record)]
        if not places:
            return
        pair = data.draw(st.sampled_from(places))[1]
        rows = {n for n, other in places if other == pair}
        gone = set(data.draw(st.lists(st.sampled_from(sorted(rows)), min_size=1)))
        visits = np.flatnonzero((arrays.pairs == pair) & np.isin(arrays.record, list(gone)))
        lost = [key for key, having in live.items() if pair in key and len(having - gone) < k]
        assert metric.local(visits, np.zeros(len(visits), np.int64), 1).tolist() == [len(lost)]
        metric.deleted(visits)
        live = {key: having - gone if pair in key else having for key, having in live.items() if key not in lost}
        for row in gone:
            current[row].discard(pair)
        per_pair = [sum(number in key for key in live) for number in range(arrays.size)]
        assert metric.everywhere().tolist() == per_pair


def best_by_scoring_anew(state, metric, *, local):
    """The operation that comes first when everything is scored anew: score, gain, local, pair, sequence."""
    entries = []
    for pair, keys in state.listed_of_pair.items():
        if not keys:
            continue
        loss = int(metric.everywhere()[pair])
        entries.append((-Fraction(len(keys), loss + 1), -len(keys), True, pair, ()))
        for key in keys if local else ():
            rows = state.listed[key]
            if state.is_valid(pair, rows):
                gain = state.gain(Operation(pair, key))
                visits = state.visits(pair, rows)
                (loss,) = metric.local(visits, np.zeros(len(visits), np.int64), 1)
                entries.append((-Fraction(gain, int(loss) + 1), -gain, False, pair, key))
    _, _, everywhere, pair, key = min(entries)
    return Operation(pair, None if everywhere else key)


@given(databases(), st.booleans(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=300)
def test_operations_are_those_that_scoring_everything_anew_would_take(database, local, name):
    """The heap with its stamps and parked entries, and the arrays of global suppression, equal the plain loop."""
    sets, flags, k, c, longest = database
    visits = arrays_of(sets, flags)
    if local:
        done = operations_of(state_of(sets, flags, k, c, longest), METRICS[name](visits, (), 2))
    else:
        mined = mine_sequences(visits, k, c, longest)
        done = [Operation(pair, None) for pair in suppress_globally(visits, mined, METRICS[name](visits, (), 2))]
    plain, metric, expected = state_of(sets, flags, k, c, longest), METRICS[name](visits, (), 2), []
    while plain.listed:
        operation = best_by_scoring_anew(plain, metric, local=local)
        pair, via = operation
        rows = set(plain.records_of_pair[pair] if via is None else plain.listed[via])
        metric.deleted(plain.visits(pair, rows))
        plain.delete(pair, rows)
        expected.append(operation)
    assert done == expected


@given(databases(), st.sampled_from([1, 3, 10**9]))
@settings(max_examples=300)
def test_the_checker_equals_brute_force(database, at_once):
    """Also where it looks at the sequences part by part, a few at once."""
    sets, flags, k, c, longest = database
    _, marks = sensitive_of(flags)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(criterion, "_AT_ONCE", at_once)
        violations = count_violations(trajectories(sets, flags), promise_for(database))
    few = violating(sets, [], k, 1, longest)
    frequent = violating(sets, marks, 1, c, longest)
    for size, counts in violations.items():
        assert counts == (
            sum(len(key) == size for key in few),
            sum(len(key) == size for key in frequent),
        )


@pytest.mark.parametrize("digits", [3, 16, 18, 20, 40])
@pytest.mark.parametrize(
    "method",
    [
        LocalSuppression(),
        LocalSuppression(mode="global"),
        *(SuppressionWithReinsertion(schedule=schedule) for schedule in ("auto", "batch", "grow")),
    ],
    ids=["local", "global", "auto", "batch", "grow"],
)
def test_a_share_of_many_digits_is_kept_exactly(digits, method):
    """A thousand records, all ill, then a third of them and one more: whole numbers do not wrap."""
    share = "0." + "3" * digits
    promise = KCL(k=2, c=share, l=1, sensitive=["diagnosis=x"])
    all_ill = trajectories([{1}] * 1_000, [[True] * 1_000])
    assert count_violations(all_ill, promise) == {1: (0, 1)}
    for ill in (1_000, 334, 333):
        data = trajectories([{1}] * 1_000, [[number < ill for number in range(1_000)]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = method.publish(data, promise)
        visits = sum(len(visits) for visits, _ in release.data.records())
        assert visits == (1_000 if ill <= promise.c * 1_000 else 0)


@given(databases(), st.sampled_from(["local", "global"]), st.sampled_from(["instances", "mfs"]))
@settings(max_examples=400)
@pytest.mark.filterwarnings("ignore")
def test_a_release_keeps_its_promise_and_what_kept_it_comes_back(database, mode, metric):
    data, promise = trajectories(*database[:2]), promise_for(database)
    method = LocalSuppression(mode=mode, metric=metric, k_prime=2)
    release = method.publish(data, promise)
    assert release.verdict.satisfied
    again = method.publish(release.data, promise)
    assert again.data.records() == release.data.records()
