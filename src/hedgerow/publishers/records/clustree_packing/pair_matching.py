"""Classes of two records: a matching of large total saving, by repeated assignments."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.records.clustree.class_search import ClassSearch
from hedgerow.publishers.records.clustree.clustering import Clustering
from hedgerow.publishers.records.clustree.pair_savings import PairSavings
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["match_pairs"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: how many partners are evaluated per record, those of the least lower bound of costs
_PARTNERS = 24
#: how many assignments are solved
_ROUNDS = 30


def match_pairs(search: ClassSearch, clustering: Clustering, coins: np.random.Generator) -> Clustering:
    """Improve classes of two: all pairs give up one record each, and get back the one with which they save most.

    Who is given up is random. Which remaining record gets which one back is a linear assignment problem, of which the
    pairs as they are is one solution: the total saving never falls. Only partners that are promising by the bound on
    histograms are evaluated, once for all rounds. A record that is left over may replace one that was given up.
    """
    if not clustering.classes:
        return clustering
    partners, savings = _evaluate_partners(search)
    pairs = np.array([one.members for one in clustering.classes])
    saved = np.array([_pairs_of(search, first).of_records(np.array([second]))[0] for first, second in pairs.tolist()])
    left = np.array(clustering.leftovers, np.int64)
    every = np.arange(len(pairs))
    for _ in range(_ROUNDS):
        pairs = coins.permuted(pairs, axis=1)
        stays, pool = pairs[:, 0], np.concatenate([pairs[:, 1], left])
        matrix = _savings_with(partners[stays], savings[stays], pool, len(search.forest))
        matrix[every, every] = saved
        chosen = _assign(matrix)
        saved = matrix[every, chosen]
        pairs[:, 1] = pool[chosen]
        left = np.delete(pool, chosen)
    return Clustering([_pairs_of(search, first).merged(second) for first, second in pairs.tolist()], left.tolist())


def _evaluate_partners(search: ClassSearch) -> tuple[Integers, Floats]:
    """The most promising partners of each record, and what it saves with them; 0 if it must not be paired."""
    number = min(_PARTNERS, len(search.forest) - 1)
    partners = np.empty((len(search.forest), number), np.int64)
    savings = np.empty((len(search.forest), number))
    for record in range(len(search.forest)):
        pairs = _pairs_of(search, record)
        costs = search.lower_bounds(pairs, np.arange(len(search.forest)))
        costs[~pairs.joinable()] = np.inf
        costs[record] = np.inf
        partners[record] = np.argpartition(costs, number - 1)[:number]
        savings[record] = search.savings(pairs, partners[record])
        search.counts.considered += len(search.forest) - 1
    return partners, savings


def _pairs_of(search: ClassSearch, record: int) -> PairSavings:
    return search.pairs(Representative.of_record(search.forest, record), search.most)


def _savings_with(partners: Integers, savings: Floats, pool: Integers, records: int) -> Floats:
    """What rows save with each record of the pool; far less than nothing if that was not evaluated."""
    place = np.full(records, -1)
    place[pool] = np.arange(len(pool))
    row, column = np.nonzero((place[partners] >= 0) & (savings > 0))
    matrix = np.full((len(partners), len(pool)), -savings.sum() - 1)
    matrix[row, place[partners[row, column]]] = savings[row, column]
    return matrix


def _assign(savings: Floats) -> Integers:
    from scipy import optimize  # noqa: PLC0415 - listing the methods does not need it

    return cast("Any", optimize).linear_sum_assignment(savings, maximize=True)[1]  # SciPy is not typed
