"""Generate the release: sequences that end in the tree, those that are continued, and those that it does not contain.

Only noisy answers and public facts are used here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.sequences.labels import Labels
from hedgerow.kinds.sequences.methods.continued_prefix_tree.model import (
    ORDERS,
    Marginals,
    PairSet,
    TimeAnswers,
    Transitions,
    last_times,
    size_class,
    start_times,
    starts_by_size,
)
from hedgerow.kinds.sequences.methods.prefix_tree.draw import distinct_sequences
from hedgerow.kinds.sequences.methods.prefix_tree.model import LabelTable, NoisyTree
from hedgerow.numerics.arrays import Flags, Floats, Integers, concatenate_ranges, number_within_groups
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.numerics.rounding import on_grid
from hedgerow.numerics.sampling import WeightedLabels, choose_systematically
from hedgerow.numerics.shrinkage import shrink_table

#: where a sequence ends
STOP = -1
#: fewer sequences are too few to calibrate on
_LEAST = 100
#: sequences per trial, trials, and the pseudo-count of each place
_TRIAL, _SWEEPS, _FEW = 30_000, 4, 10.0
#: how often a place is drawn before a distribution is given up, and how often uniformly, before all that remain are
#: enumerated
_DRAWS, _EVEN = 6, 4
#: standard deviations of the noise by which ends must differ from their expectation, and the least probability of one
_SURE, _LEAST_CHANCE = 2.0, 1e-9
#: how often a journey that continues with a visit of the tree is redrawn
_TRIALS = 6
#: trials to calibrate inner times, journeys per trial, and the pseudo-count of each time
_TIME_SWEEPS, _TRIAL_SIZE, _FEW_TIMES = 4, 30_000, 10.0
#: smoothing that keeps every time possible, as a part of the mean
_LITTLE = 1e-3


def generate_continued(
    tree: NoisyTree,
    counts: Floats,
    copies: Integers,
    labels: Labels,
    marginals: Marginals,
    longest: int,
    coins: np.random.Generator,
) -> tuple[LabelTable, Integers]:
    """Generate sequences, padded with -1, and how many there are of each.

    `copies` is the number of sequences of each node that are in none of its children. Those of an end node or of the
    greatest level are complete; the others are continued. Sequences that are missing in total are started by the model.
    """
    complete = tree.ends | (tree.level >= longest)
    table, numbers = distinct_sequences(tree, np.where(complete, copies, 0), longest)
    continued = np.repeat(np.flatnonzero(~complete), copies[~complete])
    missing = marginals.missing(tree, copies)
    # marginal counts that are not in the tree are for the continuations
    places, visits, starts = _residual_marginals(tree, counts, marginals)
    transitions = Transitions.of(tree, counts, places, starts, marginals.transition_types)
    transitions = calibrate(tree, transitions, continued, missing, places, longest, coins)
    more = continue_sequences(tree, transitions, continued, missing, longest, coins)
    if labels.times > 1 or labels.gap:

        def redraw(rows: Integers) -> LabelTable:
            part = len(rows) / max(1, len(more))
            return continue_sequences(tree, transitions, continued[rows], 0, longest, coins, part=part)

        assignment = TimeAssignment(marginals.times, visits, labels.gap, coins)
        more = assignment.fill(_journeys(tree, more, continued, labels.places), tree, redraw)
    return np.concatenate((table, more)), np.append(numbers, np.ones(len(more), np.int64))


def _journeys(tree: NoisyTree, table: LabelTable, continued: Integers, places: int) -> Journeys:
    """Which visits of continued sequences have times: those in the tree, or the first of a sequence not in the tree."""
    begun = np.arange(len(table)) >= len(continued)
    whole, node = np.ones(len(table), np.int64), np.full(len(table), -1)
    whole[~begun], node[~begun] = tree.level[continued], np.where(tree.expanded[continued], continued, -1)
    return Journeys(table, whole, node, begun, places)


def _residual_marginals(tree: NoisyTree, counts: Floats, marginals: Marginals) -> tuple[Floats, Floats, Floats]:
    """Marginals minus the counts of the tree: how often places occur, times occur, and times are the first."""
    items = np.flatnonzero(~tree.ends)
    time, place = np.divmod(tree.label[items], len(marginals.places))
    visits = marginals.times.visits - np.bincount(time, counts[items], len(marginals.times.visits))
    places = marginals.places - np.bincount(place, counts[items], len(marginals.places))
    first = np.flatnonzero(tree.level == 1)
    in_tree = np.zeros(len(visits))
    np.add.at(in_tree, tree.label[first] // len(places), counts[first])
    starts = start_times(marginals.times, marginals.total(tree), in_tree)
    return np.maximum(places, 0.0), visits, starts


# Continue sequences where the tree ends, first a sample of them to calibrate the transitions.


def calibrate(
    tree: NoisyTree,
    transitions: Transitions,
    node: Integers,
    missing: int,
    wanted: Floats,
    longest: int,
    coins: np.random.Generator,
) -> Transitions:
    """Calibrate the transitions: continue a sample of sequences, and reweight places until their counts fit.

    Where a tree ends, sequences are rare ones, and their next places are not distributed as elsewhere. `wanted` is how
    often each place should follow in total.
    """
    if len(node) + missing < _LEAST:
        return transitions
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    started = int(part * missing)
    level = np.append(tree.level[few], np.zeros(started, np.int64))
    for _ in range(_SWEEPS):
        table = continue_sequences(tree, transitions, few, started, longest, coins, part=part)
        new = table[np.arange(longest) >= level[: len(table), None]]
        places = new[new >= 0].astype(np.int64) % transitions.places
        transitions = transitions.scaled(_ratio(wanted, places, part))
    return transitions


def _ratio(wanted: Floats, drawn: Integers, part: float) -> Floats:
    """The factor by which each place should be drawn more often; pseudo-counts keep that of rare places near 1."""
    number = np.bincount(drawn, minlength=len(wanted)) / part
    return np.clip((wanted + _FEW / part) / (number + _FEW / part), 0.2, 5.0)


def continue_sequences(
    tree: NoisyTree,
    transitions: Transitions,
    node: Integers,
    missing: int,
    longest: int,
    coins: np.random.Generator,
    *,
    part: float = 1.0,
) -> LabelTable:
    """Continue one sequence per entry of `node`; return the whole sequences, padded with -1.

    A sequence at an expanded node is not continued by one of the children that passed, and does not end there unless
    nothing else is left: those sequences are in the tree already. At other nodes anything may follow. Another `missing`
    sequences start with labels that did not reach the threshold. All sequences of one length are continued together;
    they are a fraction `part` of all that are continued. If visits have times, the continuation is a place alone: its
    time depends on how many visits there will be.
    """
    first = draw_first(transitions, missing, coins)
    missing = len(first)
    whole = tree.prefixes(longest)
    table = np.vstack((whole[node], np.full((missing, longest), -1, whole.dtype)))
    table[len(node) :, 0] = first
    size = np.append(tree.level[node], np.ones(missing, np.int64))
    none = np.full((ORDERS, missing), -1)
    contexts = np.hstack((transitions.contexts(tree, node), transitions.extended(none, first)))
    expanded = np.append(np.where(tree.expanded[node], node, -1), np.full(missing, -1))
    for items in range(1, longest):
        row = np.flatnonzero(size == items)
        free = expanded[row] < 0
        free[free] = draw_ends(transitions, contexts[:, row[free]], items, part, coins)
        row = row[~free]
        if not len(row):
            continue
        label = draw_next(transitions, contexts[:, row], items, expanded[row], coins)
        row, label = row[label != STOP], label[label != STOP]
        table[row, items], size[row], expanded[row] = label, items + 1, -1
        contexts[:, row] = transitions.extended(contexts[:, row], label)
    return table


def draw_first(transitions: Transitions, many: int, coins: np.random.Generator) -> Integers:
    """Draw the first label of sequences that start with a label below the threshold."""
    root = np.zeros(many, np.int64)
    sampler = RejectionSampler(transitions.places, many, coins)
    sampler.rejects.append(partial(transitions.children.contains, root))
    sampler.draw(transitions.place_weights, root)
    _draw_any_other(transitions, sampler)
    label = transitions.start_weights.sample(root, coins) * transitions.places + sampler.drawn
    return label[sampler.drawn < transitions.places]


def draw_ends(
    transitions: Transitions, contexts: Integers, items: int, part: float, coins: np.random.Generator
) -> Flags:
    """Draw which of the sequences of `items` items end; they are a fraction `part` of all such sequences.

    The probability depends on the last places. The total is the residual number of ends, if that differs
    significantly from the expectation.
    """
    chance = np.full(contexts.shape[1], transitions.end_rate)
    for keys, order in zip(contexts, transitions.orders, strict=True):
        state = order.contexts.find(keys)
        chance[state >= 0] = order.ends[state[state >= 0]]
    expected, counted = float(chance.sum()), part * float(transitions.residual_ends[items - 1])
    if len(chance) and abs(counted - expected) > _SURE * part * transitions.deviation:
        chance = np.maximum(chance, _LEAST_CHANCE)
        chance = np.minimum(1.0, chance * (counted / chance.sum()))
    return choose_systematically(chance, coins)


def draw_next(
    transitions: Transitions, contexts: Integers, items: int, node: Integers, coins: np.random.Generator
) -> Integers:
    """Draw the next place of sequences of `items` items; -1 if no place is left.

    Back-off: a place below the threshold in a long context is drawn from a shorter one, without the places that
    passed in the long one. `node` is a node whose children were asked for, or -1.
    """
    sampler = RejectionSampler(transitions.places, len(node), coins)
    sampler.rejects.append(partial(transitions.children.contains, np.where(node < 0, -1, node + 1)))
    for keys, order in reversed(list(zip(contexts, transitions.orders, strict=True))):
        if order is transitions.orders[0]:
            _draw_stay_or_return(transitions, contexts, items, sampler)
        state = np.full(len(node), -1)
        state[sampler.open] = order.contexts.find(keys[sampler.open])
        sampler.draw(order.labels, state)
        sampler.rejects.append(partial(order.known.contains, state))
    sampler.draw(transitions.place_weights, np.zeros(len(node), np.int64))
    _draw_any_other(transitions, sampler)
    return np.where(sampler.drawn == transitions.places, STOP, sampler.drawn)


def _draw_any_other(transitions: Transitions, sampler: RejectionSampler) -> None:
    """Draw any place that is not a child of the node that passed; if there is none, no place.

    First by the weights of places, then uniformly, finally by enumeration.
    """
    if not len(sampler.open):
        return
    del sampler.rejects[1:]
    everywhere, nowhere = np.arange(transitions.places), np.zeros(len(sampler.drawn), np.int64)
    sampler.draw(transitions.place_weights, nowhere)
    even = WeightedLabels.of(0 * everywhere, everywhere, np.ones(transitions.places), 1)
    for _ in range(_EVEN):
        sampler.draw(even, nowhere)
    for row in sampler.open.tolist():
        same = np.full(transitions.places, row)
        free = everywhere[~sampler.rejects[0](label=everywhere, rows=same)]
        if len(free):
            sampler.drawn[row] = sampler.coins.choice(free)


def _draw_stay_or_return(transitions: Transitions, contexts: Integers, items: int, sampler: RejectionSampler) -> None:
    """Stay, or return to the previous place, as often as the transition types say."""
    before = np.where(contexts[1] >= 0, contexts[1] // transitions.places, -1)
    ways = np.stack((contexts[0], before))
    sampler.draw(transitions.type_weights, np.full(len(before), items - 1), ways)
    sampler.rejects.append(partial(_among, ways))


def _among(ways: Integers, label: Integers, rows: Integers) -> Flags:
    return np.any(ways[:, rows] == label, axis=0)


class RejectionSampler:
    """Draws one place per sequence, from one distribution after the other; `places` means none yet."""

    def __init__(self, places: int, many: int, coins: np.random.Generator) -> None:
        self.places = places
        self.drawn = np.full(many, places)
        self.rejects: list[Callable[..., Flags]] = []
        self.coins = coins

    @property
    def open(self) -> Integers:
        """The sequences that have no place yet."""
        return np.flatnonzero(self.drawn == self.places)

    def draw(self, labels: WeightedLabels, state: Integers, ways: Integers | None = None) -> None:
        """Draw for the sequences that have no place yet, until the place is not rejected; a few times.

        A label is a place, or a row of `ways`, which has the place for each sequence; the label `places` means that the
        place is drawn from a later distribution.
        """
        open_ = self.open
        open_ = open_[state[open_] >= 0]
        for _ in range(_DRAWS):
            if not len(open_):
                return
            label = labels.sample(state[open_], self.coins)
            if ways is not None:
                way = np.minimum(label, len(ways) - 1)
                label = np.where(label < self.places, ways[way, open_], label)
            bad = np.zeros(len(label), np.bool_)
            for rejects in self.rejects:
                bad |= rejects(label=label, rows=open_)
            self.drawn[open_[~bad]] = label[~bad]
            # only rejected places are redrawn from this distribution
            open_ = open_[bad]


# Assign times to the visits of journeys whose places are drawn. The duration of a journey depends on its number of
# visits, so times are drawn after places: first the times of the last visits, by the noisy answers about durations,
# then those in between.


class Journeys(NamedTuple):
    """One journey per row, padded with -1: first labels (`time * places + place`), then places without times.

    The first `whole` visits of each journey have times. `node` is their node in the tree if it was expanded, or -1.
    `begun` marks the journeys that start with a visit that is not in the tree.
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
        """The last assigned time of each."""
        label = self.table[np.arange(len(self.table)), self.whole - 1]
        return (label // self.places).astype(np.int64)

    def only(self, rows: Integers) -> Journeys:
        """A copy of some of them."""
        table, whole, node, begun, places = self
        return Journeys(table[rows], whole[rows], node[rows], begun[rows], places)

    def going(self) -> Journeys:
        """The journeys that have visits without times."""
        return self.only(np.flatnonzero(self.size > self.whole))

    def cut(self, size: Integers) -> Journeys:
        """Truncate each journey to a number of visits."""
        late = np.arange(int(self.table.shape[1])) >= size[:, None]
        return self._replace(table=np.where(late, -1, self.table))


@dataclass(frozen=True, eq=False)
class TimeAssignment:
    """The assignment of times to visits that are not in the tree.

    `residual_visits` are the noisy visits by time minus those in the tree; `gap` is the least time between visits.
    """

    times: TimeAnswers
    residual_visits: Floats
    gap: int
    coins: np.random.Generator

    def fill(self, journeys: Journeys, tree: NoisyTree, redraw: Callable[[Integers], LabelTable]) -> LabelTable:
        """Assign a time to every visit; a journey for which no time is left ends.

        A journey that is continued from a node of the tree must not continue with a child of that node that passed:
        those journeys are in the tree already. If other times do not help, `redraw` draws its places again from the
        same node.
        """
        journeys = self._cut_to_fit(self._redraw_first_times(journeys))
        rest = self.residual_visits - self._by_time(journeys.first[journeys.begun])
        popular = self._calibrate_inner_times(journeys.going(), rest)
        table = self._assign(journeys, rest, popular)
        below = tree.parent >= 0
        children = PairSet.of(tree.parent[below], tree.label[below], tree.size + 1)
        for trial in range(_TRIALS):
            rows = np.flatnonzero(_continues_in_tree(journeys, table, children))
            if not len(rows):
                return table
            fresh = journeys.only(rows)
            if trial >= _TRIALS // 2:
                fresh = self._cut_to_fit(fresh._replace(table=redraw(rows)))
            table[rows] = self._assign(fresh, rest, popular)
        stop = np.where(_continues_in_tree(journeys, table, children), journeys.whole, table.shape[1])
        return journeys._replace(table=table).cut(stop).table

    def _cut_to_fit(self, journeys: Journeys) -> Journeys:
        """Truncate journeys to as many visits as there are times left."""
        if not self.gap:
            return journeys
        return journeys.cut(journeys.whole + (len(self.residual_visits) - 1 - journeys.now) // self.gap)

    def _by_time(self, time: Integers) -> Integers:
        return np.bincount(time, minlength=len(self.residual_visits))

    def _redraw_first_times(self, journeys: Journeys) -> Journeys:
        """Redraw the first times of journeys that are not in the tree, by their numbers of visits."""
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

    def _draw_last_times(self, journeys: Journeys, rest: Floats) -> Integers:
        """Draw the last time of each journey, late enough for all visits before it."""
        sizes = size_class(journeys.size, int(journeys.table.shape[1]))
        keys = sizes * len(rest) + journeys.first
        states, state = np.unique(keys, return_inverse=True)
        size, first = np.divmod(states, len(rest))
        labels = WeightedLabels.of_rows(last_times(self.times, rest, size, first))
        least = journeys.now + self.gap * (journeys.size - journeys.whole)
        return labels.sample(state, self.coins, least)

    def _calibrate_inner_times(self, journeys: Journeys, rest: Floats) -> Floats:
        """The popularity of each time between the first and the last visit, calibrated in trials.

        The model is that inner visits are distributed over time as first and last visits are; the noisy answers correct
        it where they differ significantly.
        """
        last = self._draw_last_times(journeys, rest)
        ends = self._by_time(last)
        both = self._by_time(journeys.first) + ends
        inner = journeys.size - journeys.whole - 1
        total = np.array([float(inner.sum())])
        model = total * both / max(1, int(both.sum()))
        wanted = shrink_table(rest - ends, model, self.times.visit_scale)
        wanted = project_to_simplex(wanted[None, :], total)[0]
        popular = wanted + _LITTLE * wanted.mean() + np.finfo(np.float64).tiny
        few = np.flatnonzero(inner > 0)
        few = few[self.coins.permutation(len(few))[:_TRIAL_SIZE]]
        if not len(few):
            return popular
        part, trial = float(inner[few].sum() / total[0]), journeys.only(few)
        for _ in range(_TIME_SWEEPS):
            drawn = self._by_time(self._draw_inner_times(trial, last[few], popular)[1]) / part
            ratio = (wanted + _FEW_TIMES / part) / (drawn + _FEW_TIMES / part)
            popular = popular * np.clip(ratio, 0.2, 5.0)
        return popular

    def _draw_inner_times(self, journeys: Journeys, last: Integers, popular: Floats) -> tuple[Integers, Integers]:
        """Draw all inner times, in order: the journey of each, and the time.

        After subtracting `gap` for every previous visit, times that are at least `gap` apart become arbitrary times.
        """
        many = journeys.size - journeys.whole - 1
        row = concatenate_ranges(np.zeros_like(many), many)[1]
        upto = np.append(0.0, np.cumsum(on_grid(popular)))
        low, high = journeys.now[row], (last - self.gap * (many + 1))[row]
        point = upto[low] + self.coins.random(len(row)) * (upto[high + 1] - upto[low])
        time = np.clip(np.searchsorted(upto, point, "right") - 1, low, high)
        time = time[np.lexsort((time, row))]
        return row, time + self.gap * (1 + number_within_groups(row))

    def _assign(self, journeys: Journeys, rest: Floats, popular: Floats) -> LabelTable:
        """The table, with times for all visits that had none."""
        table, rows = journeys.table.copy(), np.flatnonzero(journeys.size > journeys.whole)
        going = journeys.only(rows)
        last = self._draw_last_times(going, rest)
        row, time = self._draw_inner_times(going, last, popular)
        at = going.whole[row] + number_within_groups(row)
        table[rows[row], at] += (time * journeys.places).astype(table.dtype)
        table[rows, going.size - 1] += (last * journeys.places).astype(table.dtype)
        return table


def _continues_in_tree(journeys: Journeys, table: LabelTable, children: PairSet) -> Flags:
    """Which journeys continue with a visit that is in the tree."""
    at = np.minimum(journeys.whole, int(table.shape[1]) - 1)
    label = table[np.arange(len(table)), at].astype(np.int64)
    return (journeys.whole == at) & children.contains(journeys.node, label)
