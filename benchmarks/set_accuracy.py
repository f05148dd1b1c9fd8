"""How well a release of sets answers queries of up to three items, keeps frequent itemsets and pairs, and sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import Sets
from hedgerow.kinds.sets.measures import set_errors, top_utility
from hedgerow.measures.itemsets import Itemset, ItemsetIndex
from hedgerow.numerics.arrays import weigh_co_occurrences

#: the queries are the same for all methods
SEED, QUERIES = 12_345, 2_000
TOP, TOP_PAIRS = 100, 50
#: a pair in fewer records is not called frequent
LEAST_PAIR = 20
BUCKETS = {"up to 0.1 %": 0.001, "to 1 %": 0.01, "to 10 %": 0.1, "above": 1.0}


@dataclass(frozen=True)
class Workload:
    """The queries and frequent pairs of a data set."""

    truth: ItemsetIndex
    queries: dict[str, list[Itemset]]
    pairs: list[Itemset]

    @classmethod
    def of(cls, data: Sets) -> Workload:
        """Draw parts of records, and itemsets uniformly; and list the most frequent pairs."""
        truth, draw = ItemsetIndex.of(data), np.random.default_rng(SEED)
        sizes = np.diff(truth.row_starts)
        queries: dict[str, list[Itemset]] = {}
        for length in (1, 2, 3):
            rows = np.flatnonzero(sizes >= length)
            if len(rows) == 0:
                continue
            chances = truth.weights[rows] / truth.weights[rows].sum()
            queries[f"{length} item{'s' * (length > 1)}"] = [
                _part(truth.items[truth.row_starts[row] : truth.row_starts[row + 1]], length, draw)
                for row in draw.choice(rows, QUERIES, p=chances).tolist()
            ]
        lengths = draw.integers(1, min(3, truth.size) + 1, QUERIES).tolist()
        everything = np.arange(truth.size)
        queries["uniform"] = [_part(everything, length, draw) for length in lengths]
        return cls(truth, queries, _frequent_pairs(truth))

    def figures(self, release: Sets) -> dict[str, float]:
        """All measures of a release."""
        ours = ItemsetIndex.of(release)
        kept, missing = top_utility(self.truth, ours, TOP)
        figures = {"top-100 loss": 1 - kept, "of top 100": float(TOP - missing)}
        errors = {name: set_errors(self.truth, ours, queries) for name, queries in self.queries.items()}
        figures |= {name: float(each.mean()) for name, each in errors.items()}
        figures |= self._by_selectivity(errors)
        if self.pairs:
            figures |= self._pair_figures(ours)
        figures["sizes TV"] = float(np.abs(_size_shares(self.truth) - _size_shares(ours)).sum() / 2)
        figures["records"] = ours.records / self.truth.records
        return figures

    def _by_selectivity(self, errors: dict[str, NDArray[np.float64]]) -> dict[str, float]:
        """The errors of drawn queries by the share of records that have them."""
        drawn = [name for name in self.queries if name != "uniform"]
        support = np.concatenate([self.truth.supports(self.queries[name]) for name in drawn]) / self.truth.records
        error = np.concatenate([errors[name] for name in drawn])
        figures, low = {}, 0.0
        for name, high in BUCKETS.items():
            inside = (support > low) & (support <= high)
            low = high
            if np.any(inside):
                figures[name] = float(error[inside].mean())
        return figures

    def _pair_figures(self, ours: ItemsetIndex) -> dict[str, float]:
        before, after = self.truth.supports(self.pairs), ours.supports(self.pairs)
        lift = _log_lift(self.truth, self.pairs) - _log_lift(ours, self.pairs)
        return {
            "top-50 pairs": float((np.abs(after - before) / before).mean()),
            "log-lift": float(np.abs(lift).mean()),
        }


def _part(items: NDArray[np.int64], length: int, draw: np.random.Generator) -> Itemset:
    return tuple(sorted(draw.choice(items, length, replace=False).tolist()))


def _frequent_pairs(truth: ItemsetIndex) -> list[Itemset]:
    """The most frequent pairs, of those among the 2,000 most frequent items; none if all are rare."""
    supports = np.bincount(truth.items, np.repeat(truth.weights, np.diff(truth.row_starts)), truth.size)
    head = np.argsort(-supports, kind="stable")[:2_000]
    rank = np.full(truth.size, -1)
    rank[head] = np.arange(len(head))
    ranks = rank[truth.items]
    row = np.repeat(np.arange(len(truth.weights)), np.diff(truth.row_starts))[ranks >= 0]
    sizes = np.bincount(row, minlength=len(truth.weights))
    counts = weigh_co_occurrences(ranks[ranks >= 0], sizes, truth.weights, len(head))
    first, second = np.triu_indices(len(head), 1)
    best = np.argsort(-counts, kind="stable")[:TOP_PAIRS]
    best = best[counts[best] >= LEAST_PAIR]
    return [tuple(sorted((int(head[first[at]]), int(head[second[at]])))) for at in best.tolist()]


def _log_lift(index: ItemsetIndex, pairs: list[Itemset]) -> NDArray[np.float64]:
    """The logarithm of how much more often two items are together than if they were independent; 0 counts as 1."""
    single = [np.maximum(1, index.supports([(pair[at],) for pair in pairs])) for at in (0, 1)]
    both = np.maximum(1, index.supports(pairs))
    return np.log(both * max(1, index.records) / (single[0] * single[1]))


def _size_shares(index: ItemsetIndex) -> NDArray[np.float64]:
    sizes = np.bincount(np.diff(index.row_starts), index.weights, index.size + 1)
    return sizes / max(1, index.records)
