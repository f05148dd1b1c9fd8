r"""Discriminatory rules: how often a sensitive value may be linked with one person, and how surely [1]_.

A rule names a sensitive attribute, one or more of its values, a number $m$ and a share $p$: nobody may be more than $p$
sure that a person has $m$ or more vertices with such a value. It has no condition: it holds for everybody.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow.data import Axis
from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Flags


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
                msg = f"a rule names {value!r}, which is not a value of {self.attribute!r}; correct it"
                raise DomainError(msg)
            groups |= buckets
            counted |= np.array([name in buckets for name in names])
        yield RuledValues(self.attribute, counted, single=len(groups) == 1, m=self.m, p=self.p)


def _with_paths(axis: Axis) -> Iterator[tuple[object, tuple[str, ...]]]:
    yield from zip(axis.values, axis.paths or ((),) * len(axis.values), strict=True)
