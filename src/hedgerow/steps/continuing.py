"""Go on with sequences where a tree of prefixes stops, by what follows elsewhere in the tree.

What follows a place at a node below which too little was counted is taken from all nodes at that
place together; and after a place of which nothing is known, from all places. No private data is
seen here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.chain import grouped
from hedgerow.steps.prefixes import Prefixes, Table

__all__ = ["Follow", "calibrated", "continued"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: so often something that is known not to follow is drawn again
_AGAIN = 6
#: so many last places say what follows
_ORDERS = 3
_LITTLE = 1e-9
#: sequences of a trial, how many of them there are, and what makes a place's number sure
_TRIAL, _SWEEPS, _FEW = 30_000, 4, 10.0
#: keys below this are looked up in a table
_TABLE = 1 << 23
_STOP = -1


class _Deck(NamedTuple):
    """Labels with weights, a stretch of them a state: `starts[s]` to `starts[s + 1]`."""

    starts: Integers
    label: Integers
    upto: Floats

    @classmethod
    def of(cls, state: Integers, label: Integers, weight: NDArray[Any], states: int) -> _Deck:
        order = np.lexsort((label, state))
        starts = np.searchsorted(state[order], np.arange(states + 1))
        upto = np.append(0.0, np.cumsum(weight[order], dtype=np.float64))
        return cls(starts, label[order], upto)

    def scaled(self, factor: Floats, end: int) -> _Deck:
        """Make labels more or less frequent by a factor each; ends stay as frequent as they are."""
        if not len(self.label):
            return self
        weight = np.diff(self.upto)
        state = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        going = self.label != end
        new = np.where(going, weight * factor[self.label], weight)
        before = np.bincount(state[going], weight[going], len(self.starts) - 1)
        after = np.bincount(state[going], new[going], len(self.starts) - 1)
        back = np.divide(before, after, out=np.ones_like(before), where=after > 0)
        new[going] *= back[state[going]]
        return self._replace(upto=np.append(0.0, np.cumsum(new)))

    def deal(self, state: Integers, coins: np.random.Generator) -> Integers:
        """Deal a label to each: the `j`-th of `n` in a state gets that at `(j + u) / n`.

        All counts are within one of what is expected, and unbiased.
        """
        order = grouped(state, len(self.starts) - 1, coins)
        held = state[order]
        many = np.bincount(held, minlength=len(self.starts) - 1)
        rank = np.arange(len(held)) - (np.cumsum(many) - many)[held]
        part = (rank + coins.random(len(many))[held]) / many[held]
        low, high = self.upto[self.starts[:-1]][held], self.upto[self.starts[1:]][held]
        at = np.searchsorted(self.upto, low + part * (high - low), "right") - 1
        at = np.clip(at, self.starts[:-1][held], self.starts[1:][held] - 1)
        dealt = np.empty(len(state), np.int64)
        dealt[order] = self.label[at]
        return dealt


class _Index(NamedTuple):
    """Where keys stand in a sorted list, by a table if they are small numbers."""

    keys: Integers
    table: NDArray[np.int32] | None

    @classmethod
    def of(cls, keys: Integers) -> _Index:
        """Take distinct keys in ascending order."""
        most = int(keys[-1]) + 1 if len(keys) else 0
        if not 0 < most <= _TABLE:
            return cls(keys, None)
        table = np.full(most + 1, -1, np.int32)
        table[keys] = np.arange(len(keys))
        return cls(keys, table)

    def find(self, wanted: Integers) -> Integers:
        """The place of each key, or -1 if it is none of them; -1 never is."""
        if self.table is not None:
            # what is too large, and -1, is looked up in the last cell, which is empty
            last = len(self.table) - 1
            place = np.where((wanted < 0) | (wanted > last), last, wanted)
            return self.table[place].astype(np.int64)
        if not len(self.keys):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)


class _Order(NamedTuple):
    """What follows after the same last few places: a deck a context, contexts by their keys.

    The label `places` is the end, and one beyond it stands for what was too rare to be counted.
    `known` are the pairs of a context and a place that was counted there.
    """

    contexts: _Index
    deck: _Deck
    known: _Pairs


class _Pairs(NamedTuple):
    """Pairs of an owner and a label, to look up."""

    labels: int
    pairs: _Index

    @classmethod
    def of(cls, owner: Integers, label: Integers, labels: int) -> _Pairs:
        return cls(labels, _Index.of(np.unique(owner * labels + label)))

    def hold(self, owner: Integers, label: Integers, rows: Integers | None = None) -> Flags:
        """Whether each pair is one of them; -1 is in none. `rows` picks the owners."""
        owner = owner if rows is None else owner[rows]
        none = (owner < 0) | (label < 0)
        return self.pairs.find(np.where(none, -1, owner * self.labels + label)) >= 0


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
    children: _Pairs
    anywhere: _Deck
    later: _Deck
    early: _Deck
    habits: _Deck

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
            _Pairs.of(tree.parent[timeless] + 1, tree.label[timeless], places + 2),
            _Deck.of(
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
        drawn = _Drawn(self.places, many, np.zeros(many, np.bool_), coins)
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
        drawn = _Drawn(self.places, len(time), node < 0, coins)
        drawn.avoid.append(partial(self.children.hold, np.where(node < 0, -1, node + 1)))
        for keys, order in reversed(list(zip(contexts, self.orders, strict=True))):
            if order is self.orders[0]:
                self._as_usual(contexts, drawn)
            state = order.contexts.find(keys)
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
        return np.where(stop, _STOP, time * self.places + found)

    def _as_usual(self, contexts: Integers, drawn: _Drawn) -> None:
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


class _Drawn:
    """What is drawn for some sequences: a label, the end, or nothing yet (one beyond the end)."""

    def __init__(self, places: int, many: int, may_end: Flags, coins: np.random.Generator) -> None:
        self.places = places
        self.found = np.full(many, places + 1)
        self.may_end = may_end.copy()
        self.avoid: list[Callable[..., Flags]] = []
        self._coins = coins

    def draw(self, deck: _Deck, state: Integers, ways: Integers | None = None) -> None:
        """Draw, for those that have nothing yet, until it is nothing to be avoided; a few times.

        The labels of a deck are places, or rows of `ways`, which say the place for each sequence.
        """
        open_ = np.flatnonzero((self.found > self.places) & (state >= 0))
        for _ in range(_AGAIN):
            if not len(open_):
                return
            label = deck.deal(state[open_], self._coins)
            if ways is not None:
                way = np.minimum(label, len(ways) - 1)
                label = np.where(label < self.places, ways[way, open_], label)
            bad = (label == self.places) & ~self.may_end[open_]
            for known in self.avoid:
                bad |= known(label=label, rows=open_)
            self.found[open_[~bad]] = label[~bad]
            # what is drawn as too rare here is not drawn here again
            open_ = open_[bad]


def _contexts(tree: Prefixes, places: int) -> list[Integers]:
    """The last one, two, ... places of each node as keys; -1 where it has not so many."""
    place = tree.label % places
    keys = [place]
    for order in range(2, _ORDERS + 1):
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
    deck = _Deck.of(
        np.concatenate((state, states)),
        np.concatenate((label, np.full(len(known), places + 1))),
        np.concatenate((weight, rest + _LITTLE)),
        len(known),
    )
    placed = label < places
    return _Order(_Index.of(known), deck, _Pairs.of(state[placed], label[placed], places + 2))


def _habits(tree: Prefixes, counts: Floats, places: int) -> _Deck:
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
    return _Deck.of(state, label, weight, 2)


def _later(tree: Prefixes, counts: Floats, places: int, gap: int) -> _Deck:
    """How much later the next visit is: by `gap` at least."""
    nodes = np.flatnonzero((tree.parent >= 0) & ~tree.ends)
    apart = tree.label[nodes] // places - tree.label[tree.parent[nodes]] // places
    most = max(1, tree.size // places)
    weight = np.bincount(apart, counts[nodes], most)[gap:]
    weight = weight if weight.sum() > 0 else np.ones(max(1, most - gap))
    return _Deck.of(np.zeros(len(weight), np.int64), np.arange(len(weight)) + gap, weight, 1)


def _early(tree: Prefixes, counts: Floats, places: int) -> _Deck:
    """When sequences begin."""
    first = np.flatnonzero(tree.level == 1)
    times = tree.size // places
    weight = np.bincount(tree.label[first] // places, counts[first], times) + _LITTLE
    return _Deck.of(np.zeros(times, np.int64), np.arange(times), weight, 1)


def calibrated(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    missing: int,
    wanted: Floats,
    longest: int,
    coins: np.random.Generator,
) -> Follow:
    """Go on from some nodes for a trial, and draw places more or less often until they fit.

    Where a tree stops, sequences are rarer than elsewhere, and so is what follows. `wanted` is how
    often each place should follow in all.
    """
    if len(node) + missing == 0:
        return follow
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    for _ in range(_SWEEPS):
        held = continued(tree, follow, few, int(part * missing), longest, coins)
        level = np.append(tree.level[few], np.zeros(int(part * missing), np.int64))
        new = held[np.arange(longest) >= level[:, None]]
        drawn = np.bincount(new[new >= 0] % follow.places, minlength=follow.places) / part
        # a few more of each, so that rare places are left as they are
        ratio = (np.maximum(wanted, 0.0) + _FEW / part) / (drawn + _FEW / part)
        follow = follow.scaled(np.clip(ratio, 0.2, 5.0))
    return follow


def continued(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    missing: int,
    longest: int,
    coins: np.random.Generator,
) -> Table:
    """Go on from nodes, once each: the whole sequences, filled up with -1.

    A sequence that goes on from a node whose children were asked for goes on with none of those
    that passed, and does not end there: they have their own. From other nodes, anything may follow.
    So many as are `missing` begin with what was too rare to be counted.
    """
    begun = follow.begin(missing, coins)
    held = np.vstack((tree.table(longest)[node], np.full((missing, longest), -1, np.int32)))
    held[len(node) :, 0] = begun
    level = np.append(tree.level[node], np.ones(missing, np.int64))
    last = np.append(tree.label[node], begun)
    none = np.full((_ORDERS, missing), -1)
    contexts = np.hstack((follow.contexts(tree, node), follow.moved(none, begun)))
    asked = np.append(np.where(tree.asked[node], node, -1), np.full(missing, -1))
    row = np.flatnonzero(level < longest)
    contexts = contexts[:, row]
    label = _first(tree, follow, asked[row], contexts, last[row] // follow.places, coins)
    while True:
        on = label != _STOP
        row, label, contexts = row[on], label[on], contexts[:, on]
        held[row, level[row]] = label
        level[row] += 1
        more = level[row] < longest
        row, label, contexts = row[more], label[more], contexts[:, more]
        if not len(row):
            return held
        contexts = follow.moved(contexts, label)
        label = follow.step(contexts, np.full(len(row), -1), label // follow.places, coins)


def _first(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    contexts: Integers,
    time: Integers,
    coins: np.random.Generator,
) -> Integers:
    """Draw what follows until it is none of the known children; at last the sequence ends."""
    label = follow.step(contexts, node, time, coins)
    if follow.times == 1:
        return label
    below = tree.parent >= 0
    children = _Pairs.of(tree.parent[below], tree.label[below], tree.size + 1)
    for _ in range(_AGAIN):
        again = np.flatnonzero((node >= 0) & ((label == _STOP) | children.hold(node, label)))
        label[again] = follow.step(contexts[:, again], node[again], time[again], coins)
    return np.where(children.hold(node, label), _STOP, label)
