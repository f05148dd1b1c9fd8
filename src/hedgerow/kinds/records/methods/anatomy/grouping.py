"""Groups of records: parts of similar size, a seed and the records that join it at the least cost (Algorithm 6 [1]_).

A *joiner* says what becomes of a group that a record joins: by first fit, or by an assignment. Of two trees no more
vertices can be matched than the smaller number of each type (`ShapeBound`), which excludes most candidates.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from hedgerow.kinds.records.anatomy import Grouping
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.clustree.representative import (
    ChildRanges,
    Forest,
    Representative,
    VertexArrays,
)
from hedgerow.numerics.arrays import Flags, Floats, Integers, index_ranges, number_within_groups

#: to how many decimals costs are compared, so that equal shares of records are equal
_DECIMALS = 9
_TOLERANCE = 1e-9
#: how many candidates are evaluated at once, at most
_MOST = 1024
#: how many pairs of vertices are evaluated at once, which bounds the memory
_PAIRS = 4_000_000
#: so many of the largest subtrees are compared one by one in the bound
_LARGEST = 48


class Joiner(Protocol):
    """What becomes of one group that a record joins."""

    @property
    def batch(self) -> int:
        """How many candidates are evaluated at first: few are pruned better, many need fewer calls."""
        ...

    def joinable(self) -> Flags:
        """Which records may join at all."""
        ...

    def overlaps(self, records: Integers) -> Integers:
        """How many vertices of the group are left if each of these records joins; 0 if it cannot."""
        ...

    def merged(self, record: int) -> Representative:
        """The group after a record has joined."""
        ...


#: makes the joiner of a group that shall have so many members
MakeJoiner: TypeAlias = Callable[[Representative, int], Joiner]


class Groups(NamedTuple):
    """Groups, and the records that are in none."""

    groups: list[Representative]
    leftovers: list[int]


# How many vertices two trees may have in common.


class ShapeBound:
    """At most how many vertices of a record can be matched with those of a group, by the numbers of their vertices.

    Matched vertices of a type are at most as many as either tree has. Those below matched vertices of another type
    are at most the sum of the smaller numbers if both sides are sorted by their numbers, the largest first.
    """

    def __init__(self, forest: Forest) -> None:
        self._parents = forest.schema.parents
        types = [arrays.parent for arrays in forest.types]
        widths = [1] * len(types)
        for number, parent in enumerate(types):
            record = _ancestors(self._parents, types, number, 0) if number else parent
            widths[number] = min(_LARGEST, int(np.bincount(record).max(initial=0))) + 1
        self._widths = widths
        self.records = self._profiles(types, len(forest))

    def profile(self, group: Representative) -> Integers:
        """The numbers of vertices of a group."""
        return self._profiles([positions.parent for positions in group.types], 1)[0]

    def overlaps(self, profile: Integers, others: Integers) -> Integers:
        """At most how many vertices of a tree of this profile can be matched with each of the others."""
        common = np.minimum(others, profile)
        total = np.zeros(len(common), np.int64)
        column = 0
        for number in range(len(self._parents)):
            most = common[:, column].copy()
            column += 1
            for above in self._above(number):
                np.minimum(most, common[:, column : column + self._widths[above]].sum(axis=1), out=most)
                column += self._widths[above]
            total += most
        return total

    def _above(self, number: int) -> list[int]:
        """The types above a type, without the root."""
        above: list[int] = []
        while self._parents[number] > 0:
            number = self._parents[number]
            above.append(number)
        return above

    def _profiles(self, types: Sequence[Integers], records: int) -> Integers:
        columns: list[Integers] = []
        for number in range(len(types)):
            owner = _ancestors(self._parents, types, number, 0)
            columns.append(np.bincount(owner, minlength=records)[:, None])
            for above in self._above(number):
                below = np.bincount(_ancestors(self._parents, types, number, above), minlength=len(types[above]))
                owner = _ancestors(self._parents, types, above, 0)
                order = np.lexsort((-below, owner))
                place = np.minimum(number_within_groups(owner[order]), self._widths[above] - 1)
                sorted_counts = np.zeros((records, self._widths[above]), np.int64)
                np.add.at(sorted_counts, (owner[order], place), below[order])
                columns.append(sorted_counts)
        return np.hstack(columns)


def _ancestors(parents: Sequence[int], types: Sequence[Integers], number: int, above: int) -> Integers:
    """The row of the ancestor of type `above` of each vertex of a type."""
    row = np.arange(len(types[number]))
    while number != above:
        row = types[number][row]
        number = parents[number]
    return row


# One group.


@dataclass(frozen=True, eq=False)
class GroupSearch:
    """How groups of some records are built.

    Parameters
    ----------
    forest
        The records.
    size
        The number of members of a group.
    make_joiner
        What becomes of a group that a record joins.
    relative
        Whether the suppressed share of each tree counts, instead of the number of suppressed vertices.
    """

    forest: Forest
    size: int
    make_joiner: MakeJoiner
    relative: bool = False

    @cached_property
    def bound(self) -> ShapeBound:
        """The shapes of the records."""
        return ShapeBound(self.forest)

    @cached_property
    def vertices(self) -> Integers:
        """The number of vertices of each record."""
        types = [arrays.parent for arrays in self.forest.types]
        owners = [_ancestors(self.forest.schema.parents, types, number, 0) for number in range(len(types))]
        return np.bincount(np.concatenate(owners), minlength=len(self.forest))

    @cached_property
    def worth(self) -> Floats:
        """What a vertex of each record is worth."""
        return 1 / self.vertices if self.relative else np.ones(len(self.forest))

    def create(self, seed: int, free: Flags) -> Representative | None:
        """Build a group of a seed and free records, or nothing if none can join, or rules leave nothing."""
        free = free.copy()
        group = Representative.of_record(self.forest, seed)
        while len(group.members) < self.size:
            free[group.members] = False
            joiner = self.make_joiner(group, self.size)
            nearest = self.nearest(group, joiner, free)
            if nearest is None:
                return None
            group = joiner.merged(nearest)
            if not count_positions(group):
                return None
        return group

    def nearest(self, group: Representative, joiner: Joiner, free: Flags) -> int | None:
        """The free record that joins at the least cost.

        The cost is the suppressed vertices of all members: of a record that joins, all that are not matched, and of
        the others what they lose, up to what is the same for all candidates. Candidates are evaluated from the least
        possible cost on; of equal costs the first one is taken.
        """
        candidates = np.flatnonzero(free & joiner.joinable())
        if not len(candidates):
            return None
        worth = self.worth[group.members].sum() + self.worth[candidates]
        alone = self.worth[candidates] * self.vertices[candidates]
        overlaps = self.bound.overlaps(self.bound.profile(group), self.bound.records[candidates])
        lower: Floats = (alone - worth * overlaps).round(_DECIMALS)
        order = np.argsort(lower, kind="stable")
        best, nearest, start, batch_size = np.inf, None, 0, joiner.batch
        while start < len(order) and lower[order[start]] < best - _TOLERANCE:
            batch = self._batch(group, candidates, order[start : start + batch_size])
            start, batch_size = start + len(batch), min(4 * batch_size, _MOST)
            kept = joiner.overlaps(candidates[batch])
            costs = np.where(kept > 0, alone[batch] - worth[batch] * kept, np.inf)
            least = int(costs.argmin())
            if costs[least] < best - _TOLERANCE:
                best, nearest = float(costs[least]), int(candidates[batch[least]])
        return nearest

    def _batch(self, group: Representative, candidates: Integers, batch: Integers) -> Integers:
        """The first of a batch, at least one, that fit into memory together."""
        pairs = (
            count_positions(group)
            * np.maximum.accumulate(self.vertices[candidates[batch]])
            * np.arange(1, len(batch) + 1)
        )
        return batch[: max(1, int((pairs <= _PAIRS).sum()))]


# All groups.


def build_groups(
    search: GroupSearch, parts: Sequence[Integers], on_progress: Callable[[int], None] = lambda _: None
) -> Groups:
    """Build groups of each part of the records, and at last of all that are left over of them.

    Seeds are taken in the order of the records. A seed that is joined by too few records is tried again with what is
    left over of all parts, and is a leftover if it fails there, too.
    """
    groups: list[Representative] = []
    rest: list[Integers] = []
    for part in parts:
        built, left = _fill_groups(search, part, on_progress, sum(len(one.members) for one in groups))
        groups += built
        rest.append(left)
    last = np.sort(np.concatenate([np.zeros(0, np.int64), *rest]))
    built, left = _fill_groups(search, last, on_progress, sum(len(one.members) for one in groups))
    return Groups([*groups, *built], left.tolist())


def _fill_groups(
    search: GroupSearch, part: Integers, on_progress: Callable[[int], None], done: int
) -> tuple[list[Representative], Integers]:
    """The groups of a part, and the records in none."""
    if len(part) < search.size:
        return [], part
    forest, rows = take_records(search.forest, part)
    within = replace(search, forest=forest)
    free = np.ones(len(part), np.bool_)
    alone = np.zeros(len(part), np.bool_)
    groups: list[Representative] = []
    for seed in range(len(part)):
        if not free[seed]:
            continue
        if np.count_nonzero(free) < search.size:
            break
        group = within.create(seed, free)
        if group is None:
            alone[seed], free[seed] = True, False
            continue
        free[group.members] = False
        types = zip(group.types, rows, strict=True)
        moved = tuple(positions._replace(vertices=own[positions.vertices]) for positions, own in types)
        groups.append(Representative(search.forest, moved))
        on_progress(done + len(groups) * search.size)
    return groups, part[free | alone]


def take_records(forest: Forest, records: Integers) -> tuple[Forest, list[Integers]]:
    """Some of the records as a forest of their own, and for each type which vertices these are."""
    rows: list[Integers] = []
    taken: list[VertexArrays] = []
    counts: dict[int, Integers] = {}
    for number, above in enumerate(forest.schema.parents):
        if above < 0:
            rows.append(records)
            parent = np.arange(len(records))
        else:
            ranges = forest.types[above].children[number]
            counts[number] = ranges.number[rows[above]]
            rows.append(index_ranges(ranges.first[rows[above]], counts[number]))
            parent = np.repeat(np.arange(len(rows[above])), counts[number])
        arrays = forest.types[number]
        taken.append(VertexArrays(parent, arrays.content[rows[-1]], arrays.contents, {}, arrays.size[rows[-1]]))
    for number in range(len(taken)):
        children = {
            child: ChildRanges(np.cumsum(counts[child]) - counts[child], counts[child])
            for child in forest.schema.children(number)
        }
        taken[number] = taken[number]._replace(children=children)
    return Forest(forest.schema, forest.losses, tuple(taken), forest.labels_per_record[records]), rows


def cut_parts(vertices: Integers, parts: int) -> list[Integers]:
    """Parts of records with similar numbers of vertices; the sizes of parts differ by one at most, larger ones first.

    Examples
    --------
    >>> [part.tolist() for part in cut_parts(np.array([5, 1, 4, 1, 9]), 2)]
    [[1, 2, 3], [0, 4]]
    """
    order = np.argsort(vertices, kind="stable")
    return [np.sort(part) for part in np.array_split(order, parts)]


# Records that are in no group.


def attach_leftovers(
    search: GroupSearch, groups: Groups, on_attached: Callable[[int], None] = lambda _: None
) -> Groups:
    """Let each leftover join the group whose cost rises least, if it rises by less than suppressing the record.

    All values at every position stay different, and a group stays smaller than two groups would be. The groups that
    may gain most are tried first, of equal ones those that were built first.
    """
    if not groups.groups or not groups.leftovers:
        return groups
    attachment = _Attachment(search, groups.groups)
    left: list[int] = []
    for number, record in enumerate(groups.leftovers, start=1):
        if not attachment.attach(record):
            left.append(record)
        on_attached(number)
    return Groups(attachment.groups, left)


class _Attachment:
    """Finished groups, what their members and positions are worth, and which values their roots have."""

    def __init__(self, search: GroupSearch, groups: Sequence[Representative]) -> None:
        self._search = search
        self._most = 2 * search.size - 1
        self.groups = list(groups)
        self._profiles = np.zeros((len(groups), search.bound.records.shape[1]), np.int64)
        self._worth = np.zeros(len(groups))
        self._positions = np.zeros(len(groups), np.int64)
        self._members = np.zeros(len(groups), np.int64)
        self._roots = np.full((len(groups), self._most), -2, np.int64)
        for place in range(len(groups)):
            self._note(place)

    def _note(self, place: int) -> None:
        group = self.groups[place]
        members = self._members[place] = len(group.members)
        self._profiles[place] = self._search.bound.profile(group)
        self._worth[place] = self._search.worth[group.members].sum()
        self._positions[place] = count_positions(group)
        self._roots[place, :members] = group.buckets(0)[0]

    def attach(self, record: int) -> bool:
        """Let a record join the best group, if there is one."""
        worth = self._worth + self._search.worth[record]
        overlaps = self._search.bound.overlaps(self._search.bound.records[record], self._profiles)
        gain: Floats = (worth * overlaps - self._worth * self._positions).round(_DECIMALS)
        root = self._search.forest.types[0]
        bucket = root.contents.bucket[root.content[record]]
        matching = (self._roots[:, 0] < 0) == (bucket < 0)  # a missing value with missing ones only
        if bucket >= 0:
            matching &= (self._roots != bucket).all(axis=1)
        open_groups = np.flatnonzero(matching & (self._members < self._most))
        best, chosen = -2 * _TOLERANCE, None  # it may cost as much as suppressing the record
        order: list[int] = open_groups[np.argsort(-gain[open_groups], kind="stable")].tolist()
        for place in order:
            if gain[place] <= best:
                break
            merged = self._search.make_joiner(self.groups[place], int(self._members[place]) + 1).merged(record)
            kept = count_positions(merged)
            exact = worth[place] * kept - self._worth[place] * self._positions[place]
            if kept and exact > best + _TOLERANCE:
                best, chosen = exact, (place, merged)
        if chosen is None:
            return False
        self.groups[chosen[0]] = chosen[1]
        self._note(chosen[0])
        return True


def count_positions(group: Representative) -> int:
    """The number of vertices that each member of a group keeps."""
    return sum(len(positions.parent) for positions in group.types)


def grouping_of(data: Records, groups: Sequence[Representative]) -> Grouping:
    """Number the groups, and the positions in each of them."""
    record = np.full(len(data), -1, np.int64)
    position = [np.full(len(table), -1, np.int64) for table in data.tables]
    for number, group in enumerate(groups):
        record[group.members] = number
        for own, positions in zip(position, group.types, strict=True):
            own[positions.vertices] = np.arange(len(positions.parent))[:, None]
    return Grouping(record, tuple(position))
