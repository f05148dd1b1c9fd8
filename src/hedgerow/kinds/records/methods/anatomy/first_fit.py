"""First fit: each vertex of a group gets the first free vertex of a joining record that is allowed there [1]_.

Records are joined to a group one vertex of the group after another, but to all candidates at once: for each candidate
there is a mask of the vertices that are still free, and a count per rule. Only vertices that are matched already, and
the pair at hand, count for rules: vertices that are left without a partner are suppressed at the end.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, Algorithms
   7 and 8.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from hedgerow.kinds.records.anatomy import TREES
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits, TypeLimits
from hedgerow.kinds.records.methods.clustree.representative import Forest, Positions, Representative
from hedgerow.numerics.arrays import Flags, Integers


class FirstFit:
    """What becomes of a group that a record joins.

    Children of one vertex are taken in the order of the data, type by type; rules of a type count vertices of this type
    only, so that types need not be interleaved.
    """

    batch = 64

    def __init__(self, group: Representative, limits: RuleLimits) -> None:
        self.group = group
        self.forest: Forest = group.forest
        self._form = limits.form
        self._limits = limits.types
        self._matched: list[tuple[Integers, list[Integers]]] = []
        self._allowed = [self._allow(number) for number in range(len(group.types))]

    def joinable(self) -> Flags:
        """Which records have a root that may be matched, as far as values are concerned."""
        return self._allowed[0][0][self._buckets(0, np.arange(len(self.forest)))]

    def overlaps(self, records: Integers) -> Integers:
        """How many vertices of the group are left if each of these records joins; 0 if it cannot."""
        self._matched.append((records, matched := self._match(records)))
        return sum(((part >= 0).sum(axis=0) for part in matched), np.zeros(len(records), np.int64))

    def merged(self, record: int) -> Representative:
        """The group after a record has joined: vertices without a partner are suppressed."""
        types: list[Positions] = []
        places: list[Integers] = []
        for number, partner in enumerate(self._partners(record)):
            own = self.group.types[number]
            kept = partner >= 0
            places.append(np.cumsum(kept) - 1)
            above = self.forest.schema.parents[number]
            parent = own.parent[kept] if above < 0 else places[above][own.parent[kept]]
            types.append(Positions(parent, own.labels[kept], np.column_stack([own.vertices, partner])[kept]))
        return Representative(self.forest, tuple(types))

    def _partners(self, record: int) -> list[Integers]:
        """The vertex of a record at each position, or -1; what was matched once is known."""
        for records, matched in self._matched:
            for column in np.flatnonzero(records == record)[:1]:
                return [part[:, column] for part in matched]
        return [part[:, 0] for part in self._match(np.array([record], np.int64))]

    def _allow(self, number: int) -> Flags:
        """Which buckets may join each position: others than there are, and missing values only with missing ones."""
        own = self.group.buckets(number)
        buckets = int(self.forest.types[number].contents.bucket.max(initial=-1)) + 1
        missing = own[:, 0] < 0  # then all are
        allowed = np.repeat(~missing[:, None], buckets + 1, axis=1)
        allowed[:, -1] = missing  # the number of a missing value is -1
        position, member = np.nonzero(own >= 0)
        allowed[position, own[position, member]] = False
        return allowed

    def _buckets(self, number: int, vertices: Integers) -> Integers:
        arrays = self.forest.types[number]
        return arrays.contents.bucket[arrays.content[vertices]]

    def _match(self, records: Integers) -> list[Integers]:
        """The vertex of each record at each position, or -1; a row per position, for each type."""
        matched: list[Integers] = []
        for number, above in enumerate(self.forest.schema.parents):
            positions = len(self.group.types[number].parent)
            matched.append(np.full((positions, len(records)), -1, np.int64))
            if above < 0:
                one = np.ones(1, np.int64)
                self._fit(number, _Siblings(one - 1, one, records[None, :], np.ones_like(records[None, :])), matched[0])
                continue
            own, other = self.group.children[above][number], self.forest.types[above].children[number]
            parents = np.flatnonzero(own.number)
            theirs = matched[above][parents]
            count = np.where(theirs < 0, 0, other.number[theirs])
            self._fit(
                number, _Siblings(own.first[parents], own.number[parents], other.first[theirs], count), matched[-1]
            )
        return matched

    def _fit(self, number: int, siblings: _Siblings, matched: Integers) -> None:
        """Match the children of all parents: those of one parent after another if there are rules."""
        if number not in self._limits:
            self._fit_siblings(number, siblings, matched, None)
            return
        counter = self._counter(number, matched.shape[1])
        for parent in range(len(siblings.number)):
            self._fit_siblings(number, siblings.of_parent(parent), matched, counter)

    def _counter(self, number: int, records: int) -> _Counter:
        limits = self._limits[number]
        occurs = limits.counted[:, self.group.buckets(number)]
        return _HeavyTrees(limits, occurs, records) if self._form == TREES else _Links(limits, occurs, records)

    def _fit_siblings(self, number: int, siblings: _Siblings, matched: Integers, counter: _Counter | None) -> None:
        """Match the first child of every parent, then the second, and so on."""
        place = np.arange(int(siblings.other_number.max(initial=0)))
        free: Flags = np.less(place, siblings.other_number[:, :, None])
        bucket = self._buckets(number, np.where(free, siblings.other_first[:, :, None] + place, 0))
        every = np.arange(len(siblings.number))[:, None]
        records = np.arange(len(siblings.other_number.T))
        for child in range(int(siblings.number.max(initial=0)) if len(place) else 0):
            rows = every[siblings.number > child]
            position = siblings.first[rows[:, 0]] + child
            chosen = slice(None) if len(rows) == len(free) else rows[:, 0]  # a slice copies nothing
            allowed = self._allowed[number][position[:, None, None], bucket[chosen]] & free[chosen]
            if counter is not None:
                allowed &= counter.permitted(position[0])[records[:, None], bucket[0]]
            pick = allowed.argmax(axis=2)
            hit = allowed[every[: len(rows)], records, pick]
            matched[position] = np.where(hit, siblings.other_first[rows[:, 0]] + pick, -1)
            free[rows, records, pick] &= ~hit
            if counter is not None:
                counter.commit(position[0], hit[0], bucket[0, records, pick[0]])


class _Siblings(NamedTuple):
    """The children of parents that are matched: their positions in the group, and their vertices in each record.

    `first` and `number` have an entry per parent, `other_first` and `other_number` a row per parent and a column per
    record.
    """

    first: Integers
    number: Integers
    other_first: Integers
    other_number: Integers

    def of_parent(self, parent: int) -> _Siblings:
        """The children of one parent."""
        return _Siblings(*(part[parent : parent + 1] for part in self))


# What rules of a type allow, for all candidates at once.


class _Counter(Protocol):
    """Counts what is matched already; `permitted` says which buckets rules allow at a position, a row per record."""

    def permitted(self, position: int) -> Flags: ...

    def commit(self, position: int, hit: Flags, bucket: Integers) -> None: ...


def _permit(limits: TypeLimits, uncounted: Flags, counted: Flags) -> Flags:
    """Which buckets are allowed, a row per record, by what each rule says of buckets that it counts, and of others."""
    against = (~uncounted).T.astype(np.float32) @ (~limits.counted).astype(np.float32)
    against += (~counted).T.astype(np.float32) @ limits.counted.astype(np.float32)
    return against == 0


class _HeavyTrees:
    """How many counted vertices each member has, the joining one last: rules of the form `trees`."""

    def __init__(self, limits: TypeLimits, occurs: Flags, records: int) -> None:
        self._limits, self._occurs = limits, occurs
        self._counts = np.zeros((len(limits.m), records, occurs.shape[2] + 1), np.int64)

    def permitted(self, position: int) -> Flags:
        least = self._limits.m[:, None]
        members = self._counts[:, :, :-1] + self._occurs[:, position][:, None, :]
        room = self._limits.heavy[:, None] - (members >= least[:, :, None]).sum(axis=2)
        own = self._counts[:, :, -1]
        return _permit(self._limits, (own >= least) <= room, (own + 1 >= least) <= room)

    def commit(self, position: int, hit: Flags, bucket: Integers) -> None:
        self._counts[:, hit, :-1] += self._occurs[:, position][:, None, :]
        self._counts[:, hit, -1] += self._limits.counted[:, bucket[hit]]


class _Links:
    """How surely vertices may be linked with a person: rules of the form `vertices`."""

    def __init__(self, limits: TypeLimits, occurs: Flags, records: int) -> None:
        self._limits, self._numbers = limits, occurs.sum(axis=2)
        self._states = np.repeat(limits.links.start[:, None], records, axis=1)

    def permitted(self, position: int) -> Flags:
        links, number = self._limits.links, self._numbers[:, position][:, None]
        without, with_it = (links.after(self._states, number + more) for more in (0, 1))
        return _permit(self._limits, links.allowed[without], links.allowed[with_it])

    def commit(self, position: int, hit: Flags, bucket: Integers) -> None:
        numbers = self._numbers[:, position][:, None] + self._limits.counted[:, bucket[hit]]
        self._states[:, hit] = self._limits.links.after(self._states[:, hit], numbers)
