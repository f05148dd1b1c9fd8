"""Lattice reduction (LLL) and Babai's nearest plane: whole numbers that nearly satisfy linear equations.

No attack by itself: the SVD reconstruction and the known sample need it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers

_LOVASZ = 0.99
#: the weight of equations grows by this factor from stage to stage, so that no stage is ill-conditioned
_STAGE = 16.0
_MOST_SWAPS = 200_000
#: equations are fixed-point numbers with so many parts per unit
_FIXED = 2.0**60


class ReducedLattice(NamedTuple):
    """A reduced basis: vectors of whole numbers, and how they are embedded: weighted equations, then scaled unknowns.

    The embedding is orthogonal to `directions`, with `lengths` below their diagonal.
    """

    basis: Integers
    vectors: Floats
    directions: Floats
    lengths: Floats
    weight: float
    scales: Floats

    @property
    def shortest(self) -> float:
        """The shortest orthogonal length: what is nearer to a point than half of it is nearer to no other one."""
        return float(np.abs(np.diag(self.lengths)).min())


def reduce_lattice(equations: Floats, weight: float, scales: Floats) -> ReducedLattice:
    """Reduce the lattice of whole numbers $z$ in which $z$ times the equations, times a weight, is to be short.

    Parameters
    ----------
    equations
        One row per unknown, one column per equation.
    scales
        How large each unknown is expected to be.

    Examples
    --------
    >>> reduce_lattice(np.array([[1.0], [0.7071]]), 1e4, np.array([1.0, 1.0])).basis.shape
    (2, 2)
    """
    # large whole numbers cancel in the equations, so that products are exact
    exact = _to_integers(equations * _FIXED)
    basis = _to_integers(np.eye(len(equations)))
    current = 1.0 / float(np.abs(equations).max())
    while current < weight:
        current = min(weight, current * _STAGE)
        basis = _reduce(basis, exact, current, scales)
    vectors = _embed(basis, exact, weight, scales)
    directions, lengths = np.linalg.qr(vectors.T)
    return ReducedLattice(basis.astype(np.int64), vectors, directions, lengths, weight, scales)


def nearest_points(lattice: ReducedLattice, wanted: Floats, expected: Floats) -> tuple[Integers, Floats]:
    """Return whole numbers near each target, by Babai's nearest plane, and how far their embeddings are from it.

    Parameters
    ----------
    wanted
        The values of the equations, one row per search.
    expected
        The values of the unknowns, as far as they can be guessed.

    Examples
    --------
    >>> equations, scales = np.array([[1.0], [np.sqrt(2)], [np.sqrt(3)]]), np.full(3, 9.0)
    >>> hidden = np.array([[3, 7, 2], [8, 1, 5]])
    >>> lattice = reduce_lattice(equations, 1e8, scales)
    >>> nearest_points(lattice, hidden @ equations, np.full((2, 3), 5.0))[0].tolist()
    [[3, 7, 2], [8, 1, 5]]
    """
    rest = np.hstack((wanted * lattice.weight, expected / lattice.scales))
    points = np.zeros(expected.shape, np.int64)
    for number in range(len(lattice.basis) - 1, -1, -1):
        steps = np.rint(rest @ lattice.directions[:, number] / lattice.lengths[number, number])
        rest -= steps[:, None] * lattice.vectors[number]
        points += steps.astype(np.int64)[:, None] * lattice.basis[number]
    return points, np.linalg.norm(rest, axis=1)


def _to_integers(values: Floats) -> NDArray[Any]:
    """Return integers of any size, as Python has them."""
    return np.array([[round(value) for value in row] for row in values.tolist()], np.object_)


def _embed(basis: NDArray[Any], exact: NDArray[Any], weight: float, scales: Floats) -> Floats:
    weighted = (basis @ exact).astype(np.float64) * (weight / _FIXED)
    return np.hstack((weighted, basis.astype(np.float64) / scales))


def _reduce(basis: NDArray[Any], exact: NDArray[Any], weight: float, scales: Floats) -> NDArray[Any]:
    """Reduce a basis by the algorithm of Lenstra, Lenstra and Lovász, in floating point."""
    basis = basis.copy()
    vectors = _embed(basis, exact, weight, scales)
    at = 1
    for _ in range(_MOST_SWAPS):
        if at >= len(basis):
            break
        lengths = np.linalg.qr(vectors[: at + 1].T)[1]
        for number in range(at - 1, -1, -1):
            steps = int(np.rint(lengths[number, at] / lengths[number, number]))
            if steps:
                basis[at] -= steps * basis[number]
                lengths[:, at] -= steps * lengths[:, number]
        vectors[at] = _embed(basis[at : at + 1], exact, weight, scales)[0]
        above, aside, below = lengths[at - 1, at - 1], lengths[at - 1, at], lengths[at, at]
        if below**2 + aside**2 >= _LOVASZ * above**2:
            at += 1
        else:
            basis[[at - 1, at]] = basis[[at, at - 1]]
            vectors[[at - 1, at]] = vectors[[at, at - 1]]
            at = max(1, at - 1)
    return basis
