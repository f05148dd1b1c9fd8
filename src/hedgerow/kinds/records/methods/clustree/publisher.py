"""ClusTree: k-anonymous and l-diverse nested records by generalisation and suppression."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSatisfied
from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.methods.clustree.clustering import (
    TOLERANCE,
    ClassSearch,
    Clustering,
    build_classes,
    class_bound,
    class_size,
    multipliers,
)
from hedgerow.kinds.records.methods.clustree.representative import (
    MAPPINGS,
    Forest,
    Representative,
    bucket_codes,
    losses_of,
)
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.sorting import sorted_order
from hedgerow.privacy import Ledger
from hedgerow.progress import count, tell
from hedgerow.publisher import Publisher, param

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
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
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
    kinds: ClassVar = ("records",)
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


# Blocks of records become classes of equal trees, whichever way the classes are built (also by `clustree-packing`).


class ClassBuilder(Protocol):
    """Builds the classes of a block; `on_progress` is called with the number of records that are done."""

    def __call__(
        self,
        forest: Forest,
        *,
        k: int,
        l: int | None,  # noqa: E741 - the name of the promise
        on_progress: Callable[[int], None],
    ) -> Clustering:
        """Build the classes."""
        ...


def publish_in_classes(data: Records, ledger: Ledger, build: ClassBuilder, *, block: int) -> Records:
    """Put records into a random order, and generalise classes of them; what keeps the promise stays as it is."""
    promises = [ledger.promised(kind) for kind in (KAnonymity, LDiversity) if ledger.has_promised(kind)]
    if len(data) and not any(sum(promise.violations({"": data}).values()) for promise in promises):
        return data
    k = ledger.promised(KAnonymity).k if ledger.has_promised(KAnonymity) else 1
    l = ledger.promised(LDiversity).l if ledger.has_promised(LDiversity) else None  # noqa: E741
    require_feasible(data, k=k, l=l)
    return anonymise(data.canonical().shuffled(ledger.coins()), build, k=k, l=l, block=block)


def anonymise(
    data: Records,
    build: ClassBuilder,
    *,
    k: int,
    l: int | None,  # noqa: E741
    block: int,
) -> Records:
    """Generalise blocks of records, each in classes of its own; what is left over of all blocks gets another chance.

    Parameters
    ----------
    data
        The records, in random order.
    build
        Builds the classes of a block.
    k
        How many records a class has at least.
    l
        A sensitive value has at most one in `l` of the members at a position; None for any number.
    block
        The number of records of a block.
    """
    size = max(block, k, l or 1)
    builder = partial(build, k=k, l=l)
    result, rest = _generalise_blocks(data, blocks_of(data, size), builder, "building classes")
    if len(rest) and len(data) > size:
        # neighbours are spread over the new blocks, since they found no class together
        spread = np.arange(len(rest)) % -(-len(rest) // size)
        more, _ = _generalise_blocks(rest, spread, builder, "building classes of what is left over")
        result = join_records([result, more])
    count("records suppressed", len(data) - len(result))
    for kind, before, after in list(zip(data.schema.types, data.tables, result.tables, strict=True))[1:]:
        count(f"vertices of type {kind.name!r} suppressed", len(before) - len(after))
    return result


def _generalise_blocks(
    data: Records, block: Integers, build: Callable[..., Clustering], stage: str
) -> tuple[Records, Records]:
    """The classes of each block, and the records that are in none."""
    losses, parts, rest, done = losses_of(data), list[Records](), list[Records](), 0
    for part in split_records(data, block):
        clustering = build(Forest.of(part, losses), on_progress=partial(_tell, stage, done, len(data)))
        parts.append(generalised(part, clustering.classes))
        left = np.zeros(len(part), np.bool_)
        left[clustering.leftovers] = True
        rest.append(part.only(left))
        done += len(part)
    return (join_records(parts), join_records(rest)) if parts else (data, data)


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


def _tell(stage: str, before: int, total: int, done: int) -> None:
    tell(stage, before + done, total)


# What no choice of classes can publish.


def require_feasible(data: Records, *, k: int, l: int | None) -> None:  # noqa: E741 - the name of the promise
    """Refuse data of which no record can be published, and warn if there are records or vertices that cannot be."""
    size = max(k, l or 1)
    if len(data) < size:
        msg = f"a class needs {size:,} records, and there are {len(data):,}; lower k or l, or add records"
        raise NotSatisfied(msg)
    if l is None:
        return
    _require_roots(data, size, l)
    for number, kind in enumerate(data.schema.types[1:], start=1):
        counts = _count_buckets(data, number)
        if 0 < len(counts) < l:
            warnings.warn(
                f"fewer than l = {l:,} values or groups of values of {kind.sensitive_axis!r} occur: all vertices that "
                f"have one ({int(counts.sum()):,}) will be suppressed",
                stacklevel=4,
            )


def _require_roots(data: Records, size: int, l: int) -> None:  # noqa: E741
    counts = _count_buckets(data, 0)
    missing = len(data) - int(counts.sum())
    published = bound_published(counts, l) + (missing if missing >= size else 0)
    name = data.schema.types[0].sensitive_axis
    if published < size:
        msg = (
            f"no record can be published with l = {l:,}: too few values or groups of values of {name!r} occur, or one "
            "is too frequent; lower l, or declare finer buckets"
        )
        raise NotSatisfied(msg)
    if published < len(data):
        warnings.warn(
            f"at most {published:,} of {len(data):,} records can be published with l = {l:,}, since a value or group "
            f"of values of {name!r} is too frequent; a lower l or finer buckets keep more",
            stacklevel=5,
        )


def bound_published(counts: Integers, l: int) -> int:  # noqa: E741
    r"""How many records can be published at most, given how many have each sensitive value at their root.

    Of $N$ published records at most $\lfloor N / l \rfloor$ have the same value, since that holds in every class: the
    largest $N$ with $\sum_v \min(c_v, \lfloor N / l \rfloor) \ge N$.

    Examples
    --------
    >>> bound_published(np.array([34, 183, 356, 308, 119]), 3)
    966
    """
    share = class_bound(counts, size=l, most=1)
    return min(int(np.minimum(counts, share).sum()), share * l + l - 1)


def _count_buckets(data: Records, number: int) -> Integers:
    """Count the vertices with each sensitive value, or group of values, that occurs."""
    axis, codes = data.schema.types[number].sensitive_axis, data.tables[number].sensitive
    if axis is None:
        return np.zeros(0, np.int64)
    counts = np.bincount(bucket_codes(data.domain.axis(axis))[codes[codes >= 0]])
    return counts[counts > 0]


# Records that are in no class.


def attach_leftovers(search: ClassSearch, clustering: Clustering, *, l: int | None) -> Clustering:  # noqa: E741
    """Let each leftover join the class whose cost rises least, if it rises by at most the labels of the record.

    A class stays smaller than twice the size of a class, since it could be split otherwise. A sensitive value may occur
    at a position as often as $l$-diversity allows for the new size; without `l`, any number of times.
    """
    classes = list(clustering.classes)
    left: list[int] = []
    bounds = [search.bound.savings(one)[0, clustering.leftovers] for one in classes]
    for number, record in enumerate(clustering.leftovers):
        joined = _best_class(search, classes, np.array([bound[number] for bound in bounds]), record, l)
        if joined is None:
            left.append(record)
            continue
        place, classes[joined[0]] = joined
        bounds[place] = search.bound.savings(classes[place])[0, clustering.leftovers]
    return Clustering(classes, left)


def _best_class(
    search: ClassSearch,
    classes: list[Representative],
    bound: Floats,
    record: int,
    l: int | None,  # noqa: E741
) -> tuple[int, Representative] | None:
    """The class whose cost rises least, and its new representative: the first of equals."""
    members = np.array([len(one.members) for one in classes], np.int64)
    gain = (members + 1) * bound - members * np.array([one.kept for one in classes])
    best = -TOLERANCE
    nearest: tuple[int, Representative] | None = None
    order: list[int] = np.argsort(-gain, kind="stable").tolist()
    for place in order:
        if gain[place] < best - TOLERANCE:
            break
        size = int(members[place])
        if size >= 2 * search.size - 1:
            continue
        pairs = search.pairs(classes[place], None if l is None else (size + 1) // l)
        if not pairs.joinable()[record]:
            continue
        merged = pairs.merged(record)
        exact = (size + 1) * merged.kept - size * classes[place].kept
        first = nearest is None or place < nearest[0]
        if exact > best + TOLERANCE or (exact >= best - TOLERANCE and first):
            best, nearest = max(best, exact), (place, merged)
    return nearest


# Blocks of similar records: each is clustered alone, so that time and memory grow with the number of records.


def blocks_of(data: Records, size: int) -> Integers:
    """The block of each record: about `size` records with similar root labels, numbers of labels, and then equal trees.

    Sensitive values decide nothing.
    """
    blocks = max(1, -(-len(data) // size))
    order = sorted_order([*data.tables[0].labels.T, data.sizes(), data.content_codes(sensitive=False)[0]])
    block = np.empty(len(data), np.int64)
    block[order] = np.arange(len(data)) * blocks // max(1, len(data))
    return block


def split_records(data: Records, block: Integers) -> Iterator[Records]:
    """The records of each block, in their order."""
    blocks = int(block.max(initial=-1)) + 1
    orders: list[NDArray[np.intp]] = []
    parents: list[Integers] = []
    starts: list[Integers] = []
    places: list[Integers] = []
    for number, above in enumerate(data.schema.parents):
        own = block[data.records_of(number)]
        orders.append(np.argsort(own, kind="stable"))
        starts.append(np.searchsorted(own[orders[-1]], np.arange(blocks + 1)))
        places.append(np.empty(len(own), np.int64))
        places[-1][orders[-1]] = np.arange(len(own))
        parent = np.arange(len(own)) if above < 0 else places[above][data.tables[number].parent[orders[-1]]]
        parents.append(parent - starts[max(above, 0)][own[orders[-1]]])
    for one in range(blocks):
        tables: list[VertexTable] = []
        for table, order, parent, start in zip(data.tables, orders, parents, starts, strict=True):
            rows = slice(start[one], start[one + 1])
            tables.append(table.take(order[rows]).with_parent(parent[rows]))
        yield replace(data, tables=tuple(tables))


def join_records(parts: Sequence[Records]) -> Records:
    """All records of some data sets of one schema."""
    tables: list[VertexTable] = []
    for number, above in enumerate(parts[0].schema.parents):
        counts = np.cumsum([0, *(len(part.tables[max(above, 0)]) for part in parts[:-1])])
        own = [part.tables[number] for part in parts]
        parent = np.concatenate([table.parent + shift for table, shift in zip(own, counts, strict=True)])
        labels, sensitive = (np.concatenate([table[column] for table in own]) for column in (1, 2))
        tables.append(VertexTable(parent, labels, sensitive))
    return replace(parts[0], tables=tuple(tables))
