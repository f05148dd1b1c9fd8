"""Transitions with back-off: what follows the last few places, as all nodes of a prefix tree together tell.

What follows at a node below which too little was counted is taken from all nodes at the same last places together;
where nothing is known of those, from what people are used to, and at last from all places. No private data is seen
here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.lookup import KeyIndex, PairSet
from hedgerow.publishers.sequences.continued_prefix_tree.rejection_sampling import RejectionSampler
from hedgerow.publishers.sequences.continued_prefix_tree.systematic_sampling import WeightedLabels
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree

__all__ = ["ORDERS", "STOP", "HabitCounts", "Transitions"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: so many last places say what follows
ORDERS = 3
#: where a sequence ends
STOP = -1
_LITTLE = 1e-9
#: so often any place is tried before all that are left are looked at
_EVEN = 4
#: standard deviations of the noise a difference must exceed to be taken for more than noise
_SURE = 2.0


class HabitCounts(NamedTuple):
    """How often, after each item, one stays, goes back to the place before, does else, or ends.

    `counts` has one row per place in the sequence; `deviation` is the standard deviation of its noise.
    """

    counts: Integers
    deviation: float


class _ContextOrder(NamedTuple):
    """What follows after the same last few places: weighted labels per context, contexts by their keys.

    The label `places` stands for what was too rare to be counted. `known` are the pairs of a
    context and a place that was counted there, `ends` the part of sequences that end there.
    """

    contexts: KeyIndex
    labels: WeightedLabels
    known: PairSet
    ends: Floats


@dataclass(frozen=True, eq=False)
class Transitions:
    """What follows the last few places, and what sequences begin with.

    `orders[o]` knows contexts of `o + 1` places; `children` are the nodes of the tree, counted from 1 with the root as
    0, and the places that passed below them. `place_weights` say how often any place occurs that the tree does not
    tell of, `start_weights` first times, `habit_weights` what one does at each place in it. `untold_ends[n - 1]`
    is how many sequences end after `n` items that the tree does not tell of, with `deviation` the standard deviation of
    its noise; `end_rate` is the part that ends after any item.
    """

    places: int
    orders: list[_ContextOrder]
    children: PairSet
    place_weights: WeightedLabels
    start_weights: WeightedLabels
    habit_weights: WeightedLabels
    untold_ends: Floats
    end_rate: float
    deviation: float

    @classmethod
    def of(cls, tree: NoisyTree, counts: Floats, left: Floats, starts: Floats, habits: HabitCounts) -> Transitions:
        """Learn from the consistent counts of a tree.

        Parameters
        ----------
        left
            How often places occur that the tree does not tell of.
        starts
            How many sequences begin at each time that the tree does not tell of.
        habits
            What people are used to.
        """
        places, items = len(left), np.flatnonzero(~tree.ends)
        times = np.arange(len(starts))
        # where visits have times, the same place may follow at another one
        timeless = items if tree.size == places else items[:0]
        # what the tree tells of is taken off: the rest is for where it stops
        rest = np.maximum(habits.counts - _counted_habits(tree, counts, places, len(habits.counts)), 0.0)
        return cls(
            places=places,
            orders=[_context_order(tree, counts, key, places) for key in _contexts(tree, places)],
            children=PairSet.of(tree.parent[timeless] + 1, tree.label[timeless], places + 1),
            place_weights=WeightedLabels.of(np.zeros(places, np.int64), np.arange(places), left + _LITTLE, 1),
            start_weights=WeightedLabels.of(0 * times, times, starts + _LITTLE, 1),
            habit_weights=_habit_weights(rest, places),
            untold_ends=rest[:, 3],
            end_rate=_end_rate(habits.counts),
            deviation=habits.deviation,
        )

    def scaled(self, places: Floats) -> Transitions:
        """Draw places more or less often."""
        factor = np.append(places, 1.0)
        orders = [order._replace(labels=order.labels.scaled(factor)) for order in self.orders]
        return replace(self, orders=orders, place_weights=self.place_weights.scaled(factor))

    def contexts(self, tree: NoisyTree, node: Integers) -> Integers:
        """The last places of nodes, as keys, one row per order; -1 where there are not so many."""
        return np.stack(_contexts(tree, self.places))[:, node]

    def extended(self, contexts: Integers, label: Integers) -> Integers:
        """The last places once one more follows."""
        place = label % self.places
        longer = np.where(contexts[:-1] >= 0, contexts[:-1] * self.places + place, -1)
        return np.vstack((place, longer))

    def draw_first(self, many: int, coins: np.random.Generator) -> Integers:
        """Draw the first label of sequences that begin with what was too rare to be counted."""
        root = np.zeros(many, np.int64)
        sampler = RejectionSampler(self.places, many, coins)
        sampler.rejects.append(partial(self.children.contains, root))
        sampler.draw(self.place_weights, root)
        self._anything_else(sampler)
        label = self.start_weights.sample(root, coins) * self.places + sampler.drawn
        return label[sampler.drawn < self.places]

    def draw_ends(self, contexts: Integers, items: int, part: float, coins: np.random.Generator) -> Flags:
        """Say which sequences of so many items end, of those that may: `part` of all there are.

        As many as were counted, unless that may be noise; by their last places, some rather than
        others.
        """
        chance = np.full(contexts.shape[1], self.end_rate)
        for keys, order in zip(contexts, self.orders, strict=True):
            state = order.contexts.find(keys)
            chance[state >= 0] = order.ends[state[state >= 0]]
        expected, counted = float(chance.sum()), part * float(self.untold_ends[items - 1])
        if len(chance) and abs(counted - expected) > _SURE * part * self.deviation:
            chance = np.maximum(chance, _LITTLE)
            chance = np.minimum(1.0, chance * (counted / chance.sum()))
        order = coins.permutation(len(chance))
        upto = np.cumsum(chance[order]) + coins.random()
        ends = np.empty(len(chance), np.bool_)
        ends[order] = np.floor(upto) > np.floor(upto - chance[order])
        return ends

    def draw_next(self, contexts: Integers, items: int, node: Integers, coins: np.random.Generator) -> Integers:
        """Draw the next place of sequences of so many items: -1 where nothing else is left.

        What was too rare to be counted after many places is drawn as after fewer, but is none of
        the places that were counted. `node` is a node whose children are counted, or -1.
        """
        sampler = RejectionSampler(self.places, len(node), coins)
        sampler.rejects.append(partial(self.children.contains, np.where(node < 0, -1, node + 1)))
        for keys, order in reversed(list(zip(contexts, self.orders, strict=True))):
            if order is self.orders[0]:
                self._by_habit(contexts, items, sampler)
            state = np.full(len(node), -1)
            state[sampler.open] = order.contexts.find(keys[sampler.open])
            sampler.draw(order.labels, state)
            sampler.rejects.append(partial(order.known.contains, state))
        sampler.draw(self.place_weights, np.zeros(len(node), np.int64))
        self._anything_else(sampler)
        return np.where(sampler.drawn == self.places, STOP, sampler.drawn)

    def _anything_else(self, sampler: RejectionSampler) -> None:
        """Draw what is none of the known children of a node, wherever it was counted.

        What cannot be drawn so is any place that is none of them; if there is none, nothing.
        """
        del sampler.rejects[1:]
        everywhere, nowhere = np.arange(self.places), np.zeros(len(sampler.drawn), np.int64)
        sampler.draw(self.place_weights, nowhere)
        even = WeightedLabels.of(0 * everywhere, everywhere, np.ones(self.places), 1)
        for _ in range(_EVEN):
            sampler.draw(even, nowhere)
        for row in sampler.open.tolist():
            same = np.full(self.places, row)
            free = everywhere[~sampler.rejects[0](label=everywhere, rows=same)]
            if len(free):
                sampler.drawn[row] = sampler.coins.choice(free)

    def _by_habit(self, contexts: Integers, items: int, sampler: RejectionSampler) -> None:
        """Stay, or go back to the place before, as often as is usual: people have habits."""
        before = np.where(contexts[1] >= 0, contexts[1] // self.places, -1)
        ways = np.stack((contexts[0], before))
        sampler.draw(self.habit_weights, np.full(len(before), items - 1), ways)
        sampler.rejects.append(partial(_among, ways))


def _among(ways: Integers, label: Integers, rows: Integers) -> Flags:
    return np.any(ways[:, rows] == label, axis=0)


def _contexts(tree: NoisyTree, places: int) -> list[Integers]:
    """The last one, two, ... places of each node as keys; -1 where it has not so many."""
    place = tree.label % places
    keys = [place]
    for order in range(2, ORDERS + 1):
        above = np.where(tree.level >= order, tree.parent, 0)
        before = keys[-1][above]
        keys.append(np.where(tree.level >= order, before * places + place, -1))
    return keys


def _context_order(tree: NoisyTree, counts: Floats, keys: Integers, places: int) -> _ContextOrder:
    """Add up what follows the same last places; what was too rare is what is left of them."""
    expanded = np.flatnonzero(tree.expanded & ~tree.ends & (keys >= 0))
    below = np.flatnonzero(tree.parent >= 0)
    below = below[keys[tree.parent[below]] >= 0]
    known, home = np.unique(keys[expanded], return_inverse=True)
    rest = np.bincount(home, np.maximum(tree.left_over(counts), 0.0)[expanded], len(known))
    state, ends = np.searchsorted(known, keys[tree.parent[below]]), tree.ends[below]
    stop = np.bincount(state[ends], counts[below][ends], len(known))
    went = np.bincount(state[~ends], counts[below][~ends], len(known))
    pairs = state[~ends] * (places + 1) + tree.label[below][~ends] % places
    distinct, number = np.unique(pairs, return_inverse=True)
    state, label = np.divmod(distinct, places + 1)
    weight = np.bincount(number, counts[below][~ends], len(distinct))
    labels = WeightedLabels.of(
        np.concatenate((state, np.arange(len(known)))),
        np.concatenate((label, np.full(len(known), places))),
        np.concatenate((weight, rest + _LITTLE)),
        len(known),
    )
    share = stop / np.maximum(stop + went + rest, _LITTLE)
    return _ContextOrder(KeyIndex.of(known), labels, PairSet.of(state, label, places + 1), share)


def _counted_habits(tree: NoisyTree, counts: Floats, places: int, rows: int) -> Floats:
    """What the tree tells of habits, one row per place in the sequence."""
    below = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[below]
    place, before = tree.label % places, tree.parent[above]
    what = np.full(len(below), 2)
    what[(before >= 0) & (place[below] == place[before])] = 1
    what[place[below] == place[above]] = 0
    what[tree.ends[below]] = 3
    cells = 4 * (tree.level[above] - 1) + what
    return np.bincount(cells, counts[below], 4 * rows).astype(np.float64).reshape(rows, 4)


def _end_rate(counts: Integers) -> float:
    """How often a sequence ends after any item."""
    total = np.maximum(counts.sum(axis=0), 0)
    return float(total[3] / max(1, total.sum()))


def _habit_weights(rest: Floats, places: int) -> WeightedLabels:
    """What is usual at each place in a sequence: stay (0), go back to the place before (1), do else."""
    weight = rest[:, :3] + _LITTLE
    weight[:1, 1] = 0  # after the first place there is none to go back to
    state = np.repeat(np.arange(len(rest)), 3)
    return WeightedLabels.of(state, np.tile([0, 1, places], len(rest)), weight.ravel(), len(rest))
