"""Small databases of visits, and the definition of (K,C)_L-privacy by brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.methods.kcl import OperationQueue, SuppressionState
from hedgerow.kinds.trajectories.sequence_mining import VisitArrays, mine_sequences


def arrays_of(sets, flags=(), size=None):
    records = [sorted(record) for record in sets]
    pairs = np.array([pair for record in records for pair in record], np.int64)
    marks = np.array(flags, np.bool_).reshape(len(flags), len(records))
    return VisitArrays(np.cumsum([0, *map(len, records)]), pairs, size or int(pairs.max(initial=0)) + 1, marks)


def left_of(sets, visits, kept):
    """The records that are left of a database."""
    after = [set() for _ in sets]
    for row, pair in zip(visits.record[kept].tolist(), visits.pairs[kept].tolist(), strict=True):
        after[row].add(pair)
    return after


def promise_of(k, c, longest):
    """The promise of a database whose flags stand for some sensitive value."""
    return KCL(k=k, c=c, l=longest, sensitive=["diagnosis=x"])


def state_of(sets, flags, k, c, longest):
    visits = arrays_of(sets, flags)
    return SuppressionState(visits, mine_sequences(visits, k, c, longest), promise_of(k, c, longest))


def operations_of(state, metric):
    """Suppress greedily, and list what was done."""
    queue, done = OperationQueue(state, metric), []
    while state.listed:
        done.append(queue.best())
        queue.apply(done[-1])
    return done


def violating(sets, flags, k, c, longest):
    """Brute force: every sequence that occurs, against the definition."""
    rows: dict[tuple[int, ...], list[int]] = {}
    for number, record in enumerate(sets):
        for size in range(1, longest + 1):
            for key in itertools.combinations(sorted(record), size):
                rows.setdefault(key, []).append(number)
    return {
        key
        for key, having in rows.items()
        if len(having) < k or any(sum(flag[row] for row in having) > c * len(having) for flag in flags)
    }


def minimal(keys):
    return {
        key
        for key in keys
        if not any(part in keys for size in range(1, len(key)) for part in itertools.combinations(key, size))
    }


@st.composite
def databases(draw):
    size, rows = draw(st.integers(1, 7)), draw(st.integers(1, 10))
    masks = draw(st.lists(st.integers(0, 2**size - 1), min_size=rows, max_size=rows))
    sets = [{pair for pair in range(size) if mask >> pair & 1} for mask in masks]
    marks = st.lists(st.booleans(), min_size=rows, max_size=rows)
    flags = draw(st.lists(marks, max_size=2))
    c = Fraction(draw(st.integers(0, 4)), 4)
    return sets, flags, draw(st.integers(1, 4)), c, draw(st.integers(1, 4))


SENSITIVE = ("diagnosis=x", "diagnosis=z", "job=x")


def trajectories(sets, flags):
    """Visits with the flags as values: of two columns, one with two values, some missing."""
    columns = {}
    if flags:
        second = flags[1] if len(flags) > 1 else [False] * len(sets)
        values = ["x" if first else "z" if other else "y" for first, other in zip(flags[0], second, strict=True)]
        columns["diagnosis"] = values
    if len(flags) > 1:
        columns["job"] = ["x" if flag else None for flag in flags[1]]
    visits = [[("here", pair) for pair in sorted(record)] for record in sets]
    return Trajectories.from_records(visits, sensitive=columns)


def sensitive_of(flags):
    """What `trajectories` makes sensitive, and the flags of each such value."""
    if not flags:
        return [], []
    if len(flags) == 1:
        return ["diagnosis=x"], [flags[0]]
    both = [other and not first for first, other in zip(flags[0], flags[1], strict=True)]
    return list(SENSITIVE), [flags[0], both, flags[1]]


def promise_for(database):
    """What is promised about `trajectories` of a database."""
    _, flags, k, c, longest = database
    names, _ = sensitive_of(flags)
    return KCL(k=k, c=c, l=longest, sensitive=names) if names else KCL(k=k, l=longest)
