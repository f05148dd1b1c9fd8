"""Finer labels where they hold: split the group of a label by its children as far as the promise allows."""

from __future__ import annotations

import heapq
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import group_equal
from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits, Labelling
from hedgerow.publishers.trajectories.kcl_generalisation.support import Occurrences, Support
from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["refine"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class _Split(NamedTuple):
    """Which holders of a label are refined, to which child, and what is gained."""

    chosen: Flags
    child: Integers
    gain: float


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
                support.sequences_with(self.labelling, slots, others) for others in range(support.longest)
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
