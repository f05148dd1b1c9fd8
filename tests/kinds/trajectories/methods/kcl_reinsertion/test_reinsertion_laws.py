"""Suppression with re-insertion: every part of the method against brute force on random databases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kcl_cases import arrays_of, databases, left_of, promise_for, promise_of, trajectories, violating

from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.methods.kcl import METRICS, Instances
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import (
    BatchState,
    SuppressionWithReinsertion,
    reinsert,
    suppress_in_batches,
)
from hedgerow.kinds.trajectories.sequence_mining import mine_sequences


@given(databases(), st.sampled_from(sorted(METRICS)))
@settings(max_examples=400)
def test_nothing_violates_after_suppression_in_batches(database, metric):
    sets, flags, k, c, longest = database
    visits, promise = arrays_of(sets, flags), promise_of(k, c, longest)
    mined = mine_sequences(visits, k, c, longest)
    kept = suppress_in_batches(visits, mined, promise, METRICS[metric](visits, (), 2))
    assert not violating(left_of(sets, visits, kept), flags, k, c, longest)


@given(databases(), st.data())
@settings(max_examples=300)
def test_what_a_batch_keeps_up_to_date_equals_counting_anew(database, data):
    """Supports, marks and scores after deleting some visits are those of what is left."""
    sets, flags, k, c, longest = database
    arrays = arrays_of(sets, flags)
    mined = mine_sequences(arrays, k, c, longest)
    state, whole = (BatchState(arrays, mined, promise_of(k, c, longest), Instances(arrays)) for _ in range(2))
    if not len(arrays.pairs):
        return
    gone = data.draw(st.lists(st.integers(0, len(arrays.pairs) - 1), min_size=1, max_size=4))
    for visit in dict.fromkeys(gone):
        state.delete(np.array([visit]))
    for now, before in ((state.clean, whole.clean), (state.listed, whole.listed)):
        left = np.logical_and.reduce([state.alive[column] for column in before.places.T])
        assert np.array_equal(now.live, left)
        assert np.array_equal(now.support, np.bincount(before.at[left], minlength=len(now.sizes)))
    there = whole.clean.live & state.clean.live
    for marked, flag in zip(state.marked, arrays.flags, strict=True):
        having = there & flag[arrays.record[state.clean.places[:, 0]]]
        assert np.array_equal(marked, np.bincount(state.clean.at[having], minlength=len(marked)))
    kept = state.score.copy()
    live = np.flatnonzero(state.listed.support)
    assert np.all(state.listed.live[state.first[live]])
    state.rescore(live)
    # a score may be too high until it is looked at, never too low
    assert np.all(kept[live] >= state.score[live] - 1e-6)
    assert np.all(state.score[state.listed.support == 0] == 0)


@given(databases(), st.sampled_from(["nothing", "suppressed"]), st.randoms())
@settings(max_examples=400)
def test_nothing_violates_after_reinsertion_and_nothing_is_taken(database, start, random):
    sets, flags, k, c, longest = database
    visits, promise = arrays_of(sets, flags), promise_of(k, c, longest)
    alive = np.zeros(len(visits.pairs), np.bool_)
    if start == "suppressed":
        mined = mine_sequences(visits, k, c, longest)
        alive = suppress_in_batches(visits, mined, promise, Instances(visits))
    order = random.sample(range(visits.size), visits.size)
    kept = reinsert(visits, alive, promise, np.array(order))
    assert not violating(left_of(sets, visits, kept), flags, k, c, longest)
    assert np.all(kept[alive])


@given(databases())
@settings(max_examples=400)
def test_one_pair_is_reinserted_in_as_many_records_as_can_have_it(database):
    """With no sensitive value what is re-inserted is the largest set of records there is."""
    sets, _, k, _, longest = database
    visits, promise = arrays_of(sets), KCL(k=k, l=longest)
    mined = mine_sequences(visits, k, promise.c, longest)
    alive = suppress_in_batches(visits, mined, promise, Instances(visits))
    for pair in range(visits.size):
        kept = reinsert(visits, alive, promise, np.array([pair]))
        after = left_of(sets, visits, kept)
        without = [n for n, record in enumerate(sets) if pair in record and pair not in after[n]]
        for size in range(1, len(without) + 1):
            for some in itertools.combinations(without, size):
                more = [left | {pair} if n in some else left for n, left in enumerate(after)]
                assert violating(more, [], k, 1, longest)


@given(databases(), st.sampled_from(["auto", "batch", "grow"]), st.sampled_from(["instances", "mfs"]))
@settings(max_examples=400)
@pytest.mark.filterwarnings("ignore")
def test_a_release_keeps_its_promise_and_what_kept_it_comes_back(database, schedule, metric):
    data, promise = trajectories(*database[:2]), promise_for(database)
    method = SuppressionWithReinsertion(schedule=schedule, metric=metric, k_prime=2)
    release = method.publish(data, promise)
    assert release.verdict.satisfied
    again = method.publish(release.data, promise)
    assert again.data.records() == release.data.records()
