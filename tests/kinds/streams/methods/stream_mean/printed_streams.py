"""Chapter 8 of the thesis as it is printed: one-sided noise that is not private, and the loop over all events.

L. Liu, PhD thesis, University of Kentucky, 2015, Algorithms 3 and 4. For negative tests only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np


def algorithm_3(bits: np.ndarray, epsilon: float, draw: np.random.Generator) -> np.ndarray:
    """A bit plus exponential noise of rate epsilon."""
    return bits + draw.exponential(1 / epsilon, bits.shape)


def algorithm_4(bits: np.ndarray, size: int, epsilon: float, draw: np.random.Generator) -> np.ndarray:
    """The raw mean of the noisy bits in the reservoir, after every event."""
    slots, means = np.zeros(size), []
    noisy = algorithm_3(bits, epsilon, draw)
    for i, value in enumerate(noisy, 1):
        slot = i if i <= size else int(draw.integers(1, i + 1))
        if slot <= size:
            slots[slot - 1] = value
        means.append(slots[: min(i, size)].mean())
    return np.array(means)


def algorithm_r(size: int, events: int, draws: Iterable[int]) -> list[tuple[int, int]]:
    """Positions and slots of the events that enter a reservoir, both from 0; event i > size draws j in 1..i."""
    entries = [(i, i) for i in range(min(size, events))]
    later = zip(range(size, events), draws, strict=False)
    return entries + [(i, j - 1) for i, j in later if j <= size]


def all_draws(size: int, events: int) -> Iterator[tuple[int, ...]]:
    """Everything that the loop can draw; all are equally likely."""
    return itertools.product(*(range(1, i + 1) for i in range(size + 1, events + 1)))
