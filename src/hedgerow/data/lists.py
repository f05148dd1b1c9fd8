"""Records that are lists of items: what sets and sequences have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source, Value
from hedgerow.data.records import as_record, encode, number_owners, require_owners, seen
from hedgerow.engines import Engine, Table
from hedgerow.engines.sorting import order_of_lists
from hedgerow.errors import DomainError, InternalError, ParameterError

__all__ = ["Lists", "OnBad"]

OnBad: TypeAlias = Literal["error", "drop"]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Lists(Dataset):
    """Records of items over the axis `item`; the first unit of a kind is one record.

    Two tables: `rows` has one line a row (`row`, `weight` = how many records are just this, and
    `person` where owners are known), `items` at least one line a row (`row`, `item` and what else a
    kind needs).
    """

    #: the column by which the items of a record are in order
    order: ClassVar[str]

    rows: Table
    items: Table
    engine: Engine

    @property
    def axes(self) -> tuple[str, ...]:
        """Items."""
        return ("item",)

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
    ) -> Self:
        """Hold records given as collections of items.

        Parameters
        ----------
        records
            One collection of items a record.
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
    @abstractmethod
    def from_columns(
        cls,
        *,
        row: Integers,
        item: Integers,
        domain: Domain,
        persons: Integers | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Hold a long table: `item` is the code of an item of record number `row`."""

    def __len__(self) -> int:
        """Count the records."""
        alike = self.engine.derive(self.rows, "all", lambda held: np.zeros_like(held["row"]))
        total = self.engine.total(alike, ["all"], "weight")
        return int(self.engine.collect(total, order=["all"])["weight"].sum())

    def arrays(self) -> tuple[Integers, Integers, Integers]:
        """Return where the items of each row start, the items, and the weights of the rows."""
        rows = self.engine.collect(self.rows, order=["row"])
        items = self.engine.collect(self.items, order=["row", self.order])
        # every row has items, so a new row starts where the number changes
        changes = np.flatnonzero(items["row"][1:] != items["row"][:-1]) + 1
        starts = np.concatenate((rows["row"][:1] * 0, changes, [len(items["row"])]))
        return starts, items["item"], rows["weight"]

    def merged(self) -> tuple[Integers, Integers, Integers]:
        """Merge equal rows; return numbers and items of the sorted rows, and their weights."""
        starts, items, weights = self.arrays()
        sizes = np.diff(starts)
        order, new = _ordered(sizes, items)
        firsts = order[new]
        # where the items of each kept row start, shifted so that a running number finds them
        shift = starts[:-1][firsts] - (np.cumsum(sizes[firsts]) - sizes[firsts])
        row = np.repeat(np.arange(len(firsts), dtype=np.int64), sizes[firsts])
        merged = np.add.reduceat(np.append(weights[order], 0), np.flatnonzero(new))
        return row, items[np.arange(len(row)) + shift[row]], merged

    def named(self) -> list[tuple[tuple[Value, ...], int]]:
        """List each distinct row with its number of records, by size, then by item order."""
        values = self.domain.values("item")
        starts, items, weights = self.canonical().arrays()
        named: list[Value] = [values[code] for code in items.tolist()]
        ends = starts.tolist()
        return [
            (tuple(named[start:end]), weight)
            for start, end, weight in zip(ends[:-1], ends[1:], weights.tolist(), strict=True)
        ]

    def records(self) -> list[tuple[Value, ...]]:
        """List every record, equal ones repeated, by size, then by item order."""
        return [row for row, count in self.named() for _ in range(count)]

    def narrowed(self) -> Self:
        """Return the same records over the items that occur: an inferred domain is private."""
        items = self.engine.collect(self.items, order=["row", self.order])
        found, codes = np.unique(items["item"], return_inverse=True)
        table = self.engine.table({**items, "item": codes.astype(np.int64)})
        return replace(self, domain=self.domain.narrowed(item=found), items=table)

    def to_bytes(self) -> bytes:
        """Everything held, in the order it is held."""
        axes = [(name, axis.values, axis.paths) for name, axis in self.domain.axes]
        public = [axes, self.domain.source.value, self.domain.records_per_person]
        rows = self.engine.collect(self.rows, order=["row"])
        starts, items, weights = self.arrays()
        owners = rows["person"].tolist() if "person" in rows else [None] * len(weights)
        parts = [part.tolist() for part in np.split(items, starts[1:-1])] if len(weights) else []
        held = list(zip(parts, weights.tolist(), owners, strict=True))
        return msgspec.json.encode([self.kind, public, rows["row"].tolist(), held])

    def count_units(self, unit: str) -> int:
        """Count the records, or the persons."""
        self.require_unit(unit)
        if unit != "person":
            return len(self)
        require_owners(self.rows)
        return self.engine.rows(self.engine.distinct(self.rows, ["person"]))

    def neighbour(self, index: int, *, unit: str) -> Self:
        """Return this data set without one record, or person."""
        return self.without(index, unit=unit)

    def without(self, index: int, *, unit: str) -> Self:
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
        return self._only(self.engine.keep(self.engine.table(held), lambda held: held["weight"] > 0))

    def bounded(self, unit: str) -> Self:
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

    def shuffled(self, order: np.random.Generator) -> Self:
        """Return the same records in another order, each person under another number."""
        held = self.engine.collect(self.rows, order=["row"])
        numbers = _renamed(held["row"], order)
        rows = self.engine.derive(self.rows, "row", lambda held: numbers[held["row"]])
        items = self.engine.derive(self.items, "row", lambda held: numbers[held["row"]])
        if "person" in held:
            owners = _renamed(held["person"], order)
            rows = self.engine.derive(rows, "person", lambda held: owners[held["person"]])
        return replace(self, rows=rows, items=items)

    def _only(self, rows: Table) -> Self:
        """Return the rows of this table with their items; its helper columns are left behind."""
        rows = self.engine.select(rows, self.rows.names)
        items = self.engine.join(self.items, self.engine.select(rows, ["row"]), "row")
        return replace(self, rows=rows, items=items)


def _ordered(sizes: Integers, items: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Sort rows by size and then by items; say which differ from the row before."""
    starts = np.cumsum(sizes) - sizes
    order, new = [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)]
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        # a column after another in memory: most rows are short, and there are many
        lists = items[starts[members] + np.arange(size)[:, None]].T
        by = order_of_lists(lists)
        differs = np.zeros(len(by), np.bool_)
        differs[:1] = True
        if size > len(by):
            differs[1:] = np.any(lists[by[1:]] != lists[by[:-1]], axis=1)
        else:
            for column in lists.T:
                differs[1:] |= column[by][1:] != column[by][:-1]
        order.append(members[by])
        new.append(differs)
    return np.concatenate(order), np.concatenate(new)


def _renamed(numbers: Integers, order: np.random.Generator) -> Integers:
    return order.permutation(int(numbers.max(initial=-1)) + 1).astype(np.int64)
