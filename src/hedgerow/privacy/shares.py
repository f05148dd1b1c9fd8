"""Exact shares of a budget, one per cell: few distinct fractions, many cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Flags, Floats, Integers


@dataclass(frozen=True, eq=False)
class Shares:
    """An array of fractions, stored as a table of distinct values and a code per cell.

    A budget is never a float: thirds must add up. A million Fractions would be slow, so arithmetic is done once per
    distinct value.

    Examples
    --------
    >>> left = Shares.of([Fraction(1, 2), Fraction(1, 2), Fraction(1)])
    >>> (left / np.array([1, 3, 3])).fractions()
    [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]
    """

    table: tuple[Fraction, ...]
    codes: Integers

    @classmethod
    def of(cls, values: Iterable[Fraction]) -> Shares:
        """Store these fractions, each distinct value once."""
        table: dict[Fraction, int] = {}
        codes = [table.setdefault(to_fraction(value), len(table)) for value in values]
        return cls(tuple(table), np.array(codes, np.int64))

    @classmethod
    def spread(cls, spend: Spend, cells: int) -> Shares:
        """Give each of `cells` cells its share: all the same, or one each."""
        if not isinstance(spend, Shares):
            if not isinstance(spend, Sequence) or isinstance(spend, str):
                return cls((to_fraction(spend),), np.zeros(cells, np.int64))
            spend = cls.of(spend)
        if len(spend) != cells:
            msg = f"spend must be one share, or one per cell: got {len(spend)} shares for {cells}"
            raise ParameterError(msg)
        return spend

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shares) and self.fractions() == other.fractions()

    __hash__ = None  # pyright: ignore[reportAssignmentType] - arrays are not hashable

    def __getitem__(self, at: Integers) -> Shares:
        """Return the shares of the cells at these positions."""
        return Shares(self.table, self.codes[at])

    def __truediv__(self, divisors: int | Fraction | Integers) -> Shares:
        """Divide all shares by one number, or each by its own whole number."""
        if isinstance(divisors, (int, Fraction)):
            return Shares(tuple(share / divisors for share in self.table), self.codes)
        if np.any(divisors < 1):
            msg = "shares are divided by positive whole numbers"
            raise ParameterError(msg)
        return self._combine(divisors, lambda share, divisor: share / divisor)

    def __mul__(self, factors: int | Fraction | Integers) -> Shares:
        """Multiply all shares by one number, or each by its own whole number."""
        if isinstance(factors, (int, Fraction)):
            return Shares(tuple(share * factors for share in self.table), self.codes)
        return self._combine(factors, lambda share, factor: share * factor)

    def __add__(self, other: Shares) -> Shares:
        """Add the shares of equal positions."""
        return self._combine(other.codes, lambda share, code: share + other.table[code])

    def __sub__(self, amount: Fraction) -> Shares:
        """Subtract the same amount from each share."""
        return Shares(tuple(share - amount for share in self.table), self.codes)

    @classmethod
    def where(cls, condition: Flags, first: Shares, second: Shares) -> Shares:
        """Take each cell's share from the first where the condition holds, else from the second."""
        codes = np.where(condition, first.codes, second.codes + len(first.table))
        return Shares((*first.table, *second.table), codes).packed()

    def take_from(self, whole: Fraction) -> Shares:
        """Subtract each share from a whole."""
        return Shares(tuple(whole - share for share in self.table), self.codes)

    def rounded_down(self, step: Fraction) -> Shares:
        """Round down to whole multiples of `step`, which keeps the distinct values few."""
        rounded = [step * (share // step) for share in self.table]
        return Shares.of(rounded)[self.codes] if rounded else self

    def packed(self) -> Shares:
        """Store each value once, and only values that some cell has."""
        codes, inverse = np.unique(self.codes, return_inverse=True)
        used: list[int] = codes.tolist()
        kept = Shares.of(self.table[code] for code in used)
        return kept[inverse.astype(np.int64)]

    def used(self) -> list[Fraction]:
        """List the distinct shares that some cell has."""
        return [self.table[code] for code in np.unique(self.codes).tolist()]

    def fractions(self) -> list[Fraction]:
        """List one Fraction per cell."""
        return [self.table[code] for code in self.codes.tolist()]

    def floats(self) -> Floats:
        """One float per cell, for thresholds; never for accounting."""
        return np.array([float(share) for share in self.table], np.float64)[self.codes]

    def weigh(self, amounts: Integers) -> Fraction:
        """Return the exact sum of share times amount over all cells."""
        # the amounts of one share are added as Python integers where int64 could overflow
        exact = amounts.astype(object) if _may_overflow(amounts) else amounts
        sums = np.zeros(len(self.table), exact.dtype)
        np.add.at(sums, self.codes, exact)
        totals: list[int] = sums.tolist()
        return sum((share * n for share, n in zip(self.table, totals, strict=True)), Fraction(0))

    def _combine(self, others: Integers, rule: Callable[[Fraction, int], Fraction]) -> Shares:
        if len(others) != len(self):
            msg = f"shares and numbers must be equally long; got {len(self)} and {len(others)}"
            raise ParameterError(msg)
        # the other numbers are coded first, so that a pair of codes fits a word
        values, coded = np.unique(others, return_inverse=True)
        pairs, inverse = np.unique(self.codes * len(values) + coded, return_inverse=True)
        coded_pairs: list[int] = pairs.tolist()
        distinct: list[int] = values.tolist()
        combined = [rule(self.table[pair // len(distinct)], distinct[pair % len(distinct)]) for pair in coded_pairs]
        return Shares.of(combined)[inverse.astype(np.int64)] if combined else self


Spend: TypeAlias = Fraction | int | Shares | Sequence[Fraction]


def to_fraction(value: object) -> Fraction:
    """Accept an exact number; refuse a float, since 0.1 as a float is not a tenth."""
    if isinstance(value, bool) or not isinstance(value, (Fraction, int)):
        msg = f"a share must be a Fraction or a whole number; got {value!r}"
        raise ParameterError(msg)
    return Fraction(value)


def _may_overflow(amounts: Integers) -> bool:
    return len(amounts) > 0 and int(np.abs(amounts).max()) > 2**62 // len(amounts)
