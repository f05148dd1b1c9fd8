"""Marginal counts beside the tree: how many sequences there are, how often each place is in them, habits, times."""

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
from hedgerow.publishers.sequences.continued_prefix_tree.transitions import HabitCounts
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups

__all__ = ["NUMBER", "Marginals", "ask_marginals"]

Integers: TypeAlias = NDArray[np.int64]

#: the parts of the budget for how many sequences there are, and for what people are used to
NUMBER, _HABITS = Fraction(1, 100), Fraction(3, 100)
#: the least and the most for single places, in hundredths, and how that depends on depth
_SINGLE, _SHALLOW = (9, 50), 300.0
#: standard deviations of the noise a difference must exceed to be taken for more than noise
_SURE = 4.0


class Marginals(NamedTuple):
    """Noisy marginals: the number of sequences and its variance, places by how often they occur, habits, times."""

    number: int
    variance: float
    places: Integers
    habits: HabitCounts
    times: TimeAnswers

    def missing(self, tree: NoisyTree, copies: Integers) -> int:
        """How many sequences begin with what was too rare to be counted."""
        return max(0, round(self.total(tree)) - int(copies.sum()))

    def total(self, tree: NoisyTree) -> float:
        """How many sequences there are, by their number and by their first items.

        First items that were too rare are missing, and spurious ones are too many: where the two differ by more than
        noise does, the number is right. Else both are, by their precision.
        """
        first = tree.level == 1
        by_items = float(np.maximum(tree.noisy[first], 0.0).sum())
        variance = float((1 / tree.weight[first]).sum())
        if not first.any() or abs(self.number - by_items) > _SURE * math.sqrt(self.variance + variance):
            return self.number
        return (self.number * variance + by_items * self.variance) / (self.variance + variance)


def ask_marginals(positions: Frontier, groups: PlaceGroups, height: int, ledger: Ledger) -> Marginals:
    """Ask how many sequences there are, for habits, how often each place occurs, and for times where there are any."""
    symbol = NextSymbol(groups.labels.size)
    firsts = positions.first().count(symbol)
    share = ledger.budget * NUMBER
    # a sequence counts once
    exact = np.array([firsts.counts.sum()])
    number = ledger.ask(exact, Laplace(l1=1), spend=share, label="number of records")
    habits = _ask_habits(positions, groups.places, height, ledger)
    counted = positions.count(symbol)
    occurs = np.zeros(groups.places, np.int64)
    np.add.at(occurs, counted.codes % groups.places, counted.counts)
    spend = ledger.budget * single_part(int(number[0]) * float(ledger.budget), groups.places, height)
    # a sequence has at most `height` items
    places = ledger.ask(occurs, Laplace(l1=height), spend=spend, label="places")
    many = max(0, int(number[0]))
    times = TimeAnswers.none(groups.times)
    if groups.times > 1:
        times = ask_times(positions, groups, many, height, ledger)
    return Marginals(many, 2 / float(share) ** 2, places, habits, times)


def _ask_habits(positions: Frontier, places: int, height: int, ledger: Ledger) -> HabitCounts:
    """Ask what people are used to: to stay, to go back, to end."""
    spend = ledger.budget * _HABITS
    noisy, deviation = np.zeros((0, 4), np.int64), 0.0
    if height > 1:
        exact = positions.count(TransitionType(places, height)).by_code()
        # a sequence does one of these after each but the last of its items
        steps = Laplace(l1=height - 1)
        noisy = ledger.ask(exact.ravel(), steps, spend=spend, label="habits").reshape(-1, 4)
        deviation = math.sqrt(2) * (height - 1) / float(spend)
    return HabitCounts(noisy, deviation)


def single_part(strength: float, places: int, height: int) -> Fraction:
    """What part of the budget goes to single places: little, unless a tree has little to tell of anyway.

    That is where a place has hardly more sequences than a level has noise. `strength` is the noisy number of
    sequences times epsilon.
    """
    deep = max(1.0, strength / (places * height))
    least, most = _SINGLE
    return Fraction(min(most, max(least, round(_SHALLOW / deep))), 100)
