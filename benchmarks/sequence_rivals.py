"""The simplest honest rivals of methods for sequences: a noisy first-order Markov chain, and independent items.

Both ask the ledger, so that their noise is as exact as that of the methods; nothing else is private.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import PureDP, Sequences
from hedgerow.numerics.sampling import WeightedLabels
from hedgerow.privacy import Laplace
from hedgerow.privacy.questions import NoisyAnswers

Integers: TypeAlias = NDArray[np.int64]

#: transitions of a sequence that the chain counts, and items of the longest sequence that it writes
TRANSITIONS, WRITTEN = 10, 60
#: items of a sequence that independent items use
LONGEST = 20


def first_order(data: Sequences, epsilon: str, seed: int) -> Sequences:
    """Count pairs of neighbouring symbols, starts and ends included; keep those above the noise; walk.

    The number of sequences is the sum of all starts, also of those that are not kept.
    """
    ledger = PureDP(epsilon=epsilon, unit="sequence").open(data, NoisyAnswers(seed))
    symbols = data.domain.size("item") + 1
    exact = np.bincount(_transitions(data, symbols), minlength=symbols**2).astype(np.int64)
    noisy = ledger.ask(exact, Laplace(l1=TRANSITIONS), spend=ledger.budget, label="pairs").reshape(symbols, symbols)
    noisy[-1, -1] = 0  # no sequence is empty
    number = max(1, int(noisy[-1].sum()))
    threshold = TRANSITIONS / float(ledger.budget) * math.log(max(2, symbols) / 2)
    before, after = np.nonzero(noisy >= max(1.0, threshold))
    chain = WeightedLabels.of(before, after, noisy[before, after], symbols)
    return _walk(chain, number, symbols - 1, data, ledger.coins())


def _transitions(data: Sequences, symbols: int) -> Integers:
    """The first transitions of each sequence, as numbers of pairs: from the start, between items, to the end."""
    end, sizes = symbols - 1, np.diff(data.starts)
    flat = np.full(len(data.items) + len(data.starts), end, np.int64)
    inner = np.ones(len(flat), np.bool_)
    inner[data.starts + np.arange(len(data.starts))] = False
    flat[inner] = data.items
    place = np.arange(len(flat) - 1) - np.repeat(data.starts[:-1] + np.arange(len(sizes)), sizes + 1)
    return (flat[:-1] * symbols + flat[1:])[place < TRANSITIONS]


def _walk(chain: WeightedLabels, number: int, end: int, data: Sequences, coins: np.random.Generator) -> Sequences:
    """Follow the chain from the start; a sequence ends where no pair was kept."""
    alive, state = np.arange(number), np.full(number, end)
    known = np.diff(chain.starts) > 0
    rows, items = [], []
    for _ in range(WRITTEN):
        alive, state = alive[known[state]], state[known[state]]
        state = chain.sample(state, coins) if len(state) else state
        alive, state = alive[state != end], state[state != end]
        rows.append(alive)
        items.append(state)
    return Sequences.from_columns(row=np.concatenate(rows), item=np.concatenate(items), domain=data.domain)


def independent(data: Sequences, epsilon: str, seed: int) -> Sequences:
    """Noisy lengths and noisy single items, with half of the budget each; every item is drawn by itself."""
    ledger = PureDP(epsilon=epsilon, unit="sequence").open(data, NoisyAnswers(seed))
    cut, half, size = data.truncated(LONGEST), ledger.budget / 2, data.domain.size("item")
    exact = np.bincount(np.diff(cut.starts), minlength=LONGEST + 1)[1:].astype(np.int64)
    lengths = np.maximum(0, ledger.ask(exact, Laplace(l1=1), spend=half, label="lengths"))
    exact = np.bincount(cut.items, minlength=size).astype(np.int64)
    items = np.maximum(0, ledger.ask(exact, Laplace(l1=LONGEST), spend=half, label="items"))
    sizes = np.repeat(np.arange(1, LONGEST + 1), lengths)
    row = np.repeat(np.arange(len(sizes)), sizes)
    drawn = WeightedLabels.of_rows(items[None, :] + 1e-9).sample(np.zeros(len(row), np.int64), ledger.coins())
    return Sequences.from_columns(row=row, item=drawn, domain=data.domain)
