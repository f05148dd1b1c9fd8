"""Make noisy counts of a tree agree: what a parent holds is shared out among its kept children."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["round_together", "share_out"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: standard deviations of the noise a difference must exceed to be taken for bias
_SURE = 2.0


def share_out(mass: Floats, spread: Floats, parent: Integers, noisy: Integers, noise: Floats) -> Floats:
    """Scale the noisy counts of the children of each parent towards the mass of the parent.

    A child below its threshold is lost, and with it what it held; a spurious one adds what nobody
    has. So the sum of the kept children is biased by an unknown amount, and the parent's own noisy
    count, one number, is not. Both are averaged by their precision, the squared bias being what
    of their squared difference is beyond two standard deviations of the noise. Where nothing was
    lost this makes the children somewhat noisier; where much was, it gives it back.

    Parameters
    ----------
    mass, spread
        What each parent holds, and its variance; infinite if it was never counted.
    parent, noisy, noise
        The parent of each child, its noisy count of at least 1, and the variance of that.

    Examples
    --------
    >>> mass, spread = np.array([900.0, 900.0, 0.0]), np.array([50.0, 50.0, np.inf])
    >>> parent, noise = np.array([0, 0, 1, 2]), np.array([2.0, 2.0, 2.0, 2.0])
    >>> share_out(mass, spread, parent, np.array([400, 200, 895, 7]), noise).round(1).tolist()
    [599.9, 299.9, 895.2, 7.0]
    """
    total = np.maximum(np.bincount(parent, noisy, len(mass)), 1.0)
    own = np.bincount(parent, noise, len(mass))
    known = np.where(np.isinf(spread), 0.0, spread)
    bias = np.maximum(0.0, (mass - total) ** 2 - _SURE**2 * (known + own))
    trust = np.where(np.isinf(spread), 0.0, (own + bias) / np.maximum(known + own + bias, 1e-12))
    target = trust * mass + (1 - trust) * total
    return noisy * (np.maximum(target, 0.0) / total)[parent]


def round_together(values: Floats) -> Integers:
    """Round so that every run of values keeps its sum to within one.

    Examples
    --------
    >>> round_together(np.array([0.4, 0.4, 0.4, 2.0])).tolist()
    [0, 1, 0, 2]
    """
    running = np.floor(np.cumsum(values) + 0.5).astype(np.int64)
    return np.diff(running, prepend=0)
