"""The reservoir of stream-mean: its trace, its law against the printed loop, and how many events are read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from printed_streams import algorithm_r, all_draws

from hedgerow.kinds.streams.methods.stream_mean import draw
from hedgerow.kinds.streams.methods.stream_mean.draw import FAR, Reservoir, expected_reads
from hedgerow.kinds.streams.methods.stream_mean.publisher import Slots
from hedgerow.privacy.samplers import coins
from hedgerow.testing import changed
from laws import FALSE_ALARM, fits

#: a false alarm in a million, for a normal variable
DEVIATIONS = 4.9


def reads(size, times, key, **named):
    """Positions and slots of all that is read."""
    entries = list(Reservoir(size, coins((key, 8)), **named).reads(np.array(times)))
    return [(int(p), int(s)) for entry in entries for p, s in zip(*entry, strict=True)]


def sample(entries, time):
    """What is in each slot after so many events."""
    return {slot: position for position, slot in entries if position < time}


# ---- the trace of the spec (5.1)


def test_the_trace_without_noise():
    bits = np.array([1, 0, 1, 1, 0, 0, 1])
    entries = algorithm_r(3, 7, [2, 5, 1, 4])
    assert len(entries) == 5
    slots, after = Slots(3), {}
    for position, slot in entries:
        slots.replace(np.array([slot]), bits[[position]])
        after[position + 1] = slots._values.tolist()
    assert (after[4], after[6]) == ([1, 1, 1], [0, 1, 1])
    assert 5 not in after
    assert 7 not in after


@given(
    size=st.integers(1, 5),
    writes=st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(-9, 9)), max_size=8), max_size=4),
)
def test_the_running_sum_is_that_of_the_slots(size, writes):
    slots, plain = Slots(size), [0] * size
    for batch in writes:
        expected = []
        for at, value in batch:
            plain[at % size] = value
            expected.append(sum(plain))
        columns = np.array(batch, np.int64).reshape(-1, 2).T
        assert slots.replace(columns[0] % size, columns[1]).tolist() == expected
        assert slots.total == sum(plain)


# ---- the law (5.3)


def law_of_the_loop(size, times):
    """The exact law of what is in the slots at each time, by all draws of the printed loop."""
    chances = Counter()
    draws = list(all_draws(size, times[-1]))
    for each in draws:
        entries = algorithm_r(size, times[-1], each)
        chances[tuple(tuple(sorted(sample(entries, time).items())) for time in times)] += 1 / len(draws)
    return chances


def drawn(size, times, runs=10_000):
    return Counter(
        tuple(tuple(sorted(sample(entries, time).items())) for time in times)
        for entries in (reads(size, times, key, batch=4) for key in range(runs))
    )


@pytest.mark.parametrize(("size", "times"), [(1, (3, 5)), (2, (6,)), (2, (3, 5, 6)), (3, (2, 5))])
def test_skipping_has_the_law_of_the_printed_loop(size, times):
    """False alarms: 1 in a million."""
    assert fits(drawn(size, times), law_of_the_loop(size, times)) > FALSE_ALARM


def test_inclusion_is_identical_but_not_independent():
    chances = law_of_the_loop(2, (6,))
    single = Counter()
    for ((_, first), (_, second)), chance in ((contents[0], chance) for contents, chance in chances.items()):
        single[first] += chance
        single[second] += chance
        single[frozenset((first, second))] += chance
    assert [single[event] for event in range(6)] == pytest.approx([1 / 3] * 6)
    assert single[frozenset((1, 4))] == pytest.approx(2 / 30)


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("_entries", "integers(0, size, batch)", "integers(0, max(1, size - 1), batch)"),
        ("_entries", "log_weight - np.cumsum", "log_weight - 1.2 * np.cumsum"),
        ("_entries", "size - 1, 0.0", "size, 0.0"),
        ("_add_up", ".astype(np.int64) + 1", ".astype(np.int64) + 2"),
        ("_last_of_each", "last[order[:-1]]", "last[order[1:]]"),
    ],
    ids=["a slot is never replaced", "too few enter", "one is skipped", "too long jumps", "first instead of last"],
)
def test_a_wrong_reservoir_has_another_law(function, old, new):
    with changed(draw, function, old, new):
        seen = drawn(2, (3, 5, 6), runs=6_000)
    chances = law_of_the_loop(2, (3, 5, 6))
    assert not set(seen) <= set(chances) or fits(seen, chances) < FALSE_ALARM


# ---- what is read


@given(
    size=st.integers(1, 6),
    times=st.lists(st.integers(1, 300), min_size=1, max_size=20, unique=True).map(sorted),
    cut=st.integers(0, 20),
    key=st.integers(0, 9),
)
def test_what_is_read_is_what_is_in_a_published_sample(size, times, cut, key):
    everything = reads(size, range(1, times[-1] + 1), key, batch=3)
    publishing = Reservoir(size, coins((key, 8)), batch=3)
    batches = [batch for batch in (times[:cut], times[cut:]) if batch]
    entries = [entry for batch in batches for entry in publishing.reads(np.array(batch))]
    some = [(int(p), int(s)) for entry in entries for p, s in zip(*entry, strict=True)]
    assert some == sorted(some)
    for time in times:
        assert sample(some, time) == sample(everything, time)
    in_use = {position for time in times for position in sample(everything, time).values()}
    assert {position for position, _ in some} == in_use


@pytest.mark.parametrize("times", [range(1, 5001), range(100, 5001, 100), (10, 60, 300, 5000)])
def test_reads_are_as_the_formula_says(times):
    """4.9 standard deviations: 1 in a million; 0.95 and 1.05 of the claim are rejected."""
    counts = np.array([len(reads(50, times, key)) for key in range(300)])
    deviation = max(counts.std(), 1e-9) / np.sqrt(len(counts))
    claim = expected_reads(50, np.array(times))
    distances = [abs(counts.mean() - factor * claim) / deviation for factor in (1, 0.95, 1.05)]
    assert distances[0] < DEVIATIONS < min(distances[1:])


def test_reads_are_as_the_formula_says_after_many_batches():
    """Each batch of entries goes on from the weight of the one before. 4.9 standard deviations: 1 in a million."""
    times = np.arange(1, 3001)
    counts = np.array([len(reads(3, times, key, batch=2)) for key in range(300)])
    deviation = counts.std() / np.sqrt(len(counts))
    claim = expected_reads(3, times)
    distances = [abs(counts.mean() - factor * claim) / deviation for factor in (1, 0.9, 1.1)]
    assert distances[0] < DEVIATIONS < min(distances[1:])


@pytest.mark.parametrize(("events", "thousands"), [(10**4, 2.76), (10**5, 4.5), (10**6, 6.3), (10**7, 8.1)])
def test_the_formula_is_that_of_harmonic_numbers(events, thousands):
    """The figures of the spec, which the thesis claims not to grow (Theorem 8.4.3)."""
    harmonic = np.cumsum(1 / np.arange(1, events + 1))
    formula = 775 * (1 + harmonic[-1] - harmonic[774])
    assert expected_reads(775, np.arange(1, events + 1)) == pytest.approx(formula)
    assert formula / 1000 == pytest.approx(thousands, rel=0.01)


def test_one_publication_reads_a_static_sample():
    """Section 3.6: n events for a sample of n, and all if there are fewer."""
    assert len(reads(40, [10**15], 1)) == 40
    assert len(reads(40, [25], 1)) == 25
    assert expected_reads(40, np.array([10**15])) == 40


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_no_position_is_beyond_int64(size):
    entering = Reservoir(size, coins((3, 4)))
    batch = list(entering.reads(np.array([10**18])))
    assert sum(len(entries.positions) for entries in batch) == size
    ahead = np.append(entering._ahead.positions, next(entering._entering).positions)
    assert np.all(np.diff(ahead) >= 0)
    assert ahead.max() <= FAR


def test_a_large_sample_comes_in_batches():
    batches = [len(entries.positions) for entries in Reservoir(200_000, coins((1, 1))).reads(np.array([300_000]))]
    assert sum(batches) == 200_000
    assert max(batches) <= draw.BATCH
