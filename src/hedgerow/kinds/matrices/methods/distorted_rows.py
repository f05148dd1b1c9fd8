"""What the methods share that distort numbers, and promise nothing.

Rows are put into an order that says nothing about the input (`start`), worked on in blocks, and rounded and ordered
again at the end (`finish`). Columns may get their means and standard deviations back (`ColumnStatistics`, `restore`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DomainError, NotSatisfied
from hedgerow.kinds.matrices.data import Matrix, canonical_order
from hedgerow.numerics.arrays import Floats

#: rows of a block
BLOCK = 4096
#: cells of a block that is multiplied: threads wait for each other after each product, so that there should be few
_PRODUCT = 2**21
#: significant digits of what is published, counted from the largest number of a column: the digits after these depend
#: on the order in which a processor adds, and can tell which number a result was computed from
_DIGITS = 12
_LARGEST_EXPONENT = 290
#: in how many parts the columns of rows are moved, and how many rows at a time
_PARTS, _GATHERED = 3, 2**16
_UNCHANGED = 1e-12
#: squares of larger numbers, summed over rows, are not finite
_LARGEST = 1e140


def product_rows(columns: int) -> int:
    """Return how many rows are multiplied at a time."""
    return max(BLOCK, _PRODUCT // max(1, columns))


def largest_numbers(values: Floats) -> Floats:
    """Return the largest absolute number of each column; refuse numbers whose squares are too large to be summed."""
    largest = np.maximum(values.max(0, initial=0.0), -values.min(0, initial=0.0))
    if np.any(largest > _LARGEST):
        msg = f"numbers beyond {_LARGEST:g} cannot be distorted; choose larger units for such columns"
        raise DomainError(msg)
    return largest


def start(data: Matrix) -> tuple[Matrix, Floats]:
    """Return the rows in canonical order, so that their order in the input does not matter, and numbers to work on."""
    places = data.order
    if np.array_equal(places, np.arange(len(data))):
        return data, np.array(data.values, order="C")
    ordered = data.take(places)
    values = ordered.values
    if values.base is not None or not values.flags.c_contiguous:
        return ordered, np.array(values, order="C")
    # nobody else has these numbers, so that they need not be copied again
    values.flags.writeable = True
    return ordered, values


def finish(data: Matrix, values: Floats, columns: Sequence[str] | None = None) -> Matrix:
    """Round the numbers that replace those of the data, and put rows into canonical order, both in place."""
    largest = np.maximum(values.max(0, initial=0.0), -values.min(0, initial=0.0))
    exponents = np.floor(np.log10(np.where(largest > 0, largest, 1.0)))
    scale = 10.0 ** np.clip(_DIGITS - 1 - exponents, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        np.multiply(block, scale, out=block)
        np.rint(block, out=block)
        np.divide(block, scale, out=block)
        np.add(block, 0.0, out=block)  # there are no negative zeros in a matrix
    ids, labels = data.ids, data.labels
    order = canonical_order(values, ids, labels)
    if not np.array_equal(order, np.arange(len(values))):
        _reorder(values, order)
        ids, labels = (None if column is None else column[order] for column in (ids, labels))
    return data.distorted(values, ids=ids, labels=labels, columns=columns).in_order()


def _reorder(values: Floats, order: NDArray[np.intp]) -> None:
    """Put rows into another order, in place, a part of the columns at a time."""
    rows, columns = values.shape
    width = -(-columns // _PARTS)
    memory = np.empty(rows * width)  # used again for every part: fresh memory is much slower
    for begin in range(0, columns, width):
        part = row_items(values, slice(begin, min(columns, begin + width)))
        moved = np.ndarray((rows,), part.dtype, memory)
        for at in range(0, rows, _GATHERED):
            moved[at : at + _GATHERED] = part[order[at : at + _GATHERED]]
        part[:] = moved


def row_items(values: Floats, columns: slice) -> NDArray[np.void]:
    """Return some columns of each row as one item, which is moved as a whole; a view of contiguous numbers."""
    width = columns.stop - columns.start
    return np.ndarray((len(values),), f"V{8 * width}", values.data, 8 * columns.start, (values.strides[0],))


def refuse_unchanged(changed: float) -> None:
    """Refuse a release that is the data itself: `changed` is the relative size of the change."""
    if changed <= _UNCHANGED:
        msg = "the numbers would be published as they are, with these parameters; nothing was released"
        raise NotSatisfied(msg)


# Means and standard deviations of columns: taken from the original, and restored after a distortion.

#: a standard deviation below this share of the largest number is rounding
_ROUNDING = 1e-13


class ColumnStatistics(NamedTuple):
    """The mean and the standard deviation (with n - 1) of each column; a constant column has exactly 0."""

    mean: Floats
    deviation: Floats

    @property
    def scale(self) -> Floats:
        """What z-scores are divided by: the deviation, or 1 in a constant column."""
        return np.where(self.deviation > 0, self.deviation, 1.0)

    @classmethod
    def of(cls, values: Floats) -> ColumnStatistics:
        """Compute them in two passes over blocks of rows."""
        rows = len(values)
        starts = range(0, rows, BLOCK)
        mean = sum((values[at : at + BLOCK].sum(0) for at in starts), np.zeros(values.shape[1])) / rows
        squares = np.zeros(values.shape[1])
        largest = np.abs(mean)
        for at in starts:
            centred = values[at : at + BLOCK] - mean
            squares += np.einsum("ij,ij->j", centred, centred)
        deviation = np.sqrt(squares / max(1, rows - 1))
        return cls(mean, np.where(deviation > _ROUNDING * largest, deviation, 0.0))


def restore(values: Floats, wanted: ColumnStatistics) -> None:
    r"""Give columns their original means and standard deviations again, in place.

    $A^{**}_{ij} = \mu_j + (A^*_{ij} - \mu^*_j) \sigma_j / \sigma^*_j$: of all columns with these statistics, the one
    closest to $A^*$.
    """
    now = ColumnStatistics.of(values)
    if np.any((now.deviation == 0) & (wanted.deviation > 0)):
        msg = (
            "the distortion made a column constant, so that its standard deviation cannot be kept; distort less, or "
            "publish without normalisation"
        )
        raise NotSatisfied(msg)
    factor = wanted.deviation / np.where(now.deviation > 0, now.deviation, 1.0)
    for at in range(0, len(values), BLOCK):
        block = values[at : at + BLOCK]
        block -= now.mean
        block *= factor
        block += wanted.mean
