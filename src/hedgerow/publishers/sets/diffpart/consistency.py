"""Consistency of a tree of noisy counts: children are scaled towards the count of their parent."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["scale_to_parents"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: standard deviations of the noise that a difference must exceed to count as bias
_SURE = 2.0


def scale_to_parents(total: Floats, variance: Floats, parent: Integers, noisy: Integers, noise: Floats) -> Floats:
    """Scale the noisy counts of the children of each parent towards the count of the parent.

    A child below its threshold is dropped with its records, and a spurious child adds records that do not exist. So
    the sum of the kept children is biased by an unknown amount; the noisy count of the parent is not. The two are
    averaged by their precision (inverse variance), where the squared bias is the excess of their squared difference
    over two standard deviations of the noise. If nothing was dropped, this makes the children slightly noisier; if
    much was, it corrects the bias.

    Parameters
    ----------
    total, variance
        The count of each parent, and its variance; infinite if the parent was not counted.
    parent, noisy, noise
        The parent of each child, its noisy count (at least 1), and the variance of the noise.

    Examples
    --------
    >>> total, variance = np.array([900.0, 900.0, 0.0]), np.array([50.0, 50.0, np.inf])
    >>> parent, noise = np.array([0, 0, 1, 2]), np.array([2.0, 2.0, 2.0, 2.0])
    >>> scale_to_parents(total, variance, parent, np.array([400, 200, 895, 7]), noise).round(1).tolist()
    [599.9, 299.9, 895.2, 7.0]
    """
    kept = np.maximum(np.bincount(parent, noisy, len(total)), 1.0)
    own = np.bincount(parent, noise, len(total))
    known = np.where(np.isinf(variance), 0.0, variance)
    bias = np.maximum(0.0, (total - kept) ** 2 - _SURE**2 * (known + own))
    trust = np.where(np.isinf(variance), 0.0, (own + bias) / np.maximum(known + own + bias, 1e-12))
    target = trust * total + (1 - trust) * kept
    return noisy * (np.maximum(target, 0.0) / kept)[parent]
