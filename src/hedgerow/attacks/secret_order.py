"""A secret order of rows, recovered: neighbours in a wavelet transform resemble each other in what was published.

The attacker has a release of a wavelet method whose rows were put into a secret order before they were mixed, and
published in another one. Success is which rows were neighbours, without which the mixing cannot be undone.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["recover_order"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

#: differences below this share of the largest number are rounding
_ROUNDING = 1e-10
#: what equal cells count, where cells that differ by the same amount count 1
_EQUAL = 9
#: standard deviations from which on it does not matter how far rows are apart
_FAR = 0.1


def recover_order(released: Floats) -> Integers:
    """Find an order of rows in which neighbours are those that were neighbours in a Haar transform.

    Two rows that were a pair differ by their own details only. Those of two columns are a sum and a difference, of
    which one or both often vanished: then the rows differ by the same amount in both columns. Rows are paired by how
    often they do, then the averages of pairs in the same way, and so on.

    Examples
    --------
    >>> rows = np.array([[1.0, 2, 5, 3], [8, 8, 8, 4], [1, 2, 6, 2], [9, 9, 8, 4]])
    >>> recover_order(rows).tolist()
    [0, 2, 1, 3]
    """
    groups = [[number] for number in range(len(released))]
    means = released
    while len(groups) > 1:
        means = np.pad(means, ((0, 0), (0, means.shape[1] % 2)), "edge")
        pairs, alone = _pair_up(means)
        groups = [groups[first] + groups[second] for first, second in pairs] + [groups[at] for at in alone]
        means = (means[:, 0::2] + means[:, 1::2]) / 2
        first, second = np.array(pairs).T
        means = np.concatenate(((means[first] + means[second]) / 2, means[alone]))
    return np.array([row for group in groups for row in group], np.int64)


def _pair_up(means: Floats) -> tuple[list[tuple[int, int]], list[int]]:
    """Pair rows greedily, those that agree in most columns first; then those that are near."""
    agree = np.zeros((len(means), len(means)), np.int64)
    apart = np.zeros((len(means), len(means)))
    lost = 1e-14 * float(np.abs(means).max(initial=0.0)) + np.finfo(float).tiny
    for left, right in zip(means.T[0::2], means.T[1::2], strict=True):
        one, other = (np.abs(column[:, None] - column) for column in (left, right))
        rounding = _ROUNDING * max(float(np.abs(left).max()), float(np.abs(right).max())) + lost
        # equal cells say more: other rows of a larger block also differ by the same amounts
        agree += np.abs(one - other) <= rounding
        agree += _EQUAL * ((one <= rounding).astype(np.int64) + (other <= rounding))
        for difference, column in ((one, left), (other, right)):
            apart += np.minimum(difference / max(float(column.std()), lost), _FAR)
    first, second = np.triu_indices(len(means), k=1)
    agree, apart = -agree[first, second], apart[first, second]
    order = np.lexsort((apart, agree))
    free = np.ones(len(means), np.bool_)
    pairs: list[tuple[int, int]] = []
    for one, other in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if free[one] and free[other]:
            free[one] = free[other] = False
            pairs.append((one, other))
            if len(pairs) == len(means) // 2:
                break
    return pairs, np.flatnonzero(free).tolist()
