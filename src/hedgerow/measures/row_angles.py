"""Angles and distances between rows before and after: what a distortion keeps, and what an attacker can compute."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOLERANCES", "AngleShares", "angle_bounds", "compare_angles", "compare_distances", "scores_of_rank"]

Floats: TypeAlias = NDArray[np.float64]

#: the tolerances of the thesis: two degrees, one, and a half
TOLERANCES = (math.pi / 90, math.pi / 180, math.pi / 360)
#: beyond so many rows pairs are sampled, and so many pairs are drawn
_ALL_PAIRS_ROWS, _SAMPLED_PAIRS = 100_000, 1_000_000
_BLOCK = 1024
_NORMAL = 1.96


class AngleShares(NamedTuple):
    """The share of pairs of rows whose angle moved by at most each tolerance, with a 95 % interval.

    `low` and `high` equal `shares` where all pairs were compared. Rows of zeros have no angle: pairs with them are left
    out, and `zero_rows` counts them.
    """

    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    pairs: int
    zero_rows: int


def scores_of_rank(values: Floats, rank: int) -> Floats:
    """Return the rows of the best approximation of a rank in the directions it has; angles and distances are the same.

    Examples
    --------
    >>> np.abs(scores_of_rank(np.array([[3.0, 4.0], [6.0, 8.0]]), 1)).round(6).tolist()
    [[5.0], [10.0]]
    """
    _, vectors = np.linalg.eigh(values.T @ values)
    return values @ vectors[:, ::-1][:, :rank]


def compare_angles(
    original: Floats,
    released: Floats,
    rng: np.random.Generator,
    *,
    rank: int | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    most_rows: int = _ALL_PAIRS_ROWS,
    most_pairs: int = _SAMPLED_PAIRS,
) -> AngleShares:
    """Compare the angles between all pairs of rows; a sample of pairs if there are more than `most_rows` rows.

    Parameters
    ----------
    rank
        Compare the best approximations of this rank; None for the rows as they are.
    """
    both = [values if rank is None else scores_of_rank(values, rank) for values in (original, released)]
    sizes = [np.linalg.norm(values, axis=1) for values in both]
    # what is left of a row after rounding is no direction
    usable = np.all([size > 1e-12 * max(size.max(initial=0.0), np.finfo(float).tiny) for size in sizes], axis=0)
    before, after = (values[usable] / size[usable, None] for values, size in zip(both, sizes, strict=True))
    zero_rows = len(original) - len(before)
    sampled = len(before) > most_rows
    changes = _sampled(before, after, rng, most_pairs) if sampled else _all_pairs(before, after)
    counts, pairs = np.zeros(len(tolerances), np.int64), 0
    for change in changes:
        pairs += change.size
        counts += [int((change <= tolerance).sum()) for tolerance in tolerances]
    shares = [float(count) / max(1, pairs) for count in counts]
    low, high = zip(*(_interval(share, pairs) if sampled else (share, share) for share in shares), strict=True)
    return AngleShares(tuple(shares), low, high, pairs, zero_rows)


def compare_distances(original: Floats, released: Floats, rng: np.random.Generator, *, pairs: int = 10_000) -> Floats:
    """Return the relative changes of the distances between random pairs of rows that differ."""
    first, second = _draw_pairs(len(original), pairs, rng)
    before, after = (np.linalg.norm(values[first] - values[second], axis=1) for values in (original, released))
    apart = before > 0
    return np.abs(after[apart] - before[apart]) / before[apart]


def angle_bounds(original: Floats, released: Floats) -> Floats:
    r"""Return $\arcsin d_p$ of each row, $d_p = |A^p - \tilde A^p| / |A^p|$; NaN where $d_p$ is not below 1.

    The angle of two rows moves by at most the sum of theirs.

    Examples
    --------
    >>> angle_bounds(np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 1.0], [3.0, 0.0]])).round(4).tolist()
    [0.5236, nan]
    """
    size = np.linalg.norm(original, axis=1)
    moved = np.linalg.norm(original - released, axis=1)
    bounds = np.full(len(size), np.nan)
    within = moved < size
    bounds[within] = np.arcsin(moved[within] / size[within])
    return bounds


def _all_pairs(before: Floats, after: Floats) -> Iterator[Floats]:
    """Yield the changes of angles of all pairs, block by block."""
    for start in range(0, len(before), _BLOCK):
        rows = slice(start, start + _BLOCK)
        angles = [np.arccos(np.clip(unit[rows] @ unit[start:].T, -1.0, 1.0)) for unit in (before, after)]
        change = np.abs(angles[0] - angles[1])
        yield change[np.triu_indices(len(change), k=1, m=change.shape[1])]


def _sampled(before: Floats, after: Floats, rng: np.random.Generator, pairs: int) -> Iterator[Floats]:
    first, second = _draw_pairs(len(before), pairs, rng)
    angles = [
        np.arccos(np.clip(np.einsum("ij,ij->i", unit[first], unit[second]), -1.0, 1.0)) for unit in (before, after)
    ]
    yield np.abs(angles[0] - angles[1])


def _draw_pairs(rows: int, pairs: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of two different rows; none if there is only one row."""
    pairs = pairs if rows > 1 else 0
    first = rng.integers(0, max(1, rows), pairs)
    second = (first + rng.integers(1, max(2, rows), pairs)) % max(1, rows)
    return first, second


def _interval(share: float, pairs: int) -> tuple[float, float]:
    """Return the Wilson interval of a share."""
    square = _NORMAL**2
    middle = (share + square / (2 * pairs)) / (1 + square / pairs)
    margin = _NORMAL * math.sqrt(share * (1 - share) / pairs + square / (4 * pairs**2)) / (1 + square / pairs)
    return min(share, max(0.0, middle - margin)), max(share, min(1.0, middle + margin))
