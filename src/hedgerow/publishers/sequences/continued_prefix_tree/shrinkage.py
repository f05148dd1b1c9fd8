"""Shrinkage of noisy tables towards a model, as far as noise asks."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["shrink", "stands_out"]

Floats: TypeAlias = NDArray[np.float64]

#: standard deviations by which a sum of squares must exceed that of noise alone to be believed:
#: noise alone does so in one run of 50 (two cells) to one of 250 (a thousand cells)
_SURE = 3.0
#: the variance of the square of Laplace noise, in squares of the variance of the noise
_SQUARES = 5.0


def stands_out(noisy: Floats, model: Floats, scale: float) -> bool:
    """Whether noisy counts differ from a model by more than Laplace noise of a scale does.

    Examples
    --------
    >>> stands_out(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1)
    True
    >>> stands_out(np.array([21.0, 19, 20, 20]), np.full(4, 20.0), scale=1)
    False
    """
    variance = 2 * scale**2
    most = noisy.size + _SURE * np.sqrt(_SQUARES * noisy.size)
    return bool(np.sum((noisy - model) ** 2) > most * variance)


def shrink(noisy: Floats, model: Floats, scale: float) -> Floats:
    """Take noisy counts for what they differ from a model by more than noise; none is below 0.

    What the squared differences have more than noise accounts for is the model's own error,
    relative to its size. A cell goes as far from the model as that error is large against the
    noise; not at all if the whole table does not stand out.

    Examples
    --------
    >>> shrink(np.array([6.0, 4, 5, 5]), np.full(4, 5.0), scale=2).tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> shrink(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1).round(1).tolist()
    [29.6, 10.4, 20.0, 20.0]
    """
    largest = float(np.max(np.abs(model), initial=0.0))
    if largest == 0 or not stands_out(noisy, model, scale):
        return model
    variance = 2 * scale**2
    excess = float(np.sum((noisy - model) ** 2)) - noisy.size * variance
    size = (model / largest) ** 2
    own = size * (excess / float(np.sum(size)))
    part = np.divide(own, own + variance, out=np.zeros_like(own), where=own > 0)
    return np.maximum(0.0, model + part * (noisy - model))
