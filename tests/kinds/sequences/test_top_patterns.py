"""The most frequent patterns: mined as by hand, and compared as by hand."""

from __future__ import annotations

import tracemalloc
import warnings
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, PureDP, Sequences
from hedgerow.kinds.sequences import patterns as sequential_patterns
from hedgerow.kinds.sequences.measures import measure_sequences
from hedgerow.kinds.sequences.methods.ngram_markov.publisher import NGramMarkov
from hedgerow.kinds.sequences.patterns import SequenceIndex, top_scores, top_sequential_patterns
from hedgerow.privacy import ExactAnswers
from hedgerow.publisher import publish_with


def paths(records, size):
    return SequenceIndex.of(Sequences.from_records(records, domain=Domain.declare(item=range(size))))


def by_hand(records, most):
    counts = Counter()
    for record in records:
        counts.update(
            {
                tuple(record[i] for i in spots)
                for size in range(2, len(record) + 1)
                for spots in combinations(range(len(record)), size)
            }
        )
    return sorted(counts.items(), key=lambda held: (-held[1], len(held[0]), held[0]))[:most]


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=12),
    st.sampled_from([1, 4, 30]),
    st.sampled_from([3, 1 << 23]),
)
@settings(max_examples=200)
def test_patterns_with_gaps_are_mined_as_by_hand(records, most, chunk):
    """Also where little is looked at in one go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequential_patterns, "_CHUNK", chunk)
        assert list(top_sequential_patterns(paths(records, 4), most).items()) == by_hand(records, most)


def test_patterns_of_the_sample_database():
    """The supports the specification of the prefix tree gives for the paper's eight records."""
    records = [[1, 2, 3], [1, 2], [3, 2, 1], [1, 2, 4], [1, 2, 3], [3, 2], [1, 2, 4, 1], [3, 1]]
    two = [(1, 3), (1, 4), (2, 1), (2, 3), (2, 4), (3, 1), (3, 2), (1, 2, 3), (1, 2, 4)]
    assert top_sequential_patterns(paths(records, 5), 10) == {(1, 2): 5, **dict.fromkeys(two, 2)}


def test_the_top_100_are_100():
    """More than a hundred grams, the rarest of the top kept: the larger top is looked at as well."""
    records = [[a, b] for a in range(12) for b in range(12) for _ in range(1 + a)]
    domain = Domain.declare(item=range(12))
    data = Sequences.from_records(records, domain=domain)
    scores = measure_sequences(data, data, {}, np.random.default_rng(1), longest=3, queries=10)
    found = {score.name: score.value for score in scores}
    for what in ("n-grams", "sequential patterns"):
        assert found[f"share of the top 100 {what} kept"] == 1
        assert found[f"mean relative error of the top 100 {what}, missing ones counted as 1"] == 0
    none = Sequences.from_columns(row=np.zeros(0, np.int64), item=np.zeros(0, np.int64), domain=domain)
    scores = measure_sequences(data, none, {}, np.random.default_rng(1), longest=3, queries=10)
    found = {score.name: score.value for score in scores}
    assert found["top 100 n-grams missing from the released top 100"] == 100
    assert found["top 20 sequential patterns missing from the released top 20"] == 20


def test_a_large_universe_is_measured_in_little_memory():
    """Nothing is as large as the square of the items."""
    domain = Domain.declare(item=range(50_000))
    rng = np.random.default_rng(3)
    records = [rng.integers(0, 50_000, 3).tolist() for _ in range(2_000)]
    data = Sequences.from_records(records, domain=domain)
    tracemalloc.start()
    measure_sequences(data, data, {}, rng, longest=3, queries=10)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2e8


def test_one_long_record_has_too_many_patterns_to_try():
    """Once the top is full, longer patterns that are no more frequent are not grown."""
    assert len(top_sequential_patterns(paths([list(range(60)) * 3], 60), 50)) == 50


def test_frequent_patterns_are_compared_as_by_hand():
    before = {(0, 1): 10, (0, 2): 8, (1, 2): 4, (2, 2): 1}
    after = {"": {(0, 1): 5, (1, 2): 6, (3, 3): 3}, "empty release": {}}
    scores = {score.name: score for score in top_scores("n-grams", before, after, 3)}
    found = {name: (score.value, *dict(score.controls).values()) for name, score in scores.items()}
    assert found == {
        "share of the top 3 n-grams kept": (pytest.approx(2 / 3), 0),
        "top 3 n-grams missing from the released top 3": (1, 3),
        "false positives in the released top 3 n-grams": (1, 0),
        "mean relative error of the top 3 n-grams, missing ones counted as 1": (
            pytest.approx((0.5 + 1 + 0.5) / 3),
            1,
        ),
    }


def test_a_universe_of_two_symbols_is_published():
    domain = Domain.declare(item=["a", "b"])
    data = Sequences.from_records([["a", "b", "a"], ["b"]] * 500, domain=domain)
    release = NGramMarkov(l_max=5, n_max=3).publish(data, PureDP(epsilon=2, unit="sequence"), seed=3)
    assert len(release.data) == pytest.approx(1_000, rel=0.2)


def test_the_warning_of_long_grams_points_at_the_caller():
    data = Sequences.from_records([["a"]], domain=Domain.declare(item=["a", "b", "c"]))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        NGramMarkov(l_max=2, n_max=4).publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    assert [held.filename for held in heard] == [__file__]


def test_a_forward_chain_writes_as_many_sequences_as_ends_were_counted():
    """Item 2 is too rare to be followed, so its ends are not counted; `balance` makes up for them."""
    data = Sequences.from_records([[0, 1]] * 100 + [[2]] * 3, domain=Domain.declare(item=range(3)))
    numbers = {
        balance: len(
            publish_with(
                NGramMarkov(l_max=3, n_max=3, balance=balance),
                data,
                PureDP(epsilon=1, unit="sequence"),
                ExactAnswers(),
            ).data
        )
        for balance in (False, True)
    }
    assert numbers[False] == 100
    assert numbers[True] > 100
