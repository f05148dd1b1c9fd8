"""Wavelet: publish a matrix with smaller detail coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.matrices import Matrix
from hedgerow.errors import NotSatisfied
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.matrices.column_statistics import ColumnStatistics, restore
from hedgerow.publishers.matrices.rows import finish, largest_numbers, refuse_unchanged
from hedgerow.publishers.matrices.wavelet.filters import find_filters
from hedgerow.publishers.matrices.wavelet.partition import cut_blocks
from hedgerow.publishers.matrices.wavelet.shrinkage import THRESHOLDS, Basis, choose_deltas, shrink
from hedgerow.publishers.matrices.wavelet.tiles import RowBlock

__all__ = ["Wavelet"]

Floats: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.intp]

_SMALLEST = 2


@dataclass(frozen=True, kw_only=True)
class Wavelet(Publisher[Matrix]):
    r"""Publish a matrix after shrinking the detail coefficients of its wavelet transform [1]_.

    Rows and columns are transformed together, level by level; every detail coefficient $y$ becomes
    $\mathrm{sign}(y) \max(|y| - \delta, 0)$, and the transform is undone. With several wavelets, rows or columns are
    cut into blocks that have a wavelet each.

    Corrected: the threshold $\delta$ that gives the published figures is $p$ times the universal threshold, not half of
    the largest coefficient (`threshold=max`). Neighbouring rows are mixed, so that labels would leak from a file that
    is sorted by them: rows are put into a secret random order first, unless they are numbered and `order=names`.

    Privacy
    -------
    None. Nothing is asked of the ledger, and nothing is promised: whoever guesses wavelet and threshold adds it back,
    and averages over blocks are published exactly; `normalise` also publishes means and standard deviations of columns.

    Examples
    --------
    >>> data = Matrix.from_rows([[1, 2], [5, 6], [9, 11], [13, 14]], ids=[1, 2, 3, 4])
    >>> Wavelet(order="names").publish(data, Distortion(), seed=1).data.values.round(3).tolist()
    [[2.445, 2.445], [4.555, 4.555], [10.945, 10.945], [12.555, 12.555]]

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 3.
    """

    name: ClassVar[str] = "wavelet"
    kinds: ClassVar = (Matrix,)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True

    wavelet: str = param("haar", "an orthogonal wavelet, or one per block, separated by commas")
    partition: str = param("none", "cut rows or columns into blocks, one per wavelet; rows:100 cuts after row 100")
    level: int = param(0, "how many levels; 0 for as many as the smaller side can be halved", ge=0, le=60)
    threshold: str = param("universal", "what details are compared with", choices=THRESHOLDS)
    p: float = param(0.5, "the share of that threshold; with threshold=absolute, the threshold itself", ge=0)
    order: str = param(
        "random", "order of rows: secret and random, or that of their names", choices=("random", "names")
    )
    normalise: bool = param(default=False, help="give columns their original means and standard deviations again")
    standardise: bool = param(default=False, help="turn columns into z-scores first, and back afterwards")

    def run(self, data: Matrix, ledger: Ledger) -> Matrix:
        """Shrink the details of each block."""
        coins = ledger.coins()
        if min(data.values.shape) < _SMALLEST:
            msg = f"a wavelet needs at least {_SMALLEST} rows and columns; nothing was released"
            raise NotSatisfied(msg)
        largest_numbers(data.values)
        order = data.order
        if self.order == "random":
            order = order[coins.permutation(len(order))]
        else:
            _require_unsorted(data, order)
        statistics = ColumnStatistics.of(data.values) if self.normalise or self.standardise else None
        values = self.distort(data.values, order, statistics if self.standardise else None)
        if statistics is not None and self.normalise:
            restore(values, statistics)
        return finish(data, values)

    def distort(self, source: Floats, order: Positions, statistics: ColumnStatistics | None = None) -> Floats:
        """Shrink the details of each block of rows in this order; return rows in the order of the source."""
        source = np.ascontiguousarray(source)
        target = np.empty_like(source)
        changed = False
        for rows, columns, wavelet in cut_blocks((len(source), source.shape[1]), self.partition, self.wavelet):
            block = RowBlock(source, target, order[rows], columns, statistics)
            filters = find_filters(wavelet)
            level = self.level or (min(block.shape) - 1).bit_length()
            deltas = choose_deltas(block, filters, level, self.threshold, self.p)
            changed |= shrink(block, Basis(filters, level, deltas))
        refuse_unchanged(float(changed))
        return target


def _require_unsorted(data: Matrix, order: Positions) -> None:
    """Refuse rows in the order of their names or numbers if these are sorted by label, or if they have none.

    Without names, rows have no order of their own.
    """
    if data.ids is None:
        msg = "order=names needs rows with names or numbers (--columns id=NAME, or rows=numbered); nothing was released"
        raise NotSatisfied(msg)
    if data.labels is None:
        return
    labels = data.labels[order]
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    expected = float(1 - (shares**2).sum()) * (len(labels) - 1)
    if 2 * int((labels[1:] != labels[:-1]).sum()) < expected:
        msg = (
            "rows are sorted by their labels, which would leak into the numbers of neighbouring rows; publish with "
            "order=random; nothing was released"
        )
        raise NotSatisfied(msg)
