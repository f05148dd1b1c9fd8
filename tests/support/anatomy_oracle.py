"""Anatomy of small data, slowly and exactly: recursion, fractions, and every candidate tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, permutations
from typing import NamedTuple

from hedgerow.kinds.records.data import Records


def tail(chances: Iterable[Fraction], m: int) -> Fraction:
    """The chance that at least m of some events happen: all numbers of events, one after another."""
    numbers = [Fraction(1)]
    for chance in chances:
        pairs = zip([*numbers, Fraction(0)], [Fraction(0), *numbers], strict=True)
        numbers = [same * (1 - chance) + less * chance for same, less in pairs]
    return sum(numbers[m:], Fraction(0))


def most_positions(l: int, m: int, p: Fraction) -> int:  # noqa: E741
    """The largest number of positions at which a value may be: E(l, m, p)."""
    number = 0
    while tail([Fraction(1, l)] * (number + 1), m) <= p:
        number += 1
    return number


class Ruled(NamedTuple):
    """A rule: the type, the buckets that count, and its numbers."""

    kind: int
    buckets: frozenset[str]
    m: int
    p: Fraction


@dataclass(eq=False)
class Vertex:
    """An original vertex: its type, its row in the table of its type, its bucket (None if missing)."""

    kind: int
    row: int
    value: str | None
    children: list[Vertex] = field(default_factory=list)


@dataclass(eq=False)
class Matched:
    """A vertex of a group: one original vertex per member."""

    kind: int
    members: list[Vertex]
    children: list[Matched] = field(default_factory=list)

    def all(self) -> Iterator[Matched]:
        yield self
        for child in self.children:
            yield from child.all()


def vertices_of(data: Records) -> list[Vertex]:
    """The records as vertices, children type by type, in the order of the data."""
    made: list[list[Vertex]] = []
    for number, (table, kind) in enumerate(zip(data.tables, data.schema.types, strict=True)):
        names = buckets_of(data, number)
        values = [None if code < 0 else names[code] for code in table.sensitive.tolist()]
        made.append([Vertex(number, row, value) for row, value in enumerate(values)])
        if kind.parent is not None:
            for vertex, parent in zip(made[number], table.parent.tolist(), strict=True):
                made[data.schema.parents[number]][parent].children.append(vertex)
    return made[0]


def buckets_of(data: Records, number: int) -> list[str]:
    """The bucket of each sensitive value of a type."""
    name = data.schema.types[number].sensitive_axis
    if name is None:
        return []
    axis = data.domain.axis(name)
    return [str(path[0]) if path else str(value) for value, path in zip(axis.values, axis.paths or ((),) * len(axis))]  # noqa: B905


def lift(vertex: Vertex) -> Matched:
    return Matched(vertex.kind, [vertex], [lift(child) for child in vertex.children])


def rules_hold(positions: Iterable[Sequence[Vertex]], rules: Sequence[Ruled], form: str, l: int, size: int) -> bool:  # noqa: E741
    """Whether all rules hold for these positions, in a group that shall have `size` members."""
    positions = [list(position) for position in positions]
    members = max(map(len, positions), default=0)
    for kind, buckets, m, p in rules:
        counted = [[vertex.value in buckets for vertex in each] for each in positions if each[0].kind == kind]
        if form == "trees":
            heavy = sum(sum(each[tree] for each in counted if tree < len(each)) >= m for tree in range(members))
            if Fraction(heavy, size) > p:
                return False
        else:
            most = [sum(each) for each in counted]
            chances = [Fraction(min(1, one), l) if len(buckets) == 1 else Fraction(one, size) for one in most]
            if tail(chances, m) > p:
                return False
    return True


@dataclass
class FirstFit:
    """Algorithms 7 and 8; `literal`: all of the group counts for rules, also what is not matched yet."""

    rules: Sequence[Ruled]
    form: str
    l: int  # noqa: E741
    literal: bool = False

    def join(self, group: Matched, vertex: Vertex, size: int) -> Matched | None:
        done: list[list[Vertex]] = []
        rest = [position.members for position in group.all()] if self.literal else []

        def match(ours: list[Matched], theirs: list[Vertex]) -> list[Matched]:
            free, kept = list(theirs), []
            for own in ours:
                for other in free:
                    members = [*own.members, other]
                    values = [one.value for one in own.members]
                    given = other.value is not None
                    if own.kind != other.kind or (other.value in values if given else values[0] is not None):
                        continue
                    if given and values[0] is None:
                        continue
                    others = [position for position in rest if position is not own.members]
                    if not rules_hold([*done, *others, members], self.rules, self.form, self.l, size):
                        continue
                    done.append(members)
                    rest[:] = others
                    free.remove(other)
                    kept.append(Matched(own.kind, members, match(own.children, other.children)))
                    break
                else:
                    gone = [position.members for position in own.all()]
                    rest[:] = [position for position in rest if all(position is not one for one in gone)]
            return kept

        merged = match([group], [vertex])
        return merged[0] if merged else None


def count(tree: Vertex | Matched) -> int:
    return 1 + sum(map(count, tree.children))


def numbers_below(tree: Vertex | Matched, kind: int, below: int) -> list[int]:
    """For each vertex of a type, how many of another type are below it, or are it itself."""

    def inside(one: Vertex | Matched) -> int:
        return (one.kind == below) + sum(map(inside, one.children))

    found = [inside(tree)] if tree.kind == kind else []
    return found + [number for child in tree.children for number in numbers_below(child, kind, below)]


def bound(first: Matched, second: Vertex, parents: Sequence[int]) -> int:
    """How many vertices the shapes may have in common."""
    total = 0
    for kind in range(len(parents)):
        above, limits = kind, [min(len(numbers_below(tree, kind, kind)) for tree in (first, second))]
        while above > 0:
            above = parents[above]
            both = [sorted(numbers_below(tree, above, kind), reverse=True) for tree in (first, second)]
            limits.append(sum(map(min, *both)))
        total += min(limits)
    return total


@dataclass
class Anatomy:
    """Algorithm 6, with what is left over attached."""

    data: Records
    l: int  # noqa: E741
    rules: Sequence[Ruled] = ()
    form: str = "vertices"
    partitions: int = 1
    relative: bool = False
    attach: bool = True

    def __post_init__(self) -> None:
        self.roots = vertices_of(self.data)
        self.parents = self.data.schema.parents
        self.fit = FirstFit(self.rules, self.form, self.l)

    def worth(self, record: int) -> Fraction:
        return Fraction(1, count(self.roots[record])) if self.relative else Fraction(1)

    def groups(self) -> list[Matched]:
        order = sorted(range(len(self.roots)), key=lambda record: (count(self.roots[record]), record))
        size, more = divmod(len(order), self.partitions)
        ends = [number * size + min(number, more) for number in range(self.partitions + 1)]
        built: list[Matched] = []
        last: list[int] = []
        for start, end in pairwise(ends):
            last += self.fill(sorted(order[start:end]), built)
        left = self.fill(sorted(last), built)
        for record in sorted(left) if self.attach else []:
            self.attach_one(record, built)
        return built

    def fill(self, part: list[int], built: list[Matched]) -> list[int]:
        free, alone = list(part), []
        while len(free) >= self.l:
            seed = free.pop(0)
            members, group = [seed], lift(self.roots[seed])
            while group is not None and len(members) < self.l:
                group = self.join_nearest(group, members, [one for one in free if one not in members])
            if group is None:
                alone.append(seed)
            else:
                built.append(group)
                free = [record for record in free if record not in members]
        return alone + free

    def join_nearest(self, group: Matched, members: list[int], free: list[int]) -> Matched | None:
        ways = []
        for record in free:
            merged = self.fit.join(group, self.roots[record], self.l)
            if merged is not None:
                worth = sum(map(self.worth, members)) + self.worth(record)
                alone = self.worth(record) * count(self.roots[record])
                least = alone - worth * bound(group, self.roots[record], self.parents)
                ways.append((alone - worth * count(merged), least, record, merged))
        if not ways:
            return None
        nearest = min(ways, key=lambda way: way[:3])
        members.append(nearest[2])
        return nearest[3]

    def attach_one(self, record: int, built: list[Matched]) -> None:
        ways = []
        for place, group in enumerate(built):
            size = len(group.members) + 1
            merged = self.fit.join(group, self.roots[record], size) if size < 2 * self.l else None
            if merged is None:
                continue
            worth = sum(self.worth(vertex.row) for vertex in group.members)
            gain, most = (
                (worth + self.worth(record)) * kept - worth * count(group)
                for kept in (count(merged), bound(group, self.roots[record], self.parents))
            )
            if gain >= 0:
                ways.append((-gain, -most, place, merged))
        if ways:
            best = min(ways, key=lambda way: way[:3])
            built[best[2]] = best[3]


def best_overlap(own: Matched, other: Vertex) -> int:
    """How many vertices can be matched at most: every way to match children is tried."""
    values = [one.value for one in own.members]
    missing = values[0] is None
    if own.kind != other.kind or missing != (other.value is None) or (not missing and other.value in values):
        return 0
    few, many = own.children, other.children
    table = [[best_overlap(one, another) for another in many] for one in few]
    width = max(len(few), len(many))
    full = [[table[i][j] if i < len(few) and j < len(many) else 0 for j in range(width)] for i in range(width)]
    return 1 + max(sum(full[i][j] for i, j in enumerate(order)) for order in permutations(range(width)))
