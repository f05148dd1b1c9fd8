"""How much detail coefficients are shrunk: universal, relative to the largest, or absolute thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSatisfied
from hedgerow.publishers.matrices.wavelet.filters import Filters, find_filters
from hedgerow.publishers.matrices.wavelet.tiles import RowBlock, each_tile
from hedgerow.publishers.matrices.wavelet.transform import decompose, reconstruct

__all__ = ["THRESHOLDS", "Basis", "choose_deltas", "shrink", "soft_threshold", "universal_threshold"]

Floats: TypeAlias = NDArray[np.float64]

THRESHOLDS = ("universal", "universal-nonzero", "max", "max-level", "max-global", "absolute")

#: the median of the absolute value of a standard normal number
_NORMAL_MEDIAN = 0.6745
#: leading bits of a positive number by which numbers are counted, to find their median
_LOW_BITS = 47
_BINS = 2 ** (63 - _LOW_BITS)
_BANDS = 3
#: a change below this share of the numbers is rounding
_ROUNDING = 1e-12
#: cells whose details the median is taken of; of more, tiles at equal distances are enough: of four million details
#: the median has a standard error below 0.1 %
_SAMPLED = 2**22


class Basis(NamedTuple):
    """A wavelet, how many levels, and the threshold of each band of each level, the finest level first."""

    filters: Filters
    level: int
    deltas: Floats


def soft_threshold(coefficients: Floats, delta: float) -> None:
    """Move coefficients towards zero by `delta`, those below it to zero, in place.

    Examples
    --------
    >>> coefficients = np.array([-3, -1, -0.5, 0, 0.5, 1, 3])
    >>> soft_threshold(coefficients, 1)
    >>> coefficients.tolist()
    [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    """
    coefficients -= np.clip(coefficients, -delta, delta)


def shrink(block: RowBlock, basis: Basis) -> bool:
    """Write rows with smaller details; return whether any number changed by more than rounding."""
    changed = False
    for tile in each_tile(block, basis.filters, basis.level):
        pyramid = decompose(tile.values, basis.filters, basis.level)
        for bands, deltas in zip(pyramid.bands, basis.deltas.tolist(), strict=True):
            for band, delta in zip(bands, deltas, strict=True):
                soft_threshold(band, delta)
        values = reconstruct(pyramid, basis.filters)[tile.own]
        if not changed:
            before = tile.values[tile.own]
            changed = bool(np.abs(values - before).max(initial=0.0) > _ROUNDING * np.abs(before).max(initial=0.0))
        block.write(tile.begin, values)
    return changed


def choose_deltas(block: RowBlock, filters: Filters, level: int, threshold: str, p: float) -> Floats:
    """Return the threshold of each band of each level; `p` is their share of the threshold, or the absolute one."""
    if threshold == "absolute":
        return np.full((level, _BANDS), p)
    if threshold.startswith("universal"):
        return np.full((level, _BANDS), p * universal_threshold(block, nonzero=threshold == "universal-nonzero"))
    largest = np.zeros((level, _BANDS))
    for tile in each_tile(block, filters, level):
        for at, bands in enumerate(decompose(tile.values, filters, level).bands):
            own = [float(np.abs(band[tile.coefficients(at + 1)]).max(initial=0.0)) for band in bands]
            largest[at] = np.maximum(largest[at], own)
    if threshold == "max-level":
        largest[:] = largest.max(1, keepdims=True)
    elif threshold == "max-global":
        largest[:] = largest.max()
    return p * largest


def universal_threshold(block: RowBlock, *, nonzero: bool = False) -> float:
    r"""Return $\sqrt{2 \ln(nm)}$ times the noise, estimated by the details of one level of the Haar transform.

    The noise is the median of their absolute values, over 0.6745. If more than half of them are zero, so is the
    threshold, and nothing would be changed: that is refused, unless `nonzero` asks for the mean of the others instead.
    """
    middle = _median_detail(block)
    if middle == 0.0 and nonzero:
        total, count = 0.0, 0
        for details in _fine_details(block):
            total, count = total + float(details.sum()), count + int(np.count_nonzero(details))
        middle = total / max(1, count)
    if middle == 0.0:
        msg = (
            "more than half of the differences between neighbouring cells are zero, so the universal threshold is zero "
            "and the numbers would be published as they are; choose threshold=universal-nonzero, max or absolute; "
            "nothing was released"
        )
        raise NotSatisfied(msg)
    return math.sqrt(2 * math.log(math.prod(block.shape))) * middle / _NORMAL_MEDIAN


def _fine_details(block: RowBlock) -> Iterator[Floats]:
    """Yield the absolute details of one level of the Haar transform, of all tiles or of many of them."""
    haar = find_filters("haar")
    for tile in each_tile(block, haar, 1, every=max(1, math.prod(block.shape) // _SAMPLED)):
        details = np.concatenate([band.ravel() for band in decompose(tile.values, haar, 1).bands[0]])
        yield np.abs(details, out=details)


def _median_detail(block: RowBlock) -> float:
    """Return the median of the fine details, without storing all of them.

    Positive numbers are in the order of their bits: they are counted by their leading bits, and only those that share
    the leading bits of the median are kept.
    """
    counts = np.zeros(_BINS, np.int64)
    for details in _fine_details(block):
        counts += np.bincount(_leading_bits(details), minlength=_BINS)
    through = np.cumsum(counts)
    ranks = ((int(through[-1]) - 1) // 2, int(through[-1]) // 2)
    bins = np.searchsorted(through, ranks, side="right")
    low, high = bins.tolist()
    kept: list[Floats] = []
    for details in _fine_details(block):
        bits = _leading_bits(details)
        kept.append(details[(bits == low) | (bits == high)])
    candidates = np.sort(np.concatenate(kept))
    first = int(through[low] - counts[low])
    # between the two bins, if they differ, there is no other number
    return float(candidates[ranks[0] - first] + candidates[ranks[1] - first]) / 2


def _leading_bits(details: Floats) -> NDArray[np.int64]:
    return details.view(np.int64) >> _LOW_BITS
