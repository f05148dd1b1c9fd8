"""Classes of the number of visits of a record, of those with visits between the first and the last."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENDS", "count_departures", "inner_visits", "length_classes", "most_inner_visits"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: visits of a record that are not inner ones: the first and the last
ENDS = 2
#: the largest length of each class
_CLASSES = (4, 8, 16, 32, 64)


def length_classes(longest: int) -> Integers:
    """The class of each length 0, 1, ... `longest`: -1 up to two visits, then 3-4, 5-8, 9-16, ...

    Examples
    --------
    >>> length_classes(10).tolist()
    [-1, -1, -1, 0, 0, 1, 1, 1, 1, 2, 2]
    """
    length = np.arange(longest + 1)
    return np.where(length <= ENDS, -1, np.searchsorted(_CLASSES, length))


def most_inner_visits(longest: int) -> Integers:
    """The largest number of inner visits of a record of each class of lengths.

    Examples
    --------
    >>> most_inner_visits(8).tolist()
    [2, 6]
    """
    classes = int(length_classes(longest)[-1]) + 1
    return np.minimum(_CLASSES[:classes], longest) - ENDS


def inner_visits(lengths: Floats) -> Floats:
    """How many inner visits the records of each class have, given the number of records of length 1, 2, ..."""
    return _by_class(lengths, np.arange(1, len(lengths) + 1) - ENDS)


def count_departures(lengths: Floats, first: Floats, inner: Floats) -> Floats:
    """Steps by where, or when, they start, in records of three visits and more; the steps of a record weigh 1 together.

    Parameters
    ----------
    lengths
        How many records have 1, 2, ... visits.
    first, inner
        All records by their first state, and inner visits by class of lengths and state. With last states instead of
        first ones, the result is where steps end.
    """
    length = np.arange(1, len(lengths) + 1)
    each = np.where(length > ENDS, lengths / np.maximum(1, length - 1), 0.0)
    visits, weighed = inner_visits(lengths), _by_class(each, length - ENDS)
    number = float(lengths.sum())
    part = np.divide(weighed, visits, out=np.zeros_like(visits), where=visits > 0)
    return first * (float(each.sum()) / number if number > 0 else 0.0) + part @ inner


def _by_class(lengths: Floats, weight: Integers) -> Floats:
    classes = length_classes(len(lengths))[1:]
    kept = classes >= 0
    return np.bincount(classes[kept], (lengths * weight)[kept], int(classes[-1]) + 1).astype(np.float64)
