"""Shrinkage of noisy tables towards a model, by the variance of the noise."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["differs_from_model", "shrink"]

Floats: TypeAlias = NDArray[np.float64]

#: standard deviations by which a sum of squares must exceed its expectation under noise alone to be significant:
#: noise alone does so in one of 50 runs (two cells) to one of 250 (a thousand cells)
_SURE = 3.0
#: the variance of the square of Laplace noise, in squares of the variance of the noise
_SQUARES = 5.0


def differs_from_model(noisy: Floats, model: Floats, scale: float) -> bool:
    """Whether noisy counts differ from a model significantly more than Laplace noise of a scale does.

    Examples
    --------
    >>> differs_from_model(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1)
    True
    >>> differs_from_model(np.array([21.0, 19, 20, 20]), np.full(4, 20.0), scale=1)
    False
    """
    variance = 2 * scale**2
    most = noisy.size + _SURE * np.sqrt(_SQUARES * noisy.size)
    return bool(np.sum((noisy - model) ** 2) > most * variance)


def shrink(noisy: Floats, model: Floats, scale: float) -> Floats:
    """Shrink noisy counts towards a model; no result is below 0.

    The excess of the squared differences over the variance of the noise estimates the error of the model, relative
    to its size. A cell moves from the model towards the noisy count by the ratio of this error to the sum of error and
    noise; not at all if the whole table does not differ significantly.

    Examples
    --------
    >>> shrink(np.array([6.0, 4, 5, 5]), np.full(4, 5.0), scale=2).tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> shrink(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), scale=1).round(1).tolist()
    [29.6, 10.4, 20.0, 20.0]
    """
    largest = float(np.max(np.abs(model), initial=0.0))
    if largest == 0 or not differs_from_model(noisy, model, scale):
        return model
    variance = 2 * scale**2
    excess = float(np.sum((noisy - model) ** 2)) - noisy.size * variance
    size = (model / largest) ** 2
    own = size * (excess / float(np.sum(size)))
    part = np.divide(own, own + variance, out=np.zeros_like(own), where=own > 0)
    return np.maximum(0.0, model + part * (noisy - model))
