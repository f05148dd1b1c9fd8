"""Which pairs to count: the frequent items (the *head*) to pair, how many pairs per record, and whether it is worth it.

Everything here is computed from noisy answers and coins: the pairs of a population of records whose items are
independent given their sizes show how frequent pairs are expected to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import weigh_co_occurrences
from hedgerow.steps.coarse_grid import on_grid

__all__ = ["PairSelection", "select_pairs", "share_seen"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_MOST_HEAD = 1_024
_HEADS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 724)
_BOUNDS = (1, 2, 3, 4, 6, 8, 10, 15, 21, 28, 36, 45, 66, 91, 120, 190)
#: the log-lift that is expected of a pair before it is counted; of 0.5, 0.7 and 1, chosen on groceries, bms-webview-2
#: and kosarak-subset
_LIFT = 0.7
#: relative bias of a pair whose weight is hidden; of 1, 1.5, 2, 3, 4 and 8, chosen on the same data
_BIAS = 2.0
#: the least worth of counting pairs rather than items again; of 0.05, 0.08 and 1, chosen on these data and foodmart
_WORTH = 0.08
#: and the least importance of pairs beside items: between 0.06 on foodmart, where pairs do not pay, and 0.65 on
#: bms-webview-2, where they do
_IMPORTANCE = 0.2
#: itemsets in less than this share of the records count for less
_FREQUENT = 1 / 1_000


@dataclass(frozen=True, eq=False)
class PairSelection:
    """The items of the head, most frequent first, how many pairs of a record count in full, and what it is worth.

    The worth is between 0 and 1: the expected share of what all pairs would tell. The importance is what all pairs
    would tell beside what all items tell: little if hardly any pair is frequent.
    """

    head: Integers
    bound: int
    worth: float
    importance: float
    order: Integers

    @property
    def pays(self) -> bool:
        """Whether pairs are worth asking for."""
        return self.worth >= _WORTH and self.importance >= _IMPORTANCE

    def ranks(self, items: Integers) -> Integers:
        """The rank of each item; those beyond the head have the size of the head."""
        return np.minimum(self.order[items], len(self.head))


def select_pairs(
    weights: Floats, row: Integers, item: Integers, *, sampled: int, records: int, spend: float
) -> PairSelection | None:
    """Select the pairs whose counts are expected to tell most; None if no record has two items.

    Parameters
    ----------
    weights
        The estimated weight of every item.
    row, item
        A population of `sampled` records with independent items: the record and the item of each token.
    records
        The estimated number of records.
    spend
        The budget of the question for pairs.
    """
    order = np.argsort(-weights, kind="stable")[:_MOST_HEAD]
    rank = np.full(len(weights), len(order))
    rank[order] = np.arange(len(order))
    ranks = rank[item]
    later, expected = _expected_pairs(row, ranks, len(order), sampled / records, sampled)
    if len(expected) == 0:
        return None
    gain = _gain(expected, records)
    of_items = float(_gain(np.bincount(item).astype(np.float64) * (records / sampled), records).sum())
    best, choice = -1.0, (0, 0)
    for head in (*(size for size in _HEADS if size < len(order)), len(order)):
        inside = int(np.searchsorted(later, head))
        sizes = np.bincount(np.bincount(row[ranks < head], minlength=sampled))
        for bound in _BOUNDS if inside else ():
            seen = share_seen(sizes, bound)
            noise = math.sqrt(2) * bound / (spend * seen)
            signal = (_LIFT * expected[:inside]) ** 2
            error = noise**2 + (_BIAS * (1 - seen) * expected[:inside]) ** 2
            value = float(on_grid(gain[:inside] @ (signal / (signal + error))))
            if value > best:
                best, choice = value, (head, bound)
    total = float(gain.sum())
    return PairSelection(order[: choice[0]], choice[1], best / total, total / of_items, rank)


def share_seen(sizes: Integers, bound: int) -> float:
    """The share of all pairs that is counted if a record counts for at most `bound`; `sizes[s]` records have `s` items.

    Examples
    --------
    >>> share_seen(np.array([0, 3, 2, 1, 2]), 3)
    0.6470588235294118
    """
    size = np.arange(len(sizes))
    pairs = size * (size - 1) // 2
    return float(sizes @ np.minimum(pairs, bound)) / float(sizes @ pairs)


def _gain(expected: Floats, records: int) -> Floats:
    """What the counts of these itemsets would tell: as much as there are records with them, less if they are rare."""
    return expected * np.minimum(1, expected / (records * _FREQUENT))


def _expected_pairs(row: Integers, ranks: Integers, head: int, scale: float, sampled: int) -> tuple[Integers, Floats]:
    """The pairs that occur: the later rank of each, ascending, and the expected number of records with the pair."""
    kept = ranks < head
    sizes = np.bincount(row[kept], minlength=sampled)
    counts = weigh_co_occurrences(ranks[kept], sizes, np.ones(sampled, np.int64), head)
    later = np.triu_indices(head, 1)[1]
    present = np.flatnonzero(counts)
    order = present[np.argsort(later[present], kind="stable")]
    return later[order], counts[order] / scale
