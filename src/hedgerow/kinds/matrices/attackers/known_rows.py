r"""Known rows: somebody who knows some rows of the original, and where they are in the release, finds all others.

The attacker has the release $\tilde A = A R + E$ with a secret rotation $R$, and a few original rows: the own one, and
those of relatives, colleagues or public figures. Success is the other rows.
"""

from __future__ import annotations

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Floats


def fit_rotation(known: Floats, published: Floats) -> Floats:
    r"""Return the orthogonal $R$ that carries the known rows nearest to their published ones (Procrustes).

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> known = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> np.allclose(fit_rotation(known, known @ turn), turn)
    True
    """
    if not len(known) or len(known) != len(published):
        msg = f"give each known row with its published one; got {len(known)} and {len(published)}"
        raise ParameterError(msg)
    left, _, right = np.linalg.svd(known.T @ published, full_matrices=False)
    return left @ right


def undo_rotation(known: Floats, published: Floats, released: Floats, *, moved: bool = False) -> Floats:
    r"""Reconstruct all rows by the rotation that fits the known ones: $\hat A = \tilde A \hat R^T$.

    Parameters
    ----------
    moved
        Fit a translation as well, for releases whose rows were centred or moved.

    Examples
    --------
    >>> data, turn = np.array([[1.0, 2.0], [4.0, 1.0], [7.0, 9.0]]), np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> undo_rotation(data[:2], data[:2] @ turn, data @ turn).round(6).tolist()
    [[1.0, 2.0], [4.0, 1.0], [7.0, 9.0]]
    """
    before = known.mean(0) if moved else np.zeros(known.shape[1])
    after = published.mean(0) if moved else np.zeros(published.shape[1])
    rotation = fit_rotation(known - before, published - after)
    return (released - after) @ rotation.T + before


def solve_inner_products(known: Floats, published: Floats, released: Floats) -> Floats:
    r"""Reconstruct rows by their inner products with the known rows: $D x = \tilde D \tilde A_q$, by least squares.

    The thesis proposes it. It is exact without noise if the known rows span all directions, and useless with noise,
    since known rows are nearly collinear; it is here to show that a failed attack proves nothing about a release.

    Examples
    --------
    >>> data = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> np.allclose(solve_inner_products(data[:2], data[:2] @ turn, data @ turn), data)
    True
    """
    return (np.linalg.pinv(known) @ (published @ released.T)).T
