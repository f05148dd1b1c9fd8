"""Write sequences like the prefixes that were counted: no private data is seen here."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.continuing import calibrated, continued
from hedgerow.steps.following import Follow, Habits
from hedgerow.steps.inference import capped, pushed_down, smoothed
from hedgerow.steps.prefixes import Prefixes, Table
from hedgerow.steps.prices import closest
from hedgerow.steps.rounding import round_together
from hedgerow.steps.timing import Journeys, Timing
from hedgerow.steps.visit_times import Times, start_times

__all__ = ["Known", "agreed", "continued_sequences", "emitted", "whole_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: standard deviations of the noise a difference must exceed to be taken for more than noise
_SURE = 4.0


def agreed(tree: Prefixes, inference: str, total: float = np.inf) -> Floats:
    """Make the counts of all nodes agree with each other, and with how many sequences there are."""
    if inference == "none":
        return tree.noisy
    if inference == "exact":
        # the last step only takes away what floating-point errors left
        counts = closest(tree.parent, tree.level, tree.noisy, tree.weight)
    else:
        counts = smoothed(tree.parent, tree.level, tree.noisy, tree.weight)
    if inference == "paper":
        return pushed_down(tree.parent, tree.level, counts)
    return capped(tree.parent, tree.level, counts, total)


def emitted(tree: Prefixes, counts: Floats, rounding: str) -> Integers:
    """How many sequences stop at each node: what none of its children has, rounded.

    Rounded one after the other along a walk of the tree, every prefix keeps its count to within
    one; each by itself, errors add up.
    """
    left = np.maximum(tree.left_over(counts), 0.0)
    if rounding == "nearest":
        return np.floor(left + 0.5).astype(np.int64)
    order = tree.walk()
    found = np.empty(len(tree), np.int64)
    found[order] = round_together(left[order])
    return found


def whole_sequences(tree: Prefixes, copies: Integers, longest: int) -> tuple[Table, Integers]:
    """Lay out distinct sequences, filled up with -1, and how many there are of each."""
    some = np.flatnonzero(copies > 0)
    return tree.table(longest)[some], copies[some]


def continued_sequences(
    tree: Prefixes,
    counts: Floats,
    copies: Integers,
    longest: int,
    known: Known,
    coins: np.random.Generator,
) -> tuple[Table, Integers]:
    """Do the same, but go on where nothing is known of what follows, and begin what is missing."""
    still = tree.ends | (tree.level >= longest)
    table, many = whole_sequences(tree, np.where(still, copies, 0), longest)
    moving = np.repeat(np.flatnonzero(~still), copies[~still])
    missing = known.missing(tree, copies)
    # what the tree does not tell of is left for where it stops
    left, visits, starts = _untold(tree, counts, known)
    follow = Follow.of(tree, counts, left, starts, known.habits)
    follow = calibrated(tree, follow, moving, missing, left, longest, coins)
    more = continued(tree, follow, moving, missing, longest, coins)
    if len(visits) > 1 or known.gap:
        begun = np.arange(len(more)) >= len(moving)
        whole, node = np.ones(len(more), np.int64), np.full(len(more), -1)
        whole[~begun], node[~begun] = tree.level[moving], np.where(tree.asked[moving], moving, -1)
        journeys = Journeys(more, whole, node, begun, len(known.occurs))

        def again(rows: Integers) -> Table:
            part = len(rows) / max(1, len(more))
            return continued(tree, follow, moving[rows], 0, longest, coins, part=part)

        more = Timing(known.times, visits, known.gap, coins).fill(journeys, tree, again)
    return np.concatenate((table, more)), np.append(many, np.ones(len(more), np.int64))


def _untold(tree: Prefixes, counts: Floats, known: Known) -> tuple[Floats, Floats, Floats]:
    """What the tree does not tell of: how often places occur, and times, and times as the first."""
    items = np.flatnonzero(~tree.ends)
    codes = np.divmod(tree.label[items], len(known.occurs))
    time, place = (
        held.astype(np.float64) - np.bincount(code, counts[items], len(held))
        for held, code in zip((known.times.visits, known.occurs), codes, strict=True)
    )
    first = np.flatnonzero(tree.level == 1)
    told = np.zeros(len(time))
    np.add.at(told, tree.label[first] // len(place), counts[first])
    starts = start_times(known.times, known.total(tree), told)
    return np.maximum(place, 0.0), time, starts


class Known(NamedTuple):
    """How many sequences there are, how often each place is in them, what people are used to, when.

    `spread` is the variance of the number, `gap` the least time between visits.
    """

    number: int
    spread: float
    occurs: Integers
    habits: Habits
    times: Times
    gap: int

    def missing(self, tree: Prefixes, copies: Integers) -> int:
        """How many sequences begin with what was too rare to be counted."""
        return max(0, round(self.total(tree)) - int(copies.sum()))

    def total(self, tree: Prefixes) -> float:
        """How many sequences there are, by their number and by their first items.

        First items that were too rare are missing, and spurious ones are too many: where the two
        differ by more than noise does, the number is right. Else both are, by their precision.
        """
        first = tree.level == 1
        held = float(np.maximum(tree.noisy[first], 0.0).sum())
        spread = float((1 / tree.weight[first]).sum())
        if not first.any() or abs(self.number - held) > _SURE * math.sqrt(self.spread + spread):
            return self.number
        return (self.number * spread + held * self.spread) / (self.spread + spread)
