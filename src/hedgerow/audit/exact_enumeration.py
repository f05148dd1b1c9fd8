"""Exact enumeration: the whole output distribution of a method on a small case.

On a tiny universe every question has few possible answers once both tails are merged, so the method can be run for
every transcript, with its exact probability. The worst log-ratio between neighbours is then computed, not bounded.
Merging answers can only hide loss among the merged answers, and beyond the window the loss of a count is the same at
every value.

The distributions are implemented here from their formulas; no code is shared with the samplers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.audit.replay import release_bytes
from hedgerow.data import Dataset
from hedgerow.errors import ParameterError
from hedgerow.privacy import Choose, Flip, Guarantee, Laplace
from hedgerow.privacy.arrangement import PlacedOnes
from hedgerow.privacy.questions import ArrangementQuestion, CellQuestion, CoinQuestion, Question, ThresholdQuestion
from hedgerow.privacy.survivors import Survivors
from hedgerow.publisher import Publisher, publish_with

#: one possible answer and its probability
Outcome = tuple[Any, float]


def worst_loss(first: dict[bytes, float], second: dict[bytes, float]) -> float:
    """Return the largest absolute log-ratio of two distributions; infinite if one lacks an output."""
    if first.keys() != second.keys():
        return math.inf
    return max(abs(math.log(chance / second[output])) for output, chance in first.items())


def output_distribution(
    method: Publisher[Any], data: Dataset, guarantee: Guarantee, *, low: int, high: int
) -> dict[bytes, float]:
    """Enumerate what a method can publish, with exact probabilities.

    Parameters
    ----------
    method, data, guarantee
        What is run. The key of the coins is fixed.
    low, high
        Counts at or below `low` are merged, and counts at or above `high`.
    """
    distribution: dict[bytes, float] = {}
    pending: list[tuple[list[Any], float]] = [([], 1.0)]
    while pending:
        answers, chance = pending.pop()
        script = _Script(answers, low, high)
        try:
            release = publish_with(method, data, guarantee, script)
        except _Branch as branch:
            pending += [([*answers, answer], chance * p) for answer, p in branch.outcomes if p > 0]
            continue
        output = release_bytes(release)
        distribution[output] = distribution.get(output, 0.0) + chance
    return distribution


class _Branch(Exception):
    """A question without a scripted answer."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes


@dataclass
class _Script:
    """Returns scripted answers, and branches at the first question without one."""

    answers: list[Any]
    low: int
    high: int
    asked: int = 0
    publishable: bool = False

    def answer(self, question: Question) -> Any:
        """Return the scripted answer, or branch."""
        if self.asked == len(self.answers):
            raise _Branch(list(_outcomes(question, self.low, self.high)))
        self.asked += 1
        return self.answers[self.asked - 1]


def _outcomes(question: Question, low: int, high: int) -> Iterator[Outcome]:
    if isinstance(question, CoinQuestion):
        return iter([((0, 0), 1.0)])
    if isinstance(question, ThresholdQuestion):
        return _survivor_outcomes(question, high)
    if isinstance(question, ArrangementQuestion):
        return _arrangement_outcomes(question)
    if isinstance(question, CellQuestion):
        rates = zip(question.exact.tolist(), question.shares.floats().tolist(), strict=True)
        cells = [_cell_outcomes(question.mechanism, exact, s, low, high) for exact, s in rates]
        return (
            (np.array([value for value, _ in row], np.int64), math.prod(p for _, p in row))
            for row in itertools.product(*cells)
        )
    msg = f"cannot enumerate the answers of {type(question).__name__}"
    raise ParameterError(msg)


def _cell_outcomes(mechanism: object, exact: Any, share: float, low: int, high: int) -> list[Outcome]:
    if isinstance(mechanism, Laplace):
        rate = share / float(mechanism.l1)
        inner = [(value, _point(value - exact, rate)) for value in range(low + 1, high)]
        return [(low, _tail(exact - low, rate)), *inner, (high, _tail(high - exact, rate))]
    if isinstance(mechanism, Flip):
        kept = 1 / (1 + math.exp(-share / mechanism.bits))
        return [(exact, kept), (1 - exact, 1 - kept)]
    if isinstance(mechanism, Choose):
        factor = share / (2 * float(mechanism.sensitivity))
        weights = [math.exp(factor * (score - max(exact))) for score in exact]
        return [(column, weight / sum(weights)) for column, weight in enumerate(weights)]
    msg = f"cannot enumerate the answers of {type(mechanism).__name__}"
    raise ParameterError(msg)


def _survivor_outcomes(question: ThresholdQuestion, high: int) -> Iterator[Outcome]:
    """Ask about every candidate one by one, empty or not: the definition of survivors."""
    families = question.families
    listed = zip(families.at.tolist(), families.codes.tolist(), strict=True)
    counts = dict(zip(listed, question.exact.tolist(), strict=True))
    options: list[list[tuple[tuple[int, int, int] | None, float]]] = []
    for at, size in enumerate(families.candidates.tolist()):
        rate = float(question.shares.floats()[at]) / float(question.mechanism.l1)
        cutoff = int(families.cutoffs[at])
        for code in range(size):
            exact = counts.get((at, code), 0)
            top = max(high, cutoff)  # with a cutoff beyond the window, only the fact of survival is enumerated
            values = [((at, code, v), _point(v - exact, rate)) for v in range(cutoff, top)]
            dropped = (None, _tail(exact - cutoff + 1, rate))
            options.append([dropped, *values, ((at, code, top), _tail(top - exact, rate))])
    for row in itertools.product(*options):
        kept = [cell for cell, _ in row if cell is not None]
        columns = np.array(kept, np.int64).reshape(-1, 3).T
        yield Survivors(columns[0], columns[1], columns[2]), math.prod(p for _, p in row)


def _arrangement_outcomes(question: ArrangementQuestion) -> Iterator[Outcome]:
    """Score every placement cell by cell: the definition of the exponential mechanism."""
    regions = question.regions
    options: list[list[Outcome]] = []
    for at, share in enumerate(question.shares.floats().tolist()):
        true = {int(position) for position in regions.positions[regions.at == at]}
        factor = share / (2 * question.mechanism.cells)
        options.append(_placements(int(regions.sizes[at]), int(regions.ones[at]), true, factor))
    for row in itertools.product(*options):
        cells = [(at, position) for at, (placed, _) in enumerate(row) for position in placed]
        columns = np.array(cells, np.int64).reshape(-1, 2).T
        yield PlacedOnes(columns[0], columns[1]), math.prod(p for _, p in row)


def _placements(size: int, ones: int, true: set[int], factor: float) -> list[Outcome]:
    placements = [set(placed) for placed in itertools.combinations(range(size), ones)]
    scores = [sum((cell in true) == (cell in placed) for cell in range(size)) for placed in placements]
    weights = [math.exp(factor * (score - max(scores))) for score in scores]
    return [(sorted(placed), weight / sum(weights)) for placed, weight in zip(placements, weights, strict=True)]


def _point(value: int, rate: float) -> float:
    """P(Z = value) of discrete Laplace noise."""
    return math.tanh(rate / 2) * math.exp(-rate * abs(value))


def _tail(value: int, rate: float) -> float:
    """P(Z >= value), also P(Z <= -value): without cancellation on the far side."""
    far = math.exp(-rate * max(value, 1 - value)) / (1 + math.exp(-rate))
    return far if value >= 1 else 1 - far
