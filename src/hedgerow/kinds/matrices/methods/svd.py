"""SVD: publish the best approximation of low rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.distorted_rows import (
    ColumnStatistics,
    finish,
    largest_numbers,
    product_rows,
    refuse_unchanged,
    restore,
    start,
)
from hedgerow.numerics.arrays import Floats
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher, param

#: below this share of the largest singular value, squares are lost in rounding, and rows are factorised instead
_LOST = 1e-5


@dataclass(frozen=True, kw_only=True)
class SVD(Publisher[Matrix]):
    r"""Publish the best approximation of a matrix by one of low rank, $A_k = U_k S_k V_k^T$ [1]_.

    $V$ is computed from sums over blocks of rows, so rows are read twice and never all factorised; $A_k = A V_k V_k^T$.

    Privacy
    -------
    None. Nothing is asked of the ledger, and nothing is promised: a release of rank $k$ has the $k$ directions in which
    rows differ most, nearly unchanged. The order of rows says nothing about the original.

    Examples
    --------
    >>> data = Matrix.from_rows([[1, 2], [2, 4.1], [3, 5.9]], ids=["a", "b", "c"])
    >>> SVD(rank=1).publish(data, Distortion(), seed=1).data.values.round(2).tolist()
    [[1.0, 2.0], [2.05, 4.08], [2.97, 5.92]]

    References
    ----------
    .. [1] S. Xu, J. Zhang, D. Han, J. Wang. "Singular value decomposition based data distortion strategy for privacy
       protection". Knowledge and Information Systems 10(3), 2006.
    """

    name: ClassVar[str] = "svd"
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    undone_by: ClassVar = ("SVD reconstruction",)

    rank: int = param(0, "how many singular values are kept; 0 for half as many as there are columns", ge=0)
    normalise: bool = param(default=False, help="give columns their original means and standard deviations again")

    def run(self, data: Matrix, ledger: Ledger) -> Matrix:
        """Truncate the decomposition of the rows."""
        del ledger
        largest_numbers(data.values)
        ordered, values = start(data)
        rank = self.rank or max(1, min(len(values), values.shape[1] // 2))
        kept = ColumnStatistics.of(values) if self.normalise else None
        refuse_unchanged(truncate(values, rank))
        if kept is not None:
            restore(values, kept)
        return finish(ordered, values)


class Spectrum(NamedTuple):
    """Singular values, the largest first, and the right singular vectors as columns."""

    singular: Floats
    vectors: Floats


def decompose(values: Floats) -> Spectrum:
    """Return singular values and right singular vectors.

    They are those of the Gram matrix, a sum over blocks of rows. Where small singular values would be lost by squaring,
    blocks are factorised instead (QR).
    """
    gram = np.zeros((values.shape[1],) * 2)
    step = product_rows(values.shape[1])
    for at in range(0, len(values), step):
        block = values[at : at + step]
        gram += block.T @ block
    squares, vectors = np.linalg.eigh(gram)
    singular = np.sqrt(np.maximum(squares[::-1], 0.0))
    if singular[-1] > _LOST * singular[0]:
        return Spectrum(singular, np.ascontiguousarray(vectors[:, ::-1]))
    rest = np.zeros((0, values.shape[1]))
    for at in range(0, len(values), step):
        rest = np.linalg.qr(np.concatenate((rest, values[at : at + step])), mode="r")
    _, singular, rows = np.linalg.svd(rest)
    padded = np.zeros(values.shape[1])
    padded[: len(singular)] = singular
    return Spectrum(padded, np.ascontiguousarray(rows.T))


def truncate(values: Floats, rank: int) -> float:
    """Replace rows by those of the best approximation of this rank, in place; return the relative change."""
    largest = min(values.shape)
    if not 1 <= rank <= largest:
        msg = f"SVD.rank must be between 1 and the smaller number of rows and columns, {largest}; got {rank}"
        raise ParameterError(msg)
    singular, vectors = decompose(values)
    kept = vectors[:, :rank]
    whole = 2 * rank >= values.shape[1]
    projection = kept @ kept.T if whole else kept
    step = product_rows(values.shape[1])
    product = np.empty((min(step, len(values)), values.shape[1]))
    for at in range(0, len(values), step):
        block = values[at : at + step]
        right, left = (projection, block) if whole else (kept.T, block @ kept)
        block[:] = np.matmul(left, right, out=product[: len(block)])
    return float(np.linalg.norm(singular[rank:]) / max(np.linalg.norm(singular), np.finfo(float).tiny))
