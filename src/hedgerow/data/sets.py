"""Set-valued data: baskets, diagnoses, pages visited; one record is a set of items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.domain import Domain, Value
from hedgerow.data.lists import Lists
from hedgerow.data.partitions import Partitions
from hedgerow.data.records import (
    require_columns,
)
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.engines import Columns, Engine, Flags, LocalEngine
from hedgerow.errors import DomainError, ParameterError

__all__ = ["MASK_ITEMS", "Sets"]

#: an itemset is one int64 mask up to this many items
MASK_ITEMS = 62

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Sets(Lists):
    """Records that are sets of items.

    Two tables: `rows` has one line a row (`row`, `weight` = how many records are this very set, and
    `person` where owners are known), `items` one line an item of a row (`row`, `item`), each once.

    Examples
    --------
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> data = Sets.from_records([["milk", "bread"], ["tea"], ["tea"]], domain=domain)
    >>> len(data), data.itemsets()
    (3, [(('tea',), 2), (('bread', 'milk'), 1)])
    """

    kind: ClassVar[str] = "sets"
    units: ClassVar[tuple[str, ...]] = ("record", "person")
    order: ClassVar[str] = "item"

    @classmethod
    def from_columns(
        cls,
        *,
        row: Integers,
        item: Integers,
        domain: Domain,
        persons: Integers | None = None,
        engine: Engine | None = None,
    ) -> Sets:
        """Hold a long table: `item` is the code of an item of record number `row`.

        A record number that never occurs is no record; `persons[row]` is the owner of a record.
        """
        require_columns(row, item, persons)
        if len(item) and (item.min() < 0 or item.max() >= domain.size("item")):
            msg = "an item code is outside the domain; codes are positions in its values"
            raise DomainError(msg)
        engine = engine or LocalEngine()
        items = engine.distinct(engine.table({"row": row, "item": item}), ["row", "item"])
        numbers = engine.distinct(items, ["row"])
        rows = engine.derive(numbers, "weight", lambda held: np.ones_like(held["row"]))
        if persons is not None:
            rows = engine.derive(rows, "person", lambda held: persons[held["row"]])
        return cls(domain, rows, items, engine)

    @classmethod
    def from_masks(cls, masks: Integers, counts: Integers, domain: Domain) -> Sets:
        """Hold `counts` records of each itemset, bit `i` of its mask standing for item `i`."""
        row, item = np.nonzero((masks[:, None] >> np.arange(domain.size("item"))) & 1)
        return cls.from_counts(row=row.astype(np.int64), item=item.astype(np.int64), counts=counts, domain=domain)

    @classmethod
    def from_counts(
        cls,
        *,
        row: Integers,
        item: Integers,
        counts: Integers,
        domain: Domain,
        engine: Engine | None = None,
    ) -> Sets:
        """Hold a long table of itemsets of which number `row` stands for `counts[row]` records."""
        if counts.dtype.kind != "i" or np.any(counts[row] < 1):
            msg = "the counts of itemsets must be whole numbers of at least 1"
            raise ParameterError(msg)
        data = cls.from_columns(row=row, item=item, domain=domain, engine=engine)
        rows = data.engine.derive(data.rows, "weight", lambda held: counts[held["row"]])
        return replace(data, rows=rows)

    def histogram(self) -> tuple[Integers, Integers]:
        """Return the masks of the itemsets that occur, ascending, and how many records are each."""
        if self.domain.size("item") > MASK_ITEMS:
            msg = f"a mask holds {MASK_ITEMS} items; the domain has {self.domain.size('item')}"
            raise DomainError(msg)
        engine = self.engine
        bits = engine.derive(self.items, "mask", lambda held: np.int64(1) << held["item"])
        masks = engine.join(engine.total(bits, ["row"], "mask"), self.rows, "row")
        counted = engine.collect(engine.total(masks, ["mask"], "weight"), order=["mask"])
        return counted["mask"], counted["weight"]

    def truncated(self, longest: int) -> Sets:
        """Keep the first items of each record in the order of the domain: a rule for each alone."""
        ranked = self.engine.rank(self.items, "row", "item", "nth")
        early = self.engine.keep(ranked, lambda held: held["nth"] < longest)
        return replace(self, items=self.engine.select(early, ["row", "item"]))

    def count_items(self, *, most: int) -> Integers:
        """Count the records that have each item among their first `most`, for every item."""
        engine = self.engine
        early = engine.join(self.truncated(most).items, self.rows, "row")
        found = engine.collect(engine.total(early, ["item"], "weight"), order=["item"])
        counts = np.zeros(self.domain.size("item"), np.int64)
        counts[found["item"]] = found["weight"]
        return counts

    def itemsets(self) -> list[tuple[tuple[Value, ...], int]]:
        """List each distinct itemset with its number of records, by size, then by item order."""
        return self.named()

    def partition(self, by: Literal["first item"]) -> Iterator[tuple[Value, Sets]]:
        """Yield one piece a public key, empty ones too; every record is in exactly one piece."""
        if by != "first item":
            msg = f"Sets can be cut by 'first item'; got {by!r}"
            raise ParameterError(msg)
        engine = self.engine
        ranked = engine.rank(self.items, "row", "item", "nth")
        first = engine.keep(ranked, lambda held: held["nth"] == 0)
        for code, value in enumerate(self.domain.values("item")):
            mine = engine.keep(first, partial(_has, code))
            members = engine.distinct(mine, ["row"])
            yield value, self._only(engine.join(self.rows, members, "row"))

    def partitions(self, tree: Taxonomy) -> Partitions:
        """Put all records into one partition of a taxonomy, equal ones as one row."""
        small = self.domain.size("item") <= MASK_ITEMS
        plain = self.from_masks(*self.histogram(), self.domain) if small else self
        engine = plain.engine
        rows = engine.derive(plain.rows, "home", lambda held: np.zeros_like(held["row"]))
        leaves = engine.derive(plain.items, "leaf", lambda held: tree.position[held["item"]])
        items = engine.derive(leaves, "home", lambda held: np.zeros_like(held["row"]))
        return Partitions(tree, rows, items, engine)

    def canonical(self) -> Sets:
        """Merge equal itemsets, sort them by size and then by items, number them afresh."""
        row, item, counts = self.merged()
        return self.from_counts(row=row, item=item, counts=counts, domain=self.domain, engine=self.engine)


def _has(code: int, held: Columns) -> Flags:
    return held["item"] == code
