"""Label leakage: the order of rows, or numbers that were smoothed along it, tell labels that were left out.

The attacker knows the labels of some rows: friends, or a sample from another source. In a file that is sorted by label
the nearest of these rows has the label of a row; and a method that mixes neighbouring rows carries the label into the
numbers, so that they tell it better than the original does. Success is a label that was not published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers


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
