"""Blocks of similar records: each is clustered alone, so that time and memory grow with the number of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.records import Records, VertexTable
from hedgerow.data.sorting import sorted_order

__all__ = ["blocks_of", "join_records", "split_records"]

Integers: TypeAlias = NDArray[np.int64]


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
