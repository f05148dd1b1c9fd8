"""Transitions with back-off, estimated from all nodes of a prefix tree together.

The next place after a node whose children did not reach the threshold is drawn from all nodes with the same last
places; with back-off to fewer last places, then to transition types (stay, return), and finally to all places. Only
noisy answers and public facts are used here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.lookup import KeyIndex, PairSet
from hedgerow.publishers.sequences.continued_prefix_tree.rejection_sampling import RejectionSampler
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree
from hedgerow.steps.systematic_sampling import WeightedLabels

__all__ = ["ORDERS", "STOP", "TransitionTypeCounts", "Transitions"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: the next place depends on at most this many last places
ORDERS = 3
#: where a sequence ends
STOP = -1
_LITTLE = 1e-9
#: uniform draws before all remaining places are enumerated
_EVEN = 4
#: standard deviations of the noise that a difference must exceed to count as significant
_SURE = 2.0


class TransitionTypeCounts(NamedTuple):
    """How often a sequence stays, returns to the previous place, goes elsewhere, or ends.

    `counts` has one row per position in the sequence; `deviation` is the standard deviation of its noise.
    """

    counts: Integers
    deviation: float


class _ContextOrder(NamedTuple):
    """What follows the same last few places (a context): weighted labels per context, contexts by their keys.

    The label `places` stands for all places below the threshold. `known` are the pairs of a context and a place that
    passed there, `ends` is the part of sequences that end there.
    """

    contexts: KeyIndex
    labels: WeightedLabels
    known: PairSet
    ends: Floats


@dataclass(frozen=True, eq=False)
class Transitions:
    """What follows the last few places, and what sequences start with.

    `orders[o]` has contexts of `o + 1` places; `children` are the pairs of a node of the tree (numbered from 1, the
    root is 0) and a place that passed below it. The weights are residual: marginal counts minus those of the tree.
    `place_weights` are those of places, `start_weights` of first times, `type_weights` of transition types by position.
    `residual_ends[n - 1]` is how many sequences end after `n` items, with `deviation` the standard deviation of its
    noise; `end_rate` is the part of all sequences that ends after an item.
    """

    places: int
    orders: list[_ContextOrder]
    children: PairSet
    place_weights: WeightedLabels
    start_weights: WeightedLabels
    type_weights: WeightedLabels
    residual_ends: Floats
    end_rate: float
    deviation: float

    @classmethod
    def of(
        cls, tree: NoisyTree, counts: Floats, left: Floats, starts: Floats, types: TransitionTypeCounts
    ) -> Transitions:
        """Estimate the transitions from the consistent counts of a tree.

        Parameters
        ----------
        left
            How often each place occurs outside the tree.
        starts
            How many sequences start at each time, of those that are not in the tree.
        types
            The noisy counts of transition types.
        """
        places, items = len(left), np.flatnonzero(~tree.ends)
        times = np.arange(len(starts))
        # if visits have times, the same place may follow at another time
        timeless = items if tree.size == places else items[:0]
        # the counts of the tree are subtracted: the rest is for the continuations
        rest = np.maximum(types.counts - _count_types_in_tree(tree, counts, places, len(types.counts)), 0.0)
        return cls(
            places=places,
            orders=[_context_order(tree, counts, key, places) for key in _contexts(tree, places)],
            children=PairSet.of(tree.parent[timeless] + 1, tree.label[timeless], places + 1),
            place_weights=WeightedLabels.of(np.zeros(places, np.int64), np.arange(places), left + _LITTLE, 1),
            start_weights=WeightedLabels.of(0 * times, times, starts + _LITTLE, 1),
            type_weights=_transition_type_weights(rest, places),
            residual_ends=rest[:, 3],
            end_rate=_end_rate(types.counts),
            deviation=types.deviation,
        )

    def scaled(self, places: Floats) -> Transitions:
        """Scale the weights of places."""
        factor = np.append(places, 1.0)
        orders = [order._replace(labels=order.labels.scaled(factor)) for order in self.orders]
        return replace(self, orders=orders, place_weights=self.place_weights.scaled(factor))

    def contexts(self, tree: NoisyTree, node: Integers) -> Integers:
        """The last places of nodes, as keys, one row per order; -1 if the node has fewer places."""
        return np.stack(_contexts(tree, self.places))[:, node]

    def extended(self, contexts: Integers, label: Integers) -> Integers:
        """The last places after one more label."""
        place = label % self.places
        longer = np.where(contexts[:-1] >= 0, contexts[:-1] * self.places + place, -1)
        return np.vstack((place, longer))

    def draw_first(self, many: int, coins: np.random.Generator) -> Integers:
        """Draw the first label of sequences that start with a label below the threshold."""
        root = np.zeros(many, np.int64)
        sampler = RejectionSampler(self.places, many, coins)
        sampler.rejects.append(partial(self.children.contains, root))
        sampler.draw(self.place_weights, root)
        self._draw_any_other(sampler)
        label = self.start_weights.sample(root, coins) * self.places + sampler.drawn
        return label[sampler.drawn < self.places]

    def draw_ends(self, contexts: Integers, items: int, part: float, coins: np.random.Generator) -> Flags:
        """Draw which of the sequences of `items` items end; they are a fraction `part` of all such sequences.

        The probability depends on the last places. The total is the residual number of ends, if that differs
        significantly from the expectation.
        """
        chance = np.full(contexts.shape[1], self.end_rate)
        for keys, order in zip(contexts, self.orders, strict=True):
            state = order.contexts.find(keys)
            chance[state >= 0] = order.ends[state[state >= 0]]
        expected, counted = float(chance.sum()), part * float(self.residual_ends[items - 1])
        if len(chance) and abs(counted - expected) > _SURE * part * self.deviation:
            chance = np.maximum(chance, _LITTLE)
            chance = np.minimum(1.0, chance * (counted / chance.sum()))
        order = coins.permutation(len(chance))
        upto = np.cumsum(chance[order]) + coins.random()
        ends = np.empty(len(chance), np.bool_)
        ends[order] = np.floor(upto) > np.floor(upto - chance[order])
        return ends

    def draw_next(self, contexts: Integers, items: int, node: Integers, coins: np.random.Generator) -> Integers:
        """Draw the next place of sequences of `items` items; -1 if no place is left.

        Back-off: a place below the threshold in a long context is drawn from a shorter one, without the places that
        passed in the long one. `node` is a node whose children were asked for, or -1.
        """
        sampler = RejectionSampler(self.places, len(node), coins)
        sampler.rejects.append(partial(self.children.contains, np.where(node < 0, -1, node + 1)))
        for keys, order in reversed(list(zip(contexts, self.orders, strict=True))):
            if order is self.orders[0]:
                self._draw_stay_or_return(contexts, items, sampler)
            state = np.full(len(node), -1)
            state[sampler.open] = order.contexts.find(keys[sampler.open])
            sampler.draw(order.labels, state)
            sampler.rejects.append(partial(order.known.contains, state))
        sampler.draw(self.place_weights, np.zeros(len(node), np.int64))
        self._draw_any_other(sampler)
        return np.where(sampler.drawn == self.places, STOP, sampler.drawn)

    def _draw_any_other(self, sampler: RejectionSampler) -> None:
        """Draw any place that is not a child of the node that passed; if there is none, no place.

        First by the weights of places, then uniformly, finally by enumeration.
        """
        if not len(sampler.open):
            return
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

    def _draw_stay_or_return(self, contexts: Integers, items: int, sampler: RejectionSampler) -> None:
        """Stay, or return to the previous place, as often as the transition types say."""
        before = np.where(contexts[1] >= 0, contexts[1] // self.places, -1)
        ways = np.stack((contexts[0], before))
        sampler.draw(self.type_weights, np.full(len(before), items - 1), ways)
        sampler.rejects.append(partial(_among, ways))


def _among(ways: Integers, label: Integers, rows: Integers) -> Flags:
    return np.any(ways[:, rows] == label, axis=0)


def _contexts(tree: NoisyTree, places: int) -> list[Integers]:
    """The last one, two, ... places of each node as keys; -1 if it has fewer."""
    place = tree.label % places
    keys = [place]
    for order in range(2, ORDERS + 1):
        above = np.where(tree.level >= order, tree.parent, 0)
        before = keys[-1][above]
        keys.append(np.where(tree.level >= order, before * places + place, -1))
    return keys


def _context_order(tree: NoisyTree, counts: Floats, keys: Integers, places: int) -> _ContextOrder:
    """Add up what follows the same last places; what is left of their counts is below the threshold."""
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


def _count_types_in_tree(tree: NoisyTree, counts: Floats, places: int, rows: int) -> Floats:
    """The transition types in the tree, one row per position in the sequence."""
    below = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[below]
    place, before = tree.label % places, tree.parent[above]
    kind = np.full(len(below), 2)
    kind[(before >= 0) & (place[below] == place[before])] = 1
    kind[place[below] == place[above]] = 0
    kind[tree.ends[below]] = 3
    cells = 4 * (tree.level[above] - 1) + kind
    return np.bincount(cells, counts[below], 4 * rows).astype(np.float64).reshape(rows, 4)


def _end_rate(counts: Integers) -> float:
    """The part of transitions that are ends."""
    total = np.maximum(counts.sum(axis=0), 0)
    return float(total[3] / max(1, total.sum()))


def _transition_type_weights(rest: Floats, places: int) -> WeightedLabels:
    """Weights by position in a sequence: stay (0), return to the previous place (1), elsewhere."""
    weight = rest[:, :3] + _LITTLE
    weight[:1, 1] = 0  # after the first place there is no previous one
    state = np.repeat(np.arange(len(rest)), 3)
    return WeightedLabels.of(state, np.tile([0, 1, places], len(rest)), weight.ravel(), len(rest))
