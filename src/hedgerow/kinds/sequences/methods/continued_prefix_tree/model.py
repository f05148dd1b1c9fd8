"""Marginal counts beside a prefix tree, transitions from all its nodes together, and times of journeys.

The next place after a node whose children did not reach the threshold is drawn from all nodes with the same last
places; with back-off to fewer last places, then to transition types (stay, return), and finally to all places. Only
noisy answers and public facts are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.sequences.methods.prefix_tree.model import NoisyTree
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.numerics.proportional_fitting import fit_margins
from hedgerow.numerics.rounding import on_count_grid
from hedgerow.numerics.sampling import WeightedLabels
from hedgerow.numerics.shrinkage import differs_from_model, shrink_table
from hedgerow.numerics.visit_classes import duration_classes

#: the next place depends on at most this many last places
ORDERS = 3
#: the weight that keeps every place and time possible
_LITTLE = 1e-9
#: standard deviations of the noise that a difference must exceed to count as significant
_DIFFERENT = 4.0


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
        if not first.any() or abs(self.number - by_items) > _DIFFERENT * math.sqrt(self.variance + variance):
            return self.number
        return (self.number * variance + by_items * self.variance) / (self.variance + variance)


class TransitionTypeCounts(NamedTuple):
    """How often a sequence stays, returns to the previous place, goes elsewhere, or ends.

    `counts` has one row per position in the sequence; `deviation` is the standard deviation of its noise.
    """

    counts: Integers
    deviation: float


class TimeAnswers(NamedTuple):
    """Noisy answers about times, and the scale of the noise of each.

    `visits` are visits by time, `starts` records by the time of their first visit. `durations` are
    the records of two visits and more by the class of their number of visits, the block of the time
    of the first (`block`), and the class of the time from the first to the last.
    """

    visits: Floats
    visit_scale: float
    starts: Floats
    start_scale: float
    durations: Floats
    duration_scale: float
    block: Integers

    @classmethod
    def none(cls, times: int) -> TimeAnswers:
        """No questions were asked: all times are equally likely."""
        nothing, one = np.zeros(times), np.zeros(times, np.int64)
        return cls(nothing, 0.0, nothing, 0.0, np.zeros((0, 0, 0)), 0.0, one)

    def starts_significant(self, total: float) -> bool:
        """Whether the answer differs significantly from 0 and from a uniform distribution of `total` records."""
        zero = np.zeros_like(self.starts)
        uniform = zero + max(0.0, total) / len(self.starts)
        return all(differs_from_model(self.starts, model, self.start_scale) for model in (zero, uniform))

    @property
    def durations_significant(self) -> bool:
        """Whether the answer about durations differs significantly from 0."""
        return differs_from_model(self.durations, np.zeros_like(self.durations), self.duration_scale)


# Transitions: what follows the last few places of a sequence.


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


# First and last times of journeys: public classes of sizes and durations, and estimates from noisy answers.

#: the largest number of visits in each class of sizes but the last
_SIZES = (2, 4, 8)
#: smoothing that keeps every later time possible, as a part of the mean
_LITTLE_TIME = 1e-3
_TINY = np.finfo(np.float64).tiny
#: rounds of iterative proportional fitting
_ROUNDS = 20


def size_class(visits: Integers, height: int) -> Integers:
    """The class of each number of visits; the largest class is that of `height`.

    Examples
    --------
    >>> size_class(np.arange(10), height=9).tolist()
    [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    >>> size_class(np.arange(10), height=4).tolist()
    [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    """
    return np.searchsorted(_SIZES, np.minimum(visits, height))


def time_blocks(weight: Floats, most: int) -> Integers:
    """Cut times into at most `most` blocks of about equal weight; a heavy time is a block by itself.

    Examples
    --------
    >>> time_blocks(np.array([8.0, 1, 1, 1, 1, 4]), 4).tolist()
    [0, 1, 1, 1, 1, 2]
    """
    if most >= len(weight):
        return np.arange(len(weight))
    weight = weight + max(float(weight.mean()), 1.0) * 1e-9
    upto = np.cumsum(weight)
    at = np.minimum(np.floor(on_count_grid(most * (upto - weight / 2) / upto[-1])), most - 1)
    return np.unique(at, return_inverse=True)[1].astype(np.int64)


def start_times(times: TimeAnswers, total: float, in_tree: Floats) -> Floats:
    """How many records start at each time, of those whose first visit is not in the tree.

    Parameters
    ----------
    total
        How many records there are.
    in_tree
        How many of them start with a visit in the tree, by time.
    """
    total = max(0.0, total)
    even = np.full(len(in_tree), total / len(in_tree))
    starts = even
    if times.starts_significant(total):
        noisy = shrink_table(times.starts, even, times.start_scale)
        starts = project_to_simplex(noisy[None, :], np.array([total]))[0]
    left = np.maximum(0.0, starts - in_tree)
    return left if left.any() else starts


def starts_by_size(times: TimeAnswers, starts: Floats, many: Floats) -> Floats:
    """How many records start at each time, by the class of their number of visits.

    Both margins are given; their dependence is taken from the answers about durations (late journeys are short).

    Parameters
    ----------
    starts
        How many start at each time.
    many
        How many have one visit, and how many are in each class of numbers of visits.
    """
    table = np.outer(many, starts)
    if times.durations_significant:
        blocks = int(times.block.max()) + 1
        mass = np.bincount(times.block, starts, blocks)
        part = starts / np.maximum(mass, _TINY)[times.block]
        table = _sizes_of_blocks(times, blocks)[:, times.block] * part
    return fit_margins(table, many, starts, rounds=_ROUNDS)


def _sizes_of_blocks(times: TimeAnswers, blocks: int) -> Floats:
    """Records by class of size (one visit first) and block, shrunk towards independence."""
    longer = times.durations.sum(axis=2)
    single = np.bincount(times.block, times.starts, blocks) - longer.sum(axis=0)
    noisy = np.vstack((single, longer))
    rows, columns = (np.maximum(noisy.sum(axis=axis), 0.0) for axis in (1, 0))
    model = np.outer(rows, columns) / max(float(rows.sum()), _TINY)
    scale = times.duration_scale * float(np.sqrt(times.durations.shape[2]))
    return shrink_table(noisy, model, scale) + _LITTLE_TIME * (model.mean() + 1)


def last_times(times: TimeAnswers, popular: Floats, size: Integers, first: Integers) -> Floats:
    """Weights of each last time, one row per class of numbers of visits and first time.

    Within a class of durations, the weight of a time is its popularity; so is that of all later times if the answer
    about durations is not significant.
    """
    popular = np.maximum(popular, 0.0)
    popular = popular + _LITTLE_TIME * max(float(popular.mean()), 1.0)
    apart = np.arange(len(popular)) - first[:, None]
    within = np.where(apart >= 0, popular, 0.0)
    if not times.durations_significant:
        return within
    classes = duration_classes(len(popular))
    cells = classes[np.maximum(apart, 0)] + np.arange(len(first))[:, None] * (classes[-1] + 1)
    total = np.bincount(cells.ravel(), within.ravel(), len(first) * (int(classes[-1]) + 1))
    within /= np.maximum(total, _TINY)[cells]
    rows = _shrunk_durations(times)[size, times.block[first]]
    return within * np.take_along_axis(rows, classes[np.maximum(apart, 0)], axis=1)


def _shrunk_durations(times: TimeAnswers) -> Floats:
    """Durations by class of size and block, shrunk towards those of all blocks together."""
    noisy = times.durations
    total = np.maximum(noisy.sum(axis=(1, 2)), 0.0)
    blocks, classes = (project_to_simplex(noisy.sum(axis=axis), total) for axis in (2, 1))
    model = blocks[:, :, None] * classes[:, None, :] / np.maximum(total, _TINY)[:, None, None]
    smooth = shrink_table(noisy, model, times.duration_scale)
    return smooth + _LITTLE_TIME * (smooth.mean(axis=(1, 2), keepdims=True) + 1)


# Look up keys in a sorted list, and pairs of an owner and a label in a set.

#: if all keys are below this, they are looked up in a table
_TABLE = 1 << 23


class KeyIndex(NamedTuple):
    """The positions of keys in a sorted list; by a table if the keys are small numbers."""

    keys: Integers
    table: NDArray[np.int32] | None

    @classmethod
    def of(cls, keys: Integers) -> KeyIndex:
        """Take distinct keys in ascending order."""
        most = int(keys[-1]) + 1 if len(keys) else 0
        if not 0 < most <= _TABLE:
            return cls(keys, None)
        table = np.full(most + 1, -1, np.int32)
        table[keys] = np.arange(len(keys))
        return cls(keys, table)

    def find(self, wanted: Integers) -> Integers:
        """The position of each key, or -1 if it is not in the list; the key -1 never is."""
        if self.table is not None:
            # keys that are too large, and -1, are looked up in the last cell, which is empty
            last = len(self.table) - 1
            place = np.where((wanted < 0) | (wanted > last), last, wanted)
            return self.table[place].astype(np.int64)
        if not len(self.keys):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)


class PairSet(NamedTuple):
    """A set of pairs of an owner and a label."""

    labels: int
    pairs: KeyIndex

    @classmethod
    def of(cls, owner: Integers, label: Integers, labels: int) -> PairSet:
        """Make the set; labels are below `labels`."""
        return cls(labels, KeyIndex.of(np.unique(owner * labels + label)))

    def contains(self, owner: Integers, label: Integers, rows: Integers | None = None) -> Flags:
        """Whether each pair is in the set; pairs with -1 are not. `rows` selects the owners."""
        owner = owner if rows is None else owner[rows]
        none = (owner < 0) | (label < 0)
        return self.pairs.find(np.where(none, -1, owner * self.labels + label)) >= 0
