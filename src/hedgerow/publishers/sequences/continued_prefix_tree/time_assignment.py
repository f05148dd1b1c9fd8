"""Give times to the visits of journeys whose places are drawn; no private data is seen here.

How long a journey takes depends on how many visits it has, so times come after places: first the
times of the last visits, by what was answered about durations, then all that are between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges, number_within_groups
from hedgerow.publishers.sequences.continued_prefix_tree.lookup import PairSet
from hedgerow.publishers.sequences.continued_prefix_tree.shrinkage import shrink
from hedgerow.publishers.sequences.continued_prefix_tree.systematic_sampling import WeightedLabels
from hedgerow.publishers.sequences.continued_prefix_tree.time_estimates import (
    TimeAnswers,
    last_times,
    size_class,
    starts_by_size,
)
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable, NoisyTree
from hedgerow.steps.simplex import project_to_simplex

__all__ = ["Journeys", "TimeAssignment"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: so often a journey that goes on with a visit that was counted is drawn again
_AGAIN = 6
#: trials of times between, the journeys of one, and what makes a time's number sure
_SWEEPS, _TRIAL, _FEW = 4, 30_000, 10.0
#: what keeps every time possible, as a part of the mean
_LITTLE = 1e-3


class Journeys(NamedTuple):
    """One journey per row, filled up with -1: labels, `time * places + place`, and after them places.

    The first `whole` visits of each have times. `node` is the node of a tree they are, if it was
    expanded, or -1. `begun` says which journeys no node tells of.
    """

    table: LabelTable
    whole: Integers
    node: Integers
    begun: Flags
    places: int

    @property
    def size(self) -> Integers:
        """How many visits each has."""
        return np.count_nonzero(self.table >= 0, axis=1)

    @property
    def first(self) -> Integers:
        """The time of the first visit of each."""
        return (self.table[:, 0] // self.places).astype(np.int64)

    @property
    def now(self) -> Integers:
        """The last time that each has."""
        label = self.table[np.arange(len(self.table)), self.whole - 1]
        return (label // self.places).astype(np.int64)

    def only(self, rows: Integers) -> Journeys:
        """Some of them, in tables of their own."""
        table, whole, node, begun, places = self
        return Journeys(table[rows], whole[rows], node[rows], begun[rows], places)

    def going(self) -> Journeys:
        """Those that have visits without times."""
        return self.only(np.flatnonzero(self.size > self.whole))

    def cut(self, size: Integers) -> Journeys:
        """Leave out what comes after so many visits."""
        late = np.arange(int(self.table.shape[1])) >= size[:, None]
        return self._replace(table=np.where(late, -1, self.table))


@dataclass(frozen=True, eq=False)
class TimeAssignment:
    """What is known of times, for journeys outside a tree.

    `untold` are noisy visits by time without those the tree tells of, `gap` is the least time
    between visits.
    """

    times: TimeAnswers
    untold: Floats
    gap: int
    coins: np.random.Generator

    def fill(self, journeys: Journeys, tree: NoisyTree, again: Callable[[Integers], LabelTable]) -> LabelTable:
        """Give every visit a time; a journey for which none is left ends.

        A journey that goes on from a node of the tree does so with none of the children that were
        counted there: they have their own. If other times do not help, such a one is drawn `again`
        from the same node.
        """
        journeys = self._fitting(self._begin(journeys))
        rest = self.untold - self._by_time(journeys.first[journeys.begun])
        popular = self._popular(journeys.going(), rest)
        table = self._filled(journeys, rest, popular)
        below = tree.parent >= 0
        children = PairSet.of(tree.parent[below], tree.label[below], tree.size + 1)
        for trial in range(_AGAIN):
            rows = np.flatnonzero(_known(journeys, table, children))
            if not len(rows):
                return table
            fresh = journeys.only(rows)
            if trial >= _AGAIN // 2:
                fresh = self._fitting(fresh._replace(table=again(rows)))
            table[rows] = self._filled(fresh, rest, popular)
        stop = np.where(_known(journeys, table, children), journeys.whole, table.shape[1])
        return journeys._replace(table=table).cut(stop).table

    def _fitting(self, journeys: Journeys) -> Journeys:
        """Cut journeys to as many visits as have times that are left."""
        if not self.gap:
            return journeys
        return journeys.cut(journeys.whole + (len(self.untold) - 1 - journeys.now) // self.gap)

    def _by_time(self, time: Integers) -> Integers:
        return np.bincount(time, minlength=len(self.untold))

    def _begin(self, journeys: Journeys) -> Journeys:
        """Deal first times again, to the journeys that no node tells of, by numbers of visits."""
        free = np.flatnonzero(journeys.begun)
        size = journeys.size[free]
        classes = np.where(size > 1, 1 + size_class(size, int(journeys.table.shape[1])), 0)
        starts = self._by_time(journeys.first[free]).astype(np.float64)
        many = np.bincount(classes, minlength=1 + max(1, len(self.times.durations)))
        weight = starts_by_size(self.times, starts, many.astype(np.float64))
        time = WeightedLabels.of_rows(weight).sample(classes, self.coins)
        table = journeys.table.copy()
        table[free, 0] = time * journeys.places + table[free, 0] % journeys.places
        return journeys._replace(table=table)

    def _lasts(self, journeys: Journeys, rest: Floats) -> Integers:
        """Draw the last time of each: late enough for all that come before."""
        sizes = size_class(journeys.size, int(journeys.table.shape[1]))
        keys = sizes * len(rest) + journeys.first
        states, state = np.unique(keys, return_inverse=True)
        size, first = np.divmod(states, len(rest))
        labels = WeightedLabels.of_rows(last_times(self.times, rest, size, first))
        least = journeys.now + self.gap * (journeys.size - journeys.whole)
        return labels.sample(state, self.coins, least)

    def _popular(self, journeys: Journeys, rest: Floats) -> Floats:
        """How popular each time is between the first and the last visit, made to fit in trials.

        Visits between are when journeys begin and end, and differ from that as far as was answered.
        """
        last = self._lasts(journeys, rest)
        ends = self._by_time(last)
        both = self._by_time(journeys.first) + ends
        inner = journeys.size - journeys.whole - 1
        total = np.array([float(inner.sum())])
        model = total * both / max(1, int(both.sum()))
        wanted = shrink(rest - ends, model, self.times.visit_scale)
        wanted = project_to_simplex(wanted[None, :], total)[0]
        popular = wanted + _LITTLE * wanted.mean() + np.finfo(np.float64).tiny
        few = np.flatnonzero(inner > 0)
        few = few[self.coins.permutation(len(few))[:_TRIAL]]
        if not len(few):
            return popular
        part, trial = float(inner[few].sum() / total[0]), journeys.only(few)
        for _ in range(_SWEEPS):
            drawn = self._by_time(self._between(trial, last[few], popular)[1]) / part
            ratio = (wanted + _FEW / part) / (drawn + _FEW / part)
            popular = popular * np.clip(ratio, 0.2, 5.0)
        return popular

    def _between(self, journeys: Journeys, last: Integers, popular: Floats) -> tuple[Integers, Integers]:
        """Draw all times between, in order: the journey of each, and the time.

        Once `gap` is taken off for every visit before, times at least `gap` apart are any times.
        """
        many = journeys.size - journeys.whole - 1
        row = concatenate_ranges(np.zeros_like(many), many)[1]
        upto = np.append(0.0, np.cumsum(popular))
        low, high = journeys.now[row], (last - self.gap * (many + 1))[row]
        point = upto[low] + self.coins.random(len(row)) * (upto[high + 1] - upto[low])
        time = np.clip(np.searchsorted(upto, point, "right") - 1, low, high)
        time = time[np.lexsort((time, row))]
        return row, time + self.gap * (1 + number_within_groups(row))

    def _filled(self, journeys: Journeys, rest: Floats, popular: Floats) -> LabelTable:
        """The table with times for all visits that had none."""
        table, rows = journeys.table.copy(), np.flatnonzero(journeys.size > journeys.whole)
        going = journeys.only(rows)
        last = self._lasts(going, rest)
        row, time = self._between(going, last, popular)
        at = going.whole[row] + number_within_groups(row)
        table[rows[row], at] += (time * journeys.places).astype(table.dtype)
        table[rows, going.size - 1] += (last * journeys.places).astype(table.dtype)
        return table


def _known(journeys: Journeys, table: LabelTable, children: PairSet) -> Flags:
    """Which journeys go on with a visit that was counted."""
    at = np.minimum(journeys.whole, int(table.shape[1]) - 1)
    label = table[np.arange(len(table)), at].astype(np.int64)
    return (journeys.whole == at) & children.contains(journeys.node, label)
