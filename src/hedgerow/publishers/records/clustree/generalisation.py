"""Records become classes of equal trees, block by block, whichever way the classes are built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.records import Records, VertexTable
from hedgerow.privacy import Ledger
from hedgerow.privacy.tree_criteria import KAnonymity, LDiversity
from hedgerow.progress import count, tell
from hedgerow.publishers.records.clustree.blocks import blocks_of, join_records, split_records
from hedgerow.publishers.records.clustree.clustering import Clustering
from hedgerow.publishers.records.clustree.feasibility import require_feasible
from hedgerow.publishers.records.clustree.forest import Forest
from hedgerow.publishers.records.clustree.label_losses import losses_of
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["ClassBuilder", "anonymise", "generalised", "publish_in_classes"]

Integers: TypeAlias = NDArray[np.int64]


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
