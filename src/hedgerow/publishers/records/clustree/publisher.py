"""ClusTree: k-anonymous and l-diverse nested records by generalisation and suppression."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.data.records import Records
from hedgerow.privacy import Ledger
from hedgerow.privacy.tree_criteria import KAnonymity, LDiversity
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.records.clustree.class_search import ClassSearch, class_size
from hedgerow.publishers.records.clustree.clustering import Clustering, build_classes, multipliers
from hedgerow.publishers.records.clustree.forest import Forest
from hedgerow.publishers.records.clustree.generalisation import publish_in_classes
from hedgerow.publishers.records.clustree.leftovers import attach_leftovers
from hedgerow.publishers.records.clustree.mapping import MAPPINGS

__all__ = ["ClusTree"]

_THRESHOLDS = ("relative", "absolute")
_LEFTOVERS = ("attach", "suppress")


@dataclass(frozen=True, kw_only=True)
class ClusTree(Publisher[Records]):
    r"""Publish nested records in classes of equal trees.

    Records are clustered: a seed is joined by the record with which it loses least, and so on, until the class is large
    enough. All members of a class get the same tree: labels are replaced by their deepest common ancestors, and
    vertices without a partner are suppressed with everything below them. Which children of two vertices become one is
    solved as an assignment problem. Two vertices become one only if no sensitive value gets too frequent at that
    position, so that sensitive values can stay as they are [1]_.

    A class that costs more than the mean of the classes before, plus $\chi$ standard deviations, is dissolved and its
    seed tried again later; $\chi$ grows by `step` per pass up to `deviations`, and then every class is accepted.

    Corrected: a representative counts as often as it has members (`cost`); the cost of a class is compared per label
    (`threshold`); a seed that no record can join does not take others down with it; records that are left over join a
    class if that costs less than suppression; a vertex whose labels are all hidden is kept. Records whose cost cannot
    be the least, by a bound on histograms of labels, are not evaluated.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. The order
    in which records are seeds is random, and the output is sorted by its own content.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
    >>> course = VertexType("course", "student", ("id",), "grade")
    >>> schema = RecordSchema((VertexType("student", None, ("born",)), course))
    >>> domain = Domain.declare(**{"student.born": [1990, 1991], "course.id": ["CS", "MA"], "course.grade": ["A", "B"]})
    >>> one = ("student", [1990], None, [("course", ["CS"], "A", []), ("course", ["MA"], "B", [])])
    >>> two = ("student", [1990], None, [("course", ["CS"], "B", [])])
    >>> release = ClusTree().publish(Records.from_trees([one, two], schema, domain), LDiversity(l=2), seed=1)
    >>> for tree in release.data.trees():
    ...     print(tree)
    ('student', ['1990'], None, [('course', ['CS'], 'A', [])])
    ('student', ['1990'], None, [('course', ['CS'], 'B', [])])

    References
    ----------
    .. [1] I. Ozalp, M. E. Gursoy, M. E. Nergiz, Y. Saygin. "Privacy-preserving publishing of hierarchical data". ACM
       Transactions on Privacy and Security 19(3), 2016.
    """

    name: ClassVar[str] = "clustree"
    kinds: ClassVar = (Records,)
    keeps: ClassVar = (KAnonymity, LDiversity)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True

    mapping: str = param("assignment", "how children of two vertices are matched", choices=tuple(MAPPINGS))
    passes: str = param("many", "postpone expensive classes, or build each once", choices=("many", "single"))
    cost: str = param("members", "whether a class counts as often as it has members", choices=("members", "paper"))
    threshold: str = param("relative", "compare costs of classes per label or as they are", choices=_THRESHOLDS)
    deviations: float = param(4.0, "standard deviations from which on every class is accepted", gt=0)
    step: float = param(0.5, "standard deviations that are added per pass", gt=0)
    leftovers: str = param("attach", "let records left over join a class, or suppress them", choices=_LEFTOVERS)
    block: int = param(1000, "records that are clustered together", ge=2)

    def run(self, data: Records, ledger: Ledger) -> Records:
        """Put records into a random order, and generalise classes of them."""
        return publish_in_classes(data, ledger, self.classes, block=self.block)

    def classes(
        self,
        forest: Forest,
        *,
        k: int,
        l: int | None,  # noqa: E741
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> Clustering:
        """Build the classes of a block: Algorithm 5, and what is left over."""
        search = ClassSearch(forest, *class_size(k, l), MAPPINGS[self.mapping], self.cost == "members")
        deviations = multipliers(self.deviations, self.step) if self.passes == "many" else [math.inf]
        clustering = build_classes(search, deviations, relative=self.threshold == "relative", on_progress=on_progress)
        return attach_leftovers(search, clustering, l=l) if self.leftovers == "attach" else clustering
