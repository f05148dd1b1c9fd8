r"""Three private means of a sample of events: flipped bits, noisy values, and noisy sums.

Each says how large the sample must be, what is kept of an event that is read, and how an estimate is made of the sum
of what is kept. Means are shares of `high - low`.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy import Flip, Laplace, Ledger
from hedgerow.publishers.streams.stream_mean.sample_sizes import (
    debiasing_factor,
    flipped_half_widths,
    flipped_size,
    laplace_half_widths,
    smallest_size,
)
from hedgerow.steps.laplace_sums import discrete_half_width

__all__ = ["FlippedBits", "NoisySums", "NoisyValues", "SampleMean"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class SampleMean(ABC):
    """A private mean of a sample; its budget is charged when it is made.

    Parameters
    ----------
    ledger
        Whose budget is spent.
    steps
        The most that the code of an event can be.
    publications
        How often an estimate is published; None if that is not known.
    confidence
        The probability of being within the half-width.
    """

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        self.ledger = ledger
        self.steps = steps
        self.publications = publications or 1
        self.confidence = confidence
        self.epsilon = float(ledger.budget)  # for formulas of public numbers

    @abstractmethod
    def sample_size(self, half_width: float) -> int:
        """How large the sample must be for a half-width."""

    @abstractmethod
    def keep(self, codes: Integers) -> Integers:
        """What is kept of events that are read."""

    @abstractmethod
    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """The means, of the sums of what is kept of `sizes` events."""

    @abstractmethod
    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """How far an estimate is from the mean of all `times` events."""


class _PrivateEvents(SampleMean):
    """What is kept of an event is private by itself, so that sums of it may be published at any time."""

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        super().__init__(ledger, steps=steps, publications=publications, confidence=confidence)
        # an event is read once, so those of different batches are disjoint pieces
        self._pieces = ledger.each(itertools.count(), spend=ledger.budget, label="events that are read")

    def _privatise(self, codes: Integers, mechanism: Flip | Laplace) -> Integers:
        if not len(codes):
            return codes
        _, piece = next(self._pieces)
        return piece.ask(codes, mechanism, spend=piece.budget, label="events that are read", only_in_sums=True)


class FlippedBits(_PrivateEvents):
    """Randomised response on every bit that is read."""

    def sample_size(self, half_width: float) -> int:
        """By Hoeffding's inequality."""
        return flipped_size(half_width, self.epsilon, self.confidence)

    def keep(self, codes: Integers) -> Integers:
        """Flip some bits, once and for all."""
        return self._privatise(codes, Flip())

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """Undo the bias towards one half."""
        return 0.5 + debiasing_factor(self.epsilon) * (sums / sizes - 0.5)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Hoeffding's inequality."""
        del times
        return flipped_half_widths(sizes, self.epsilon, self.confidence)


class NoisyValues(_PrivateEvents):
    """Laplace noise on every value that is read."""

    def sample_size(self, half_width: float) -> int:
        """By Chernoff's bound."""
        return smallest_size(half_width, self.epsilon, self.confidence, noise_per_value=True)

    def keep(self, codes: Integers) -> Integers:
        """Add noise, once and for all; a batch has an event once, which changes by at most all steps."""
        return self._privatise(codes, Laplace(l1=self.steps))

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """The mean of the noisy values."""
        return sums / (sizes * self.steps)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Chernoff's bound."""
        return laplace_half_widths(sizes, times, self.epsilon, self.confidence, noise_per_value=True)


class NoisySums(SampleMean):
    """Exact values are kept in memory, and every published sum has Laplace noise, with an equal share of the budget."""

    def __init__(self, ledger: Ledger, *, steps: int, publications: int | None, confidence: float) -> None:
        super().__init__(ledger, steps=steps, publications=publications, confidence=confidence)
        ((_, self._part),) = ledger.each([0], spend=ledger.budget, label="sums of the sample")
        self._epsilon_of_one = self.epsilon / self.publications
        self._noise = discrete_half_width(1, steps / self._epsilon_of_one, 1 - confidence) / steps

    def sample_size(self, half_width: float) -> int:
        """By Chernoff's bound."""
        return smallest_size(half_width, self._epsilon_of_one, self.confidence, noise_per_value=False)

    def keep(self, codes: Integers) -> Integers:
        """The values themselves."""
        return codes

    def estimate(self, sums: Integers, sizes: Integers) -> Floats:
        """Ask for the sums: one event is in the sample at all of these times at most, and moves each by all steps."""
        spend = self._part.budget * len(sums) / self.publications
        noisy = self._part.ask(sums, Laplace(l1=self.steps * len(sums)), spend=spend, label="sums of the sample")
        return noisy / (sizes * self.steps)

    def half_widths(self, sizes: Integers, times: Integers) -> Floats:
        """By Chernoff's bound; exactly while all events are in the sample, since there is only one noise then."""
        widths = laplace_half_widths(sizes, times, self._epsilon_of_one, self.confidence, noise_per_value=False)
        return np.where(times > sizes, widths, np.minimum(self._noise / sizes, 1.0))
