"""All classes: seeds one after another, and expensive classes postponed (Algorithm 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.records.clustree.class_search import ClassSearch
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["Clustering", "RunningMoments", "build_classes", "class_bound", "multipliers"]

Integers: TypeAlias = NDArray[np.int64]


class Clustering(NamedTuple):
    """Classes, and the records that are in none."""

    classes: list[Representative]
    leftovers: list[int]


@dataclass
class RunningMoments:
    """Mean and standard deviation of numbers that come one after another (Welford).

    Examples
    --------
    >>> moments = RunningMoments()
    >>> for number in (1.0, 3.0):
    ...     moments.add(number)
    >>> moments.mean, moments.deviation
    (2.0, 1.0)
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def accept(self, number: float, deviation: float) -> bool:
        """Whether a number exceeds the mean by at most so many deviations, as the first two do; if so, add it."""
        if self.count > 1 and deviation < math.inf and number > self.mean + deviation * self.deviation:
            return False
        self.add(number)
        return True

    def add(self, number: float) -> None:
        """Take one more number into account."""
        self.count += 1
        step = number - self.mean
        self.mean += step / self.count
        self.squares += step * (number - self.mean)

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers themselves, not of a population that they are a sample of."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0


def multipliers(most: float, step: float) -> list[float]:
    """The allowed deviations of all passes: 0, step, 2 step, ... below `most`, and then any.

    Examples
    --------
    >>> multipliers(2, 0.5)
    [0.0, 0.5, 1.0, 1.5, inf]
    """
    exact = Fraction(str(step))  # 0.9 / 0.3 is more than 3 in binary numbers
    passes = math.ceil(Fraction(str(most)) / exact)
    return [*(float(number * exact) for number in range(passes)), math.inf]


def build_classes(
    search: ClassSearch,
    deviations: Sequence[float],
    *,
    relative: bool = True,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Clustering:
    """Build classes in one pass per allowed deviation.

    A class is accepted if its cost is at most the mean of those accepted before plus so many standard deviations; the
    first two always are. A seed that no record can join is a leftover, since later there are even fewer records.

    Records with few labels are seeds first, which loses less in a single pass: a seed limits what its class can keep.

    Parameters
    ----------
    search
        How a class is built.
    deviations
        The allowed deviation of each pass, in standard deviations.
    relative
        Whether the cost per original label is compared, or the cost, which postpones large records.
    on_progress
        Is called with the number of records that are done.
    """
    free = np.ones(len(search.forest), np.bool_)
    order = np.argsort(search.forest.labels_per_record, kind="stable")
    classes: list[Representative] = []
    leftovers: list[int] = []
    rejected: dict[int, tuple[Representative, ...]] = {}
    moments = RunningMoments()
    for deviation in deviations:
        for seed in order[free[order]].tolist():
            if not free[seed]:
                continue
            if np.count_nonzero(free) < search.size:
                break
            steps = search.create(seed, free, rejected.pop(seed, ()))
            if len(steps) < search.size:
                leftovers.append(seed)
                free[seed] = False
                continue
            cost = steps[-1].cost / (max(1, steps[-1].original_labels) if relative else 1)
            if not moments.accept(cost, deviation):
                rejected[seed] = steps
                continue
            classes.append(steps[-1])
            free[steps[-1].members] = False
            on_progress(len(free) - int(np.count_nonzero(free)))
    return Clustering(classes, [*leftovers, *np.flatnonzero(free).tolist()])


def class_bound(counts: Integers, *, size: int, most: int) -> int:
    r"""How many classes there can be at most, if a sensitive value of roots occurs at most so often in each.

    The largest $q$ such that $q$ classes can be filled: $\sum_v \min(c_v, q m) \ge q s$.

    Examples
    --------
    >>> class_bound(np.array([34, 183, 356, 308, 119]), size=3, most=1)
    322
    """
    low, high = 0, int(counts.sum()) // size
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle * most).sum() >= middle * size:
            low = middle
        else:
            high = middle - 1
    return low
