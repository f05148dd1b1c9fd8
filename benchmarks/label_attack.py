"""An attacker who knows exact visits of somebody, and reads all of a published line: how many records are left.

Scenario: the attacker knows up to L visits (place and time) of one record, and how the release was made. In each
published line every known visit must lie under a label. If labels stood in the order of the first visits that they
stand for, as earlier versions published them, a line would tell more: the first visit under a label is not before the
bin of any label that stands before it. Success is a set of visits with fewer persons left than K.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, choose_from_lists, number_tuples
from hedgerow.numerics.arrays import concatenate_ranges, group_equal, sort_distinct

Integers: TypeAlias = NDArray[np.int64]


class Lines(NamedTuple):
    """Published lines as the attacker reads them: of each label its record, and how early its visits may be."""

    record: Integers
    label: Integers
    begin: Integers
    #: no visit under the label is earlier: the start of its bin, or of the bin of a label that stands before it
    earliest: Integers
    owner: Integers
    records: int


class Knowledge(NamedTuple):
    """All sets of so many visits of a record, as rows: their record, their names, and their labels with times."""

    record: Integers
    names: Integers
    labels: Integers
    times: Integers


def attack(
    visits: FineVisits, released: CoarseTrajectories, k: int, longest: int, *, by_visits: bool = False
) -> dict[str, int]:
    """Count the sets of up to `longest` visits that leave fewer than `k` persons, and how many are left at least."""
    lines = _read(visits, released, by_visits=by_visits)
    covering, left_over = _cover(visits, lines), _Left(visits, lines)
    counts = {"sets": 0, "below K": 0, "smallest": len(visits.owner), "records": 0}
    victims: list[Integers] = [np.zeros(0, np.int64)]
    for size in range(1, longest + 1):
        known = _knowledge(visits, lines, covering, size)
        _, at = group_equal(number_tuples(list(known.names.T))[0])
        counts["sets"] += int(at.max(initial=-1)) + 1
        exposed = _below(lines, known, k)
        groups: dict[tuple[int, ...], int] = {}
        left = np.zeros(len(exposed), np.int64)
        for number, row in enumerate(exposed.tolist()):
            name = tuple(known.names[row].tolist())
            if name not in groups:
                groups[name] = left_over.count(name)
            left[number] = groups[name]
        below = {name: persons for name, persons in groups.items() if persons < k}
        counts["below K"] += len(below)
        counts["smallest"] = min([counts["smallest"], *below.values()])
        victims.append(known.record[exposed[left < k]])
    counts["records"] = len(np.unique(np.concatenate(victims)))
    return counts if counts["below K"] else {**counts, "smallest": k}


def _read(visits: FineVisits, released: CoarseTrajectories, *, by_visits: bool) -> Lines:
    """Read the lines; with `by_visits`, the order of labels is taken for that of the first visits."""
    record = np.repeat(np.arange(len(released)), np.diff(released.starts))
    _, _, level, number = visits.levels.split(released.labels)
    begin = number * np.array(visits.levels.times.widths, np.int64)[level] // visits.levels.times.widths[0]
    earliest = begin
    if by_visits:
        ticks = int(begin.max(initial=0)) + 1
        earliest = np.maximum.accumulate(record * ticks + begin) - record * ticks
    return Lines(record, released.labels, begin, earliest, visits.owner, len(released))


def _cover(visits: FineVisits, lines: Lines) -> Integers:
    """The position of the label that covers each visit in the line of its record; -1 if none does."""
    result = np.full(len(visits), -1, np.int64)
    for codes, keys, order in _labels_of(visits, lines):
        at = np.minimum(np.searchsorted(keys, codes), max(0, len(keys) - 1))
        found = keys[at] == codes
        result[found] = order[at[found]]
    return result


def _labels_of(visits: FineVisits, lines: Lines) -> list[tuple[Integers, Integers, Integers]]:
    """For each pair of levels: record and label of each visit as one number, and those of the lines, sorted."""
    most = int(visits.levels.offsets[-1])
    order = np.argsort(lines.record * most + lines.label)
    keys = (lines.record * most + lines.label)[order]
    everything = np.arange(len(visits))
    return [
        (visits.record * most + visits.label(place, time, everything), keys, order)
        for place in range(len(visits.regions))
        for time in range(len(visits.bins))
        if len(keys)
    ]


def _knowledge(visits: FineVisits, lines: Lines, covering: Integers, size: int) -> Knowledge:
    """All sets of `size` visits of a record that are under its labels; visits under one label count as the earliest."""
    known = np.flatnonzero(covering >= 0)
    sizes = np.bincount(visits.record[known], minlength=len(visits.owner))
    of, at = choose_from_lists(sizes, size)
    rows = known[at]
    label, time = lines.label[covering[rows]], visits.bins[0][rows]
    for earlier in range(size):
        for later in range(earlier + 1, size):
            same = label[:, earlier] == label[:, later]
            time[same, earlier] = np.minimum(time[same, earlier], time[same, later])
            label[same, later] = -1
    order = np.argsort(-label, axis=1, kind="stable")
    names = visits.place[rows] * (int(visits.bins[0].max(initial=0)) + 1) + visits.bins[0][rows]
    return Knowledge(
        of, np.sort(names, axis=1), np.take_along_axis(label, order, axis=1), np.take_along_axis(time, order, axis=1)
    )


def _below(lines: Lines, known: Knowledge, k: int) -> Integers:
    """The rows of knowledge under whose labels fewer than `k` persons are left; the same labels are looked at once."""
    exposed = [np.zeros(0, np.int64)]
    different = (known.labels >= 0).sum(axis=1)
    order = np.lexsort((-lines.label, lines.record))  # as the rows of knowledge
    sizes = np.bincount(lines.record, minlength=lines.records)
    for number in np.unique(different).tolist():
        rows = np.flatnonzero(different == number)
        of, at = choose_from_lists(sizes, number)
        held = order[at]
        columns = [np.concatenate((lines.label[held][:, c], known.labels[rows, c])) for c in range(number)]
        code, codes = number_tuples(columns)
        holding, asked = code[: len(of)], code[len(of) :]
        free = (lines.earliest[held] == lines.begin[held]).all(axis=1)
        pairs = sort_distinct(holding[free] * (int(lines.owner.max()) + 1) + lines.owner[of[free]])
        persons = np.bincount(pairs // (int(lines.owner.max()) + 1), minlength=codes)
        doubtful = rows[persons[asked] < k]
        by_code = np.argsort(holding, kind="stable")
        ends = np.cumsum(np.bincount(holding, minlength=codes))
        of_row = dict(zip(rows.tolist(), asked.tolist(), strict=True))
        seen: dict[tuple[int, ...], bool] = {}
        kept = np.zeros(len(doubtful), np.bool_)
        for position, row in enumerate(doubtful.tolist()):
            which, times = of_row[row], known.times[row, :number]
            key = (which, *times.tolist())
            if key not in seen:
                mine = by_code[(ends[which - 1] if which else 0) : ends[which]]
                left = (lines.earliest[held[mine]] <= times).all(axis=1)
                seen[key] = len(np.unique(lines.owner[of[mine[left]]])) < k
            kept[position] = seen[key]
        exposed.append(doubtful[kept])
    return np.concatenate(exposed)


class _Left:
    """Counts the persons of the lines that hold some visits, under labels of whatever levels."""

    def __init__(self, visits: FineVisits, lines: Lines) -> None:
        self.visits, self.lines = visits, lines
        self.by_label = np.argsort(lines.label, kind="stable")
        self.labels = lines.label[self.by_label]
        self.ticks = int(visits.bins[0].max(initial=0)) + 1
        names, self.some = np.unique(visits.place * self.ticks + visits.bins[0], return_index=True)
        self.number = {name: number for number, name in enumerate(names.tolist())}
        self.known: dict[int, Integers] = {}

    def count(self, names: Sequence[int]) -> int:
        """Count the persons whose lines hold all of these visits."""
        left = self.records(names[0])
        for name in names[1:]:
            left = np.intersect1d(left, self.records(name), assume_unique=True)
        return len(np.unique(self.lines.owner[left]))

    def records(self, name: int) -> Integers:
        """The lines that hold a visit."""
        if name not in self.known:
            visit, levels = self.some[self.number[name], None], self.visits
            pairs = [(place, time) for place in range(len(levels.regions)) for time in range(len(levels.bins))]
            labels = np.concatenate([levels.label(place, time, visit) for place, time in pairs])
            first, last = (np.searchsorted(self.labels, labels, side) for side in ("left", "right"))
            at = self.by_label[concatenate_ranges(first, last)[0]]
            self.known[name] = np.unique(self.lines.record[at[self.lines.earliest[at] <= name % self.ticks]])
        return self.known[name]
