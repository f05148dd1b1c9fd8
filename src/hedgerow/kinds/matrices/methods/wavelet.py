"""Wavelet: publish a matrix with smaller detail coefficients.

The method stands first, then what it is made of in the order of its steps: blocks that have a wavelet each, tiles of
rows, thresholds, the transform of rows and columns and its inverse, and filters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import MissingExtra, NotSatisfied, ParameterError
from hedgerow.kinds.matrices.data import Matrix, Positions
from hedgerow.kinds.matrices.methods.distorted_rows import (
    ColumnStatistics,
    finish,
    largest_numbers,
    refuse_unchanged,
    restore,
    row_items,
)
from hedgerow.numerics.arrays import Floats
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.publisher import Publisher, param

#: how the threshold of a detail coefficient is chosen
_THRESHOLDS = ("universal", "universal-nonzero", "max", "max-level", "max-global", "absolute")
#: rows and columns that a wavelet needs at least
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
    kinds: ClassVar = ("matrices",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    undone_by: ClassVar = ("wavelet inversion",)

    wavelet: str = param("haar", "an orthogonal wavelet, or one per block, separated by commas")
    partition: str = param("none", "cut rows or columns into blocks, one per wavelet; rows:100 cuts after row 100")
    level: int = param(0, "how many levels; 0 for as many as the smaller side can be halved", ge=0, le=60)
    threshold: str = param("universal", "what details are compared with", choices=_THRESHOLDS)
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


# Blocks of a matrix that have a wavelet each.


class Block(NamedTuple):
    """Some rows and columns, and the name of their wavelet."""

    rows: slice
    columns: slice
    wavelet: str


def cut_blocks(shape: tuple[int, int], partition: str, wavelets: str) -> list[Block]:
    """Cut rows or columns into blocks: one per wavelet, of equal size unless it is said where to cut.

    Examples
    --------
    >>> [(block.columns, block.wavelet) for block in cut_blocks((8, 5), "columns", "haar,db2")]
    [(slice(0, 2, None), 'haar'), (slice(2, 5, None), 'db2')]
    >>> [block.rows for block in cut_blocks((8, 5), "rows:5", "haar,db2")]
    [slice(0, 5, None), slice(5, 8, None)]
    """
    along, _, text = partition.partition(":")
    names = [name.strip() for name in wavelets.split(",")]
    if along not in {"none", "rows", "columns"} or (along == "none" and (text or len(names) > 1)):
        msg = (
            "Wavelet.partition must be rows or columns, with a wavelet for each block and optionally where to cut, as "
            f"in rows:100,200, or none with one wavelet; got {partition[:40]!r} and {len(names)} wavelets"
        )
        raise ParameterError(msg)
    size = shape[1] if along == "columns" else shape[0]
    cuts = _parse(text, size, len(names)) if text else [size * part // len(names) for part in range(1, len(names))]
    ends = [0, *cuts, size]
    if any(high - low < _SMALLEST for low, high in pairwise(ends)):
        msg = f"Wavelet.partition must leave at least {_SMALLEST} {along} in every block; got {partition[:40]!r}"
        raise ParameterError(msg)
    spans = [slice(low, high) for low, high in pairwise(ends)]
    whole = (slice(0, shape[0]), slice(0, shape[1]))
    if along == "columns":
        return [Block(whole[0], span, name) for span, name in zip(spans, names, strict=True)]
    return [Block(span, whole[1], name) for span, name in zip(spans, names, strict=True)]


def _parse(text: str, size: int, blocks: int) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    cuts = [int(part) if part.isascii() and part.isdigit() and len(part) <= len(str(size)) else size for part in parts]
    if len(cuts) != blocks - 1 or any(second <= first for first, second in pairwise([0, *cuts, size])):
        msg = (
            f"Wavelet.partition needs {blocks - 1} ascending places to cut for {blocks} wavelets, between 0 and {size}"
            f"; got {text[:40]!r}"
        )
        raise ParameterError(msg)
    return cuts


# Many rows are worked on in tiles: a coefficient depends on nearby rows only.

#: cells of a tile: it stays in the cache of the processor
_CELLS = 2**17


class RowBlock(NamedTuple):
    """Some columns of rows in some order: read from one array, written to another.

    With `statistics`, what is read are z-scores, and what is written are z-scores too.
    """

    source: Floats
    target: Floats
    order: Positions
    columns: slice
    statistics: ColumnStatistics | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.order), self.columns.stop - self.columns.start

    def read(self, begin: int, end: int) -> Floats:
        """Return rows in this order."""
        rows = row_items(self.source, self.columns)[self.order[begin:end]]
        values = rows.view(np.float64).reshape(end - begin, self.shape[1])
        if self.statistics is not None:
            values -= self.statistics.mean[self.columns]
            values /= self.statistics.scale[self.columns]
        return values

    def write(self, begin: int, values: Floats) -> None:
        """Put rows where they were."""
        if self.statistics is not None:
            values = values * self.statistics.scale[self.columns] + self.statistics.mean[self.columns]
        rows = row_items(np.ascontiguousarray(values), slice(0, self.shape[1]))
        row_items(self.target, self.columns)[self.order[begin : begin + len(values)]] = rows


class Tile(NamedTuple):
    """Rows `begin` to `end`, with `before` rows ahead of them and some behind; `last` if they are the last."""

    values: Floats
    begin: int
    end: int
    before: int
    last: bool

    @property
    def own(self) -> slice:
        """Where the rows themselves are among those of the tile."""
        return slice(self.before, self.before + self.end - self.begin)

    def coefficients(self, level: int) -> slice:
        """Which coefficients of a level, the finest being 1, belong to the rows of the tile."""
        size = 2**level
        return slice(self.before // size, None if self.last else (self.before + self.end - self.begin) // size)


def each_tile(block: RowBlock, filters: Filters, level: int, *, every: int = 1) -> Iterator[Tile]:
    """Yield the tiles of a block, or only one of so many.

    A tile starts at a multiple of $2^L$ rows, so that its pairs of rows are those of the whole matrix. Filters longer
    than two taps also need rows before and after it.
    """
    rows, columns = block.shape
    size = 2**level
    around = 0 if filters.is_haar else size * len(filters.low)
    step = max(size * max(1, _CELLS // (size * columns)), 4 * around)
    for begin in range(0, rows, step * every):
        end = min(rows, begin + step)
        before = min(begin, around)
        values = block.read(begin - before, min(rows, end + around))
        yield Tile(values, begin, end, before, last=end == rows)


# How much detail coefficients are shrunk: universal, relative to the largest, or absolute thresholds.

#: the median of the absolute value of a standard normal number
_NORMAL_MEDIAN = 0.6745
#: leading bits of a positive number by which numbers are counted, to find their median
_LOW_BITS = 47
_BINS = 2 ** (63 - _LOW_BITS)
_BANDS = 3
#: a change below this share of the numbers is rounding
_ROUNDING = 1e-12
#: cells whose details the median is taken of; of more, tiles at equal distances are enough: of four million details
#: the median has a standard error below 0.1 %
_SAMPLED = 2**22


class Basis(NamedTuple):
    """A wavelet, how many levels, and the threshold of each band of each level, the finest level first."""

    filters: Filters
    level: int
    deltas: Floats


def soft_threshold(coefficients: Floats, delta: float) -> None:
    """Move coefficients towards zero by `delta`, those below it to zero, in place.

    Examples
    --------
    >>> coefficients = np.array([-3, -1, -0.5, 0, 0.5, 1, 3])
    >>> soft_threshold(coefficients, 1)
    >>> coefficients.tolist()
    [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    """
    coefficients -= np.clip(coefficients, -delta, delta)


def shrink(block: RowBlock, basis: Basis) -> bool:
    """Write rows with smaller details; return whether any number changed by more than rounding."""
    changed = False
    for tile in each_tile(block, basis.filters, basis.level):
        pyramid = decompose(tile.values, basis.filters, basis.level)
        for bands, deltas in zip(pyramid.bands, basis.deltas.tolist(), strict=True):
            for band, delta in zip(bands, deltas, strict=True):
                soft_threshold(band, delta)
        values = reconstruct(pyramid, basis.filters)[tile.own]
        if not changed:
            before = tile.values[tile.own]
            changed = bool(np.abs(values - before).max(initial=0.0) > _ROUNDING * np.abs(before).max(initial=0.0))
        block.write(tile.begin, values)
    return changed


def choose_deltas(block: RowBlock, filters: Filters, level: int, threshold: str, p: float) -> Floats:
    """Return the threshold of each band of each level; `p` is their share of the threshold, or the absolute one."""
    if threshold == "absolute":
        return np.full((level, _BANDS), p)
    if threshold.startswith("universal"):
        return np.full((level, _BANDS), p * universal_threshold(block, nonzero=threshold == "universal-nonzero"))
    largest = np.zeros((level, _BANDS))
    for tile in each_tile(block, filters, level):
        for at, bands in enumerate(decompose(tile.values, filters, level).bands):
            own = [float(np.abs(band[tile.coefficients(at + 1)]).max(initial=0.0)) for band in bands]
            largest[at] = np.maximum(largest[at], own)
    if threshold == "max-level":
        largest[:] = largest.max(1, keepdims=True)
    elif threshold == "max-global":
        largest[:] = largest.max()
    return p * largest


def universal_threshold(block: RowBlock, *, nonzero: bool = False) -> float:
    r"""Return $\sqrt{2 \ln(nm)}$ times the noise, estimated by the details of one level of the Haar transform.

    The noise is the median of their absolute values, over 0.6745. If more than half of them are zero, so is the
    threshold, and nothing would be changed: that is refused, unless `nonzero` asks for the mean of the others instead.
    """
    middle = _median_detail(block)
    if middle == 0.0 and nonzero:
        total, count = 0.0, 0
        for details in _fine_details(block):
            total, count = total + float(details.sum()), count + int(np.count_nonzero(details))
        middle = total / max(1, count)
    if middle == 0.0:
        msg = (
            "more than half of the differences between neighbouring cells are zero, so the universal threshold is zero "
            "and the numbers would be published as they are; choose threshold=universal-nonzero, max or absolute; "
            "nothing was released"
        )
        raise NotSatisfied(msg)
    return math.sqrt(2 * math.log(math.prod(block.shape))) * middle / _NORMAL_MEDIAN


def _fine_details(block: RowBlock) -> Iterator[Floats]:
    """Yield the absolute details of one level of the Haar transform, of all tiles or of many of them."""
    haar = find_filters("haar")
    for tile in each_tile(block, haar, 1, every=max(1, math.prod(block.shape) // _SAMPLED)):
        details = np.concatenate([band.ravel() for band in decompose(tile.values, haar, 1).bands[0]])
        yield np.abs(details, out=details)


def _median_detail(block: RowBlock) -> float:
    """Return the median of the fine details, without storing all of them.

    Positive numbers are in the order of their bits: they are counted by their leading bits, and only those that share
    the leading bits of the median are kept.
    """
    counts = np.zeros(_BINS, np.int64)
    for details in _fine_details(block):
        counts += np.bincount(_leading_bits(details), minlength=_BINS)
    through = np.cumsum(counts)
    ranks = ((int(through[-1]) - 1) // 2, int(through[-1]) // 2)
    bins = np.searchsorted(through, ranks, side="right")
    low, high = bins.tolist()
    kept: list[Floats] = []
    for details in _fine_details(block):
        bits = _leading_bits(details)
        kept.append(details[(bits == low) | (bits == high)])
    candidates = np.sort(np.concatenate(kept))
    first = int(through[low] - counts[low])
    # between the two bins, if they differ, there is no other number
    return float(candidates[ranks[0] - first] + candidates[ranks[1] - first]) / 2


def _leading_bits(details: Floats) -> NDArray[np.int64]:
    return details.view(np.int64) >> _LOW_BITS


# The two-dimensional wavelet transform of rows and columns, level by level, and its inverse.
#
# At its ends a matrix is continued by its mirror image (half-sample symmetric), as PyWavelets does by default.


class Bands(NamedTuple):
    """The detail coefficients of a level: differences of rows, of columns, and of both."""

    rows: Floats
    columns: Floats
    both: Floats


class Pyramid(NamedTuple):
    """The approximation that is left, the bands of each level, the finest first, and the sizes before each level."""

    approximation: Floats
    bands: list[Bands]
    shapes: list[tuple[int, int]]


def decompose(values: Floats, filters: Filters, level: int) -> Pyramid:
    """Split a matrix into an approximation and the bands of so many levels."""
    bands: list[Bands] = []
    shapes: list[tuple[int, int]] = []
    split = _split_haar if filters.is_haar else _split
    for _ in range(level):
        shapes.append((values.shape[0], values.shape[1]))
        values, own = split(values, filters)
        bands.append(own)
    return Pyramid(values, bands, shapes)


def reconstruct(pyramid: Pyramid, filters: Filters) -> Floats:
    """Put a matrix together again."""
    values = pyramid.approximation
    join = _join_haar if filters.is_haar else _join
    for bands, (rows, columns) in zip(reversed(pyramid.bands), reversed(pyramid.shapes), strict=True):
        values = join(values[: bands.rows.shape[0], : bands.rows.shape[1]], bands, filters)[:rows, :columns]
    return values


def _split_haar(values: Floats, filters: Filters) -> tuple[Floats, Bands]:
    """Split by sums and differences of pairs; the factors of both directions together are one half, which is exact."""
    del filters
    rows, columns = values.shape
    if rows % 2 or columns % 2:
        even = np.empty((rows + rows % 2, columns + columns % 2))
        even[:rows, :columns] = values
        even[rows:, :columns], even[:, columns:] = values[-1:], even[:, columns - 1 : columns]
        values, (rows, columns) = even, even.shape
    shape = (rows // 2, columns // 2)
    low, high = values[0::2] + values[1::2], values[0::2] - values[1::2]
    # pairs of columns are neighbours in memory: one long row is faster than many short ones
    left, right = low.ravel()[0::2], low.ravel()[1::2]
    approximation, across = left + right, left - right
    left, right = high.ravel()[0::2], high.ravel()[1::2]
    down, both = left + right, left - right
    for band in (approximation, across, down, both):
        np.multiply(band, 0.5, out=band)
    return approximation.reshape(shape), Bands(down.reshape(shape), across.reshape(shape), both.reshape(shape))


def _join_haar(approximation: Floats, bands: Bands, filters: Filters) -> Floats:
    del filters
    rows, columns = approximation.shape
    low, high = np.empty((rows, 2 * columns)), np.empty((rows, 2 * columns))
    for pair, first, second in ((low, approximation, bands.columns), (high, bands.rows, bands.both)):
        np.add(first, second, out=pair[:, 0::2])
        np.subtract(first, second, out=pair[:, 1::2])
        np.multiply(pair, 0.5, out=pair)
    values = np.empty((2 * rows, 2 * columns))
    np.add(low, high, out=values[0::2])
    np.subtract(low, high, out=values[1::2])
    return values


def _split(values: Floats, filters: Filters) -> tuple[Floats, Bands]:
    low, high = _analyse(values, filters)
    (approximation, across), (down, both) = (_analyse(np.ascontiguousarray(part.T), filters) for part in (low, high))
    approximation, across, down, both = (np.ascontiguousarray(part.T) for part in (approximation, across, down, both))
    return approximation, Bands(down, across, both)


def _join(approximation: Floats, bands: Bands, filters: Filters) -> Floats:
    low = _synthesise(approximation.T, bands.columns.T, filters)
    high = _synthesise(bands.rows.T, bands.both.T, filters)
    return _synthesise(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T), filters)


def _analyse(values: Floats, filters: Filters) -> tuple[Floats, Floats]:
    """Filter along the first axis, and keep every second result."""
    taps, size = len(filters.low), len(values)
    kept = (size + taps - 1) // 2
    extended = np.pad(values, ((taps - 2, 2 * kept - size), (0, 0)), "symmetric")
    results = np.zeros((2, kept, values.shape[1]))
    for result, taps_of in zip(results, (filters.low, filters.high), strict=True):
        for at, tap in enumerate(reversed(taps_of)):
            np.add(result, tap * extended[at : at + 2 * kept : 2], out=result)
    return results[0], results[1]


def _synthesise(low: Floats, high: Floats, filters: Filters) -> Floats:
    """Undo `_analyse`; the result may have one row more than there was."""
    half = len(filters.low) // 2
    size = len(low) - half + 1
    values = np.zeros((2 * size, low.shape[1]))
    for part, taps_of in ((low, filters.low), (high, filters.high)):
        reverse = taps_of[::-1]
        for at in range(half):
            source = part[half - 1 - at : half - 1 - at + size]
            values[0::2] += reverse[2 * at] * source
            values[1::2] += reverse[2 * at + 1] * source
    return values


# The filters of orthogonal wavelets, by name.

_HALF = math.sqrt(0.5)
_THREE = math.sqrt(3)
#: the bases of the thesis need no library: Haar, and the Daubechies filter of four taps
_OWN = {
    "haar": (_HALF, _HALF),
    "db2": tuple(tap / (4 * math.sqrt(2)) for tap in (1 - _THREE, 3 - _THREE, 3 + _THREE, 1 + _THREE)),
}
_ALIASES = {"db1": "haar"}


class Filters(NamedTuple):
    """The taps of the low-pass filter of an orthogonal wavelet, for decomposition; the others follow from it."""

    name: str
    low: tuple[float, ...]

    @property
    def high(self) -> tuple[float, ...]:
        """The high-pass filter for decomposition."""
        return tuple(-tap if at % 2 == 0 else tap for at, tap in enumerate(reversed(self.low)))

    @property
    def is_haar(self) -> bool:
        """Whether sums and differences of pairs suffice."""
        return self.name == "haar"


def find_filters(name: str) -> Filters:
    """Return the filters of a wavelet by its name in PyWavelets, such as `haar`, `db2`, `sym4` or `coif1`.

    Examples
    --------
    >>> [round(tap, 4) for tap in find_filters("db2").low]
    [-0.1294, 0.2241, 0.8365, 0.483]
    """
    name = _ALIASES.get(name, name)
    if name in _OWN:
        return Filters(name, _OWN[name])
    try:
        import pywt  # noqa: PLC0415 - an extra
    except ImportError:
        msg = f"wavelet {name[:40]!r} needs the extra 'matrix': pip install 'hedgerow[matrix]'; haar and db2 do not"
        raise MissingExtra(msg) from None
    library = cast("Any", pywt)
    if name not in library.wavelist(kind="discrete") or not library.Wavelet(name).orthogonal:
        msg = f"there is no orthogonal wavelet {name[:40]!r}; choose haar, db2, or another one of PyWavelets"
        raise ParameterError(msg)
    return Filters(name, tuple(library.Wavelet(name).dec_lo))
