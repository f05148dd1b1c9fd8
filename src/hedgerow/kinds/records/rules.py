r"""Discriminatory rules: how often a sensitive value may be linked with one person, and how surely [1]_.

A rule names a sensitive attribute, one or more of its values, a number $m$ and a share $p$: nobody may be more than $p$
sure that a person has $m$ or more vertices with such a value. It has no condition: it holds for everybody.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.data import Axis
from hedgerow.errors import DomainError, ParameterError
from hedgerow.numerics.arrays import Flags
from hedgerow.privacy.guarantee import Plain
from hedgerow.privacy.numbers import read_number, read_whole

#: no record has more vertices than this; what is computed for a rule grows with m
_MOST = 10_000
#: no group has as many positions: nobody needs to know a larger cap
_FAR = 10_000
#: how the values of a rule are given, one of these
_CHOICES = ("value", "values", "bucket", "all")
_KEYS = {"attribute", *_CHOICES, "m", "p"}
#: beyond these lengths the plain data of a promise is not read back
_MOST_RULES, _MOST_VALUES = 100, 1_000


class RuledValues(NamedTuple):
    """One rule for one value, bucket or set: which codes of the axis count, and whether they are one value or bucket.

    `single` rules may be checked by the integer cap, since a sensitive value is at most once in l at each position;
    several values of a set may be at one position.
    """

    axis: str
    counted: Flags
    single: bool
    m: int
    p: Fraction


@dataclass(frozen=True)
class Rule:
    """A discriminatory rule, as a file of rules has it.

    Parameters
    ----------
    attribute
        The sensitive attribute, with its type: `visit.diagnosis`.
    values
        Values or buckets of it; none for every value, each by a rule of its own.
    m, p
        Nobody may be more than `p` sure that a person has `m` or more of them.
    where
        What messages call the rule, such as `rule 2 of rules.toml`.

    Examples
    --------
    >>> rule = Rule("visit.diagnosis", ("AIDS",), 1, Fraction(1, 2))
    >>> [each.counted.tolist() for each in rule.ruled(Axis(("AIDS", "Cold", "Flu")))]
    [[True, False, False]]
    """

    attribute: str
    values: tuple[str, ...]
    m: int
    p: Fraction
    where: str = field(default="a rule", compare=False)

    @classmethod
    def read(cls, given: object, where: str) -> Rule:
        """Make a rule of a table as files of rules and `release.json` have it, or check one.

        Examples
        --------
        >>> Rule.read({"attribute": "visit.diagnosis", "bucket": "Infections", "m": 2, "p": "1/3"}, "rule 1").values
        ('Infections',)
        """
        table = given.to_plain() if isinstance(given, Rule) else given
        if not isinstance(table, Mapping):
            msg = f"{where} must be a table with attribute, value, m and p"
            raise ParameterError(msg)
        named = cast("Mapping[str, Any]", table)
        for key in named:
            if key not in _KEYS:
                msg = f"{where} has an unknown entry {str(key)[:40]!r}; it may have: {', '.join(sorted(_KEYS))}"
                raise ParameterError(msg)
        attribute = named.get("attribute")
        if not isinstance(attribute, str) or "." not in attribute:
            msg = f'{where}: attribute must be a type and its sensitive field, such as "visit.diagnosis"'
            raise ParameterError(msg)
        values = _read_values(named, where)
        m = read_whole(f"{where}: m", named.get("m", ""), most=_MOST, remedy="nobody has that many vertices")
        p = read_number(f"{where}: p", named.get("p", ""))
        if not 0 < p <= 1:
            msg = f'{where}: p must be above 0 and at most 1, such as "1/3"; got {str(named["p"])[:40]}'
            raise ParameterError(msg)
        return cls(attribute, values, m, p, where)

    def to_plain(self) -> dict[str, Plain]:
        """The rule as `release.json` has it.

        Examples
        --------
        >>> Rule("visit.diagnosis", (), 2, Fraction(1, 3)).to_plain()
        {'attribute': 'visit.diagnosis', 'all': 'true', 'm': '2', 'p': '1/3'}
        """
        which: dict[str, Plain] = {"values": list(self.values)} if self.values else {"all": "true"}
        return {"attribute": self.attribute, **which, "m": str(self.m), "p": str(self.p)}

    def ruled(self, axis: Axis) -> Iterator[RuledValues]:
        """List what counts for this rule among the values of its attribute; values of one bucket count as equal."""
        names = [str(path[0]) if path else str(value) for value, path in _with_paths(axis)]
        own = [str(value) for value in axis.values]
        if not self.values:
            for name in dict.fromkeys(names):
                counted = np.array([each == name for each in names])
                yield RuledValues(self.attribute, counted, single=True, m=self.m, p=self.p)
            return
        counted = np.zeros(len(own), np.bool_)
        groups: set[str] = set()
        for value in self.values:
            buckets = (
                {value} if value in names else {name for name, each in zip(names, own, strict=True) if each == value}
            )
            if not buckets:
                msg = f"{self.where} names {value!r}, which is not a value of {self.attribute!r}; correct it"
                raise DomainError(msg)
            groups |= buckets
            counted |= np.array([name in buckets for name in names])
        yield RuledValues(self.attribute, counted, single=len(groups) == 1, m=self.m, p=self.p)


def _with_paths(axis: Axis) -> Iterator[tuple[object, tuple[str, ...]]]:
    yield from zip(axis.values, axis.paths or ((),) * len(axis.values), strict=True)


def _read_values(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Read what a rule is about: a value, several, a bucket, or each value by itself."""
    given = [name for name in _CHOICES if name in table]
    if len(given) != 1:
        msg = f"{where} needs one of {', '.join(_CHOICES)}; got {' and '.join(given) or 'none of them'}"
        raise ParameterError(msg)
    content: object = table[given[0]]
    if given == ["all"]:
        if content is not True and content != "true":
            msg = f"{where}: all must be true, or be left out"
            raise ParameterError(msg)
        return ()
    is_list = isinstance(content, (list, tuple))
    listed = [*cast("list[object]", content)] if is_list else [content]
    if is_list != (given == ["values"]):
        msg = f"{where}: values must be a list, and a value or a bucket must be a text"
        raise ParameterError(msg)
    # numbers are compared by their texts, and files have them in one spelling
    texts = [str(each) for each in listed if type(each) in {str, int} and str(each)]
    if not texts or len(texts) < len(listed) or len(set(texts)) < len(texts) or len(texts) > _MOST_VALUES:
        msg = f'{where}: {given[0]} must be texts, each once; write numbers as the data has them, in quotes: "2.5"'
        raise ParameterError(msg)
    return tuple(texts)


def check_rules(rules: object) -> tuple[Rule, ...]:
    """Return the rules of a promise, from tables or as they are."""
    if not isinstance(rules, (list, tuple)) or not rules:
        msg = "rules must be a list of rules, at least one; PM.from_file reads a file of them"
        raise ParameterError(msg)
    listed = [*cast("list[object]", rules)]
    if len(listed) > _MOST_RULES:
        msg = f"at most {_MOST_RULES} rules can be promised; got {len(listed)}"
        raise ParameterError(msg)
    return tuple(
        Rule.read(each, each.where if isinstance(each, Rule) and each.where != "a rule" else f"rule {number}")
        for number, each in enumerate(listed, start=1)
    )


# What a rule on one value or bucket allows: whole numbers, computed exactly.


@lru_cache(maxsize=1_024)
def most_positions(l: int, m: int, p: Fraction) -> int | None:  # noqa: E741 - the letter of the paper
    r"""At how many positions of a group a value may be (vertex by vertex): $E(l, m, p)$; None for any number.

    At each of them it is one of $l$ values at most, so that a person has it there with a probability of $1 / l$ at
    most: the largest number of positions at which the chance of $m$ or more stays within $p$.

    Examples
    --------
    >>> most_positions(3, 2, Fraction(1, 3)), most_positions(2, 1, Fraction(1, 4)), most_positions(2, 1, Fraction(1))
    (3, 0, None)
    """
    if p >= 1:
        return None
    low, high = m - 1, m
    while high < _FAR and _within(high, l, m, p):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _within(middle, l, m, p) else (low, middle)
    return low


def _within(positions: int, l: int, m: int, p: Fraction) -> bool:  # noqa: E741 - the letter of the paper
    """Whether m or more of so many coins, each with a chance of 1 in l, have a chance of p at most."""
    fewer = sum(comb(positions, count) * (l - 1) ** (positions - count) for count in range(m))
    return (l**positions - fewer) * p.denominator <= p.numerator * l**positions


def most_heavy(group: int, p: Fraction) -> int:
    """How many trees of a group may have m or more of a value (tree by tree): $H$.

    Examples
    --------
    >>> most_heavy(3, Fraction(1, 3)), most_heavy(3, Fraction(33, 100))
    (1, 0)
    """
    return int(p * group)
