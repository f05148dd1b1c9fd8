"""The rows that a method works on: in an order that says nothing about the input, in blocks, and rounded at the end."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.matrices import Matrix
from hedgerow.data.row_order import order_rows
from hedgerow.errors import NotSatisfied

__all__ = ["BLOCK", "finish", "refuse_unchanged", "start"]

Floats: TypeAlias = NDArray[np.float64]

#: rows of a block
BLOCK = 8192
#: significant digits of what is published, counted from the largest number of a column: the digits after these depend
#: on the order in which a processor adds, and can tell which number a result was computed from
_DIGITS = 12
#: columns that are moved together: as many as a line of the cache has
_COLUMNS = 8
_UNCHANGED = 1e-12


def start(data: Matrix) -> tuple[Matrix, Floats]:
    """Return the rows in canonical order, so that their order in the input does not matter, and a copy to work on."""
    order = data.canonical_order()
    if np.array_equal(order, np.arange(len(data))):
        return data, np.array(data.values, order="C")
    ordered = data.take(order)
    return ordered, _own(ordered)


def _own(ordered: Matrix) -> Floats:
    """Make the numbers of a matrix that nobody else has writable, instead of copying them."""
    values = ordered.values
    if values.base is not None or not values.flags.c_contiguous:
        return np.array(values, order="C")
    values.flags.writeable = True
    return values


def finish(ordered: Matrix, values: Floats, columns: list[str] | None = None) -> Matrix:
    """Round the numbers, and sort the rows in place where they have no names."""
    largest = np.maximum(values.max(0, initial=0.0), -values.min(0, initial=0.0))
    decimals = _DIGITS - 1 - np.floor(np.log10(np.where(largest > 0, largest, 1.0))).astype(int)
    scale = 10.0 ** np.clip(decimals, -300, 300)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        np.multiply(block, scale, out=block)
        np.rint(block, out=block)
        np.divide(block, scale, out=block)
        np.add(block, 0.0, out=block)  # no negative zeros
    labels = ordered.labels
    if ordered.ids is None:
        order = order_rows([*values.T, *([] if labels is None else [labels])], len(values))
        for begin in range(0, values.shape[1], _COLUMNS):
            values[:, begin : begin + _COLUMNS] = values[order, begin : begin + _COLUMNS]
        labels = None if labels is None else labels[order]
    return ordered.distorted(values, ids=ordered.ids, labels=labels, columns=columns)


def refuse_unchanged(changed: float) -> None:
    """Refuse a release that is the data itself: `changed` is the relative size of the change."""
    if changed <= _UNCHANGED:
        msg = "the numbers would be published as they are, with these parameters; nothing was released"
        raise NotSatisfied(msg)
