"""Whether what follows depends on what comes before it, as far as noisy rows can tell; and if not, single items."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["pool_rows", "show_dependence"]

Floats: TypeAlias = NDArray[np.float64]

#: the fourth moment of Laplace noise, less 1, in squared variances: the variance of a squared deviation
_SPREAD = 5.0
#: standard deviations by which squared deviations must exceed their expectation. Where items depend on each other,
#: they do so by 2 and more (Leviathan at epsilon 0.1: 2.1; Kosarak, 5,000 of it, at 0.1: 2.4; FIFA, 3,000 of it and 300
#: items, at 1: 3.2; all else on which constants were chosen: 5 and more, or too few rows to matter)
_CLEAR = 1.0
#: the least part of items among tokens after an item: pooled rows of sequences that hardly go on say little
_LEAST_ITEMS = 0.5


def show_dependence(rows: Floats, expected: Floats, variance: Floats) -> bool:
    """Whether rows deviate from what is expected if nothing depends on them, by more than their noise.

    Examples
    --------
    >>> show_dependence(np.array([[9.0, 1], [1, 9]]), np.full((2, 2), 5.0), np.ones(2))
    True
    >>> show_dependence(np.array([[6.0, 4], [4, 6]]), np.full((2, 2), 5.0), np.ones(2))
    False
    """
    squares = (rows - expected) ** 2 / variance[:, None]
    return bool(squares.sum() - squares.size > _CLEAR * np.sqrt(_SPREAD * squares.size))


def pool_rows(rows: Floats, totals: Floats, variance: Floats, number: float) -> tuple[Floats, float] | None:
    """Estimate how often each item occurs, `number` in all, from rows that are alike but for their totals.

    A row weighs as much as its total, which is best if all rows have the same noise. Also returns the variance; None
    if rows have hardly any items.
    """
    parts = (totals[:, None] * rows[:, :-1]).sum(axis=0) / (totals**2).sum()
    items = float(parts.sum())
    if items < _LEAST_ITEMS:
        return None
    factor = number / items
    return parts * factor, float((totals**2 * variance).sum() / (totals**2).sum() ** 2) * factor**2
