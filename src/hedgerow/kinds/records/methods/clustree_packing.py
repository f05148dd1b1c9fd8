"""Classes of nested records by set packing: our own method."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.clustree.clustering import (
    ClassSearch,
    Clustering,
    PairSavings,
    build_classes,
    class_size,
)
from hedgerow.kinds.records.methods.clustree.publisher import attach_leftovers, publish_in_classes
from hedgerow.kinds.records.methods.clustree.representative import Forest, Representative
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.assignment import assign
from hedgerow.privacy import Ledger
from hedgerow.publisher import Publisher, param

_PAIR = 2


@dataclass(frozen=True, kw_only=True)
class ClusTreePacking(Publisher[Records]):
    r"""Publish nested records in classes of equal trees, chosen by set packing.

    A class is built as in `clustree` [1]_: a seed is joined by one record after another, and all of them get the same
    tree. Which classes to take so that all records together lose least is a *set packing* problem:

    - Classes of two are a matching. The pairs of a single pass are improved by assignments: every pair gives up one of
      its records, and all of these are distributed again in the best way.
    - Larger classes are packed greedily: the class of every seed is built, and classes are accepted from the least loss
      per label on. A class that lost a member to another one is built again when its turn comes.

    What a joining record costs is compared with what it would keep elsewhere (its *opportunity cost*): of $|T|$ labels
    that is $\lambda |T|$, not all of them, so that small records are not used up first. $\lambda$ is the share that
    the classes of a sample of seeds keep.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. The
    order of the records is random, as is who is given up, and the output is sorted by its own content.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("student", None, ("born",), "grade"),))
    >>> domain = Domain.declare(**{"student.born": [1990, 1991], "student.grade": ["A", "B"]})
    >>> trees = [("student", [born], grade, []) for born in (1990, 1991) for grade in "AB"]
    >>> release = ClusTreePacking().publish(Records.from_trees(trees, schema, domain), LDiversity(l=2), seed=1)
    >>> [tree[1] for tree in release.data.trees()]
    [['1990'], ['1990'], ['1991'], ['1991']]

    References
    ----------
    .. [1] I. Ozalp, M. E. Gursoy, M. E. Nergiz, Y. Saygin. "Privacy-preserving publishing of hierarchical data". ACM
       Transactions on Privacy and Security 19(3), 2016; set packing and the opportunity cost are not in it.
    """

    name: ClassVar[str] = "clustree-packing"
    kinds: ClassVar = ("records",)
    keeps: ClassVar = (KAnonymity, LDiversity)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    # docs/results/clustree.md: it lost less than all passes of clustree, in about the same time
    recommended: ClassVar[str] = "nested records, if trees and sensitive values must stay true"

    block: int = param(1000, "records that are clustered together", ge=2)

    def run(self, data: Records, ledger: Ledger) -> Records:
        """Put records into a random order, and generalise classes of them."""
        return publish_in_classes(data, ledger, partial(self.classes, coins=ledger.coins()), block=self.block)

    def classes(
        self,
        forest: Forest,
        *,
        k: int,
        l: int | None,  # noqa: E741 - the name of the promise
        coins: np.random.Generator,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> Clustering:
        """Build the classes of a block, and attach what is left over."""
        search = ClassSearch(forest, *class_size(k, l))
        search = replace(search, price=expected_share(search))
        if search.size == _PAIR:
            clustering = match_pairs(search, build_classes(search, [math.inf], on_progress=on_progress), coins)
        else:
            clustering = pack_greedily(search, on_progress=on_progress)
        return attach_leftovers(search, clustering, l=l)


# Classes in the order of what they lose per label, and what a record is expected to keep elsewhere.

#: of how many seeds the classes are built to estimate which share of the labels is kept
_SAMPLE = 32


def expected_share(search: ClassSearch) -> float:
    """Which share of their labels the members of a class keep: that of the classes of the first seeds.

    It is a little too large, since all records are free for each of these classes.
    """
    free = np.ones(len(search.forest), np.bool_)
    steps = [search.create(seed, free) for seed in range(min(_SAMPLE, len(free)))]
    classes = [one[-1] for one in steps if len(one) == search.size]
    labels = sum(one.original_labels for one in classes)
    return 1 - sum(one.cost for one in classes) / labels if labels else 1.0


def pack_greedily(search: ClassSearch, *, on_progress: Callable[[int], None] = lambda _: None) -> Clustering:
    """Build the class of every seed, and accept classes from the least loss per label on.

    A class that has lost a member to another one is built again from the records that are still free, and waits for its
    new turn. Without this member it loses more, as a rule, so that a class is built again only when its turn comes.
    """
    free = np.ones(len(search.forest), np.bool_)
    steps = [search.create(seed, free) for seed in range(len(free))]
    queue = [(_loss(one[-1]), seed) for seed, one in enumerate(steps) if len(one) == search.size]
    heapq.heapify(queue)
    classes: list[Representative] = []
    while queue and np.count_nonzero(free) >= search.size:
        _, seed = heapq.heappop(queue)
        if not free[seed]:
            continue
        if free[steps[seed][-1].members].all():
            classes.append(steps[seed][-1])
            free[classes[-1].members] = False
            on_progress(len(free) - int(np.count_nonzero(free)))
            continue
        steps[seed] = search.create(seed, free, steps[seed])
        if len(steps[seed]) == search.size:
            heapq.heappush(queue, (_loss(steps[seed][-1]), seed))
    return Clustering(classes, np.flatnonzero(free).tolist())


def _loss(one: Representative) -> float:
    """The loss per label."""
    return one.cost / max(1, one.original_labels)


# Classes of two records: a matching of large total saving, by repeated assignments.

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
        chosen = assign(matrix, maximise=True)[1]
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
