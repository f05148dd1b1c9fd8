"""What an attacker has: a release, what it says about itself, and some rows of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.attackers.spectral_filtering import choose_rank, estimate_noise, noise_edge
from hedgerow.numerics.arrays import Floats, Integers

#: a smallest or largest number that so many known rows have is taken for a bound
_ATTAINED = 3
#: attacks that methods name, since they undo what the method does
FILTERING, INVERSION, EQUATIONS = "spectral filtering", "wavelet inversion", "SVD reconstruction"
#: those of them that are tried on releases of all other methods as well
_UNAIDED = (FILTERING, EQUATIONS)


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
    undone_by
        Which attacks undo the method that made the release, as the method says; empty if it is not known.
    parameters
        The parameters of the method, as the release says.
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
    undone_by: tuple[str, ...]
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
        undone_by: tuple[str, ...],
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
        return cls(released, positions, truth, drawn, undone_by, parameters, same_columns, linked)

    def suits(self, attack: str) -> bool:
        """Whether an attack undoes the method that made the release; of an unknown one, whether it is worth trying."""
        return attack in (self.undone_by or _UNAIDED)

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
        if FILTERING not in self.undone_by or "beta" not in said:
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


class Bounds(NamedTuple):
    """The least and the largest number of each column."""

    low: Floats
    high: Floats


def guess_bounds(known: Floats) -> Bounds:
    """Take the extremes of known rows for bounds where several rows attain them, as in scores from 1 to 10.

    Examples
    --------
    >>> guess_bounds(np.array([[1.0], [1], [1], [4], [7]]))
    Bounds(low=array([1.]), high=array([inf]))
    """
    low, high = known.min(0), known.max(0)
    attained = [(known == extreme).sum(0) >= _ATTAINED for extreme in (low, high)]
    return Bounds(np.where(attained[0], low, -np.inf), np.where(attained[1], high, np.inf))
