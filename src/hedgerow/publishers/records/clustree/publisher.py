"""ClusTree: k-anonymous and l-diverse nested records by generalisation and suppression."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from hedgerow.data.records import Records, VertexTable
from hedgerow.privacy import Ledger
from hedgerow.privacy.tree_criteria import KAnonymity, LDiversity
from hedgerow.progress import count, tell
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.records.clustree.blocks import blocks_of, join_records, split_records
from hedgerow.publishers.records.clustree.class_search import ClassSearch
from hedgerow.publishers.records.clustree.clustering import Clustering, build_classes, multipliers
from hedgerow.publishers.records.clustree.feasibility import require_feasible
from hedgerow.publishers.records.clustree.forest import Forest
from hedgerow.publishers.records.clustree.label_losses import losses_of
from hedgerow.publishers.records.clustree.leftovers import attach_leftovers
from hedgerow.publishers.records.clustree.mapping import MAPPINGS
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["ClusTree", "generalised"]

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
        if len(data) and not any(sum(promise.violations({"": data}).values()) for promise in _promises(ledger)):
            return data  # it keeps the promise as it is
        k = ledger.promised(KAnonymity).k if ledger.has_promised(KAnonymity) else 1
        l = ledger.promised(LDiversity).l if ledger.has_promised(LDiversity) else None  # noqa: E741
        require_feasible(data, k=k, l=l)
        return self.anonymised(data.canonical().shuffled(ledger.coins()), k=k, l=l)

    def anonymised(self, data: Records, *, k: int, l: int | None) -> Records:  # noqa: E741 - the name of the promise
        """Generalise blocks of records, each in classes of its own.

        Parameters
        ----------
        data
            The records; the first ones are seeds first.
        k
            How many records a class has at least.
        l
            A sensitive value has at most one in `l` of the members at a position; None for any number.
        """
        losses, parts, done = losses_of(data), list[Records](), 0
        for block in split_records(data, blocks_of(data, max(self.block, k, l or 1))):
            forest = Forest.of(block, losses)
            clustering = self.classes(forest, k=k, l=l, told=partial(_tell, done, len(data)))
            parts.append(generalised(block, clustering.classes))
            done += len(block)
        result = join_records(parts) if parts else data
        count("records suppressed", len(data) - len(result))
        for kind, before, after in list(zip(data.schema.types, data.tables, result.tables, strict=True))[1:]:
            count(f"vertices of type {kind.name!r} suppressed", len(before) - len(after))
        return result

    def classes(
        self,
        forest: Forest,
        *,
        k: int,
        l: int | None,  # noqa: E741
        told: Callable[[int], None] = lambda _: None,
    ) -> Clustering:
        """Build the classes of a block: Algorithm 5, and what is left over."""
        size = max(k, l or 1)
        most = None if l is None else size // l
        search = ClassSearch(forest, size, most, MAPPINGS[self.mapping], self.cost == "members")
        deviations = multipliers(self.deviations, self.step) if self.passes == "many" else [math.inf]
        clustering = build_classes(search, deviations, relative=self.threshold == "relative", told=told)
        return attach_leftovers(search, clustering, l=l) if self.leftovers == "attach" else clustering


def _promises(ledger: Ledger) -> list[KAnonymity | LDiversity]:
    return [ledger.promised(kind) for kind in (KAnonymity, LDiversity) if ledger.has_promised(kind)]


def _tell(before: int, total: int, done: int) -> None:
    tell("building classes", before + done, total)


def generalised(data: Records, classes: Sequence[Representative]) -> Records:
    """The members of classes with the labels of their representatives, and without what these do not have."""
    kept = [np.zeros(len(table), np.bool_) for table in data.tables]
    labels = [table.labels.copy() for table in data.tables]
    for one in classes:
        for number, positions in enumerate(one.types):
            kept[number][positions.vertices] = True
            labels[number][positions.vertices] = positions.labels[:, None]
    changed = zip(data.tables, labels, strict=True)
    tables = tuple(VertexTable(table.parent, own, table.sensitive) for table, own in changed)
    return replace(data, tables=tables).prune(kept)
