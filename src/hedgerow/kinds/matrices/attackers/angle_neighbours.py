"""Angle neighbours: somebody who knows one row finds rows that point the same way, and scales the known one to them.

The attacker has the release, one row of the original and its place in the release. Rotations keep angles, and noise
changes those of the large directions little. Success is a row near the known one in direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers


class Neighbours(NamedTuple):
    """The rows whose directions are nearest to that of the known one, and what they are guessed to be."""

    rows: Integers
    guesses: Floats


def guess_neighbours(
    scores: Floats, known: int, original_row: Floats, *, nearest: int = 5, scaled: bool = True
) -> Neighbours:
    r"""Guess the nearest rows $q$ as $A^p |\tilde A_k^q| / |\tilde A_k^p|$.

    Parameters
    ----------
    scores
        The rows of the release in its largest directions: $\tilde A V_k$.
    scaled
        False copies the known row as it is. The thesis does so; but an angle of zero means proportional, not equal.

    Examples
    --------
    >>> released = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> guess_neighbours(released, 0, np.array([3.0, 4.0]), nearest=1)
    Neighbours(rows=array([1]), guesses=array([[6., 8.]]))
    """
    sizes = np.linalg.norm(scores, axis=1)
    usable = sizes > 0
    usable[known] = False
    rows = np.flatnonzero(usable)
    if not len(rows) or sizes[known] == 0:
        return Neighbours(rows[:0], np.empty((0, len(original_row))))
    cosines = scores[rows] @ (scores[known] / sizes[known]) / sizes[rows]
    chosen = rows[np.argsort(-cosines, kind="stable")[:nearest]]
    factors = sizes[chosen] / sizes[known] if scaled else np.ones(len(chosen))
    return Neighbours(chosen, factors[:, None] * original_row)
