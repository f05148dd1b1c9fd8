"""Noisy vectors of releases: unbiased estimates of their coordinates, and the law of their noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.kind_registry import differs_by_step
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.retrieval.noise_laws import LaplaceNoise, Noise, ResponseNoise
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy import Guarantee, PureDP
from hedgerow.release import Release

#: the method whose releases are such vectors, and its mode that publishes bits
METHOD, RESPONSE = "private-retrieval", "randomised-response"
#: answers of the ledger are below this
_MOST_STEPS = 2.0**62


@dataclass(frozen=True, eq=False)
class NoisyVector:
    """Unbiased estimates of the coordinates of one vector, with the law of their noise.

    Parameters
    ----------
    values
        The estimates: the published numbers, debiased if they are bits.
    noise
        The law of the noise of each.
    largest
        The largest absolute value that a coordinate can have by its declared bounds.
    steps
        The published numbers as whole steps above the lower bound.
    sent_as_bits
        Whether they are bits.
    """

    values: Floats
    noise: Noise
    largest: float
    steps: Integers
    sent_as_bits: bool = False

    def __len__(self) -> int:
        return len(self.values)


def vectors_of(release: Release[Any]) -> dict[str, NoisyVector]:
    """Return the vectors of a release of `private-retrieval`, by the names of its columns.

    Raises
    ------
    ParameterError
        If it is another release: the noise of its numbers is not known.
    """
    guarantee = release.guarantee
    if release.recipe.method != METHOD or release.kind != Matrix.kind or not isinstance(guarantee, PureDP):
        msg = f"an inner product needs a release of {METHOD}; this one was made by {release.recipe.method}"
        raise ParameterError(msg)
    data: Matrix = release.data
    if not data.numbered or not all(cast("NumberAxis", axis).bounded for _, axis in data.domain.axes):
        msg = f"this is not a release of {METHOD}: its rows are not numbered, or its columns have no bounds"
        raise ParameterError(msg)
    bits = dict(release.recipe.parameters).get("mode") == RESPONSE
    return {
        name: _vector(data.values[:, number], axis, guarantee, bits=bits)
        for number, (name, axis) in enumerate(zip(data.columns, data.bounds, strict=True))
    }


def unbiased(values: Floats, data: Matrix, guarantee: Guarantee) -> Floats:
    """Return unbiased estimates of bits that were flipped by chance; `data` declares the two numbers of a column."""
    if not isinstance(guarantee, PureDP):
        return values
    low, step = (np.array([float(getattr(axis, name)) for axis in data.bounds]) for name in ("low", "step"))
    return low + step * debias((values - low) / step, float(guarantee.epsilon))


def noise_of(axis: NumberAxis, guarantee: PureDP, *, bits: bool) -> Noise:
    """Return the law of the noise of a column; it follows from the promise and the declared bounds.

    Examples
    --------
    >>> axis = NumberAxis.between(-1, 1, 1)
    >>> noise_of(axis, PureDP(epsilon=1, unit="cell"), bits=False)
    LaplaceNoise(rate=0.5, step=1.0)
    """
    step = float(axis.step or 1)
    if bits:
        return ResponseNoise(float(guarantee.epsilon), step)
    moved = 1 if differs_by_step(guarantee.unit) else axis.steps
    return LaplaceNoise(float(Fraction(guarantee.epsilon) / moved), step)


def debias(bits: Floats, epsilon: float) -> Floats:
    r"""Return unbiased estimates from randomised bits: $(b - (1 - q)) / (2 q - 1)$.

    A bit was kept with probability $q = e^\varepsilon / (1 + e^\varepsilon)$.

    Examples
    --------
    >>> debias(np.array([0.0, 1.0]), 1.0).round(4).tolist()
    [-0.582, 1.582]
    """
    return 0.5 + (bits - 0.5) / math.tanh(epsilon / 2)


def _vector(numbers: Floats, axis: NumberAxis, guarantee: PureDP, *, bits: bool) -> NoisyVector:
    low, step = float(axis.low or 0), float(axis.step or 1)
    with np.errstate(over="ignore"):
        exact = np.rint((numbers - low) / step)
    if not np.all(np.abs(exact) < _MOST_STEPS):
        msg = f"this is not a release of {METHOD}: a number is beyond all noise"
        raise ParameterError(msg)
    codes = exact.astype(np.int64)
    if bits and not np.isin(codes, (0, 1)).all():
        msg = f"this is not a release of {METHOD} in mode {RESPONSE}: it has numbers other than its two bounds"
        raise ParameterError(msg)
    values = low + step * debias(codes.astype(np.float64), float(guarantee.epsilon)) if bits else numbers
    largest = max(abs(low), abs(float(axis.high or 0)))
    return NoisyVector(values, noise_of(axis, guarantee, bits=bits), largest, codes, bits)
