"""(K,C)_L-privacy: counterexamples to the printed algorithms."""

from __future__ import annotations

import itertools
from fractions import Fraction

from kcl_cases import arrays_of, operations_of, state_of, violating

from hedgerow.kinds.trajectories.methods.kcl import Instances, Operation


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
    state = state_of(sets, [], 2, Fraction(1), 3)
    assert set(state.listed) == {(p, x, y)}
    for pair in (p, x, y):
        assert printed_test(sets, [], 2, 1, state.listed, pair, (p, x, y), 3)
        assert not state.is_valid(pair, {0})
    edited = [{x, y}, {p, x}, {p, y}, {x, y}]
    assert (p, x) in violating(edited, [], 2, 1, 3)  # what the printed test lets through
    done = operations_of(state, Instances(arrays_of(sets)))
    assert [operation.via for operation in done] == [None]


def test_x2_scores_go_stale_by_sequences_that_do_not_violate():
    x, y, u, w = range(4)
    sets = [{x, y, u}, {x, y, w}, {x, y}, {y, u}, {x, w}]
    state = state_of(sets, [], 2, Fraction(1), 2)
    assert set(state.listed) == {(x, u), (y, w)}
    assert state.is_valid(x, {0})
    assert state.is_valid(y, {1})
    both = [{y, u}, {x, w}, {x, y}, {y, u}, {x, w}]
    assert (x, y) in violating(both, [], 2, 1, 2)  # what the printed refreshing leads to
    done = operations_of(state, Instances(arrays_of(sets)))
    assert done == [Operation(x, (x, u)), Operation(w, None)]
    assert not violating(state.records, [], 2, 1, 2)


def test_x3_candidates_are_pruned_by_all_their_parts():
    a, b, c, d = range(4)
    state = state_of([{a, b, c, d}, {a, b, c}, {a, b, d}], [], 2, Fraction(1), 4)
    assert set(state.listed) == {(c, d)}


def test_x4_a_gain_counts_all_that_vanishes():
    p, x, y = 0, 1, 2
    sets = [{p, x, y}, {p, x}, {p}, {p}, {p}, {x}, {x}, {y}, {y}]
    state = state_of(sets, [], 3, Fraction(1), 2)
    assert set(state.listed) == {(p, x), (p, y), (x, y)}
    assert state.gain(Operation(p, (p, x))) == 2
