"""SVD reconstruction: a release of low rank is a set of exact equations, and numbers with few digits solve them.

The attacker has a release $A V_k V_k^T$, whose directions $V_k$ are those of the release itself, and knows how many
decimals the original has: scores are whole numbers, heights are in centimetres. Each row then satisfies k equations in
m unknown whole numbers, to as many digits as the release has. If those digits are more than the unknown ones, there is
only one solution, and lattice reduction finds it. Where columns were given their original statistics, known rows tell
the equations. Success is the original itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.matrices.attackers.lattice_reduction import nearest_points, reduce_lattice
from hedgerow.numerics.arrays import Floats

#: singular values above so much of what rounding has at most are signal
_ABOVE = 1.5
#: how far a solution may be from what is expected, in standard deviations per dimension, and how far other points are
_NEAR, _UNIQUE = 3.0, 6.0
_MOST_DECIMALS = 9
#: steps that rows are written with: smaller ones are no grid; and how far a number may be from a multiple of its step
_SMALLEST, _OFF_GRID = 1e-9, 1e-6
#: singular values of equations that were learned, and whole numbers that floating-point numbers tell apart
_LEARNED, _PRECISE = 1e-6, 1e14
#: the share of the largest number that is lost by rounding in products of rows and columns
_LOST = 1e-14


class Solved(NamedTuple):
    """A reconstruction, and which of its rows satisfy the equations, so that the attacker knows they are right."""

    values: Floats
    sure: NDArray[np.bool_]


class Equations(NamedTuple):
    """Rows times `left` are `right`, up to errors with this covariance.

    The equations themselves are off by `turns`, per unit that a row is away from the released one.
    """

    left: Floats
    right: Floats
    covariance: Floats
    turns: Floats


def guess_steps(known: Floats) -> Floats | None:
    """Return the step of each column, a power of ten, from the decimals of known rows; None if there is no grid.

    Examples
    --------
    >>> guess_steps(np.array([[1.0, 0.25], [20.0, 1.5]])).tolist()
    [1.0, 0.01]
    """
    steps = np.ones(known.shape[1])
    for number, column in enumerate(known.T):
        while np.any(np.abs(column / steps[number] - np.rint(column / steps[number])) > _OFF_GRID):
            steps[number] /= 10
            if steps[number] < _SMALLEST:
                return None
    return steps


def learn_equations(released: Floats, known: Floats | None = None, published: Floats | None = None) -> Equations | None:
    """Take the equations from the release itself; from known rows, if they are given, for releases that were moved.

    None if the release has full rank, or if there are too few known rows: then there are no equations to solve.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> (learn_equations(rows).left / learn_equations(rows).left[0]).round(6).tolist()
    [[1.0], [2.0]]
    >>> learn_equations(rows + 50 * np.eye(3, 2)) is None
    True
    """
    units = _rounding_units(released)
    if known is None or published is None:
        # in units of their rounding, all cells have the same error, and singular values above it are signal
        _, singular, right = np.linalg.svd(released / units, full_matrices=False)
        rank = int((singular > _ABOVE * (np.sqrt(released.shape[0]) + np.sqrt(released.shape[1]))).sum())
        if not 0 < rank < released.shape[1]:
            return None
        left = right[:rank].T * units[:, None]
        turns = units[:, None] / singular[:rank]
        return Equations(left, released @ left, left.T @ (left * units[:, None] ** 2), turns)
    rows = np.hstack((known, np.ones((len(known), 1))))
    if len(known) <= rows.shape[1]:
        return None
    solution = np.linalg.lstsq(rows, published, rcond=None)[0]
    left, singular, right = np.linalg.svd(solution[:-1], full_matrices=False)
    rank = int((singular > _LEARNED * singular[0]).sum())
    if not 0 < rank < known.shape[1] or np.any(np.std(rows @ solution - published, axis=0) > 10 * units):
        return None
    values = (released - solution[-1]) @ right[:rank].T / singular[:rank]
    directions = right[:rank].T / singular[:rank]
    # known rows tell the equations up to the rounding of what was published of them
    more = 1.0 + 3.0 * np.sqrt(rows.shape[1] / len(known))
    covariance = more**2 * directions.T @ (directions * units[:, None] ** 2)
    return Equations(left[:, :rank], values, covariance, np.zeros((len(units), rank)))


def _rounding_units(released: Floats) -> Floats:
    """Return the standard deviation of the rounding of each column, as its decimals show it."""
    units = np.empty(released.shape[1])
    for number, column in enumerate(released.T):
        scaled, decimals = column, 0
        largest = float(np.abs(column).max(initial=0.0)) or 1.0
        while largest * 10.0**decimals < _PRECISE:
            scaled = column * 10.0**decimals
            if np.all(np.abs(scaled - np.rint(scaled)) < 1e-15 * largest * 10.0**decimals):
                break
            decimals += 1
        units[number] = 10.0**-decimals / np.sqrt(12)
    # products of numbers lose as much as this, whatever the decimals are
    return np.maximum(units, _LOST * float(np.abs(released).max(initial=0.0)))


def solve_on_grid(released: Floats, equations: Equations, steps: Floats, spread: Floats | None = None) -> Solved:
    """Find rows of multiples of the steps that satisfy the equations and are near the released rows.

    Parameters
    ----------
    spread
        How far original numbers are from released ones, per column, as known rows show it; the standard deviations of
        the released columns if None.

    Examples
    --------
    >>> rows = np.array([[(7 * i * i + 5 * i * j + 3 * j * j + i) % 11 for j in range(6)] for i in range(40)], float)
    >>> left, sizes, right = np.linalg.svd(rows, full_matrices=False)
    >>> released = (left[:, :3] * sizes[:3]) @ right[:3]
    >>> solved = solve_on_grid(released, learn_equations(released), np.ones(6))
    >>> np.array_equal(solved.values, rows), bool(solved.sure.all())
    (True, True)
    """
    left = equations.left * steps[:, None]
    expected = released / steps
    around: Floats = released.std(0) if spread is None else spread
    scales = np.maximum(around / steps, 0.5)
    # the directions are off as well, by as much as rounding of the release turns them
    covariance = equations.covariance + np.diag(around**2 @ equations.turns**2)
    sizes = np.sqrt(np.diag(covariance))
    whiten = np.linalg.inv(np.linalg.cholesky(covariance / np.outer(sizes, sizes) + 1e-14 * np.eye(len(sizes)))).T
    whiten = whiten / sizes[:, None]
    lattice = reduce_lattice(left @ whiten, 1.0, scales)
    points, off = nearest_points(lattice, equations.right @ whiten, expected)
    # a wrong point would be about half a length away in every direction: then a near one is no chance
    sure = (off <= _NEAR * np.sqrt(lattice.vectors.shape[1])) & (lattice.shortest >= _UNIQUE)
    values = np.where(sure[:, None], points * steps, np.rint(expected) * steps)
    # steps are powers of ten, which are not exact
    return Solved(values.round(_MOST_DECIMALS), sure)
