"""Classes of nested records by set packing: our own method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from hedgerow.data.records import Records
from hedgerow.privacy import Ledger
from hedgerow.privacy.tree_criteria import KAnonymity, LDiversity
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.records.clustree.class_search import ClassSearch, class_size
from hedgerow.publishers.records.clustree.clustering import Clustering, build_classes
from hedgerow.publishers.records.clustree.forest import Forest
from hedgerow.publishers.records.clustree.generalisation import publish_in_classes
from hedgerow.publishers.records.clustree.leftovers import attach_leftovers
from hedgerow.publishers.records.clustree_packing.greedy_packing import expected_share, pack_greedily
from hedgerow.publishers.records.clustree_packing.pair_matching import match_pairs

__all__ = ["ClusTreePacking"]

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
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
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
    kinds: ClassVar = (Records,)
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
