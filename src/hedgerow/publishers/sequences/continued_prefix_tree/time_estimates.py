"""Estimates of first and last times of journeys from noisy answers, and public classes of durations and sizes.

Only noisy answers and public facts are used here.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.shrinkage import differs_from_model, shrink
from hedgerow.steps.coarse_grid import on_count_grid
from hedgerow.steps.simplex import project_to_simplex
from hedgerow.steps.time_classes import duration_classes

__all__ = [
    "TimeAnswers",
    "last_times",
    "size_class",
    "start_times",
    "starts_by_size",
    "time_blocks",
]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the largest number of visits in each class of sizes but the last
_SIZES = (2, 4, 8)
#: smoothing that keeps every later time possible, as a part of the mean
_LITTLE = 1e-3
_TINY = np.finfo(np.float64).tiny
#: rounds of iterative proportional fitting
_ROUNDS = 20


class TimeAnswers(NamedTuple):
    """Noisy answers about times, and the scale of the noise of each.

    `visits` are visits by time, `starts` records by the time of their first visit. `durations` are
    the records of two visits and more by the class of their number of visits, the block of the time
    of the first (`block`), and the class of the time from the first to the last.
    """

    visits: Floats
    visit_scale: float
    starts: Floats
    start_scale: float
    durations: Floats
    duration_scale: float
    block: Integers

    @classmethod
    def none(cls, times: int) -> TimeAnswers:
        """No questions were asked: all times are equally likely."""
        nothing, one = np.zeros(times), np.zeros(times, np.int64)
        return cls(nothing, 0.0, nothing, 0.0, np.zeros((0, 0, 0)), 0.0, one)

    def starts_significant(self, total: float) -> bool:
        """Whether the answer differs significantly from 0 and from a uniform distribution of `total` records."""
        zero = np.zeros_like(self.starts)
        uniform = zero + max(0.0, total) / len(self.starts)
        return all(differs_from_model(self.starts, model, self.start_scale) for model in (zero, uniform))

    @property
    def durations_significant(self) -> bool:
        """Whether the answer about durations differs significantly from 0."""
        return differs_from_model(self.durations, np.zeros_like(self.durations), self.duration_scale)


def size_class(visits: Integers, height: int) -> Integers:
    """The class of each number of visits; the largest class is that of `height`.

    Examples
    --------
    >>> size_class(np.arange(10), height=9).tolist()
    [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
    >>> size_class(np.arange(10), height=4).tolist()
    [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    """
    return np.searchsorted(_SIZES, np.minimum(visits, height))


def time_blocks(weight: Floats, most: int) -> Integers:
    """Cut times into at most `most` blocks of about equal weight; a heavy time is a block by itself.

    Examples
    --------
    >>> time_blocks(np.array([8.0, 1, 1, 1, 1, 4]), 4).tolist()
    [0, 1, 1, 1, 1, 2]
    """
    if most >= len(weight):
        return np.arange(len(weight))
    weight = weight + max(float(weight.mean()), 1.0) * 1e-9
    upto = np.cumsum(weight)
    at = np.minimum(np.floor(on_count_grid(most * (upto - weight / 2) / upto[-1])), most - 1)
    return np.unique(at, return_inverse=True)[1].astype(np.int64)


def start_times(times: TimeAnswers, total: float, in_tree: Floats) -> Floats:
    """How many records start at each time, of those whose first visit is not in the tree.

    Parameters
    ----------
    total
        How many records there are.
    in_tree
        How many of them start with a visit in the tree, by time.
    """
    total = max(0.0, total)
    even = np.full(len(in_tree), total / len(in_tree))
    starts = even
    if times.starts_significant(total):
        noisy = shrink(times.starts, even, times.start_scale)
        starts = project_to_simplex(noisy[None, :], np.array([total]))[0]
    left = np.maximum(0.0, starts - in_tree)
    return left if left.any() else starts


def starts_by_size(times: TimeAnswers, starts: Floats, many: Floats) -> Floats:
    """How many records start at each time, by the class of their number of visits.

    Both margins are given; their dependence is taken from the answers about durations (late journeys are short).

    Parameters
    ----------
    starts
        How many start at each time.
    many
        How many have one visit, and how many are in each class of numbers of visits.
    """
    table = np.outer(many, starts)
    if times.durations_significant:
        blocks = int(times.block.max()) + 1
        mass = np.bincount(times.block, starts, blocks)
        part = starts / np.maximum(mass, _TINY)[times.block]
        table = _sizes_of_blocks(times, blocks)[:, times.block] * part
    for _ in range(_ROUNDS):
        table = table * _ratio(many, table.sum(axis=1))[:, None]
        table = table * _ratio(starts, table.sum(axis=0))
    return table


def _sizes_of_blocks(times: TimeAnswers, blocks: int) -> Floats:
    """Records by class of size (one visit first) and block, shrunk towards independence."""
    longer = times.durations.sum(axis=2)
    single = np.bincount(times.block, times.starts, blocks) - longer.sum(axis=0)
    noisy = np.vstack((single, longer))
    rows, columns = (np.maximum(noisy.sum(axis=axis), 0.0) for axis in (1, 0))
    model = np.outer(rows, columns) / max(float(rows.sum()), _TINY)
    scale = times.duration_scale * float(np.sqrt(times.durations.shape[2]))
    return shrink(noisy, model, scale) + _LITTLE * (model.mean() + 1)


def last_times(times: TimeAnswers, popular: Floats, size: Integers, first: Integers) -> Floats:
    """Weights of each last time, one row per class of numbers of visits and first time.

    Within a class of durations, the weight of a time is its popularity; so is that of all later times if the answer
    about durations is not significant.
    """
    popular = np.maximum(popular, 0.0)
    popular = popular + _LITTLE * max(float(popular.mean()), 1.0)
    apart = np.arange(len(popular)) - first[:, None]
    within = np.where(apart >= 0, popular, 0.0)
    if not times.durations_significant:
        return within
    classes = duration_classes(len(popular))
    cells = classes[np.maximum(apart, 0)] + np.arange(len(first))[:, None] * (classes[-1] + 1)
    total = np.bincount(cells.ravel(), within.ravel(), len(first) * (int(classes[-1]) + 1))
    within /= np.maximum(total, _TINY)[cells]
    rows = _shrunk_durations(times)[size, times.block[first]]
    return within * np.take_along_axis(rows, classes[np.maximum(apart, 0)], axis=1)


def _shrunk_durations(times: TimeAnswers) -> Floats:
    """Durations by class of size and block, shrunk towards those of all blocks together."""
    noisy = times.durations
    total = np.maximum(noisy.sum(axis=(1, 2)), 0.0)
    blocks, classes = (project_to_simplex(noisy.sum(axis=axis), total) for axis in (2, 1))
    model = blocks[:, :, None] * classes[:, None, :] / np.maximum(total, _TINY)[:, None, None]
    smooth = shrink(noisy, model, times.duration_scale)
    return smooth + _LITTLE * (smooth.mean(axis=(1, 2), keepdims=True) + 1)


def _ratio(wanted: Floats, now: Floats) -> Floats:
    """The factor of proportional fitting; 0 where there is nothing to scale."""
    return np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)
