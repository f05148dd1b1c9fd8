r"""Which sums of blocks are asked for, and with which shares of the budget; from public sizes only.

A *grid* is the array of the sums of all blocks of one size per axis. One unit is in one block of every grid, so shares
$a_t$ of the grids add up to one. In the Haar basis the noise of a grid is uncorrelated: a coefficient of a node of $s$
numbers is determined by a grid of blocks of $B \le s / 2$ with variance $(s / B) \cdot 2 / (a_t \varepsilon)^2$ (along
each axis). Weighted by precision, all grids together leave the variance $2 / (\varepsilon^2 P_c)$ with
$P_c = \sum_t a_t^2 M_{tc}$, $M_{tc} = B / s$; that is the least-squares estimate.

A query weighs every coefficient, so its variance is $\sum_c W_c \cdot 2 / (\varepsilon^2 P_c)$. Shares minimise the
mean, over kinds of queries, of the standard deviation relative to that of noise on every cell ($a = 1$ for blocks of
one cell), which is 1 if nothing better is known. Axes are padded to powers of two; blocks of padding only are empty and
not asked for, so that the variance is at most this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.private_wavelet.grid_search import Search, spread
from hedgerow.steps.haar import node_sizes, pad

__all__ = ["Grid", "choose_grids", "noise_deviation", "precisions", "query_weights", "variance_ratio"]

Floats: TypeAlias = NDArray[np.float64]

#: combinations of block sizes that are tried, and positions of a range that are averaged over
_TRIED, _POSITIONS = 1024, 4096
#: shares are whole multiples of the reciprocal of about this, so that they are exact fractions
_PARTS = 10_000


@dataclass(frozen=True)
class Grid:
    """The sums of all blocks of these sizes, asked for with `weight` of the sum of all weights."""

    sizes: tuple[int, ...]
    weight: int


@lru_cache(maxsize=64)
def choose_grids(lengths: tuple[int, ...], range_share: float) -> tuple[Grid, ...]:
    """Choose the grids for axes of these lengths, and queries over ranges of this share of an axis.

    Examples
    --------
    >>> choose_grids((64,), 0.125)
    (Grid(sizes=(1,), weight=1),)
    >>> choose_grids((1024,), 0.125)
    (Grid(sizes=(1,), weight=302), Grid(sizes=(16,), weight=323))
    """
    lengths = tuple(map(pad, lengths))
    sizes = [_block_sizes(length, len(lengths)) for length in lengths]
    grids: list[tuple[int, ...]] = list(product(*sizes))
    informs = reduce(np.kron, [_informs(options, n) for options, n in zip(sizes, lengths, strict=True)])
    families = _families(grids, lengths)
    # k grids with a share of a / k each
    together = np.array([informs[family].sum(0) / len(family) ** 2 for family in families])
    weights = query_weights(lengths, range_share)
    best = Search(weights.reshape(len(weights), -1), together).run()
    parts = dict.fromkeys(range(len(grids)), 0)
    for number, share in zip(best.grids.tolist(), best.shares.tolist(), strict=True):
        family = families[int(number)]
        for grid in family:
            parts[grid] += max(1, round(share * _PARTS / len(family)))
    common = math.gcd(*parts.values())
    chosen = [Grid(grids[grid], part // common) for grid, part in parts.items() if part]
    return tuple(sorted(chosen, key=lambda grid: grid.sizes))


def _families(grids: list[tuple[int, ...]], lengths: tuple[int, ...]) -> list[list[int]]:
    """Return the numbers of grids that get equal shares: the cells first, alone.

    These are grids that differ by the order of axes of equal length only, and all grids in which each axis is either
    whole or in single cells, and as many are whole: one of them alone may not be worth its share, all of them are.
    """
    families: dict[Any, list[int]] = {}
    for number, grid in enumerate(grids):
        families.setdefault(tuple(sorted(zip(lengths, grid, strict=True))), []).append(number)
        wholes = sum(size == pad(length) for size, length in zip(grid, lengths, strict=True))
        if all(size in (1, pad(length)) for size, length in zip(grid, lengths, strict=True)):
            families.setdefault(wholes, []).append(number)
    distinct = {tuple(family): family for family in families.values()}
    return sorted(distinct.values(), key=lambda family: (family != [0], family))


def variance_ratio(weights: Floats, grids: tuple[Grid, ...], lengths: tuple[int, ...]) -> float:
    """Return the squared mean standard deviation of queries with these weights, relative to noise on every cell.

    Examples
    --------
    >>> round(variance_ratio(query_weights((1024,), 0.125), choose_grids((1024,), 0.125), (1024,)), 2)
    0.39
    """
    return spread(weights.reshape(len(weights), -1), precisions(grids, lengths).ravel())


def noise_deviation(grids: tuple[Grid, ...], lengths: tuple[int, ...], range_share: float, epsilon: float) -> float:
    """Return the standard deviation of the sum over a range of one axis, or of a single cell, for units that move by 1.

    Examples
    --------
    >>> noise_deviation(choose_grids((1024,), 0.125), (1024,), 0.125, epsilon=1.0).__round__(2)
    10.0
    """
    lengths = tuple(map(pad, lengths))
    ratio = variance_ratio(query_weights(lengths, range_share)[:1], grids, lengths)
    return math.sqrt(2 * ratio * max(1.0, range_share * math.prod(lengths))) / epsilon


def precisions(grids: tuple[Grid, ...], lengths: tuple[int, ...]) -> Floats:
    """Return the precision of each class of coefficients, in multiples of epsilon squared over two."""
    total = sum(grid.weight for grid in grids)
    return sum(
        ((grid.weight / total) ** 2 * class_precisions(grid.sizes, lengths) for grid in grids),
        np.zeros([len(node_sizes(pad(length))) for length in lengths]),
    )


def class_precisions(sizes: tuple[int, ...], lengths: tuple[int, ...]) -> Floats:
    """Return what a grid with the whole budget tells about each class of coefficients: B / s, or 0 for nothing."""
    axes = [_informs([size], pad(length))[0] for size, length in zip(sizes, lengths, strict=True)]
    return reduce(np.multiply.outer, axes)


def query_weights(lengths: tuple[int, ...], range_share: float) -> Floats:
    """Return the weight of each class of coefficients in the mean relative variance of queries, one row per kind.

    A query is a range of this share along one axis, along two, or along all of them, or a single bin of one axis; other
    axes are whole. With one axis it is a range only, and with a share of 0 a single cell.
    """
    cells = [_range_weights(length, 1) for length in lengths]
    if range_share == 0:
        return reduce(np.multiply.outer, cells)[None]
    ranges = [_range_weights(length, max(1, round(range_share * length))) for length in lengths]
    wholes = [_range_weights(length, length) for length in lengths]
    axes = range(len(lengths))

    def weigh(along: list[Floats], number: int) -> Floats:
        """Return the mean over all choices of so many axes."""
        chosen = [[(along if axis in query else wholes)[axis] for axis in axes] for query in combinations(axes, number)]
        return np.mean([reduce(np.multiply.outer, each) for each in chosen], axis=0)

    numbers = sorted({number for number in (1, 2, len(lengths)) if number <= len(lengths)})
    margins = [weigh(cells, 1)] if len(lengths) > 1 else []
    return np.array([*(weigh(ranges, number) for number in numbers), *margins])


def _range_weights(length: int, cells: int) -> Floats:
    """Return the mean squared weight of coefficients of each class in the sum of a range, per cell of the range.

    Only nodes with an end of the range in them have a weight: (left - right) / size, by how many cells are in it.
    """
    sizes = node_sizes(pad(length))
    places = length - cells + 1
    start = np.linspace(0, places - 1, min(places, _POSITIONS)).round()
    weights = [(cells / sizes[0]) ** 2]
    for size in sizes[1:].tolist():
        nodes = (start // size, (start + cells) // size)
        squares = [_node_weight(start, start + cells, node * size, size) for node in nodes]
        squares[1] = np.where(nodes[0] == nodes[1], 0.0, squares[1])
        weights.append(float(np.mean(squares[0] + squares[1])))
    return np.array(weights) / cells


def _node_weight(start: Floats, end: Floats, node: Floats, size: int) -> Floats:
    middle, last = node + size // 2, node + size
    left = np.maximum(0, np.minimum(end, middle) - np.maximum(start, node))
    right = np.maximum(0, np.minimum(end, last) - np.maximum(start, middle))
    return ((left - right) / size) ** 2


def _block_sizes(length: int, axes: int) -> list[int]:
    """Return the block sizes that are tried along an axis: all powers of two, or some if there are many axes."""
    bits = length.bit_length() - 1
    most = max(2, math.floor(_TRIED ** (1 / axes) + 1e-9))
    tried = np.linspace(0, bits, min(bits + 1, most)).round().astype(np.int64)
    return [1 << bit for bit in dict.fromkeys(tried.tolist())]


def _informs(blocks: list[int], length: int) -> Floats:
    """Return B / s per block size and class of nodes, 0 where blocks are too large to tell about the halves."""
    nodes = node_sizes(length)
    ratio = np.array(blocks)[:, None] / nodes
    ratio[:, 1:][2 * np.array(blocks)[:, None] > nodes[1:]] = 0.0
    return ratio
