"""What follows the last few places, as all nodes of a tree of prefixes together tell.

What follows a place at a node below which too little was counted is taken from all nodes at the
same last places together; where nothing is known of those, from what is usual, and at last from all
places. No private data is seen here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.decks import Deck, Drawn, Index, Pairs
from hedgerow.steps.prefixes import Prefixes

__all__ = ["ORDERS", "STOP", "Follow"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: so many last places say what follows
ORDERS = 3
#: where a sequence ends
STOP = -1
_LITTLE = 1e-9


class _Order(NamedTuple):
    """What follows after the same last few places: a deck a context, contexts by their keys.

    The label `places` is the end, and one beyond it stands for what was too rare to be counted.
    `known` are the pairs of a context and a place that was counted there.
    """

    contexts: Index
    deck: Deck
    known: Pairs


@dataclass(frozen=True, eq=False)
class Follow:
    """What follows the last few places, as all nodes of a tree together tell, and how much later.

    `orders[o]` knows contexts of `o + 1` places; `children` are the nodes of the tree, counted from
    1 with the root as 0, and the places that passed below them.
    """

    places: int
    times: int
    gap: int
    orders: list[_Order]
    children: Pairs
    anywhere: Deck
    later: Deck
    early: Deck
    habits: Deck

    @classmethod
    def of(cls, tree: Prefixes, counts: Floats, left: Floats, gap: int) -> Follow:
        """Learn from the consistent counts of a tree; `left` is how often places are elsewhere."""
        places, items = len(left), np.flatnonzero(~tree.ends)
        marginal = left + _LITTLE
        ends = counts[tree.ends].sum() + _LITTLE
        # where visits have times, the same place may follow at another one
        timeless = items if tree.size == places else items[:0]
        return cls(
            places,
            tree.size // places,
            gap,
            [_learnt(tree, counts, key, places) for key in _contexts(tree, places)],
            Pairs.of(tree.parent[timeless] + 1, tree.label[timeless], places + 2),
            Deck.of(
                np.zeros(places + 1, np.int64), np.arange(places + 1), np.append(marginal, ends), 1
            ),
            _later(tree, counts, places, gap),
            _early(tree, counts, places),
            _habits(tree, counts, places),
        )

    def scaled(self, factor: Floats) -> Follow:
        """Draw places more or less often."""
        factor = np.append(factor, [1.0, 1.0])
        orders = [
            order._replace(deck=order.deck.scaled(factor, self.places)) for order in self.orders
        ]
        return replace(self, orders=orders, anywhere=self.anywhere.scaled(factor, self.places))

    def contexts(self, tree: Prefixes, node: Integers) -> Integers:
        """The last places of nodes, as keys, a row an order; -1 where there are not so many."""
        return np.stack(_contexts(tree, self.places))[:, node]

    def moved(self, contexts: Integers, label: Integers) -> Integers:
        """The last places once one more follows."""
        place = label % self.places
        longer = np.where(contexts[:-1] >= 0, contexts[:-1] * self.places + place, -1)
        return np.vstack((place, longer))

    def begin(self, many: int, coins: np.random.Generator) -> Integers:
        """Draw the first label of sequences that begin with what was too rare to be counted."""
        root = np.zeros(many, np.int64)
        drawn = Drawn(self.places, many, np.zeros(many, np.bool_), coins)
        drawn.avoid.append(partial(self.children.hold, root))
        drawn.draw(self.anywhere, root)
        drawn.avoid.clear()
        drawn.draw(self.anywhere, root)
        found = np.where(drawn.found < self.places, drawn.found, 0)
        return self.early.deal(root, coins) * self.places + found

    def step(
        self, contexts: Integers, node: Integers, time: Integers, coins: np.random.Generator
    ) -> Integers:
        """Draw the next label of each: -1 where a sequence ends, or no time is left.

        What was too rare to be counted after many places is drawn as after fewer, but is none of
        the places that were counted. It does not end a sequence, since ends are counted. `node` is
        a node whose children are counted, or -1.
        """
        drawn = Drawn(self.places, len(time), node < 0, coins)
        drawn.avoid.append(partial(self.children.hold, np.where(node < 0, -1, node + 1)))
        for keys, order in reversed(list(zip(contexts, self.orders, strict=True))):
            if order is self.orders[0]:
                self._as_usual(contexts, drawn)
            state = np.full(len(time), -1)
            state[drawn.open] = order.contexts.find(keys[drawn.open])
            drawn.draw(order.deck, state)
            drawn.may_end &= state < 0
            drawn.avoid.append(partial(order.known.hold, state))
        nowhere = np.zeros(len(time), np.int64)
        drawn.draw(self.anywhere, nowhere)
        drawn.avoid.clear()
        drawn.draw(self.anywhere, nowhere)
        found = np.minimum(drawn.found, self.places)
        if self.times > 1 or self.gap:
            time = time + self.later.deal(np.zeros(len(time), np.int64), coins)
        stop = (found == self.places) | (time >= self.times)
        return np.where(stop, STOP, time * self.places + found)

    def _as_usual(self, contexts: Integers, drawn: Drawn) -> None:
        """Stay, or go back to the place before, as often as is usual: people have habits."""
        here = contexts[0]
        before = np.where(contexts[1] >= 0, contexts[1] // self.places, -1)
        state = (contexts[1] >= 0).astype(np.int64)
        ways = np.stack((here, before))
        drawn.draw(self.habits, state, ways)
        drawn.may_end[:] = False
        drawn.avoid.append(partial(_among, ways))


def _among(ways: Integers, label: Integers, rows: Integers) -> Flags:
    return np.any(ways[:, rows] == label, axis=0)


def _contexts(tree: Prefixes, places: int) -> list[Integers]:
    """The last one, two, ... places of each node as keys; -1 where it has not so many."""
    place = tree.label % places
    keys = [place]
    for order in range(2, ORDERS + 1):
        above = np.where(tree.level >= order, tree.parent, 0)
        before = keys[-1][above]
        keys.append(np.where(tree.level >= order, before * places + place, -1))
    return keys


def _learnt(tree: Prefixes, counts: Floats, keys: Integers, places: int) -> _Order:
    """Add up what follows the same last places; what was too rare is what is left of them."""
    asked = np.flatnonzero(tree.asked & ~tree.ends & (keys >= 0))
    below = np.flatnonzero(tree.parent >= 0)
    below = below[keys[tree.parent[below]] >= 0]
    known, home = np.unique(keys[asked], return_inverse=True)
    rest = np.bincount(home, np.maximum(tree.left_over(counts), 0.0)[asked], len(known))
    label = np.where(tree.ends[below], places, tree.label[below] % places)
    pairs = np.searchsorted(known, keys[tree.parent[below]]) * (places + 2) + label
    distinct, number = np.unique(pairs, return_inverse=True)
    state, label = np.divmod(distinct, places + 2)
    weight = np.bincount(number, counts[below], len(distinct))
    states = np.arange(len(known))
    deck = Deck.of(
        np.concatenate((state, states)),
        np.concatenate((label, np.full(len(known), places + 1))),
        np.concatenate((weight, rest + _LITTLE)),
        len(known),
    )
    placed = label < places
    return _Order(Index.of(known), deck, Pairs.of(state[placed], label[placed], places + 2))


def _habits(tree: Prefixes, counts: Floats, places: int) -> Deck:
    """How often one stays (label 0), goes back to the place before (1), ends, or does else.

    State 0 is after one place, where there is none to go back to, state 1 after more.
    """
    asked = np.flatnonzero(tree.asked & ~tree.ends)
    below = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[below]
    place, before = tree.label % places, tree.parent[above]
    label = np.full(len(below), places + 1)
    label[(before >= 0) & (place[below] == place[before])] = 1
    label[place[below] == place[above]] = 0
    label[tree.ends[below]] = places
    rest = np.maximum(tree.left_over(counts), 0.0)[asked]
    state = np.concatenate((before >= 0, tree.parent[asked] >= 0, [False, True])).astype(np.int64)
    label = np.concatenate((label, np.full(len(asked) + 2, places + 1)))
    weight = np.concatenate((counts[below], rest, [_LITTLE, _LITTLE]))
    return Deck.of(state, label, weight, 2)


def _later(tree: Prefixes, counts: Floats, places: int, gap: int) -> Deck:
    """How much later the next visit is: by `gap` at least."""
    nodes = np.flatnonzero((tree.parent >= 0) & ~tree.ends)
    apart = tree.label[nodes] // places - tree.label[tree.parent[nodes]] // places
    most = max(1, tree.size // places)
    weight = np.bincount(apart, counts[nodes], most)[gap:]
    weight = weight if weight.sum() > 0 else np.ones(max(1, most - gap))
    return Deck.of(np.zeros(len(weight), np.int64), np.arange(len(weight)) + gap, weight, 1)


def _early(tree: Prefixes, counts: Floats, places: int) -> Deck:
    """When sequences begin."""
    first = np.flatnonzero(tree.level == 1)
    times = tree.size // places
    weight = np.bincount(tree.label[first] // places, counts[first], times) + _LITTLE
    return Deck.of(np.zeros(times, np.int64), np.arange(times), weight, 1)
