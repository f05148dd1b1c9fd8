r"""Sums of blocks at several sizes: which to ask for, what they tell together, and whole numbers within bounds.

Everything here is computed from public sizes and noisy answers, in the order in which the publisher needs it.

*Which sums are asked for, with which shares of the budget* (`choose_grids`). A *grid* is the array of the sums of all
blocks of one size per axis. One unit is in one block of every grid, so shares $a_t$ of the grids add up to one. In the
Haar basis the noise of a grid is uncorrelated: a coefficient of a node of $s$ numbers is determined by a grid of blocks
of $B \le s / 2$ with variance $(s / B) \cdot 2 / (a_t \varepsilon)^2$ (along each axis). Weighted by precision, all
grids together leave the variance $2 / (\varepsilon^2 P_c)$ with $P_c = \sum_t a_t^2 M_{tc}$, $M_{tc} = B / s$; that is
the least-squares estimate. A query weighs every coefficient, so its variance is
$\sum_c W_c \cdot 2 / (\varepsilon^2 P_c)$. Shares minimise the mean, over kinds of queries, of the standard deviation
relative to that of noise on every cell ($a = 1$ for blocks of one cell), which is 1 if nothing better is known. Axes
are padded to powers of two; blocks of padding only are empty and not asked for, so that the variance is at most this.

*What the answers tell about every cell* (`combine`): the least-squares estimate, in the Haar basis.

*Whole numbers within bounds* (`round_counts`), from the total down to the cells. Cells are the leaves of a binary tree
that halves one axis after the other. The total is rounded; then each node divides its number $T$ between its halves,
whose estimates are $l$ and $r$: $(T + l - r) / 2$ for the left one, rounded and moved into its bounds, and the rest for
the right one. So sums of large blocks stay as accurate as they are, which would be lost if every cell was moved into
its bounds by itself. Sums along whole axes are no blocks of that tree: with several axes, the cells within bounds are
fitted to what is known of each axis by iterative proportional fitting, and rounded after that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.haar import node_classes, node_sizes, pad, transform, undo
from hedgerow.numerics.rounding import on_count_grid, on_grid

# Which sums are asked for: grids, their shares, and the noise that they leave.

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
    families: dict[object, list[int]] = {}
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


# The search for the grids whose noise is smallest, and their shares of the budget.

_MOST_GRIDS, _EXCHANGES = 12, 3
#: a table of so many grids times classes of coefficients makes the search slow; of so few grids all pairs are starts,
#: and the best of what becomes of them are improved by exchanging grids
_LARGE, _STARTS, _EXCHANGED = 1 << 16, 32, 6
#: one more grid has to make the variance smaller by this factor
_WORTH = 0.99
_ROUNDS = 60
#: while shares are refined, none becomes 0, since cells tell about coefficients that no other grid tells about
_LEAST = 1e-6
#: a grid with less is left out
_LEAST_SHARE = 0.002
_FIRST_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5)


class Choice(NamedTuple):
    """Grids, by their number, their shares, and the mean relative variance."""

    grids: Integers
    shares: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the best grids: `informs` has what each grid tells about each class of coefficients."""

    weights: Floats
    informs: Floats

    def run(self) -> Choice:
        """Search from the cells alone, and if that is fast, from every pair of grids, and by exchanging grids."""
        if self.informs.size > _LARGE:
            return self.extend(self.cells())
        starts = [self.cells()] if len(self.informs) > _STARTS else self.pairs()
        extended = sorted(map(self.extend, starts), key=lambda choice: choice.variance)
        return min(map(self.exchange, extended[:_EXCHANGED]), key=lambda choice: choice.variance)

    def cells(self) -> Choice:
        """Return the grid of all cells alone, which every choice has: it tells about every coefficient."""
        return Choice(np.zeros(1, np.int64), np.ones(1), spread(self.weights, self.informs[0]))

    def pairs(self) -> list[Choice]:
        """Return all choices of the cells and at most one more grid."""
        return [
            self.cells(),
            *(self.refine(np.array([0, more]), np.full(2, 0.5)) for more in range(1, len(self.informs))),
        ]

    def extend(self, choice: Choice) -> Choice:
        """Add grids, each time the one that helps most, as long as it is worth it."""
        while len(choice.grids) < _MOST_GRIDS:
            more = self.add_one(choice)
            if more.variance > _WORTH * choice.variance:
                break
            choice = more
        return choice

    def exchange(self, choice: Choice) -> Choice:
        """Replace one grid by one or two others, as long as it is worth it."""
        for _ in range(_EXCHANGES):
            others = [self.extend(self.add_one(self.add_one(less))) for less in self.leave_one_out(choice)]
            better = min(others, key=lambda other: other.variance, default=choice)
            if better.variance > _WORTH * choice.variance:
                break
            choice = better
        return choice

    def add_one(self, choice: Choice) -> Choice:
        """Add the grid that helps most, at the best of a few shares."""
        now = _add_precisions(choice.shares, self.informs[choice.grids])
        tried = [self._variances((1 - part) ** 2 * now + part**2 * self.informs) for part in _FIRST_SHARES]
        part, grid = np.unravel_index(int(np.argmin(tried)), (len(_FIRST_SHARES), len(self.informs)))
        if grid in choice.grids:
            return choice
        first = _FIRST_SHARES[int(part)]
        return self.refine(np.append(choice.grids, grid), np.append(choice.shares * (1 - first), first))

    def refine(self, grids: Integers, shares: Floats) -> Choice:
        r"""Minimise over the shares of these grids, and leave out those that hardly count.

        With fixed weights of the grids in every coefficient, the variance is $\sum K_t / a_t^2$, smallest for
        $a_t \propto K_t^{1/3}$; then the weights are updated. Each step makes the variance smaller.
        """
        informs = self.informs[grids]
        for _ in range(_ROUNDS):
            precision = _add_precisions(shares, informs)
            # the root of a variance is at most its tangent, so that this makes the mean of roots smaller, too
            weights = (self.weights / np.sqrt((self.weights / precision).sum(1, keepdims=True))).sum(0)
            slopes = (informs * (weights / precision**2)).sum(1)
            shares = (shares**4 * slopes) ** (1 / 3)
            shares = np.maximum(shares / shares.sum(), _LEAST)
        kept = (shares >= _LEAST_SHARE) | (grids == 0)
        grids, shares = grids[kept], shares[kept] / shares[kept].sum()
        return Choice(grids, shares, spread(self.weights, _add_precisions(shares, self.informs[grids])))

    def _variances(self, precisions: Floats) -> Floats:
        """Return `spread` for many precisions, one row each."""
        return on_grid(np.mean([np.sqrt((row / precisions).sum(1)) for row in self.weights], axis=0) ** 2)

    def leave_one_out(self, choice: Choice) -> list[Choice]:
        """Return the choices with one grid less; the cells stay."""
        places: list[int] = np.flatnonzero(choice.grids > 0).tolist()
        return [self.refine(np.delete(choice.grids, at), np.delete(choice.shares, at)) for at in places]


def spread(weights: Floats, precision: Floats) -> float:
    """Return the mean standard deviation of queries, squared: one row of weights of coefficients per kind of query."""
    return float(on_grid(np.sqrt((weights / precision).sum(1)).mean() ** 2))


def _add_precisions(shares: Floats, informs: Floats) -> Floats:
    """Return the precision of each class; added in order, so that every machine chooses the same."""
    return (shares[:, None] ** 2 * informs).sum(0)


# What sums of blocks tell about every cell together.


def padded(values: Integers) -> Integers:
    """Fill every axis up with zeros, to a power of two."""
    return np.pad(values, [(0, pad(length) - length) for length in values.shape])


def add_up_blocks(values: Integers, sizes: tuple[int, ...]) -> Integers:
    """Return the sums of all blocks of these sizes.

    Examples
    --------
    >>> add_up_blocks(np.array([[1, 2], [3, 4]]), (1, 2)).tolist()
    [[3], [7]]
    """
    for axis, size in enumerate(sizes):
        length = values.shape[axis] // size
        values = values.reshape(*values.shape[:axis], length, size, *values.shape[axis + 1 :]).sum(axis + 1)
    return values


def blocks_in_use(lengths: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return where the blocks are that have a cell: the others are padding, and empty.

    Examples
    --------
    >>> blocks_in_use((5, 8), (2, 4))
    (slice(None, 3, None), slice(None, 2, None))
    """
    return tuple(slice(-(-length // size)) for length, size in zip(lengths, sizes, strict=True))


def combine(
    grids: tuple[Grid, ...], answers: Sequence[Integers], lengths: tuple[int, ...], kept: Floats | None = None
) -> Floats:
    """Return the least-squares estimate of every cell from noisy sums of blocks, one array per grid.

    A coefficient is the mean of what the grids say about it, weighted by their precision. With `kept`, of every class
    of coefficients only that share is kept.

    Examples
    --------
    >>> halves = Grid((2,), 1)
    >>> combine((Grid((1,), 1), halves), [np.array([3, 1, 0, 0]), np.array([6, 0])], (4,)).round(2).tolist()
    [3.67, 1.67, 0.0, 0.0]
    """
    total = sum(grid.weight for grid in grids)
    precision = precisions(grids, lengths) / (1 if kept is None else kept)
    coefficients = np.zeros([pad(length) for length in lengths])
    for grid, noisy in zip(grids, answers, strict=True):
        weights = (grid.weight / total) ** 2 * class_precisions(grid.sizes, lengths) / precision
        classes = np.ix_(*(node_classes(length) for length in noisy.shape))
        coarse = tuple(slice(length) for length in noisy.shape)  # coefficients of large nodes are first
        coefficients[coarse] += weights[classes] * transform(noisy)
    return undo(coefficients)


def share_within_bounds(grids: tuple[Grid, ...], length: int, epsilon: float) -> Floats:
    r"""Return the share of each class of coefficients to keep if numbers are between public bounds.

    In units of the distance $\Delta$ of the bounds, a coefficient of a node of $s$ numbers is between $-s / 2$ and
    $s / 2$. If all of that is equally likely, its variance is $s^2 / 12$ and that of its noise $2 / (\varepsilon^2 P)$;
    the best linear estimate keeps this share of it. Coefficients of large nodes stay as they are; those of small ones,
    which noise hides, nearly vanish. The sum is kept.

    Examples
    --------
    >>> share_within_bounds((Grid((1,), 1),), 64, 1.0).round(2).tolist()
    [1.0, 0.73, 0.57, 0.4, 0.25, 0.14, 0.08]
    """
    nodes = node_sizes(pad(length)).astype(np.float64)
    spread = nodes**2 / 12
    kept = spread / (spread + 2 / (epsilon**2 * precisions(grids, (length,))))
    kept[0] = 1.0
    return kept


# Estimates become whole numbers within bounds.

#: the bound of a cell that has none; the sum over all cells fits int64
UNLIMITED = 1 << 38
#: rounds of proportional fitting, and what an empty cell has, so that an axis can be fitted whose cells are all empty
_SWEEPS, _SEED = 8, 1e-9


def round_from_the_top(estimates: Floats, most: Integers) -> Integers:
    """Return whole numbers between 0 and `most`, cell by cell, close to estimates; axes have powers of two as lengths.

    Examples
    --------
    >>> round_from_the_top(np.array([2.6, -1.2, 0.4, 9.0]), np.array([5, 5, 5, 5])).tolist()
    [2, 0, 4, 5]
    """
    return _divide_from_the_top(estimates, most, np.rint).astype(np.int64)


def round_counts(estimates: Floats, most: Integers) -> Integers:
    """Return whole numbers as `round_from_the_top` does, whose sums along axes are close to those of the estimates.

    Examples
    --------
    >>> round_counts(np.array([[9.0, -4.0], [1.0, 4.0]]), np.full((2, 2), 99)).tolist()
    [[5, 0], [5, 0]]
    """
    if estimates.ndim == 1:
        return round_from_the_top(estimates, most)
    cells = _divide_from_the_top(estimates, most, np.positive)
    axes = range(estimates.ndim)
    others = [tuple(other for other in axes if other != axis) for axis in axes]
    margins = [_divide_from_the_top(estimates.sum(rest), most.max(rest), np.positive) for rest in others]
    cells += _SEED * (most > 0)
    for _ in range(_SWEEPS):
        for rest, margin in zip(others, margins, strict=True):
            sums = np.expand_dims(cells.sum(rest), rest)
            cells *= np.divide(np.expand_dims(margin, rest), sums, out=np.zeros_like(sums), where=sums > 0)
    return round_from_the_top(cells, most)


def _divide_from_the_top(estimates: Floats, most: Integers, rounded: Callable[[Floats], Floats]) -> Floats:
    """Divide the total among the cells, within their bounds, from node to node."""
    order = _halving_order(estimates.shape)
    wanted, room = [_to_leaves(on_count_grid(estimates), order)], [_to_leaves(most.astype(np.float64), order)]
    while len(wanted[-1]) > 1:
        wanted.append(wanted[-1][::2] + wanted[-1][1::2])
        room.append(room[-1][::2] + room[-1][1::2])
    numbers = np.clip(rounded(wanted.pop()), 0, room.pop())
    while wanted:
        estimate, bound = wanted.pop(), room.pop()
        left = rounded((numbers + estimate[::2] - estimate[1::2]) / 2)
        halves = np.empty(len(estimate))
        halves[::2] = np.clip(left, np.maximum(0, numbers - bound[1::2]), np.minimum(numbers, bound[::2]))
        halves[1::2] = numbers - halves[::2]
        numbers = halves
    bits = np.transpose(numbers.reshape((2,) * len(order)), np.argsort(order))
    return bits.reshape(estimates.shape)


def _halving_order(shape: tuple[int, ...]) -> list[int]:
    """Return in which order the binary digits of positions are used: those of the longest axis that is left first."""
    bits = [length.bit_length() - 1 for length in shape]
    first = np.cumsum([0, *bits])[:-1].tolist()
    used, order = [0] * len(bits), list[int]()
    for _ in range(sum(bits)):
        axis = max(range(len(bits)), key=lambda axis: bits[axis] - used[axis])
        order.append(first[axis] + used[axis])
        used[axis] += 1
    return order


def _to_leaves(values: Floats, order: list[int]) -> Floats:
    return np.transpose(values.reshape((2,) * len(order)), order).reshape(-1)
