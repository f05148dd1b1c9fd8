"""A question to private data: what of it is public, how it is answered, what an answer can cost.

The ledger writes questions and hands them to whoever answers: a source of noise, a recorder, a
replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.mechanisms import Laplace, Mechanism
from hedgerow.privacy.samplers import bits
from hedgerow.privacy.shares import Shares
from hedgerow.privacy.survivors import (
    CandidateSets,
    Survivors,
    draw_survivors,
    exact_survivors,
    survivor_loss,
)

__all__ = [
    "Answers",
    "CellQuestion",
    "CoinQuestion",
    "ExactAnswers",
    "FirstQuestionHook",
    "NoisyAnswers",
    "Question",
    "ThresholdQuestion",
]

Integers: TypeAlias = NDArray[np.int64]
Q = TypeVar("Q", bound="Question")


def _nowhere() -> Integers:
    return np.zeros(0, np.int64)


class Question(Protocol):
    """Something asked of private data."""

    @property
    def label(self) -> str:
        """What the privacy statement calls it."""
        ...

    def public(self) -> tuple[object, ...]:
        """What must not depend on the private data: all but the exact answers."""
        ...

    def draw(self, source: Bits) -> Any:
        """Answer with noise."""
        ...

    def answer_exactly(self) -> Any:
        """Answer without noise."""
        ...

    def loss(self, other: Question, answer: Any) -> Fraction:
        """Bound the log-ratio of this answer here and under another question's exact answers."""
        ...

    def moved(self, other: Question) -> bool:
        """Say whether an exact answer differs."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class CellQuestion:
    """Exact answers, one per cell (or a row of scores per choice), and a share each."""

    label: str
    mechanism: Mechanism
    shares: Shares
    exact: Integers
    where: Integers = field(default_factory=_nowhere)

    def public(self) -> tuple[object, ...]:
        """Label, mechanism, shares, shape and place."""
        return self.label, self.mechanism, self.shares, self.exact.shape, self.where.tobytes()

    def draw(self, source: Bits) -> Integers:
        """Answer with noise."""
        return self.mechanism.draw(self.exact, self.shares, source)

    def answer_exactly(self) -> Integers:
        """Answer without noise."""
        return self.mechanism.answer_exactly(self.exact)

    def loss(self, other: Question, answer: Integers) -> Fraction:
        """Sum the mechanism's own bound over the cells."""
        return self.mechanism.loss(self.exact, _same(self, other).exact, answer, self.shares)

    def moved(self, other: Question) -> bool:
        """Say whether an exact answer differs."""
        return not np.array_equal(self.exact, _same(self, other).exact)


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdQuestion:
    """Listed candidates of huge families, a share and a cutoff per family."""

    label: str
    mechanism: Laplace
    shares: Shares
    exact: Integers
    families: CandidateSets
    where: Integers = field(default_factory=_nowhere)

    def public(self) -> tuple[object, ...]:
        """Label, mechanism, shares, numbers of candidates, cutoffs and place; not who is listed."""
        candidates = tuple(self.families.candidates.tolist())
        cutoffs = tuple(self.families.cutoffs.tolist())
        return self.label, self.mechanism, self.shares, candidates, cutoffs, self.where.tobytes()

    def draw(self, source: Bits) -> Survivors:
        """Answer with noise."""
        return draw_survivors(self.mechanism, self.families, self.exact, self.shares, source)

    def answer_exactly(self) -> Survivors:
        """Answer without noise."""
        return exact_survivors(self.families, self.exact)

    def loss(self, other: Question, answer: Survivors) -> Fraction:
        """Sum `|moved| * share / l1` over all candidates; the answer does not matter."""
        del answer
        same = _same(self, other)
        return survivor_loss(self.mechanism, self.families, self.exact, same.families, same.exact, self.shares)

    def moved(self, other: Question) -> bool:
        """Say whether a count differs."""
        return self.loss(other, exact_survivors(self.families, self.exact)) > 0


@dataclass(frozen=True)
class CoinQuestion:
    """A key for randomness that never meets an exact answer."""

    label: str = "coins"

    def public(self) -> tuple[object, ...]:
        """Nothing is asked of the data."""
        return (self.label,)

    def draw(self, source: Bits) -> tuple[int, int]:
        """Draw a key of 128 fair bits."""
        first, second = source.words(2).tolist()
        return first, second

    def answer_exactly(self) -> tuple[int, int]:
        """Return one fixed key."""
        return 0, 0

    def loss(self, other: Question, answer: tuple[int, int]) -> Fraction:
        """Cost nothing."""
        del other, answer
        return Fraction(0)

    def moved(self, other: Question) -> bool:
        """Never: there is no exact answer."""
        del other
        return False


class Answers(Protocol):
    """Whoever answers questions."""

    @property
    def publishable(self) -> bool:
        """Whether what is published from these answers keeps the promise."""
        ...

    def answer(self, question: Question) -> Any:
        """Answer one question."""
        ...


class NoisyAnswers:
    """Answers with noise from the operating system's entropy, or from a seed for tests."""

    def __init__(self, seed: int | None = None) -> None:
        self.publishable = seed is None
        self._source = bits(seed=seed)

    def answer(self, question: Question) -> Any:
        """Draw the answer."""
        return question.draw(self._source)


class FirstQuestionHook:
    """Calls back before the data is asked for the first time; then answers as another does.

    If the call fails, nothing is asked. Coins never meet the data and are not announced.
    """

    def __init__(self, answers: Answers, before_asking: Callable[[], None]) -> None:
        self.publishable = answers.publishable
        self._answers = answers
        self._before_asking = before_asking
        self._announced = False

    def answer(self, question: Question) -> Any:
        """Announce the first question, and pass it on."""
        if not self._announced and not isinstance(question, CoinQuestion):
            self._before_asking()
            self._announced = True
        return self._answers.answer(question)


class ExactAnswers:
    """Answers exactly, for test vectors; nothing that comes of it may be published."""

    publishable = False

    def answer(self, question: Question) -> Any:
        """Return the exact answer."""
        return question.answer_exactly()


def _same(mine: Q, other: Question) -> Q:
    if not isinstance(other, type(mine)):
        msg = "two different questions cannot be compared"
        raise InternalError(msg)
    return other
