"""Records that are lists of items: the common base of sets and sequences."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.encoding import narrow_axis
from hedgerow.data.owners import count_earlier_records, number_owners, renumber_at_random, require_owners
from hedgerow.data.record_encoding import encode_records, infer_domain, require_record
from hedgerow.errors import DomainError, InternalError, ParameterError
from hedgerow.frontiers import SymbolLists
from hedgerow.numerics.arrays import Flags, Integers, cut_lists, take_lists
from hedgerow.numerics.sorting import order_of_lists

OnBad: TypeAlias = Literal["error", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Lists(Dataset):
    """Records of items over the axis `item`; the first unit of a kind is one record.

    Row `r` stands for `weights[r]` records, each with the items `items[starts[r] : starts[r + 1]]`, at least one. Its
    record number is `numbers[r]`, in ascending order, and its owner `persons[r]`, if owners are known.
    """

    numbers: Integers
    starts: Integers
    items: NDArray[Any]
    weights: Integers
    persons: Integers | None = None

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
    ) -> Self:
        """Make a data set of records given as collections of items.

        Parameters
        ----------
        records
            One collection of items per record.
        domain
            Public knowledge. Without it, the domain is made of the items that occur and marked as inferred, unless
            `assert_public_domain` asserts that these items are public knowledge.
        persons
            The owner of each record, for unit `person`.
        on_unknown
            For an item outside the domain: refuse the data (`error`) or leave out the item (`drop`).
        on_empty
            For a record without items: refuse the data (`error`) or leave out the record (`drop`).
        """
        for name, choice in (("on_unknown", on_unknown), ("on_empty", on_empty)):
            if choice not in {"error", "drop"}:
                msg = f"{name} must be 'error' or 'drop'; got {choice!r}"
                raise ParameterError(msg)
        listed = [require_record(number, record) for number, record in enumerate(records, start=1)]
        if domain is None:
            domain = infer_domain(listed, Source.ASSERTED if assert_public_domain else Source.INFERRED)
        coded = encode_records(listed, domain, drop=on_unknown == "drop")
        sizes = np.array([len(codes) for codes in coded], np.int64)
        if on_empty == "error" and np.any(sizes == 0):
            number = int(np.argmin(sizes)) + 1
            msg = f"record {number} has no items; remove it or pass on_empty='drop'"
            raise DomainError(msg)
        return cls.from_columns(
            row=np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
            item=np.array([code for codes in coded for code in codes], np.int64),
            domain=domain,
            persons=None if persons is None else number_owners(persons, len(listed)),
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
    ) -> Self:
        """Make a data set of a long table: `item` is the code of an item of record number `row`."""

    def __len__(self) -> int:
        """Count the records."""
        return int(self.weights.sum())

    def arrays(self) -> tuple[Integers, Integers, Integers]:
        """Return where the items of each row start, the items, and the weights of the rows."""
        return self.starts, self.items.astype(np.int64, copy=False), self.weights

    def symbol_lists(self) -> SymbolLists:
        """Return the rows in the form that engines take."""
        return SymbolLists.from_arrays(self.starts, self.items, self.weights, self.domain.size("item"))

    def truncated(self, longest: int) -> Self:
        """Keep the first `longest` items of each record, whatever the other records are."""
        if longest == 0:
            return self._only(np.zeros(len(self.numbers), np.bool_))  # a record has at least one item
        starts, items = cut_lists(self.starts, self.items, longest)
        return replace(self, starts=starts, items=items)

    def canonical(self) -> Self:
        """Merge equal rows, sort them by size and then by items, renumber them and drop owners."""
        starts, items, weights = merge_equal(self.starts, self.items, self.weights)
        numbers = np.arange(len(weights), dtype=np.int64)
        return replace(self, numbers=numbers, starts=starts, items=items, weights=weights, persons=None)

    def distinct_records(self) -> list[tuple[tuple[Value, ...], int]]:
        """List each distinct row with its number of records, by size, then by item order."""
        values = self.domain.values("item")
        starts, items, weights = self.canonical().arrays()
        decoded: list[Value] = [values[code] for code in items.tolist()]
        ends = starts.tolist()
        return [
            (tuple(decoded[start:end]), weight)
            for start, end, weight in zip(ends[:-1], ends[1:], weights.tolist(), strict=True)
        ]

    def records(self) -> list[tuple[Value, ...]]:
        """List every record, equal ones repeated, by size, then by item order."""
        return [row for row, count in self.distinct_records() for _ in range(count)]

    def narrowed(self) -> Self:
        """Return the same records over the items that occur: an inferred domain is private."""
        axis, items = narrow_axis(self.domain.axis("item"), self.items.astype(np.int64))
        return replace(self, domain=self.domain.with_axes({"item": axis}), items=items)

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, *axis.content()) for name, axis in self.domain.axes]
        public = [axes, self.domain.source.value, self.domain.records_per_person]
        lists = [self.items[start:end].tolist() for start, end in itertools.pairwise(self.starts.tolist())]
        persons = [None] * len(lists) if self.persons is None else self.persons.tolist()
        rows = list(zip(lists, self.weights.tolist(), persons, strict=True))
        return msgspec.json.encode([self.kind, public, self.numbers.tolist(), rows])

    def count_units(self, unit: str) -> int:
        """Count the records, or the persons."""
        self.require_unit(unit)
        return len(np.unique(require_owners(self.persons))) if unit == "person" else len(self)

    def neighbour(self, index: int, *, unit: str) -> Self:
        """Return this data set without one record, or person."""
        return self.without(index, unit=unit)

    def without(self, index: int, *, unit: str) -> Self:
        """Return this data set without its record, or person, number `index`."""
        self.require_unit(unit)
        weights = self.weights.copy()
        if unit == "person":
            persons = require_owners(self.persons)
            weights[persons == np.unique(persons)[index]] = 0
        else:
            weights[np.searchsorted(np.cumsum(weights), index, "right")] -= 1
        return replace(self._only(weights > 0), weights=weights[weights > 0])

    def bounded(self, unit: str) -> Self:
        """Keep the first records of each person, as many as declared, in their order.

        Which records of a person are kept depends on that person's records alone, and on their order, never on their
        items: removing a person removes exactly the records that were kept.
        """
        most = self.records_per(unit)
        if unit != "person":
            return self
        persons = require_owners(self.persons)
        if np.any(self.weights != 1):
            msg = "a row with an owner must be one record"
            raise InternalError(msg)
        return self._only(count_earlier_records(persons) < most)

    def shuffled(self, order: np.random.Generator) -> Self:
        """Return the same records in another order, each person under another number."""
        numbers = renumber_at_random(self.numbers, order)
        rows = self._only(np.argsort(numbers))
        persons = None if rows.persons is None else renumber_at_random(rows.persons, order)
        return replace(rows, numbers=np.sort(numbers), persons=persons)

    def _only(self, chosen: NDArray[Any]) -> Self:
        """Keep the chosen rows, by number or by a flag for each."""
        starts, items = take_lists(self.starts, self.items, chosen)
        persons = None if self.persons is None else self.persons[chosen]
        numbers, weights = self.numbers[chosen], self.weights[chosen]
        return replace(self, numbers=numbers, starts=starts, items=items, weights=weights, persons=persons)


def merge_equal(starts: Integers, items: NDArray[Any], weights: Integers) -> tuple[Integers, NDArray[Any], Integers]:
    """Merge equal rows, whose weights are added up, and sort them by size and then by items."""
    order, new = _ordered(np.diff(starts), items)
    merged_starts, merged = take_lists(starts, items, order[new])
    return merged_starts, merged, np.add.reduceat(np.append(weights[order], 0), np.flatnonzero(new))


def _ordered(sizes: Integers, items: NDArray[Any]) -> tuple[Integers, Flags]:
    """Sort rows by size and then by items; also return which rows differ from the one before."""
    starts = np.cumsum(sizes) - sizes
    order, new = [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)]
    # narrow integers are sorted by radix sort
    by_size = np.argsort(sizes.astype(np.min_scalar_type(int(sizes.max(initial=0)))), kind="stable")
    for members in np.split(by_size, np.flatnonzero(np.diff(sizes[by_size])) + 1) if len(sizes) else []:
        size = int(sizes[members[0]])
        # column by column in memory, since rows are many and mostly short
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
