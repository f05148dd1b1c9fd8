r"""The ledger: the only way from private data to a random answer that may be published.

Privacy
-------
The ledger is a privacy filter. Every question states what it spends before it is answered, and a question that would
exceed the budget is refused before anything is drawn. How much is spent, and how often, may depend on earlier answers:
for pure differential privacy the losses of adaptively chosen questions add up, so the sum stays within the budget
whatever the answers are.

- `ask`, `survivors` and `arrange` add up (sequential composition).
- `each` gives every piece of a partition the same share: a record is in one piece only, so the maximum over the pieces
  counts, and it is that share (parallel composition).
- `paths` reserves a share for a forest of cells (`hedgerow.privacy.path_budget` has the argument).
- `coins` are independent of exact answers and cost nothing.
- `keyed_coins` are not, and a ledger with a budget refuses them (`hedgerow.privacy.keyed_coins` has the argument).

All shares are per *record*. If the unit is a person with at most $m$ records, the ledger is opened with
$\varepsilon / m$: removing the records one by one costs at most $\varepsilon / m$ each, so a person costs at most
$\varepsilon$ (group privacy). Methods need not consider it and cannot get it wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, LiteralString, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import BudgetExceeded, InternalError, ParameterError, UnsupportedGuarantee
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy import samplers
from hedgerow.privacy.arrangement import Arrange, CellRegions
from hedgerow.privacy.evidence import Evidence, EvidenceLog, mass_of_cells, mass_of_survivors
from hedgerow.privacy.keyed_coins import KeyedCoins
from hedgerow.privacy.mechanisms import Laplace, Mechanism, require_known
from hedgerow.privacy.path_budget import PathBudget
from hedgerow.privacy.questions import (
    Answers,
    ArrangementQuestion,
    CellQuestion,
    CoinQuestion,
    KeyQuestion,
    ThresholdQuestion,
)
from hedgerow.privacy.shares import Shares, to_fraction
from hedgerow.privacy.survivors import CandidateSets

Piece = TypeVar("Piece")
Promise = TypeVar("Promise")


class Ledger:
    """A privacy budget, and the questions that may be asked within it.

    Examples
    --------
    >>> from hedgerow.privacy.questions import NoisyAnswers
    >>> ledger = Ledger(Fraction(1), NoisyAnswers(seed=4))
    >>> counts = np.array([40, 7, 0])
    >>> ledger.ask(counts, Laplace(l1=1), spend=Fraction(1, 3), label="cell counts").tolist()
    [38, 5, 0]
    >>> ledger.left
    Fraction(2, 3)
    """

    def __init__(
        self,
        budget: Fraction,
        answers: Answers,
        *,
        records: int = 1,
        promises: tuple[object, ...] = (),
        log: EvidenceLog | None = None,
        under: str | None = None,
    ) -> None:
        self._budget = budget
        self._spent = Fraction(0)
        self._answers = answers
        self._records = records
        self._promises = promises
        self._log = EvidenceLog() if log is None else log
        self._under = under

    @property
    def budget(self) -> Fraction:
        """The budget that this ledger was opened with."""
        return self._budget

    def promised(self, kind: type[Promise]) -> Promise:
        """The promise of this class: public, and the goal of a syntactic method."""
        promises = [promise for promise in self._promises if isinstance(promise, kind)]
        if len(promises) > 1:
            msg = f"this method keeps one promise of class {kind.__name__}; got {len(promises)}"
            raise UnsupportedGuarantee(msg)
        if not promises:
            msg = f"no promise of class {kind.__name__} was made"
            raise InternalError(msg)
        return promises[0]

    def has_promised(self, kind: type[object]) -> bool:
        """Whether a promise of this class was made, for a method that keeps several."""
        return any(isinstance(promise, kind) for promise in self._promises)

    @property
    def left(self) -> Fraction:
        """The part of the budget that is not spent yet."""
        return self._budget - self._spent

    def ask(
        self,
        exact: Integers,
        mechanism: Mechanism,
        *,
        spend: Fraction,
        label: LiteralString,
        only_in_sums: bool = False,
    ) -> Integers:
        """Ask one question about one or many cells; together they cost `spend`.

        Parameters
        ----------
        exact
            The private answers: int64, one per cell, or a row of scores per choice.
        mechanism
            How to answer, with the sensitivity of the *whole* array to one record.
        spend
            The share of the budget.
        label
            Its name in the privacy statement: a literal, so that no data can get into it.
        only_in_sums
            Whether answers are only used in sums, so that it says nothing whether each is above its noise.
        """
        spend = to_fraction(spend)
        require_known(mechanism).check(exact, Shares.spread(spend, 1))
        question = CellQuestion(label, mechanism, Shares.spread(spend, len(exact)), exact)
        self._charge(spend, label)
        self._mention(label, label, mechanism.name)
        answer = self._answers.answer(question)
        if not only_in_sums:
            self._count(label, mass_of_cells(answer, mechanism, question.shares))
        return answer

    def survivors(
        self,
        ids: NDArray[Any],
        exact: Integers,
        mechanism: Laplace,
        *,
        candidates: int,
        cutoff: int,
        spend: Fraction,
        label: LiteralString,
    ) -> tuple[NDArray[Any], Integers]:
        """Ask for the counts of `candidates` cells and get those that reach `cutoff`.

        Parameters
        ----------
        ids
            Which candidates occur, numbered from 0. All others are empty; they are not enumerated, but take part.
        exact
            The counts of the candidates that occur.
        candidates
            How many candidates there are, a public number; it may exceed 2**63.
        cutoff
            The threshold on noisy counts, at least 1.

        Returns
        -------
        tuple
            Ids of the survivors, ascending, and their noisy counts.
        """
        spend = to_fraction(spend)
        require_known(mechanism).check(exact, Shares.spread(spend, 1))
        home = np.zeros(len(ids), np.int64)
        families = CandidateSets.of(candidates, cutoff, home, ids, 1)
        families.check(exact)
        families.require_few(mechanism, Shares.spread(spend, 1))
        question = ThresholdQuestion(label, mechanism, Shares.spread(spend, 1), exact, families)
        self._charge(spend, label)
        self._mention(label, label, mechanism.name)
        survivors = self._answers.answer(question)
        self._count(label, mass_of_survivors(survivors, mechanism, question.shares, families))
        return survivors.codes, survivors.noisy

    def arrange(self, positions: Integers, *, size: int, ones: int, spend: Fraction, label: LiteralString) -> Integers:
        """Place `ones` ones in `size` cells, more likely where they agree with the truth: see `Arrange`.

        Parameters
        ----------
        positions
            Which cells are true, numbered from 0; one record is one of them.
        size, ones
            How many cells there are, and how many ones are placed: public numbers, or computed from answers.

        Returns
        -------
        NDArray
            The positions of the ones, ascending, so that their order does not tell which of them are true.
        """
        spend = to_fraction(spend)
        home = np.zeros(len(positions), np.int64)
        regions = CellRegions.of(size, ones, home, positions, 1)
        question = ArrangementQuestion(label, Arrange(), Shares.spread(spend, 1), regions)
        self._charge(spend, label)
        self._mention(label, label, question.mechanism.name)
        return self._answers.answer(question).positions

    def paths(self, *, spend: Fraction, touches: int = 1, label: LiteralString) -> PathBudget:
        """Reserve `spend` for cells that form a forest: see `PathBudget`.

        Parameters
        ----------
        spend
            What may be spent along any path from the root to a leaf.
        touches
            The maximum number of tokens per record; each token follows one path.
        """
        if type(touches) is not int or touches < 1:
            msg = f"touches must be a whole number of at least 1; got {touches!r}"
            raise ParameterError(msg)
        spend = to_fraction(spend)
        self._charge(spend, label)

        def mention(question: str, mechanism: str) -> None:
            self._mention(label, question, mechanism)

        def refund(amount: Fraction) -> None:
            self._move(-amount, label)

        def count(mass: Floats) -> None:
            self._log.count(self._under or label, mass)

        self._log.path_budgets += 1
        number = self._log.path_budgets - 1
        return PathBudget(spend, touches, self._answers, mention, refund, count, number)

    def split(self, *weights: int) -> tuple[Ledger, ...]:
        """Divide what is left into ledgers in these proportions; all of it is reserved at once."""
        if not weights or any(type(weight) is not int or weight < 1 for weight in weights):
            msg = f"split needs positive whole weights; got {weights!r}"
            raise ParameterError(msg)
        left = self.left
        if left == 0:
            msg = "there is nothing left to split: the whole budget is spent"
            raise BudgetExceeded(msg)
        self._spent = self._budget
        parts = (left * weight / sum(weights) for weight in weights)
        return tuple(self._part(part, under=self._under) for part in parts)

    def each(self, pieces: Iterable[Piece], *, spend: Fraction, label: LiteralString) -> Iterator[tuple[Piece, Ledger]]:
        """Give every piece of a partition a ledger with `spend`; all pieces together cost `spend` once."""
        spend = to_fraction(spend)
        self._charge(spend, label)
        return ((piece, self._part(spend, under=self._under or label)) for piece in pieces)

    def coins(self) -> np.random.Generator:
        """Return randomness for walks, shuffles and ties, independent of any exact answer."""
        return samplers.coins(self._answers.answer(CoinQuestion()))

    def keyed_coins(self) -> KeyedCoins | None:
        """Return randomness that stays as it is from release to release, while the private values do.

        None if the owner gave no key. Only for a promise without a budget: such randomness tells which values are as
        they were.
        """
        if self._budget != 0:
            msg = "a key tells which values are as they were: a ledger with a budget draws afresh in every release"
            raise BudgetExceeded(msg)
        secret = self._answers.answer(KeyQuestion())
        return None if secret is None else KeyedCoins(secret)

    def note(self, label: LiteralString, value: int) -> None:
        """Add a number computed from noisy answers to the evidence, for readers of the statement."""
        if self._budget == 0:
            msg = f"note {label!r}: a ledger without a budget has no noisy answers to note"
            raise BudgetExceeded(msg)
        self._log.notes[label] = int(value)

    def disclose(self, label: LiteralString, value: int) -> None:
        """Add an exact number to the statement, such as how many values stand unchanged.

        Only for a promise without a budget, which is about the output and not about noise: what such a release tells is
        not limited to noisy answers, and its receivers should know how much of it is as it was.
        """
        if self._budget != 0:
            msg = f"{label!r} is exact: a ledger with a budget takes notes of noisy answers only"
            raise BudgetExceeded(msg)
        self._log.notes[label] = int(value)

    def evidence(self) -> Evidence:
        """Return the questions so far, summed by label, with shares per unit of the promise."""
        return self._log.evidence()

    def _part(self, budget: Fraction, *, under: str | None) -> Ledger:
        return Ledger(budget, self._answers, records=self._records, promises=self._promises, log=self._log, under=under)

    def _charge(self, spend: Fraction, label: str) -> None:
        if spend <= 0:
            msg = f"{label!r} must spend more than 0; got {spend}"
            raise ParameterError(msg)
        if self._spent + spend > self._budget:
            msg = f"{label!r} would spend {spend} where {self.left} of {self._budget} is left"
            raise BudgetExceeded(msg)
        self._move(spend, label)

    def _move(self, amount: Fraction, label: str) -> None:
        self._spent += amount
        if self._under is None:
            self._log.spend(label, amount * self._records)

    def _count(self, label: str, mass: Floats | None) -> None:
        if mass is not None:
            self._log.count(self._under or label, mass.sum(axis=0))

    def _mention(self, label: str, question: str, mechanism: str) -> None:
        self._log.mention(self._under or label, question, mechanism)
