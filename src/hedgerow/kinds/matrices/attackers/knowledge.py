"""What an attacker has: a release, what it says about itself, and some rows of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.attackers.cell_posteriors import Bounds
from hedgerow.kinds.matrices.attackers.spectral_filtering import choose_rank, estimate_noise, noise_edge
from hedgerow.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class Knowledge:
    """A release, and what the attacker knows; beside it the truth, which only the judge reads.

    Parameters
    ----------
    released
        All rows of the release.
    positions, truth
        The rows of the release that can be judged, and the original of each.
    known
        Which of these the attacker knows.
    method, parameters
        What the release says about itself.
    same_columns
        Whether its columns are those of the original.
    linked
        Whether rows have no names, so that the truth of a row is the one that is most like it.
    declared
        The bounds of the columns, where they are public.
    """

    released: Floats
    positions: Integers
    truth: Floats
    known: Integers
    method: str
    parameters: Mapping[str, Any]
    same_columns: bool
    linked: bool
    declared: Bounds | None = None

    @classmethod
    def draw(
        cls,
        released: Floats,
        positions: Integers,
        truth: Floats,
        *,
        method: str,
        parameters: Mapping[str, Any],
        rng: np.random.Generator,
        same_columns: bool = True,
        linked: bool = False,
        known: int | None = None,
    ) -> Knowledge:
        """Draw the rows that the attacker knows."""
        rows = len(positions)
        most = rows - 1
        number = min(2 * truth.shape[1], max(1, rows // 4)) if known is None else known
        if not 1 <= number <= most:
            msg = f"an attacker can know between 1 and {most} of {rows} rows; got {number}"
            raise ParameterError(msg)
        drawn = rng.permutation(rows)[:number]
        return cls(released, positions, truth, drawn, method, parameters, same_columns, linked)

    @property
    def originals(self) -> Floats:
        """The known original rows."""
        return self.truth[self.known]

    @property
    def published(self) -> Floats:
        """What was published of the known rows."""
        return self.released[self.known_at]

    @property
    def known_at(self) -> Integers:
        """Where the known rows are in the release."""
        return self.positions[self.known]

    @cached_property
    def unknown(self) -> Integers:
        """Which of the rows that can be judged are not known."""
        return np.setdiff1d(np.arange(len(self.positions)), self.known)

    @property
    def unknown_at(self) -> Integers:
        """Where those are in the release."""
        return self.positions[self.unknown]

    @property
    def complete(self) -> bool:
        """Whether all rows of the release can be judged."""
        return len(self.positions) == len(self.released)

    @property
    def beta(self) -> float | None:
        """The standard deviation of the noise, if the release tells that it is the same in all columns."""
        noise = self.noise
        return float(noise[0]) if noise is not None and np.ptp(noise) == 0 else None

    @cached_property
    def noise(self) -> Floats | None:
        """The standard deviation of the noise of each column, if the release tells."""
        said = self.parameters
        if self.method != "additive-noise" or "beta" not in said:
            return None
        columns = self.released.shape[1]
        try:
            text = str(said.get("betas", ""))
            noise = np.array(text.split(","), np.float64) if text else np.full(columns, float(said["beta"]))
        except ValueError:  # it was not made by this method
            return None
        if said.get("scale", "numbers") == "deviations":
            # noise of beta deviations makes the variance of a column 1 + beta^2 times as large
            noise = noise * self.released.std(0, ddof=1) / np.sqrt(1.0 + noise**2)
        return noise if len(noise) == columns else None

    @cached_property
    def scores(self) -> Floats:
        """The rows of the release in the directions whose singular values are above the noise."""
        squares, vectors = np.linalg.eigh(self.released.T @ self.released)
        singular = np.sqrt(np.maximum(squares[::-1], 0.0))
        rows, columns = self.released.shape
        beta = estimate_noise(singular, rows, columns) if self.beta is None else self.beta
        rank = max(1, choose_rank(singular, noise_edge(rows, columns, beta)))
        return self.released @ vectors[:, ::-1][:, :rank]

    def shuffled(self, rng: np.random.Generator) -> Knowledge:
        """Return the same with the rows of the release given to others: what an attack gets out of nothing."""
        return replace(self, released=self.released[rng.permutation(len(self.released))])


# Known rows: somebody who knows some rows of the original, and where they are in the release, finds all others.
#
# The attacker has the release $\tilde A = A R + E$ with a secret rotation $R$, and a few original rows: the own one,
# and
# those of relatives, colleagues or public figures. Success is the other rows.


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
