r"""Other people's rows: a rotation is found by somebody who knows nobody in the release, but people like them.

The attacker has the release $\tilde A = A R + E$ with a secret rotation $R$, and a sample of rows of *other* people:
an earlier survey, another hospital, a published table. No row of it is in the release. A rotation carries means,
covariances and the whole cloud of rows with it, so that the sample and the release are the same cloud twice. Success is
the rows of the release.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.attacks.cell_posteriors import spread_rows

__all__ = ["align_axes", "match_clouds"]

Floats: TypeAlias = NDArray[np.float64]

#: rows of either cloud that are matched with each other; rounds; and the turn at which they end
_MATCHED, _ROUNDS, _STILL = 600, 60, 1e-6
#: the largest turn of a round, and how far the equations of a turn are kept from singular
_LARGEST_TURN, _RIDGE = 0.5, 1e-9


def align_axes(sample: Floats, released: Floats) -> Floats:
    """Return the rotation that carries the axes of the sample's covariance onto those of the release.

    The direction of an axis is told by the mean along it, and by its skewness: each is weighed by how sure it is.

    Examples
    --------
    >>> people = -np.log(1 - np.arange(4000)[:, None] * [0.618034, 0.414214] % 1) * [3, 1]
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> align_axes(people[:2000], people[2000:] @ turn).round(1).tolist()
    [[0.6, -0.8], [0.8, 0.6]]
    """
    axes = [np.linalg.eigh(np.cov(rows.T).reshape(rows.shape[1], -1)) for rows in (sample, released)]
    variances = np.maximum(np.maximum(axes[0][0], axes[1][0]), np.finfo(float).tiny)
    along = [rows @ vectors for rows, (_, vectors) in zip((sample, released), axes, strict=True)]
    means = [rows.mean(0) for rows in along]
    rarity = 1 / len(sample) + 1 / len(released)
    by_means = 2 * means[0] * means[1] / (variances * rarity)
    scaled = [(rows - mean) / np.sqrt(variances) for rows, mean in zip(along, means, strict=True)]
    skewness = [(rows**3).mean(0) for rows in scaled]
    # sums of cubes vary as sixth powers do
    unsure = sum(((rows**6).mean(0) / len(rows) for rows in scaled), np.full(len(variances), np.finfo(float).tiny))
    signs = np.where(by_means + 2 * skewness[0] * skewness[1] / unsure < 0, -1.0, 1.0)
    return (axes[0][1] * signs) @ axes[1][1].T


def match_clouds(sample: Floats, released: Floats, rotation: Floats, *, noise: float = 0.0) -> Floats:
    """Improve a rotation by iterative closest points: rows are matched one to one, and the release is turned to them.

    Distances are in deviations of the columns, so that a turn that would mix a small column with a large one shows.

    Parameters
    ----------
    noise
        The standard deviation of noise in the release, which makes small columns tell less.

    Examples
    --------
    >>> people = -np.log(1 - np.arange(800)[:, None] * [0.618034, 0.414214] % 1) * [3, 1]
    >>> turn, near = (np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in (0.9, 0.8))
    >>> better = match_clouds(people[:400], people[400:] @ turn, near)
    >>> bool(np.abs(better - turn).max() < 0.3 * np.abs(near - turn).max())
    True
    """
    from scipy import linalg, optimize  # noqa: PLC0415 - slow to import

    sample, released = (rows[spread_rows(len(rows), _MATCHED)] for rows in (sample, released))
    deviations = np.hypot(sample.std(0), noise)
    weights = 1.0 / np.where(deviations > 0, deviations, max(float(deviations.max()), np.finfo(float).tiny))
    there = sample * weights
    for _ in range(_ROUNDS):
        rows = released @ rotation.T
        here = rows * weights
        distances = (here**2).sum(1)[:, None] - 2 * here @ there.T + (there**2).sum(1)
        mine, theirs = cast("Any", optimize).linear_sum_assignment(distances)
        turn = cast("Any", linalg).expm(_small_turn(rows[mine], sample[theirs], weights))
        rotation = turn.T @ rotation
        if np.abs(turn - np.eye(len(turn))).max() < _STILL:
            break
    return rotation


def _small_turn(rows: Floats, wanted: Floats, weights: Floats) -> Floats:
    """Return the skew matrix K that makes rows + rows K nearest to the wanted rows, columns by their weights.

    Unlike the Procrustes fit this weighs columns; the equations are linear in the entries above the diagonal of K.
    """
    squares, gram = weights**2, rows.T @ rows
    first, second = np.triu_indices(len(weights), 1)
    pull = (rows.T @ (wanted - rows)) * squares
    right = pull[first, second] - pull[second, first]
    left = np.zeros((len(first), len(first)))
    for ends, starts, sign in ((second, first, 1), (first, second, 1)):
        left += sign * (ends[:, None] == ends) * squares[ends][:, None] * gram[np.ix_(starts, starts)]
    for one, other, starts, ends in ((first, second, second, first), (second, first, first, second)):
        left -= (one[:, None] == other) * squares[one][:, None] * gram[np.ix_(starts, ends)]
    sizes = np.sqrt(np.maximum(np.diag(left), np.finfo(float).tiny))
    scaled = left / np.outer(sizes, sizes) + _RIDGE * np.eye(len(sizes))
    entries = cast("Floats", np.linalg.lstsq(scaled, right / sizes, rcond=None)[0]) / sizes
    entries *= min(1.0, _LARGEST_TURN / max(float(np.abs(entries).max(initial=0.0)), np.finfo(float).tiny))
    skew = np.zeros((len(weights), len(weights)))
    skew[first, second], skew[second, first] = entries, -entries
    return skew
