r"""Wavelet inversion: what was subtracted from detail coefficients is added back.

The attacker has a release whose detail coefficients were moved towards zero by a threshold $\delta$, and guesses
wavelet, level and $\delta$: there are few to try, and a few known rows tell which is right. Success is the cells whose
details were larger than $\delta$; averages over blocks are in the release as they are.

Rows that were put into a secret order before they were mixed, and published in another one, have to be put back first
(`recover_order`): neighbours in a transform resemble each other in what was published. Success is which rows were
neighbours, without which the mixing cannot be undone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.errors import MissingExtra
from hedgerow.numerics.arrays import Floats, Integers

#: coefficients below this share of the largest are zero
_ZERO = 1e-9
#: thresholds that are tried, their range in standard deviations of the numbers, and how often they are refined
_TRIED, _REFINED, _ROUNDS = 40, 15, 6
_SMALLEST, _LARGEST = 1e-6, 2.0
#: differences below this share of the largest number are rounding
_SAME = 1e-10
#: what equal cells count, where cells that differ by the same amount count 1
_EQUAL = 9
#: standard deviations from which on it does not matter how far rows are apart
_FAR = 0.1


class Inversion(NamedTuple):
    """A reconstruction, and the threshold it was made with."""

    values: Floats
    delta: float


def add_threshold(released: Floats, delta: float, *, wavelet: str = "haar", level: int = 0) -> Floats:
    """Add a threshold back to every detail coefficient that is not zero.

    Parameters
    ----------
    level
        How many levels the transform has; 0 for as many as the smaller side can be halved.

    Examples
    --------
    >>> add_threshold(np.array([[3.0, 1.0], [3.0, 1.0]]), 1.0).tolist()
    [[3.5, 0.5], [3.5, 0.5]]
    """
    level = level or max(1, math.ceil(math.log2(min(released.shape))))
    pyramid = _decompose(released, wavelet, level)
    largest = max(float(np.abs(band).max(initial=0.0)) for bands in pyramid[1:] for band in bands)
    for bands in pyramid[1:]:
        for at, band in enumerate(bands):
            bands[at] = band + np.where(np.abs(band) > _ZERO * largest, np.sign(band) * delta, 0.0)
    return _reconstruct(pyramid, wavelet, released.shape)


def invert(
    released: Floats,
    known: Integers,
    originals: Floats,
    *,
    wavelets: Sequence[str] = ("haar",),
    level: int = 0,
    deltas: Sequence[float] | None = None,
) -> Inversion:
    """Try wavelets and thresholds, and keep those that fit the known rows best; 0 leaves the release as it is.

    Parameters
    ----------
    known
        The positions of the known rows in the release, which is in the order that it was made in.

    Examples
    --------
    >>> data = np.array([[1.0, 4], [7, 2], [3, 1], [9, 5]])
    >>> back = invert(add_threshold(data, -0.5), np.array([1]), data[[1]], deltas=[0.1, 0.5])
    >>> back.delta, bool(np.abs(back.values - data).max() < 1e-9)
    (0.5, True)
    """
    best, error = Inversion(released, 0.0), float(np.linalg.norm(released[known] - originals))
    size = float(np.std(released))
    for wavelet in wavelets:
        tried = np.geomspace(_SMALLEST * size, _LARGEST * size, _TRIED).tolist() if deltas is None else deltas
        for _ in range(_ROUNDS if deltas is None else 1):
            errors: list[float] = []
            for delta in tried:
                values = add_threshold(released, delta, wavelet=wavelet, level=level)
                errors.append(float(np.linalg.norm(values[known] - originals)))
                if errors[-1] < error:
                    best, error = Inversion(values, float(delta)), errors[-1]
            at = int(np.argmin(errors))
            tried = np.linspace(tried[max(0, at - 1)], tried[min(len(tried) - 1, at + 1)], _REFINED).tolist()
    return best


def block_means(values: Floats, level: int) -> Floats:
    """Return the means of blocks of 2^level rows and columns, for whole blocks only: a Haar release keeps them exactly.

    Examples
    --------
    >>> block_means(np.arange(12.0).reshape(2, 6), 1).tolist()
    [[3.5, 5.5, 7.5]]
    """
    size = 2**level
    rows, columns = (length // size for length in values.shape)
    return values[: rows * size, : columns * size].reshape(rows, size, columns, size).mean((1, 3))


def _decompose(values: Floats, wavelet: str, level: int) -> list[Any]:
    """Return the approximation, and the bands of each level, the coarsest first."""
    if wavelet != "haar":
        library, levels = _library(), list[Any]()
        for _ in range(level):
            values, bands = library.dwt2(values, wavelet)
            levels.append(list(bands))
        return [values, *levels[::-1]]
    levels = list[Any]()
    for _ in range(level):
        values = np.pad(values, [(0, size % 2) for size in values.shape], "edge")
        low, high = (values[0::2] + values[1::2]) / 2, (values[0::2] - values[1::2]) / 2
        levels.append([high[:, 0::2] + high[:, 1::2], low[:, 0::2] - low[:, 1::2], high[:, 0::2] - high[:, 1::2]])
        values = low[:, 0::2] + low[:, 1::2]
    return [values, *levels[::-1]]


def _reconstruct(pyramid: list[Any], wavelet: str, shape: tuple[int, ...]) -> Floats:
    if wavelet != "haar":
        library, values = _library(), pyramid[0]
        for bands in pyramid[1:]:
            values = library.idwt2((values[: len(bands[0]), : bands[0].shape[1]], tuple(bands)), wavelet)
        return values[: shape[0], : shape[1]]
    values = pyramid[0]
    for rows, columns, both in pyramid[1:]:
        values = values[: len(rows), : rows.shape[1]]
        joined = np.empty((2 * values.shape[0], 2 * values.shape[1]))
        for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
            signs = 1 - 2 * down, 1 - 2 * across
            joined[down::2, across::2] = (
                values + signs[0] * rows + signs[1] * columns + signs[0] * signs[1] * both
            ) / 2
        values = joined
    return values[: shape[0], : shape[1]]


def _library() -> Any:
    try:
        import pywt  # noqa: PLC0415 - an extra
    except ImportError:
        msg = "wavelets other than haar need the extra 'matrix': pip install 'hedgerow[matrix]'"
        raise MissingExtra(msg) from None
    return cast("Any", pywt)


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
        rounding = _SAME * max(float(np.abs(left).max()), float(np.abs(right).max())) + lost
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
