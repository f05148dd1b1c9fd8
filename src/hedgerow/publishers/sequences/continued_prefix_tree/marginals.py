"""Marginal counts in addition to the tree: the number of sequences, places, transition types and times."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Frontier, NextSymbol, TransitionType
from hedgerow.privacy import Laplace, Ledger
from hedgerow.publishers.sequences.continued_prefix_tree.time_estimates import TimeAnswers
from hedgerow.publishers.sequences.continued_prefix_tree.time_questions import ask_times
from hedgerow.publishers.sequences.continued_prefix_tree.transitions import TransitionTypeCounts
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups

__all__ = ["NUMBER", "Marginals", "ask_marginals"]

Integers: TypeAlias = NDArray[np.int64]

#: the parts of the budget for the number of sequences, and for transition types
NUMBER, _TRANSITION_TYPES = Fraction(1, 100), Fraction(3, 100)
#: the least and the largest part for places, in hundredths, and how it depends on the expected depth
_SINGLE, _SHALLOW = (9, 50), 300.0
#: standard deviations of the noise that a difference must exceed to count as significant
_SURE = 4.0


class Marginals(NamedTuple):
    """Noisy marginals: the number of sequences and its variance, counts of places, transition types, times."""

    number: int
    variance: float
    places: Integers
    transition_types: TransitionTypeCounts
    times: TimeAnswers

    def missing(self, tree: NoisyTree, copies: Integers) -> int:
        """How many sequences start with a label that did not reach the threshold."""
        return max(0, round(self.total(tree)) - int(copies.sum()))

    def total(self, tree: NoisyTree) -> float:
        """The estimated number of sequences, from the noisy number and from the counts of first items.

        The latter lack first items below the threshold and include spurious ones. If the two differ significantly, the
        noisy number is taken; else their mean, weighted by precision (inverse variance).
        """
        first = tree.level == 1
        by_items = float(np.maximum(tree.noisy[first], 0.0).sum())
        variance = float((1 / tree.weight[first]).sum())
        if not first.any() or abs(self.number - by_items) > _SURE * math.sqrt(self.variance + variance):
            return self.number
        return (self.number * variance + by_items * self.variance) / (self.variance + variance)


def ask_marginals(positions: Frontier, groups: PlaceGroups, height: int, ledger: Ledger) -> Marginals:
    """Ask for the number of sequences, transition types, the counts of places, and times if there are any."""
    symbol = NextSymbol(groups.labels.size)
    firsts = positions.first().count(symbol)
    share = ledger.budget * NUMBER
    # a sequence counts once
    exact = np.array([firsts.counts.sum()])
    number = ledger.ask(exact, Laplace(l1=1), spend=share, label="number of records")
    transition_types = _ask_transition_types(positions, groups.places, height, ledger)
    counted = positions.count(symbol)
    occurs = np.zeros(groups.places, np.int64)
    np.add.at(occurs, counted.codes % groups.places, counted.counts)
    spend = ledger.budget * part_for_places(int(number[0]) * float(ledger.budget), groups.places, height)
    # a sequence has at most `height` items
    places = ledger.ask(occurs, Laplace(l1=height), spend=spend, label="places")
    records = max(0, int(number[0]))
    times = TimeAnswers.none(groups.times)
    if groups.times > 1:
        times = ask_times(positions, groups, records, height, ledger)
    return Marginals(records, 2 / float(share) ** 2, places, transition_types, times)


def _ask_transition_types(positions: Frontier, places: int, height: int, ledger: Ledger) -> TransitionTypeCounts:
    """Ask how often sequences stay at a place, return to the previous one, go elsewhere, or end."""
    spend = ledger.budget * _TRANSITION_TYPES
    noisy, deviation = np.zeros((0, 4), np.int64), 0.0
    if height > 1:
        exact = positions.count(TransitionType(places, height)).by_code()
        # a sequence has one transition after each of its items but the last
        steps = Laplace(l1=height - 1)
        noisy = ledger.ask(exact.ravel(), steps, spend=spend, label="transition types").reshape(-1, 4)
        deviation = math.sqrt(2) * (height - 1) / float(spend)
    return TransitionTypeCounts(noisy, deviation)


def part_for_places(strength: float, places: int, height: int) -> Fraction:
    """The part of the budget for the counts of places: small, unless the tree will be shallow.

    It is shallow if the number of sequences per place is hardly larger than the noise of a level. `strength` is the
    noisy number of sequences times epsilon.
    """
    deep = max(1.0, strength / (places * height))
    least, most = _SINGLE
    return Fraction(min(most, max(least, round(_SHALLOW / deep))), 100)
