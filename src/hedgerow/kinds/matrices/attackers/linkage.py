"""Linkage: rows without names are matched with the original rows that they are most like.

Somebody who has the original of some rows, or much of it, can do so; here the owner does, to know what each
reconstructed row should be.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers

#: rows that are matched one to one; of more, a sample is matched with the nearest rows
_MOST = 2000
#: original rows that the sample is compared with at a time: more take memory and no less time
_BLOCK = 4096


def link_rows(original: Floats, released: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return positions of original rows and of the released rows that are most like them, in units of the columns."""
    spread = original.std(0)
    scale = np.where(spread > 0, spread, 1.0)
    before, after = original / scale, released / scale
    if max(len(original), len(released)) <= _MOST:
        from scipy import optimize  # noqa: PLC0415 - slow to import

        distances = (after**2).sum(1)[:, None] - 2 * after @ before.T + (before**2).sum(1)
        theirs, mine = cast("Any", optimize).linear_sum_assignment(distances)
        return mine.astype(np.int64), theirs.astype(np.int64)
    theirs = np.sort(rng.permutation(len(released))[:_MOST])
    return _nearest(before, after[theirs]), theirs


def _nearest(before: Floats, after: Floats) -> Integers:
    """Return the position of the row nearest to each, block by block."""
    nearest = np.zeros(len(after), np.int64)
    least = np.full(len(after), np.inf)
    for start in range(0, len(before), _BLOCK):
        block = before[start : start + _BLOCK]
        distances = (block**2).sum(1) - 2 * after @ block.T
        at = distances.argmin(1)
        values = distances[np.arange(len(after)), at]
        closer = values < least
        nearest[closer], least[closer] = start + at[closer], values[closer]
    return nearest


# Angle neighbour: somebody who knows one row finds rows that point the same way, and scales the known one to them.
#
# The attacker has the release, one row of the original and its place in the release. Rotations keep angles, and noise
# changes those of the large directions little. Success is a row near the known one in direction.


class Neighbours(NamedTuple):
    """The rows whose directions are nearest to that of the known one, and what they are guessed to be."""

    rows: NDArray[np.int64]
    guesses: Floats


def guess_neighbours(
    scores: Floats, known: int, original_row: Floats, *, nearest: int = 5, scaled: bool = True
) -> Neighbours:
    r"""Guess the nearest rows $q$ as $A^p |\tilde A_k^q| / |\tilde A_k^p|$.

    Parameters
    ----------
    scores
        The rows of the release in its largest directions: $\tilde A V_k$.
    scaled
        False copies the known row as it is. The thesis does so; but an angle of zero means proportional, not equal.

    Examples
    --------
    >>> released = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> guess_neighbours(released, 0, np.array([3.0, 4.0]), nearest=1)
    Neighbours(rows=array([1]), guesses=array([[6., 8.]]))
    """
    sizes = np.linalg.norm(scores, axis=1)
    usable = sizes > 0
    usable[known] = False
    rows = np.flatnonzero(usable)
    if not len(rows) or sizes[known] == 0:
        return Neighbours(rows[:0], np.empty((0, len(original_row))))
    cosines = scores[rows] @ (scores[known] / sizes[known]) / sizes[rows]
    chosen = rows[np.argsort(-cosines, kind="stable")[:nearest]]
    factors = sizes[chosen] / sizes[known] if scaled else np.ones(len(chosen))
    return Neighbours(chosen, factors[:, None] * original_row)


# Label leakage: the order of rows, or numbers that were smoothed along it, tell labels that were left out.
#
# The attacker knows the labels of some rows: friends, or a sample from another source. In a file that is sorted by
# label
# the nearest of these rows has the label of a row; and a method that mixes neighbouring rows carries the label into
# the
# numbers, so that they tell it better than the original does. Success is a label that was not published.


def guess_by_position(labels: NDArray[Any], known: Integers) -> float:
    """Guess the label of each row as that of the nearest known row, and return the share of guesses that are right.

    Parameters
    ----------
    labels
        All labels, in the order of the release.
    known
        The positions of the rows whose labels are known.

    Examples
    --------
    >>> guess_by_position(np.array(["a", "a", "a", "b", "b"]), np.array([0, 4]))
    1.0
    """
    known = np.sort(known)
    others = np.setdiff1d(np.arange(len(labels)), known)
    after = np.clip(np.searchsorted(known, others), 1, max(1, len(known) - 1))
    before, behind = known[after - 1], known[np.minimum(after, len(known) - 1)]
    nearest = np.where(np.abs(others - before) <= np.abs(behind - others), before, behind)
    return float((labels[nearest] == labels[others]).mean()) if len(others) else 0.0


def guess_by_numbers(values: Floats, labels: NDArray[Any], known: Integers) -> float:
    """Guess labels by a linear fit on the known rows, and return the share of guesses that are right.

    Examples
    --------
    >>> values = np.array([[0.0], [1.0], [8.0], [9.0], [0.5], [8.5]])
    >>> guess_by_numbers(values, np.array(["a", "a", "b", "b", "a", "b"]), np.array([0, 1, 2, 3]))
    1.0
    """
    others = np.setdiff1d(np.arange(len(labels)), known)
    names = np.unique(labels[known], return_counts=True)[0]
    spread = values.std(0)
    scaled = (values - values.mean(0)) / np.where(spread > 0, spread, 1.0)
    rows = np.hstack((scaled, np.ones((len(scaled), 1))))
    wanted = (labels[known][:, None] == names).astype(np.float64)
    gram = rows[known].T @ rows[known] + np.eye(rows.shape[1])  # a small ridge, since few rows may be known
    fitted = np.linalg.inv(gram) @ rows[known].T @ wanted
    guessed = names[np.argmax(rows[others] @ fitted, axis=1)]
    return float((guessed == labels[others]).mean()) if len(others) else 0.0


def guess_commonest(labels: NDArray[Any], known: Integers) -> float:
    """Guess all labels as the commonest one of the known rows, and return the share of guesses that are right.

    Examples
    --------
    >>> guess_commonest(np.array(["a", "a", "b", "a"]), np.array([0, 1]))
    0.5
    """
    others = np.setdiff1d(np.arange(len(labels)), known)
    names, counts = np.unique(labels[known], return_counts=True)
    return float((labels[others] == names[np.argmax(counts)]).mean()) if len(others) else 0.0
