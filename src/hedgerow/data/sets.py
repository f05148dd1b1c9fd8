"""Set-valued data: baskets, diagnoses, pages visited; one record is a set of items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source, Value
from hedgerow.data.partitions import Partitions
from hedgerow.data.records import (
    as_record,
    encode,
    number_owners,
    require_columns,
    require_owners,
    seen,
)
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.engines import Columns, Engine, Flags, LocalEngine, Table
from hedgerow.engines.sorting import sorted_order
from hedgerow.errors import DomainError, InternalError, ParameterError

__all__ = ["MASK_ITEMS", "Sets"]

#: an itemset is one int64 mask up to this many items
MASK_ITEMS = 62

OnBad: TypeAlias = Literal["error", "drop"]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Sets(Dataset):
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

    rows: Table
    items: Table
    engine: Engine

    @classmethod
    def from_records(
        cls,
        records: Iterable[Iterable[Value]],
        *,
        domain: Domain | None = None,
        assert_public_domain: bool = False,
        persons: Iterable[Hashable] | None = None,
        on_unknown: OnBad = "error",
        on_empty: OnBad = "error",
        engine: Engine | None = None,
    ) -> Sets:
        """Hold records given as collections of items.

        Parameters
        ----------
        records
            One collection of items a record; repeats within a record are collapsed.
        domain
            Public knowledge. Without it the items seen are taken and the domain is marked as
            inferred, unless `assert_public_domain` says that what the data shows is public.
        persons
            The owner of each record, for unit `person`.
        on_unknown
            An item outside the domain: refuse the data (`error`) or leave the item out (`drop`).
        on_empty
            A record without items: refuse the data (`error`) or leave the record out (`drop`).
        """
        for name, choice in (("on_unknown", on_unknown), ("on_empty", on_empty)):
            if choice not in {"error", "drop"}:
                msg = f"{name} must be 'error' or 'drop'; got {choice!r}"
                raise ParameterError(msg)
        held = [as_record(number, record) for number, record in enumerate(records, start=1)]
        if domain is None:
            domain = seen(held, Source.ASSERTED if assert_public_domain else Source.INFERRED)
        coded = encode(held, domain, drop=on_unknown == "drop")
        sizes = np.array([len(codes) for codes in coded], np.int64)
        if on_empty == "error" and np.any(sizes == 0):
            number = int(np.argmin(sizes)) + 1
            msg = f"record {number} has no items; remove it or pass on_empty='drop'"
            raise DomainError(msg)
        return cls.from_columns(
            row=np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
            item=np.array([code for codes in coded for code in codes], np.int64),
            domain=domain,
            persons=None if persons is None else number_owners(persons, len(held)),
            engine=engine,
        )

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
        return cls.from_counts(
            row=row.astype(np.int64), item=item.astype(np.int64), counts=counts, domain=domain
        )

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

    def __len__(self) -> int:
        """Count the records."""
        alike = self.engine.derive(self.rows, "all", lambda held: np.zeros_like(held["row"]))
        total = self.engine.total(alike, ["all"], "weight")
        return int(self.engine.collect(total, order=["all"])["weight"].sum())

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
        values = self.domain.values("item")
        return [
            (tuple(values[code] for code in codes), weight)
            for codes, weight, _ in self.canonical()._held()  # noqa: SLF001 - our own kind
        ]

    def records(self) -> list[tuple[Value, ...]]:
        """List every record, equal ones repeated, in the order of `itemsets`."""
        return [itemset for itemset, count in self.itemsets() for _ in range(count)]

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

    def count_units(self, unit: str) -> int:
        """Count the records, or the persons."""
        self.require_unit(unit)
        if unit == "record":
            return len(self)
        require_owners(self.rows)
        return self.engine.rows(self.engine.distinct(self.rows, ["person"]))

    def without(self, index: int, *, unit: str) -> Sets:
        """Return this data set without its record, or person, number `index`."""
        self.require_unit(unit)
        if unit == "person":
            require_owners(self.rows)
        held = self.engine.collect(self.rows, order=["row"])
        if unit == "person":
            gone = np.unique(held["person"])[index]
            held["weight"][held["person"] == gone] = 0
        else:
            held["weight"][np.searchsorted(np.cumsum(held["weight"]), index, "right")] -= 1
        return self._only(
            self.engine.keep(self.engine.table(held), lambda held: held["weight"] > 0)
        )

    def bounded(self, unit: str) -> Sets:
        """Keep the first records of each person, as many as declared, in the order they came.

        What is kept of a person depends on that person's records alone, and on their order, never
        on their items: removing a person removes just what was kept of them.
        """
        most = self.records_per(unit)
        if unit != "person":
            return self
        require_owners(self.rows)
        several = self.engine.keep(self.rows, lambda held: held["weight"] != 1)
        if self.engine.rows(several):
            msg = "a row with an owner must be one record"
            raise InternalError(msg)
        ranked = self.engine.rank(self.rows, "person", "row", "nth")
        return self._only(self.engine.keep(ranked, lambda held: held["nth"] < most))

    def canonical(self) -> Sets:
        """Merge equal itemsets, sort them by size and then by items, number them afresh."""
        rows = self.engine.collect(self.rows, order=["row"])
        items = self.engine.collect(self.items, order=["row", "item"])
        sizes = np.bincount(np.searchsorted(rows["row"], items["row"]), minlength=len(rows["row"]))
        order, new = _canonical_order(sizes, items["item"])
        firsts = order[new]
        # where the items of each kept row start, shifted so that a running number finds them
        shift = (np.cumsum(sizes) - sizes)[firsts] - (np.cumsum(sizes[firsts]) - sizes[firsts])
        row = np.repeat(np.arange(len(firsts), dtype=np.int64), sizes[firsts])
        item = items["item"][np.arange(len(row)) + shift[row]]
        merged = np.add.reduceat(np.append(rows["weight"][order], 0), np.flatnonzero(new))
        return self.from_counts(
            row=row, item=item, counts=merged, domain=self.domain, engine=self.engine
        )

    def narrowed(self) -> Sets:
        """Return the same records over the items that occur: an inferred domain is private."""
        items = self.engine.collect(self.items, order=["row", "item"])
        found, codes = np.unique(items["item"], return_inverse=True)
        domain = self.domain.narrowed(item=found)
        table = self.engine.table({"row": items["row"], "item": codes.astype(np.int64)})
        return replace(self, domain=domain, items=table)

    def shuffled(self, order: np.random.Generator) -> Sets:
        """Return the same records in another order, each person under another number."""
        held = self.engine.collect(self.rows, order=["row"])
        numbers = _renamed(held["row"], order)
        rows = self.engine.derive(self.rows, "row", lambda held: numbers[held["row"]])
        items = self.engine.derive(self.items, "row", lambda held: numbers[held["row"]])
        if "person" in held:
            owners = _renamed(held["person"], order)
            rows = self.engine.derive(rows, "person", lambda held: owners[held["person"]])
        return replace(self, rows=rows, items=items)

    def to_bytes(self) -> bytes:
        """Everything held, in the order it is held."""
        axes = [(name, axis.values, axis.paths) for name, axis in self.domain.axes]
        public = [axes, self.domain.source.value, self.domain.records_per_person]
        numbers = self.engine.collect(self.rows, order=["row"])["row"].tolist()
        return msgspec.json.encode([self.kind, public, numbers, self._held()])

    def _held(self) -> list[tuple[tuple[int, ...], int, int | None]]:
        """List items, weight and owner of each row, in order."""
        rows = self.engine.collect(self.rows, order=["row"])
        items = self.engine.collect(self.items, order=["row", "item"])
        codes = items["item"].tolist()
        starts = np.searchsorted(items["row"], rows["row"], "left").tolist()
        ends = np.searchsorted(items["row"], rows["row"], "right").tolist()
        weights = rows["weight"].tolist()
        owners = rows["person"].tolist() if "person" in rows else [None] * len(weights)
        return [
            (tuple(codes[start:end]), weight, owner)
            for start, end, weight, owner in zip(starts, ends, weights, owners, strict=True)
        ]

    def _only(self, rows: Table) -> Sets:
        """Return the rows of this table with their items; its helper columns are left behind."""
        rows = self.engine.select(rows, self.rows.names)
        items = self.engine.join(self.items, self.engine.select(rows, ["row"]), "row")
        return replace(self, rows=rows, items=items)


def _has(code: int, held: Columns) -> Flags:
    return held["item"] == code


def _canonical_order(sizes: Integers, items: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Sort rows by size and then by items; say which differ from the row before."""
    starts = np.cumsum(sizes) - sizes
    order, new = [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)]
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        columns = list(items[starts[members] + np.arange(size)[:, None]])
        by = sorted_order(columns)
        differs = np.zeros(len(by), np.bool_)
        differs[:1] = True
        for column in columns:
            differs[1:] |= column[by][1:] != column[by][:-1]
        order.append(members[by])
        new.append(differs)
    return np.concatenate(order), np.concatenate(new)


def _renamed(numbers: Integers, order: np.random.Generator) -> Integers:
    return order.permutation(int(numbers.max(initial=-1)) + 1).astype(np.int64)
