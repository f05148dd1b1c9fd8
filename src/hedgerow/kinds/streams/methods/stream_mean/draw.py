"""Which events of a stream are in a uniform sample at each time, and which of them must be read.

Reservoir sampling: the first $n$ events fill $n$ slots; after that, event $i$ enters with probability $n / i$ and
replaces a slot chosen uniformly. Algorithm L draws how many events are skipped until the next one enters, so that
nothing is drawn for the others. None of this looks at the events.

An event that is replaced before the next publication is in no sample that is published, and need not be read. If
something is published after every event, all that enter are read, which is what the thesis' Algorithm 4 does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hedgerow.numerics.arrays import Flags, Floats, Integers

#: a position that no stream reaches
FAR = 1 << 62
#: events that enter, or are read, together
BATCH = 1 << 16
_TINY = 1e-300


class Reservoir:
    """A uniform sample of `size` events, at every time.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> reservoir = Reservoir(3, coins((1, 0)))
    >>> [int(position) for entries in reservoir.reads(np.array([2, 4, 1000])) for position in entries.positions]
    [0, 1, 2, 3, 87, 383, 807]
    """

    def __init__(self, size: int, coins: np.random.Generator, batch: int = BATCH) -> None:
        batch = max(batch, size // 4)  # what is undecided, up to `size` entries, is sorted again with every batch
        self.size = size
        self._entering = _entries(size, coins, batch)
        self._ahead = _NONE

    def reads(self, times: Integers) -> Iterator[Entries]:
        """Yield what must be read to publish after `times` events, ascending and later than all times before.

        After its entries up to a time are written into their slots in order, the slots hold the sample of that time.
        """
        undecided = _NONE
        while True:
            entries = undecided.then(self._until(int(times[-1])))
            complete = len(self._ahead.positions) > 0
            # entries of one slot between two publications: only the last is in a sample that is published
            due = np.searchsorted(times, entries.positions, "right")
            last = _last_of_each(due * self.size + entries.slots)
            entries, due = entries.where(last), due[last]
            decided = len(due) if complete else int(np.searchsorted(due, int(due[-1])))
            for start in range(0, decided, BATCH):
                yield entries.where(slice(start, min(start + BATCH, decided)))
            if complete:
                return
            undecided = entries.where(slice(decided, None))

    def _until(self, time: int) -> Entries:
        """The next entries, up to a batch, among the first `time` events; those that come later stay ahead."""
        if not len(self._ahead.positions):
            self._ahead = next(self._entering)
        now = int(np.searchsorted(self._ahead.positions, time))
        entries, self._ahead = self._ahead.where(slice(now)), self._ahead.where(slice(now, None))
        return entries


class Entries(NamedTuple):
    """Events that enter the sample: their positions in the stream, from 0 and ascending, and the slots they take."""

    positions: Integers
    slots: Integers

    def where(self, at: Flags | slice) -> Entries:
        """Some of them."""
        return Entries(self.positions[at], self.slots[at])

    def then(self, later: Entries) -> Entries:
        """These, and later ones."""
        return Entries(np.append(self.positions, later.positions), np.append(self.slots, later.slots))


_NONE = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64))


def expected_reads(size: int, times: Integers) -> float:
    r"""How many events are read in expectation, if estimates are published after `times` events.

    A place in the sample of time $t_r$ is new if its event came after $t_{r-1}$, with probability $1 - t_{r-1} / t_r$.
    For all times up to $t \ge n$ it adds up to $n (1 + H_t - H_n)$, with harmonic numbers $H$.

    Examples
    --------
    >>> round(expected_reads(775, np.arange(1, 10_001)))
    2757
    >>> expected_reads(775, np.array([10_000]))
    775.0
    """
    before = np.append(0, times[:-1])
    return float((np.minimum(times, size) * (1 - before / times)).sum())


def _entries(size: int, coins: np.random.Generator, batch: int) -> Iterator[Entries]:
    """Yield all entries, without end: Algorithm L, some entries at a time."""
    for start in range(0, size, batch):
        first = np.arange(start, min(start + batch, size), dtype=np.int64)
        yield Entries(first, first)
    position, log_weight = size - 1, 0.0
    while True:
        # the weight w is the largest of n uniform numbers, and then of n uniform numbers below the last weight
        log_weights = log_weight - np.cumsum(np.maximum(coins.standard_exponential(batch), _TINY)) / size
        waiting = coins.standard_exponential(batch) / -_log_rest(log_weights)
        positions = _add_up(position, np.floor(np.minimum(waiting, FAR)))
        yield Entries(positions, coins.integers(0, size, batch))
        position, log_weight = int(positions[-1]), float(log_weights[-1])


def _log_rest(log_weights: Floats) -> Floats:
    """ln(1 - w) of ln w, precise for w near 0 as well as near 1."""
    small = log_weights < -1
    rest = np.empty_like(log_weights)
    rest[small] = np.log1p(-np.maximum(np.exp(log_weights[small]), _TINY))
    rest[~small] = np.log(-np.expm1(log_weights[~small]))
    return rest


def _add_up(position: int, skips: Floats) -> Integers:
    """The positions after skipping so many events each time; those beyond any stream are FAR."""
    far = position + np.cumsum(skips + 1) >= FAR
    steps = np.where(far, 0, skips).astype(np.int64) + 1
    return np.where(far, FAR, position + np.cumsum(steps))


def _last_of_each(keys: Integers) -> Flags:
    """Which entries are the last of their key."""
    order = np.argsort(keys, kind="stable")  # entries of one key stay in order of time
    last = np.ones(len(keys), np.bool_)
    last[order[:-1]] = np.diff(keys[order]) != 0
    return last
