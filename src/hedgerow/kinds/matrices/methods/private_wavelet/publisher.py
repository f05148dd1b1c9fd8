"""Private wavelet: noisy sums of blocks at several sizes, combined in the Haar basis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_wavelet.draw import choose_bins
from hedgerow.kinds.matrices.methods.private_wavelet.model import (
    UNLIMITED,
    Grid,
    add_up_blocks,
    blocks_in_use,
    choose_grids,
    combine,
    noise_deviation,
    padded,
    round_counts,
    round_from_the_top,
    share_within_bounds,
)
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher, param, require_little_noise

#: sums of a column stay below this: floating-point numbers represent them exactly
_LARGEST_SUM = 1 << 52
#: standard deviations of noise that the number of rows is reckoned to have: more have a probability of 1 in 30,000
_DEVIATIONS = 4


@dataclass(frozen=True, kw_only=True)
class PrivateWavelet(Publisher[Matrix]):
    r"""Publish a histogram of rows, or a matrix, whose sums over ranges are accurate, by noise in the Haar basis.

    Unit `row`: the rows are counted on a grid of bins over all columns. Unit `cell`: each column is a list of numbers
    in the order of the rows, which is public. Noise is added to the sums of all blocks of a few sizes. Every Haar
    coefficient is estimated from all sizes that tell about it, weighted by precision, which is the least-squares
    estimate. Sizes and shares of the budget are chosen, from public numbers, for sums over ranges of `range_share` of
    an axis; with noise on every cell the error of such sums grows with the root of their length. Privelet [1]_ adds
    noise to the coefficients themselves; sums of a few sizes have less noise, as [2]_ found for trees of counts. For
    unit `cell`, coefficients that noise hides are shrunk, so that a number is nearly the mean of its neighbours.

    Privacy
    -------
    sums of blocks, unit `row`: L1 = 1 per block size, since a row is in one block; sizes in sequence, with shares that
    add up to the budget. Unit `cell`: columns in parallel, since a cell is in one column; there L1 is the number of
    steps between the declared bounds, since a cell is in one block per size and changes its sum by at most that. The
    number of rows is private for unit `row`, and public for unit `cell`, as is their order. Whole numbers within the
    bounds, and the places of rows within bins, are made of noisy sums only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> data = Matrix.from_rows([[1, 2]] * 500 + [[3, 0]] * 300, domain=Domain.declare(a=range(4), b=range(4)))
    >>> release = PrivateWavelet().publish(data, PureDP(epsilon=1, unit="row"), seed=7)
    >>> release.data.count_bins([2, 4]).tolist()
    [[500], [293]]

    References
    ----------
    .. [1] X. Xiao, G. Wang, J. Gehrke. "Differential privacy via wavelet transforms". ICDE 2010.
    .. [2] W. Qardaji, W. Yang, N. Li. "Understanding hierarchical methods for differentially private histograms".
       PVLDB 6(14), 2013.
    """

    name: ClassVar[str] = "private-wavelet"
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("row", "cell")
    recommended: ClassVar[str] = "counts and sums over ranges of columns with declared bounds, or of rows in order"

    bins: int = param(0, "bins per column, for unit row; 0 for about 65,536 cells in all", ge=0, le=1 << 22)
    range_share: float = param(
        0.125, "share of an axis that sums range over; 0 for single cells, which is noise on every cell", ge=0, le=1
    )

    def run(self, data: Matrix, ledger: Ledger) -> Matrix:
        """Count rows in bins, or add up the numbers of each column."""
        if ledger.promised(PureDP).unit == "cell":
            return self._publish_cells(data, ledger)
        bins = choose_bins(data.bounds, self.bins)
        self._require_little_noise(bins.lengths, float(ledger.budget))
        exact = data.count_bins(bins.widths)
        grids, answers = self._ask(exact, Laplace(l1=1), ledger)
        deviation = noise_deviation(grids, exact.shape, self.range_share, float(ledger.budget))
        ledger.note("standard deviation of the noise of a count over range_share of one column", math.ceil(deviation))
        estimates = combine(grids, answers, exact.shape)
        # with noise on every cell only, sums along axes are noisier than the cells that they would be fitted to
        rounded = round_counts if len(grids) > 1 else round_from_the_top
        counts = rounded(estimates, padded(np.full(exact.shape, UNLIMITED)))
        return data.on_lattice(bins.draw(counts[tuple(map(slice, exact.shape))], ledger.coins()))

    def _require_little_noise(self, lengths: tuple[int, ...], epsilon: float) -> None:
        """Refuse a budget with which noise alone may produce too many rows: as many as the total is off."""
        total = noise_deviation(choose_grids(lengths, self.range_share), lengths, 1.0, epsilon)
        numbers = _DEVIATIONS * total * len(lengths)
        require_little_noise(numbers, "numbers", "take a larger epsilon, fewer bins, or fewer columns")

    def _publish_cells(self, data: Matrix, ledger: Ledger) -> Matrix:
        _require_small_sums(data)
        codes = np.zeros(data.values.shape, np.int64)
        columns = range(len(data.columns) if len(data) else 0)
        for number, part in ledger.each(columns, spend=ledger.budget, label="sums of blocks"):
            steps = data.bounds[number].steps
            grids, answers = self._ask(data.column_in_order(number), Laplace(l1=steps), part)
            kept = share_within_bounds(grids, len(data), float(part.budget))
            estimates = combine(grids, answers, (len(data),), kept)
            self._note_means(part, grids, len(data))
            bounds = padded(np.full(len(data), steps))
            codes[:, number] = round_from_the_top(estimates, bounds)[: len(data)]
        return data.on_lattice(codes, None if data.ids is None else np.sort(data.ids))

    def _note_means(self, ledger: Ledger, grids: tuple[Grid, ...], rows: int) -> None:
        """Say how much noise means have; it is the same for all columns, relative to their bounds."""
        deviation = noise_deviation(grids, (rows,), self.range_share, float(ledger.budget))
        mean = deviation / max(1.0, self.range_share * rows)
        ledger.note(
            "standard deviation of the noise of a mean over range_share of the rows, in thousandths of high - low",
            math.ceil(1000 * mean),
        )

    def _ask(self, exact: Integers, mechanism: Laplace, ledger: Ledger) -> tuple[tuple[Grid, ...], list[Integers]]:
        """Ask for the sums of the blocks of each size."""
        grids = choose_grids(exact.shape, self.range_share)
        total = sum(grid.weight for grid in grids)
        answers: list[Integers] = []
        for grid in grids:
            sums = add_up_blocks(padded(exact), grid.sizes)
            used = blocks_in_use(exact.shape, grid.sizes)
            spend = ledger.budget * grid.weight / total
            asked = sums[used]
            noisy = np.zeros_like(sums)
            answer = ledger.ask(asked.ravel(), mechanism, spend=spend, label="sums of blocks")
            noisy[used] = answer.reshape(asked.shape)
            answers.append(noisy)
        return grids, answers


def _require_small_sums(data: Matrix) -> None:
    """Refuse lattices of so many steps that sums over all rows, whose number is public, are no longer exact."""
    for name, axis in zip(data.columns, data.bounds, strict=True):
        if axis.steps * len(data) > _LARGEST_SUM:
            msg = f"column {name!r} has {axis.steps:,} steps, too many for sums over all rows; declare a larger step"
            raise ParameterError(msg)
