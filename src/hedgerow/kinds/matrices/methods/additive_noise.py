"""Additive noise, with or without a rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.distorted_rows import (
    BLOCK,
    ColumnStatistics,
    finish,
    largest_numbers,
    product_rows,
    refuse_unchanged,
    start,
)
from hedgerow.numerics.arrays import Floats
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher, param

#: how far the columns of a rotation may be from orthonormal
_ORTHONORMAL = 1e-8


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(Publisher[Matrix]):
    r"""Publish $A R + E$: rows turned by a secret rotation, or not, with normal noise in every cell [1]_.

    The entries of $E$ are independent and normal with standard deviation $\beta$. Without rotation, $R = I$. A random
    $R$ is orthogonal and uniformly distributed; with `dimensions`, only so many of its columns are kept, which is a
    projection and no longer keeps distances and angles. $(A + E) R$ has the same distribution.

    Privacy
    -------
    None. Nothing is asked of the ledger, and nothing is promised. Noise and rotation are drawn from secret coins of the
    run; the noise is removed by spectral filtering, and the rotation found by whoever knows some rows.

    Examples
    --------
    >>> data = Matrix.from_rows([[1, 2], [2, 4], [3, 5]])
    >>> release = AdditiveNoise(beta=0, rotation="random").publish(data, Distortion(), seed=1)
    >>> release.data.columns, bool(np.isclose((release.data.values**2).sum(), (data.values**2).sum()))
    (('r1', 'r2'), True)

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 2.
    """

    name: ClassVar[str] = "additive-noise"
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    undone_by: ClassVar = ("spectral filtering", "Procrustes, known rows")

    beta: float = param(1.0, "standard deviation of the noise", ge=0)
    betas: str = param("", "instead of beta: one standard deviation per published column, separated by commas")
    scale: str = param("numbers", "beta in numbers, or in deviations of each column", choices=("numbers", "deviations"))
    rotation: str = param("none", "turn rows by a secret random rotation", choices=("none", "random"))
    dimensions: int = param(0, "columns of the rotation that are kept; 0 for all", ge=0)

    def run(self, data: Matrix, ledger: Ledger) -> Matrix:
        """Rotate, and add noise."""
        coins = ledger.coins()
        largest = largest_numbers(data.values)
        ordered, values = start(data)
        size = values.shape[1]
        if self.dimensions > size or (self.dimensions and self.rotation == "none"):
            msg = f"AdditiveNoise.dimensions must be at most {size}, with rotation=random; got {self.dimensions}"
            raise ParameterError(msg)
        rotation = None
        if self.rotation == "random":
            rotation = draw_rotation(size, coins)[:, : self.dimensions or size]
        beta = self._deviations(values, size if rotation is None else rotation.shape[1])
        if rotation is None:
            # noise below the digits that are published would be lost
            refuse_unchanged(float((beta / np.maximum(largest, np.finfo(float).tiny)).max()))
        elif self.scale == "deviations":
            # a direction that mixes columns has no deviation of its own before rows are turned
            values = perturb(values, rotation, 0.0, coins)
            rotation, beta = None, self._deviations(values, values.shape[1])
        names = [f"r{number}" for number in range(1, len(beta) + 1)] if self.rotation == "random" else None
        return finish(ordered, perturb(values, rotation, beta, coins), names)

    def _deviations(self, values: Floats, size: int) -> Floats:
        """Return the standard deviation of the noise of each column."""
        beta = _parse(self.betas, size) if self.betas else np.full(size, self.beta)
        if self.scale == "numbers" or values.shape[1] != size:
            return beta
        return beta * ColumnStatistics.of(values).deviation


def draw_rotation(size: int, coins: np.random.Generator) -> Floats:
    """Draw an orthogonal matrix, uniformly: QR of normal numbers, with the signs that make it unique."""
    basis, triangle = np.linalg.qr(coins.standard_normal((size, size)))
    return basis * np.sign(np.diag(triangle))


def perturb(values: Floats, rotation: Floats | None, beta: float | Floats, coins: np.random.Generator) -> Floats:
    """Return $A R + E$; unless columns get lost, it replaces the rows, in place.

    Parameters
    ----------
    rotation
        A matrix with orthonormal columns, as many rows as there are columns; or None.
    beta
        The standard deviation of the noise, one for all columns of the result or one per column.
    """
    if np.any(np.asarray(beta) < 0) or not np.all(np.isfinite(beta)):
        msg = "beta must be a number of at least 0, for each column"
        raise ParameterError(msg)
    if rotation is not None:
        _require_orthonormal(rotation, values.shape[1])
    square = rotation is None or rotation.shape[0] == rotation.shape[1]
    moved = values if square else np.empty((len(values), cast("Floats", rotation).shape[1]))
    step = BLOCK if rotation is None else product_rows(values.shape[1])
    for begin in range(0, len(values), step):
        block = values[begin : begin + step]
        turned = block if rotation is None else block @ rotation
        noise = coins.standard_normal(turned.shape)
        noise *= beta
        np.add(turned, noise, out=moved[begin : begin + step])
    return moved


def _require_orthonormal(rotation: Floats, size: int) -> None:
    if rotation.ndim != 2 or rotation.shape[0] != size or rotation.shape[1] > size:  # noqa: PLR2004 - rows and columns
        msg = f"a rotation of {size} columns needs {size} rows and at most as many columns"
        raise ParameterError(msg)
    if not np.all(np.abs(rotation.T @ rotation - np.eye(rotation.shape[1])) <= _ORTHONORMAL):
        msg = f"the columns of a rotation must be orthonormal, to {_ORTHONORMAL:g}"
        raise ParameterError(msg)


def _parse(text: str, size: int) -> Floats:
    """Read one standard deviation per column."""
    try:
        beta = np.array([float(part) for part in text.split(",")])
    except ValueError:
        beta = np.zeros(0)
    if len(beta) != size or not np.all(np.isfinite(beta)) or np.any(beta < 0):
        msg = f"AdditiveNoise.betas must be {size} numbers of at least 0, separated by commas; got {text[:60]!r}"
        raise ParameterError(msg)
    return beta
