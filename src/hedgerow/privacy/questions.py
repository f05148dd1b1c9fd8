"""Questions to private data: their public part, how they are answered, and the privacy loss of an answer.

The ledger builds questions and passes them to an object that answers: a source of noise, a recorder or a replayer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from hedgerow.errors import InternalError
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy.arrangement import Arrange, CellRegions, PlacedOnes
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.keyed_coins import OwnerKey
from hedgerow.privacy.mechanisms import Laplace, Mechanism
from hedgerow.privacy.samplers import bits
from hedgerow.privacy.shares import Shares
from hedgerow.privacy.survivors import CandidateSets, Survivors, draw_survivors, exact_survivors, survivor_loss

Q = TypeVar("Q", bound="Question")


def _no_parents() -> Integers:
    return np.zeros(0, np.int64)


class Question(Protocol):
    """A question to private data."""

    @property
    def label(self) -> str:
        """Its name in the privacy statement."""
        ...

    def public(self) -> tuple[object, ...]:
        """Everything but the exact answers: it must not depend on the private data."""
        ...

    def draw(self, source: Bits) -> Any:
        """Answer with noise."""
        ...

    def answer_exactly(self) -> Any:
        """Answer without noise."""
        ...

    def loss(self, other: Question, answer: Any) -> Fraction:
        """Bound the log-ratio of the probabilities of an answer, here and under another question's exact answers."""
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
    under: Integers = field(default_factory=_no_parents)

    def public(self) -> tuple[object, ...]:
        """Label, mechanism, shares, shape and parents."""
        return self.label, self.mechanism, self.shares, self.exact.shape, self.under.tobytes()

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
    """Families of candidates, of which those that occur are listed; a share and a cutoff per family."""

    label: str
    mechanism: Laplace
    shares: Shares
    exact: Integers
    families: CandidateSets
    under: Integers = field(default_factory=_no_parents)

    def public(self) -> tuple[object, ...]:
        """Label, mechanism, shares, numbers of candidates, cutoffs and parents; not which candidates are listed."""
        candidates = tuple(self.families.candidates.tolist())
        cutoffs = tuple(self.families.cutoffs.tolist())
        return self.label, self.mechanism, self.shares, candidates, cutoffs, self.under.tobytes()

    def draw(self, source: Bits) -> Survivors:
        """Answer with noise."""
        return draw_survivors(self.mechanism, self.families, self.exact, self.shares, source)

    def answer_exactly(self) -> Survivors:
        """Answer without noise."""
        return exact_survivors(self.families, self.exact)

    def loss(self, other: Question, answer: Survivors) -> Fraction:
        """Sum `|moved| * share / l1` over all candidates, whatever the answer is."""
        del answer
        same = _same(self, other)
        return survivor_loss(self.mechanism, self.families, self.exact, same.families, same.exact, self.shares)

    def moved(self, other: Question) -> bool:
        """Say whether a count differs."""
        return self.loss(other, exact_survivors(self.families, self.exact)) > 0


@dataclass(frozen=True, eq=False, repr=False)
class ArrangementQuestion:
    """Regions of cells, some of them true, in which a public number of ones is placed; a share per region."""

    label: str
    mechanism: Arrange
    shares: Shares
    regions: CellRegions
    under: Integers = field(default_factory=_no_parents)

    def public(self) -> tuple[object, ...]:
        """Label, mechanism, shares, numbers of cells and ones, and parents; not which cells are true, nor how many."""
        sizes, ones = self.regions.sizes.tobytes(), self.regions.ones.tobytes()
        return self.label, self.mechanism, self.shares, sizes, ones, self.under.tobytes()

    def draw(self, source: Bits) -> PlacedOnes:
        """Answer with noise."""
        return self.mechanism.draw(self.regions, self.shares, source)

    def answer_exactly(self) -> PlacedOnes:
        """Answer without noise."""
        return self.mechanism.answer_exactly(self.regions)

    def loss(self, other: Question, answer: PlacedOnes) -> Fraction:
        """Sum the mechanism's own bound over the regions."""
        return self.mechanism.loss(self.regions, _same(self, other).regions, answer, self.shares)

    def moved(self, other: Question) -> bool:
        """Say whether another set of cells is true."""
        return not np.array_equal(self.regions.cells, _same(self, other).regions.cells)


@dataclass(frozen=True)
class CoinQuestion:
    """A request for the key of randomness that is independent of exact answers."""

    label: str = "coins"

    def public(self) -> tuple[object, ...]:
        """The label: nothing is asked of the data."""
        return (self.label,)

    def draw(self, source: Bits) -> tuple[int, int]:
        """Draw a key of 128 fair bits."""
        first, second = source.words(2).tolist()
        return first, second

    def answer_exactly(self) -> tuple[int, int]:
        """Return one fixed key."""
        return 0, 0

    def loss(self, other: Question, answer: tuple[int, int]) -> Fraction:
        """No loss."""
        del other, answer
        return Fraction(0)

    def moved(self, other: Question) -> bool:
        """Never: there is no exact answer."""
        del other
        return False


@dataclass(frozen=True)
class KeyQuestion:
    """A request for the coins of the owner's key: `hedgerow.privacy.keyed_coins` says when it may be asked."""

    label: str = "key"

    def public(self) -> tuple[object, ...]:
        """The label: nothing is asked of the data."""
        return (self.label,)

    def draw(self, source: Bits) -> None:
        """None: no noise takes the place of a key that was not given."""
        del source

    def answer_exactly(self) -> None:
        """None, as without a key."""

    def loss(self, other: Question, answer: object) -> Fraction:
        """No loss."""
        del other, answer
        return Fraction(0)

    def moved(self, other: Question) -> bool:
        """Never: there is no exact answer."""
        del other
        return False


class Answers(Protocol):
    """An object that answers questions."""

    @property
    def publishable(self) -> bool:
        """Whether a release made from these answers keeps the promise."""
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
    """Calls a function before the first question to the data, then passes all questions on.

    If the call fails, nothing is asked. Coins ask nothing of the data and do not trigger the call.
    """

    def __init__(self, answers: Answers, before_asking: Callable[[], None]) -> None:
        self.publishable = answers.publishable
        self._answers = answers
        self._before_asking = before_asking
        self._called = False

    def answer(self, question: Question) -> Any:
        """Call before the first question, and pass it on."""
        if not self._called and not isinstance(question, (CoinQuestion, KeyQuestion)):
            self._before_asking()
            self._called = True
        return self._answers.answer(question)


class KeyedAnswers:
    """Answers a request for coins of a key with this key, and passes all questions on.

    Whether a release is publishable does not change: nobody else can repeat the run.
    """

    def __init__(self, answers: Answers, key: OwnerKey) -> None:
        self.publishable = answers.publishable
        self._answers = answers
        self._key = key

    def answer(self, question: Question) -> Any:
        """Answer with the secret that is derived for the terms of the key."""
        return self._key.derived() if isinstance(question, KeyQuestion) else self._answers.answer(question)


class ExactAnswers:
    """Answers without noise, for test vectors; nothing made from these answers may be published."""

    publishable = False

    def answer(self, question: Question) -> Any:
        """Return the exact answer."""
        return question.answer_exactly()


def _same(mine: Q, other: Question) -> Q:
    if not isinstance(other, type(mine)):
        msg = "two different questions cannot be compared"
        raise InternalError(msg)
    return other
