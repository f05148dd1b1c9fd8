"""The Haar transform of sums: at the root the sum of all numbers, at every other node its left half minus its right.

Coefficients are not normalised, so that a whole number moves each of its coefficients by a whole number. The number at
position 0 is the sum; positions $2^p$ to $2^{p + 1} - 1$ belong to the nodes of $n / 2^p$ numbers, from left to right.
An array of several axes is transformed along each of them. Divided by the root of the size of its node, a coefficient
is that of the orthonormal transform, which keeps inner products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers


def transform(values: NDArray[np.int64] | Floats) -> Floats:
    """Return the coefficients of an array whose axes have powers of two as lengths.

    Examples
    --------
    >>> transform(np.array([4, 1, 0, 3])).tolist()
    [8.0, 2.0, 3.0, -3.0]
    """
    coefficients = values.astype(np.float64)
    for axis in range(values.ndim):
        moved = np.moveaxis(coefficients, axis, 0)  # a view
        size = len(moved)
        while size > 1:
            left, right = moved[0:size:2], moved[1:size:2]
            moved[:size] = np.concatenate((left + right, left - right))
            size //= 2
    return coefficients


def undo(coefficients: Floats) -> Floats:
    """Return the array that has these coefficients.

    Examples
    --------
    >>> undo(transform(np.array([[4, 1], [0, 3]]))).tolist()
    [[4.0, 1.0], [0.0, 3.0]]
    """
    values = coefficients.copy()
    for axis in range(values.ndim):
        moved = np.moveaxis(values, axis, 0)
        size = 1
        while size < len(moved):
            sums, differences = moved[:size].copy(), moved[size : 2 * size].copy()
            moved[0 : 2 * size : 2] = (sums + differences) / 2
            moved[1 : 2 * size : 2] = (sums - differences) / 2
            size *= 2
    return values


def orthonormal(values: NDArray[np.int64] | Floats) -> Floats:
    """Return the coefficients of a list in the orthonormal basis, padded with zeros to a power of two.

    Examples
    --------
    >>> orthonormal(np.array([4, 1, 0])).round(4).tolist()
    [2.5, 2.5, 2.1213, 0.0]
    """
    length = pad(len(values))
    coefficients = transform(np.pad(values.astype(np.float64), (0, length - len(values))))
    return coefficients / np.sqrt(node_sizes(length)[node_classes(length)])


def pad(length: int) -> int:
    """Return the power of two that an axis is padded to.

    Examples
    --------
    >>> [pad(length) for length in (1, 2, 5, 8)]
    [1, 2, 8, 8]
    """
    return 1 << max(0, length - 1).bit_length()


def node_classes(length: int) -> Integers:
    """Return the class of each position: 0 for the sum, then 1 for the largest node, 2 for its halves, and so on.

    Examples
    --------
    >>> node_classes(8).tolist()
    [0, 1, 2, 2, 3, 3, 3, 3]
    """
    classes = np.zeros(length, np.int64)
    for number in range(1, length.bit_length()):
        classes[1 << (number - 1) : 1 << number] = number
    return classes


def node_sizes(length: int) -> Integers:
    """Return how many numbers a node of each class has.

    Examples
    --------
    >>> node_sizes(8).tolist()
    [8, 8, 4, 2]
    """
    return np.array([length, *(length >> number for number in range(length.bit_length() - 1))], np.int64)
