"""Give labels to visits: peel or grow at one pair of levels, climb for what is lost, refine groups.

Steps in the order in which the method takes them. Each leaves a labelling that keeps the promise; within suppression
alone it does not hold yet.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple, TypeAlias

import numpy as np

from hedgerow import progress
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, Items, Occurrences, Support
from hedgerow.numerics.arrays import Flags, Floats, Integers, concatenate_ranges, group_equal
from hedgerow.numerics.rounding import on_count_grid
from hedgerow.numerics.sorting import order_of_lists

#: a level of places and a level of times
Node: TypeAlias = tuple[int, int]
#: how much a pair that does not violate counts against deleting one of its items
_PULL = 0.5
_PAIR = 2


class Labelling:
    """The labels so far, by visit.

    `label[v]` is the label whose first visit is `v`, or -1. `slot[v]` is the first visit of the label that stands for
    visit `v`, or -1.
    """

    def __init__(self, visits: int) -> None:
        self.label = np.full(visits, -1, np.int64)
        self.slot = np.full(visits, -1, np.int64)

    def lost(self) -> Integers:
        """The visits that no label stands for."""
        return np.flatnonzero(self.slot < 0)

    def represent(self, items: Items) -> None:
        """Let the items whose first visit has a label stand for all of their visits."""
        first = items.first[items.item]
        given = self.label[first] >= 0
        self.slot[items.visit[given]] = first[given]


# ---- peel: suppression that keeps pairs together, then giving back


def peel(visits: FineVisits, support: Support, node: Node, coins: np.random.Generator) -> Labelling:
    """Recode all visits to one pair of levels, delete until no sequence violates, then give back what is possible.

    Labels are first given back to records that have one left, which makes pairs, then to all.
    """
    labelling = Labelling(len(visits))
    items = visits.recode(*node)
    labelling.label[items.first] = items.label
    ties = _draw_ties(visits, items, coins)
    listed: list[_Listed] = []
    for length in range(1, support.longest + 1):
        listed.append(_Listed(*support.sequences_of(labelling.label, length)))
        while _delete_shortest(support, labelling, listed, ties):
            progress.tell("suppressing")
    del listed
    filled = np.zeros(len(visits.owner), np.bool_)
    filled[visits.record[labelling.label >= 0]] = True
    give_back(visits, support, labelling, items, only=filled)
    give_back(visits, support, labelling, items)
    labelling.represent(items)
    return labelling


def _draw_ties(visits: FineVisits, items: Items, coins: np.random.Generator) -> Floats:
    """A random number for each recoded record and item: records with equal items choose alike, whoever owns them."""
    ties = np.zeros(len(visits))
    sizes = np.bincount(visits.record[items.first], minlength=len(visits.owner))
    starts = np.cumsum(sizes) - sizes
    occurring: list[int] = np.unique(sizes[sizes > 0]).tolist()
    for size in occurring:
        at = starts[np.flatnonzero(sizes == size)][:, None] + np.arange(size)
        order = order_of_lists(items.label[at])
        ordered = items.label[at[order]]
        new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        drawn = coins.random((int(new.sum()), size))
        ties[items.first[at[order]]] = drawn[np.cumsum(new) - 1]
    return ties


class _Listed:
    """The occurrences of all sequences of one length, and their slots; what was deleted is taken off.

    Deleting changes no label, so sequences are numbered once.
    """

    def __init__(self, occurrences: Occurrences, slots: Integers) -> None:
        self.sequence, self.record, self.sequences = occurrences
        self.slots = slots

    def take_off(self, labelling: Labelling) -> None:
        """Keep the occurrences all of whose items are there."""
        left = np.logical_and.reduce([labelling.label[column] >= 0 for column in self.slots.T])
        if not left.all():
            self.sequence, self.record, self.slots = self.sequence[left], self.record[left], self.slots[left]


def _delete_shortest(support: Support, labelling: Labelling, listed: list[_Listed], ties: Floats) -> bool:
    """Resolve the shortest violating sequences, in all records at once; return whether there were any."""
    for sequences in listed:
        sequences.take_off(labelling)
        violating = support.violating(sequences.sequence, sequences.record, sequences.sequences)
        bad = violating[sequences.sequence]
        if bad.any():
            if sequences.slots.shape[1] == 1:
                labelling.label[sequences.slots[bad, 0]] = -1
            else:
                _delete_best(labelling, sequences.slots, bad, sequences.record, ties)
            return True
    return False


def _delete_best(labelling: Labelling, slots: Integers, bad: Flags, record: Integers, ties: Floats) -> None:
    """In each record, delete the item with the best score, until no violating sequence is left whole."""
    pull = np.zeros(len(ties))
    if slots.shape[1] == _PAIR:
        for column in slots[~bad].T:
            pull += _PULL * np.bincount(column, minlength=len(ties))
    slots, record = slots[bad], record[bad]
    while len(slots):
        touched, at = group_equal(slots.ravel())
        score = np.bincount(at) - pull[touched]
        of = np.empty(len(touched), np.int64)
        of[at] = np.repeat(record, slots.shape[1])
        order = np.lexsort((ties[touched], score, of))
        last = np.append(of[order][1:] != of[order][:-1], True)
        labelling.label[touched[order[last]]] = -1
        whole = (labelling.label[slots] >= 0).all(axis=1)
        slots, record = slots[whole], record[whole]


# ---- grow, and give back: a label goes to all records for which its sequences are safe, or to none of them


def grow(visits: FineVisits, support: Support, node: Node) -> Labelling:
    """Recode all visits to one pair of levels, and start from nothing: give each item back to those it is safe for."""
    labelling = Labelling(len(visits))
    items = visits.recode(*node)
    give_back(visits, support, labelling, items)
    labelling.represent(items)
    return labelling


def give_back(
    visits: FineVisits, support: Support, labelling: Labelling, items: Items, *, only: Flags | None = None
) -> None:
    """Offer each label of the items to the records that lost it, the most frequent first; ties by bin, then region.

    With `only`, it is offered to these records alone.
    """
    distinct, at = group_equal(items.label)
    persons = support.count(at, visits.record[items.first], len(distinct))
    by_label = np.argsort(at, kind="stable")
    ends = np.cumsum(np.bincount(at, minlength=len(distinct)))
    _, region, _, number = visits.levels.split(distinct)
    order = np.lexsort((region, number, -persons))
    order = order[persons[order] >= support.k]
    for done, which in enumerate(order.tolist()):
        progress.tell("giving labels", done, len(order))
        slots = items.first[by_label[(ends[which - 1] if which else 0) : ends[which]]]
        lost = labelling.label[slots] < 0
        if only is not None:
            taken = ~lost | only[visits.record[slots]]
            slots, lost = slots[taken], lost[taken]
        given = keep_supported(support, labelling, slots, lost)
        labelling.label[slots[given]] = distinct[which]


def keep_supported(support: Support, labelling: Labelling, slots: Integers, candidate: Flags) -> Flags:
    """Assume that a label stands at all slots, one per record, and drop candidates until no sequence violates.

    A sequence that violates drops all candidates that hold it: they get the label as a group, or not at all.
    """
    kept = np.ones(len(slots), np.bool_)
    record = support.visits.record[slots]
    counted: list[Occurrences] = []
    for others in range(support.longest):
        left = np.flatnonzero(kept)
        if not np.any(candidate[left]):
            break
        sequence, holder, sequences = support.sequences_with(labelling.label, slots[left], others)
        counted.append(Occurrences(sequence, left[holder], sequences))
        while _drop(support, counted, record, kept, candidate):
            pass
    return kept & candidate


def _drop(support: Support, counted: list[Occurrences], record: Integers, kept: Flags, candidate: Flags) -> bool:
    """Drop the candidates that hold a violating sequence; return whether there were any."""
    dropped = False
    for sequence, holder, sequences in counted:
        present = kept[holder]
        sequence_, holder_ = sequence[present], holder[present]
        bad = support.violating(sequence_, record[holder_], sequences)
        if bad.any():
            losers = holder_[bad[sequence_]]
            losers = losers[candidate[losers]]
            kept[losers] = False
            dropped = dropped or len(losers) > 0
    return dropped


# ---- climb: coarser labels for what is lost


def climb(visits: FineVisits, support: Support, labelling: Labelling, node: Node, coarsest: Node) -> None:
    """Give coarser labels to what is lost: larger regions first, then regions in the longest bin."""
    (place, time), (last_place, last_time) = node, coarsest
    levels = [(level, time) for level in range(place + 1, last_place + 1)]
    if time < last_time:
        levels += [(level, last_time) for level in range(place, last_place + 1)]
    for level in levels:
        lost = labelling.lost()
        free = lost[~_overlaps(visits, labelling, lost, level)]
        items = visits.items(*level, free)
        give_back(visits, support, labelling, items)
        labelling.represent(items)


def _overlaps(visits: FineVisits, labelling: Labelling, lost: Integers, node: Node) -> Flags:
    """Whether the label of a lost visit on these levels overlaps a label that its record has.

    Levels nest, so two labels overlap if they are alike on the coarser of their levels of places, and on the coarser
    of their levels of times.
    """
    record = visits.record[lost]
    where, of = concatenate_ranges(visits.starts[record], visits.starts[record + 1])
    present = labelling.label[where] >= 0
    where, of = where[present], of[present]
    place_level, _, time_level, _ = visits.levels.split(labelling.label[where])
    place_level, time_level = np.maximum(place_level, node[0]), np.maximum(time_level, node[1])
    alike = np.ones(len(where), np.bool_)
    for level, columns in ((place_level, visits.regions), (time_level, visits.bins)):
        for number in np.unique(level).tolist():
            here = level == number
            alike[here] &= columns[number][where[here]] == columns[number][lost[of[here]]]
    overlapping = np.zeros(len(lost), np.bool_)
    overlapping[of[alike]] = True
    return overlapping


# ---- refine: split the group of a label by its children as far as the promise allows


def refine(visits: FineVisits, support: Support, labelling: Labelling) -> None:
    """Take labels, the largest group first, and refine the holders that can be, in place or in time."""
    groups = _Groups(visits, support, labelling)
    while groups.queue:
        progress.tell("refining", len(visits) - len(groups.queue), len(visits))
        label = groups.pop()
        if label is None:
            continue
        slots = groups.slots[label]
        split = groups.whole(label, slots) or groups.best(label, slots)
        if split is not None:
            groups.relabel(label, slots, split)


class _Split(NamedTuple):
    """Which holders of a label are refined, to which child, and what is gained."""

    chosen: Flags
    child: Integers
    gain: float


class _Groups:
    """The holders of each label, as slots, and the queue of labels."""

    def __init__(self, visits: FineVisits, support: Support, labelling: Labelling) -> None:
        self.visits, self.support, self.labelling = visits, support, labelling
        self.finest = _finest_levels(visits, labelling)
        given = np.flatnonzero(labelling.label >= 0)
        labels, at = group_equal(labelling.label[given])
        ends = np.cumsum(np.bincount(at, minlength=len(labels)))[:-1]
        parts = np.split(given[np.argsort(at, kind="stable")], ends)
        self.slots: dict[int, Integers] = dict(
            zip(labels.tolist(), parts, strict=False)
        )  # of nothing there is one part
        self.queue: list[tuple[int, int]] = []
        for label in self.slots:
            self.push(label)

    def push(self, label: int) -> None:
        """Queue a label; labels of the same size come in the order of their numbers."""
        heapq.heappush(self.queue, (-len(self.slots[label]), label))

    def pop(self) -> int | None:
        """Take the label of the largest group; None if it was queued again with another size."""
        size, label = heapq.heappop(self.queue)
        return label if -size == len(self.slots.get(label, ())) else None

    def children(self, label: int, slots: Integers) -> list[tuple[Flags, Integers, float, Integers]]:
        """For each dimension with a finer level: who can be refined, to what, the size of the label and of each."""
        place_level, region, time_level, _ = (int(part[0]) for part in self.visits.levels.split(np.array([label])))
        levels, dimensions = self.visits.levels, list[tuple[Flags, Integers, float, Integers]]()
        if place_level:
            can = self.finest[0][slots] < place_level
            child = self.visits.label(place_level - 1, time_level, slots)
            sizes = levels.places[place_level - 1].sizes[self.visits.regions[place_level - 1][slots]]
            dimensions.append((can, child, float(levels.places[place_level].sizes[region]), sizes))
        if time_level:
            can = self.finest[1][slots] < time_level
            child = self.visits.label(place_level, time_level - 1, slots)
            sizes = np.full(len(slots), levels.times.widths[time_level - 1])
            dimensions.append((can, child, float(levels.times.widths[time_level]), sizes))
        return dimensions

    def whole(self, label: int, slots: Integers) -> _Split | None:
        """If all holders have the same child, the group does not change, and nothing has to be counted."""
        for can, child, _, _ in self.children(label, slots):
            if can.all() and np.all(child == child[0]):
                return _Split(can, child, 0.0)
        return None

    def best(self, label: int, slots: Integers) -> _Split | None:
        """The dimension with the larger gain, if one has any; place wins a tie."""
        support = self.support
        if self.visits.one_record_each and len(slots) < 2 * support.k:
            return None  # neither part would be large enough
        record = self.visits.record[slots]
        counted: list[Occurrences] = []
        splits: list[_Split] = []
        for can, child, size, sizes in self.children(label, slots):
            _, number = group_equal(child)
            children = int(number.max()) + 1
            persons = support.count(number[can], record[can], children)
            chosen = can & (persons >= support.k)[number]
            if not chosen.any():
                continue
            counted = counted or [
                support.sequences_with(self.labelling.label, slots, others) for others in range(support.longest)
            ]
            chosen = _largest_part(support, counted, record, number, chosen)
            gain = float(on_count_grid(np.log(size / sizes[chosen])).sum())
            splits.append(_Split(chosen, child, gain))
        best = max(splits, key=lambda split: split.gain, default=None)
        return best if best is not None and best.gain > 0 else None

    def relabel(self, label: int, slots: Integers, split: _Split) -> None:
        """Give the children to those who are refined, and queue them and the rest again."""
        chosen, child = slots[split.chosen], split.child[split.chosen]
        self.labelling.label[chosen] = child
        for number in np.unique(child).tolist():
            own = self.slots.get(number, np.zeros(0, np.int64))
            self.slots[number] = np.sort(np.concatenate((own, chosen[child == number])))
            self.push(number)
        self.slots[label] = slots[~split.chosen]
        if len(self.slots[label]):
            self.push(label)
        else:
            del self.slots[label]


def _largest_part(
    support: Support, counted: list[Occurrences], record: Integers, child: Integers, chosen: Flags
) -> Flags:
    """Shrink the holders that are refined until neither their sequences nor those of the rest violate."""
    chosen, children = chosen.copy(), int(child.max()) + 1
    with_child: list[Occurrences] = []
    for sequence, holder, _ in counted:
        distinct, at = group_equal(sequence * children + child[holder])
        with_child.append(Occurrences(at, holder, len(distinct)))
    shrinking = True
    while shrinking and chosen.any():
        shrinking = False
        for (sequence, holder, sequences), (refined, _, refinements) in zip(counted, with_child, strict=True):
            inside = chosen[holder]
            mine, rest = holder[inside], holder[~inside]
            bad = support.violating(refined[inside], record[mine], refinements)[refined[inside]]
            short = support.violating(sequence[~inside], record[rest], sequences)
            bad |= short[sequence[inside]]
            if bad.any():
                chosen[mine[bad]] = False
                shrinking = True
    return chosen


def _finest_levels(visits: FineVisits, labelling: Labelling) -> tuple[Integers, Integers]:
    """The finest level of places, and of times, on which all visits that a label stands for agree, by slot."""
    stood = np.flatnonzero(labelling.slot >= 0)
    slot = labelling.slot[stood]
    result: list[Integers] = []
    for columns in (visits.regions, visits.bins):
        finest = np.zeros(len(visits), np.int64)
        for level, column in enumerate(columns):
            finest[slot[column[stood] != column[slot]]] = level + 1
        result.append(finest)
    return result[0], result[1]
