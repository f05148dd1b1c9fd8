r"""What discriminatory rules allow in a group.

A rule counts vertices with one of its values. In the form `trees` a record is *heavy* if it has $m$ of them, and of a
group of $g$ records at most $\lfloor p g \rfloor$ may be heavy. In the form `vertices` anyone who sees the group links
a person with the value at a position by the chance that it has there, independently of other positions: the number of
links has a Poisson-binomial distribution, and its tail from $m$ on may be at most $p$. A single value has at most the
chance $1 / l$ at each position, so that the number of positions with it is limited (`most_positions`); of a set several
values may be at one position, and the tail is computed exactly.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hedgerow.data import Domain
from hedgerow.kinds.records.anatomy import TREES
from hedgerow.kinds.records.methods.clustree.representative import Representative, bucket_codes
from hedgerow.kinds.records.rules import Rule, most_positions
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.numerics.arrays import Flags, Integers

#: positions by how many of their vertices a rule counts: none is listed
_Chances: TypeAlias = tuple[int, ...]
#: more positions than any group has
_ANY = 10**9


def find_tail(chances: Iterable[Fraction], m: int) -> Fraction:
    """The probability that at least `m` of independent events happen, of these chances.

    Examples
    --------
    >>> find_tail([Fraction(1, 3)] * 2, 1), find_tail([Fraction(2, 3)] * 2, 2)
    (Fraction(5, 9), Fraction(4, 9))
    """
    chances = list(chances)
    if len(chances) < m:
        return Fraction(0)
    fewer = [Fraction(1), *[Fraction(0)] * (m - 1)]
    for chance in chances:
        below = [Fraction(0), *fewer[:-1]]
        fewer = [same * (1 - chance) + one * chance for same, one in zip(fewer, below, strict=True)]
    return 1 - sum(fewer, Fraction(0))


@dataclass(frozen=True, eq=False)
class TypeLimits:
    """The rules for one type of vertex.

    Parameters
    ----------
    counted
        For each rule which buckets count; the last column is that of missing values, which never count.
    m, p, single
        Of each rule: its numbers, and whether it counts one bucket only.
    l, size
        How many different values are at each position, and how many members a group has.
    """

    counted: Flags
    m: Integers
    p: tuple[Fraction, ...]
    single: tuple[bool, ...]
    l: int  # noqa: E741
    size: int

    @cached_property
    def heavy(self) -> Integers:
        """How many members may be heavy, for each rule."""
        return np.array([share.numerator * self.size // share.denominator for share in self.p], np.int64)

    @cached_property
    def links(self) -> LinkStates:
        """What positions may be linked with, for each rule."""
        return LinkStates(self)

    def chance(self, rule: int, number: int) -> Fraction:
        """The chance of a link at a position with so many counted vertices, at most."""
        if self.single[rule]:
            return Fraction(min(number, 1), self.l)  # at most one in l, also in larger groups
        return Fraction(number, self.size)

    def is_linked(self, rule: int, numbers: Iterable[int]) -> bool:
        """Whether somebody may be more than `p` sure of `m` or more, with so many counted vertices per position."""
        return find_tail((self.chance(rule, number) for number in numbers), int(self.m[rule])) > self.p[rule]

    @cached_property
    def _most(self) -> Integers:
        """At how many positions a rule on one bucket allows it; of other rules any number."""
        caps = [most_positions(self.l, m, p) for m, p in zip(self.m.tolist(), self.p, strict=True)]
        return np.array([_ANY if cap is None or not one else cap for cap, one in zip(caps, self.single, strict=True)])

    def find_linked(self, numbers: Integers) -> Flags:
        """Which rules are broken by links; a row per rule of how many vertices of each position count."""
        broken = (numbers > 0).sum(axis=1) > self._most
        for rule, one in enumerate(self.single):
            if not one:
                broken[rule] = self.is_linked(rule, numbers[rule].tolist())
        return broken

    def find_heavy(self, numbers: Integers) -> Flags:
        """Which members are heavy beyond those that a rule allows, which are the heaviest: a row per rule.

        `numbers` says how many vertices of each member count.
        """
        order = np.argsort(-numbers, axis=1, kind="stable")
        rank = np.argsort(order, axis=1)
        return (rank >= self.heavy[:, None]) & (numbers >= self.m[:, None])


class LinkStates:
    """What a rule allows after which positions: states, and the next one by how many vertices of a position count.

    States of all rules are numbered together, as they are met; the first ones are those without any position.
    """

    def __init__(self, limits: TypeLimits) -> None:
        self._limits = limits
        self._known: dict[tuple[int, _Chances], int] = {}
        self._states: list[tuple[int, _Chances]] = []
        self._next = np.zeros((0, limits.size + 1), np.int64)
        self.allowed = np.zeros(0, np.bool_)
        self.start = np.array([self._number(rule, ()) for rule in range(len(limits.m))], np.int64)

    def after(self, states: Integers, counts: Integers) -> Integers:
        """The states, a row per rule, after one more position with so many counted vertices."""
        following: Integers = self._next[states, counts]
        if following.size and following.min() < 0:
            counts = np.broadcast_to(counts, states.shape)
            missing = np.column_stack([states[following < 0], counts[following < 0]])
            pairs: list[tuple[int, int]] = np.unique(missing, axis=0).tolist()
            for state, count in pairs:
                rule, before = self._states[state]
                number = min(count, 1) if self._limits.single[rule] else count
                self._next[state, count] = self._number(rule, tuple(sorted((*before, number))))
            following = self._next[states, counts]
        return following

    def _number(self, rule: int, counts: _Chances) -> int:
        known = self._known.get((rule, counts))
        if known is not None:
            return known
        number = self._known[rule, counts] = len(self._states)
        self._states.append((rule, counts))
        if number == len(self.allowed):
            more = max(16, number)
            self.allowed = np.concatenate([self.allowed, np.zeros(more, np.bool_)])
            self._next = np.vstack([self._next, np.full((more, self._next.shape[1]), -1)])
        self.allowed[number] = not self._limits.is_linked(rule, counts)
        self._next[number, 0] = number
        return number


@dataclass(frozen=True, eq=False)
class RuleLimits:
    """All rules, by type of vertex, for groups of some size and one form.

    Examples
    --------
    >>> from hedgerow.kinds.records.schema import VertexType
    >>> schema = RecordSchema((VertexType("visit", None, ("year",), "diagnosis"),))
    >>> domain = Domain.declare(**{"visit.year": [2000], "visit.diagnosis": ["AIDS", "Flu"]})
    >>> rules = [Rule("visit.diagnosis", (), 1, Fraction(1, 2)), Rule("visit.diagnosis", ("Flu",), 1, Fraction(1))]
    >>> limits = RuleLimits.of(rules, schema, domain, form="trees", l=3)
    >>> limits.types[0].counted.tolist(), limits.types[0].heavy.tolist()
    ([[True, False, False], [False, True, False]], [1, 1])
    """

    form: str
    types: Mapping[int, TypeLimits]
    _sizes: dict[int, RuleLimits] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rules: Iterable[Rule],
        schema: RecordSchema,
        domain: Domain,
        *,
        form: str,
        l: int,  # noqa: E741
    ) -> RuleLimits:
        """Collect the rules of each type that can be broken at all."""
        rules = list(rules)
        types: dict[int, TypeLimits] = {}
        for number, kind in enumerate(schema.types):
            if kind.sensitive_axis is None:
                continue
            axis = domain.axis(kind.sensitive_axis)
            codes = bucket_codes(axis)
            ruled = [
                one for rule in rules if rule.attribute == kind.sensitive_axis for one in rule.ruled(axis) if one.p < 1
            ]
            counted = np.zeros((len(ruled), int(codes.max(initial=-1)) + 2), np.bool_)
            for row, one in zip(counted, ruled, strict=True):
                row[codes[one.counted]] = True
            single = tuple((counted.sum(axis=1) == 1).tolist())
            if ruled:
                m = np.array([one.m for one in ruled], np.int64)
                types[number] = TypeLimits(counted, m, tuple(one.p for one in ruled), single, l, l)
        return cls(form, types)

    def for_size(self, size: int) -> RuleLimits:
        """The same rules for groups of another size."""
        if size not in self._sizes:
            resized = {number: replace(limits, size=size) for number, limits in self.types.items()}
            self._sizes[size] = RuleLimits(self.form, resized)
        return self._sizes[size]

    def broken(self, group: Representative) -> bool:
        """Whether a group breaks a rule: all counts anew, with its true size."""
        for number, limits in self.for_size(len(group.members)).types.items():
            occurs = limits.counted[:, group.buckets(number)]
            if self.form == TREES:
                broken = limits.find_heavy(occurs.sum(axis=1))
            else:
                broken = limits.find_linked(occurs.sum(axis=2))
            if broken.any():
                return True
        return False
