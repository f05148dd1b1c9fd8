"""DER as it is printed, on the whole symmetric matrix, with the exact law of what it draws on small graphs.

It is here to show what it loses; `hedgerow.DER` is the corrected method. Each flaw can be repaired on its own:

- `charged_once`: an edge is two cells, (i, j) and (j, i), but regions off the diagonal, and levels of the tree, are
  charged as if it was one. Repaired by halving all budgets.
- `capped`: the sensitivity of a small region is its number of cells, if that is below k (or 2 k).
- `leaves_exempt`: the parts of the last split may be as small as they like.

A placement with ones on the diagonal is to be drawn again among those of the same score. That is `redrawn_law`;
elsewhere the diagonal has no cells to place ones in.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

__all__ = ["NEVER", "PrintedDER", "adjacency", "all_graphs", "redrawn_law"]

#: noise so far from 0 that both tails are merged
FAR = 30
#: the outcome of a placement that is drawn again for ever
NEVER = "never"

Region = tuple[int, int, int, int]


def adjacency(edges, vertices):
    """The symmetric matrix of a graph."""
    matrix = np.zeros((vertices, vertices), np.int64)
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = 1
    return matrix


def all_graphs(vertices):
    """All graphs as sets of edges; graph number `g` has pair number `p` if bit `p` of `g` is set."""
    pairs = list(itertools.combinations(range(vertices), 2))
    return [[pair for bit, pair in enumerate(pairs) if graph >> bit & 1] for graph in range(2 ** len(pairs))]


@dataclass(frozen=True)
class PrintedDER:
    """The printed method, of a given height, with the exact losses and laws of its draws."""

    epsilon: float = 1.0
    k: int = 1
    height: int = 1
    count: float = 0.5
    partition: float = 0.1
    dense: float = 0.8
    charged_once: bool = True
    capped: bool = True
    leaves_exempt: bool = True

    def but(self, **repaired: bool) -> PrintedDER:
        """The same with flaws repaired, or only some of them left."""
        return replace(self, **repaired)

    # ---- budgets and sensitivities, as printed

    @cached_property
    def _budget(self) -> float:
        return self.epsilon if self.charged_once else self.epsilon / 2

    def _count_share(self, depth: int) -> float:
        ratio, total = 2 ** (1 / 3), self._budget * self.count
        shares = [ratio**i * (ratio - 1) * total / (ratio ** (self.height + 1) - 1) for i in range(self.height + 1)]
        return shares[depth] + (shares[0] if depth == self.height else 0)

    def _left_over(self, depth: int) -> float:
        """What a leaf at this depth has for its placement: what is meant for it, counts and splits below it."""
        counts = sum(self._count_share(below) for below in range(depth + 1, self.height))
        splits = self._budget * self.partition * (self.height - depth) / self.height
        return self._budget * (1 - self.count - self.partition) + counts + splits

    def _sensitivity(self, region: Region) -> int:
        """Twice k for a region that touches the diagonal, k for others; at most the number of its cells."""
        cells = 2 * self.k if _touches_diagonal(region) else self.k
        return min(cells, _area(region)) if self.capped else cells

    def _least(self, depth: int, vertices: int) -> float:
        exempt = self.leaves_exempt and depth == self.height
        return 1 if exempt else vertices**2 / 4 ** (depth + 1)

    # ---- the laws of single draws

    def splits(self, matrix, region: Region, depth: int) -> dict[tuple[int, int], float]:
        """The law of the split point whose parts are at this depth: logarithms of probabilities."""
        vertices = len(matrix)
        moved = (2 if _touches_diagonal(region) else 1) * self.k * 4 ** (depth + 1) / vertices**2
        factor = self._budget * self.partition / self.height / (2 * moved)
        scores = _scores(matrix.tobytes(), vertices, region, self._least(depth, vertices))
        total = np.logaddexp.reduce([factor * score for score in scores.values()]) if scores else 0.0
        return {split: factor * score - total for split, score in scores.items()}

    def _odds(self, region: Region, depth: int) -> float:
        """The logarithm of the odds of a correct cell in a placement: half of this per unit of score."""
        return self._left_over(depth) / self._sensitivity(region)

    # ---- the loss of whole transcripts: split points, counts and placements

    def loss(self, here, there) -> float:
        """The greatest log-ratio of the probabilities of a transcript, on one graph and on another; exact."""
        return max(self._loss(*pair, (0, len(here), 0, len(here)), 0) for pair in ((here, there), (there, here)))

    def _loss(self, here, there, region: Region, depth: int) -> float:
        """The loss of a region that is split: parts are drawn independently, given the split point."""
        ours, theirs = (self.splits(matrix, region, depth + 1) for matrix in (here, there))
        losses = [-math.inf]  # no split point is allowed
        for split, chance in ours.items():
            below = sum(self._part_loss(here, there, part, depth + 1) for part in _parts(region, *split))
            losses.append(chance - theirs[split] + below)
        return max(losses)

    def _part_loss(self, here, there, part: Region, depth: int) -> float:
        """The loss of the counts of a part, and of what follows from them."""
        if np.array_equal(_cut(here, part), _cut(there, part)):
            return 0.0
        noisy = np.arange(-FAR, _area(part) + FAR)
        own = self._count_share(depth) / self._sensitivity(part) * _closer(here, there, part, noisy)
        inner = -math.inf if depth == self.height else self._loss(here, there, part, depth)
        leaf = own + self._leaf_loss(here, there, part, noisy, depth)
        if inner == -math.inf:
            return float(leaf.max())
        stops = (noisy >= self.dense * _area(part)) | (noisy < self.dense * len(here) ** 2 / 4**self.height)
        return float(np.where(stops, leaf, own + inner).max())

    def _leaf_loss(self, here, there, part: Region, noisy, depth: int):
        """The loss of a leaf for each noisy count: the second count above the greatest depth, and the placement."""
        cells = _area(part) - _on_diagonal(part)
        placed = np.array([self.placement_loss(here, there, part, ones, depth) for ones in range(cells + 1)])
        if depth == self.height:
            return placed[np.clip(noisy, 0, cells)]
        first, second = self._count_share(depth), self._count_share(self.height)
        both = (first**2 * noisy[:, None] + second**2 * noisy) / (first**2 + second**2)
        own = second / self._sensitivity(part) * _closer(here, there, part, noisy)
        return (own + placed[np.clip(np.floor(both + 0.5), 0, cells).astype(np.int64)]).max(axis=1)

    def placement_loss(self, here, there, part: Region, ones: int, depth: int) -> float:
        """The greatest log-ratio of a placement of so many ones."""
        cells = _area(part) - _on_diagonal(part)
        ours, theirs = _cut(here, part), _cut(there, part)
        gained, lost = int(np.sum(ours > theirs)), int(np.sum(ours < theirs))
        return _placement_loss(cells, ones, self._odds(part, depth), int(ours.sum()) - gained, gained, lost)

    # ---- the law of the released graph, of a tree of height 1 on at most four vertices

    def release_law(self, edges, vertices: int = 4) -> np.ndarray:
        """The probability of every graph to be released, by a tree of height 1."""
        assert self.height == 1
        matrix = adjacency(edges, vertices)
        law = np.zeros(2 ** (vertices * (vertices - 1) // 2))
        for split, chance in self.splits(matrix, (0, vertices, 0, vertices), 1).items():
            placed = np.ones(1)
            for part in _parts((0, vertices, 0, vertices), *split):
                placed = (placed[:, None] * self._part_law(matrix, part)).ravel()
            law += math.exp(chance) * (placed @ _symmetrised(split, vertices))
        return law

    def _part_law(self, matrix, part: Region):
        """The law of a placement in a part, in the order of `_placements`."""
        truth = np.array([matrix[cell] for cell in _off_diagonal(part)], np.int64)
        placements = _placements(part)
        weight = np.exp(self._odds(part, 1) / 2 * (placements == truth).sum(1))
        size = placements.sum(1)
        counts = _clipped_law(int(truth.sum()), len(truth), self._count_share(1) / self._sensitivity(part))
        return counts[size] * weight / np.bincount(size, weight)[size]


def redrawn_law(truth, ones: int, odds: float) -> dict[object, float]:
    """The law of a placement in a region on the diagonal: drawn again in its group of equal score while it is invalid.

    `truth` is the part of the matrix; placements are sets of cells, and NEVER is one without end.
    """
    cells = list(itertools.product(range(len(truth)), repeat=2))
    groups: dict[int, list[frozenset]] = {}
    for placement in map(frozenset, itertools.combinations(cells, ones)):
        groups.setdefault(sum(int(truth[cell]) for cell in placement), []).append(placement)
    weights = {true: len(group) * math.exp(odds * true) for true, group in groups.items()}
    law: dict[object, float] = {}
    for true, group in groups.items():
        valid = [placement for placement in group if all(i != j for i, j in placement)]
        for outcome in valid or [NEVER]:
            law[outcome] = weights[true] / sum(weights.values()) / max(1, len(valid))
    return law


def _parts(region: Region, row: int, column: int) -> list[Region]:
    top, bottom, left, right = region
    return [(a, b, c, d) for a, b in ((top, row), (row, bottom)) for c, d in ((left, column), (column, right))]


def _area(region: Region) -> int:
    top, bottom, left, right = region
    return (bottom - top) * (right - left)


def _on_diagonal(region: Region) -> int:
    top, bottom, left, right = region
    return max(0, min(bottom, right) - max(top, left))


def _touches_diagonal(region: Region) -> bool:
    return _on_diagonal(region) > 0


def _cut(matrix, region: Region):
    top, bottom, left, right = region
    return matrix[top:bottom, left:right]


def _ones(matrix, region: Region) -> int:
    return int(_cut(matrix, region).sum())


def _closer(here, there, region: Region, noisy):
    """How much closer noisy counts are to the count here than to the count there."""
    return np.abs(noisy - _ones(there, region)) - np.abs(noisy - _ones(here, region))


@cache
def _scores(matrix: bytes, vertices: int, region: Region, least: float) -> dict[tuple[int, int], float]:
    """The difference of the greatest and the least density of the parts of each split point that is allowed."""
    ones = np.frombuffer(matrix, np.int64).reshape(vertices, vertices)
    top, bottom, left, right = region
    scores = {}
    for split in itertools.product(range(top + 1, bottom), range(left + 1, right)):
        parts = _parts(region, *split)
        if min(map(_area, parts)) >= least:
            density = [_ones(ones, part) / _area(part) for part in parts]
            scores[split] = max(density) - min(density)
    return scores


def _off_diagonal(region: Region) -> list[tuple[int, int]]:
    top, bottom, left, right = region
    return [(i, j) for i in range(top, bottom) for j in range(left, right) if i != j]


@cache
def _placements(region: Region):
    """All placements of ones in the cells of a region: a row of bits each."""
    cells = len(_off_diagonal(region))
    return np.arange(2**cells)[:, None] >> np.arange(cells) & 1


@cache
def _placement_loss(cells: int, ones: int, odds: float, common: int, gained: int, lost: int) -> float:
    """The greatest log-ratio of placements; `gained` cells are true only here, and `lost` ones only there."""
    agreeing = [
        (2 * on - gained) - (2 * off - lost)
        for on, off in itertools.product(range(gained + 1), range(lost + 1))
        if 0 <= ones - on - off <= cells - gained - lost
    ]
    # a placement agrees with the truth in cells - true - ones + 2 w cells, w of its ones being true
    totals = (_log_total(cells, common + own, ones, odds) - odds / 2 * own for own in (gained, lost))
    return max(agreeing) * odds / 2 - next(totals) + next(totals)


def _log_total(cells: int, true: int, ones: int, odds: float) -> float:
    """The logarithm of the sum of e**(odds w) over all placements, w of whose ones are true."""
    terms = [
        _log_choose(true, w) + _log_choose(cells - true, ones - w) + odds * w
        for w in range(max(0, ones + true - cells), min(true, ones) + 1)
    ]
    return float(np.logaddexp.reduce(terms))


def _log_choose(size: int, chosen: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(chosen + 1) - math.lgamma(size - chosen + 1)


def _clipped_law(true: int, cells: int, rate: float):
    """The law of a count with discrete Laplace noise, clipped to 0 ... cells."""
    inner = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(cells + 1) - true))
    if cells == 0:
        return np.ones(1)
    inner[0] = math.exp(-rate * true) / (1 + math.exp(-rate))
    inner[-1] = math.exp(-rate * (cells - true)) / (1 + math.exp(-rate))
    if true == 0:
        inner[0] = 1 - inner[1:].sum()
    if true == cells:
        inner[-1] = 1 - inner[:-1].sum()
    return inner


@cache
def _symmetrised(split: tuple[int, int], vertices: int):
    """The chance of each graph given the placements in all parts: two cells that differ are set alike by a coin."""
    ones = np.zeros((1, vertices, vertices))
    for part in _parts((0, vertices, 0, vertices), *split):
        placed = np.zeros((len(_placements(part)), vertices, vertices))
        for number, cell in enumerate(_off_diagonal(part)):
            placed[:, *cell] = _placements(part)[:, number]
        ones = (ones[:, None] + placed).reshape(-1, vertices, vertices)
    pairs = list(itertools.combinations(range(vertices), 2))
    graphs = np.arange(2 ** len(pairs))
    chance = np.ones((len(ones), len(graphs)))
    for number, (i, j) in enumerate(pairs):
        one = (ones[:, i, j] + ones[:, j, i])[:, None] / 2
        chance *= np.where(graphs >> number & 1, one, 1 - one)
    return chance
