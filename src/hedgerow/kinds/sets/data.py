"""Set-valued data: baskets, diagnoses, pages visited; one record is a set of items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from hedgerow.data.axis import Value
from hedgerow.data.domain import Domain
from hedgerow.data.lists import Lists
from hedgerow.data.record_encoding import require_columns
from hedgerow.errors import DomainError, ParameterError
from hedgerow.frontiers import Frontier, ListSize, Mask, NextSymbol, SymbolBySize
from hedgerow.frontiers.local import total_by_key
from hedgerow.numerics.arrays import Integers, list_starts
from hedgerow.numerics.sorting import distinct_rows

#: up to this many items an itemset is one int64 mask
MASK_ITEMS = 62


@dataclass(frozen=True, eq=False, repr=False)
class Sets(Lists):
    """Records that are sets of items: each item of a record once, in the order of the domain.

    Examples
    --------
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> data = Sets.from_records([["milk", "bread"], ["tea"], ["tea"]], domain=domain)
    >>> len(data), data.itemsets()
    (3, [(('tea',), 2), (('bread', 'milk'), 1)])
    """

    kind: ClassVar[str] = "sets"
    units: ClassVar[tuple[str, ...]] = ("record", "person")

    @classmethod
    def from_columns(
        cls,
        *,
        row: Integers,
        item: Integers,
        domain: Domain,
        persons: Integers | None = None,
    ) -> Sets:
        """Make a data set of a long table: `item` is the code of an item of record number `row`.

        A record number that does not occur has no record; `persons[row]` is the owner of a record.
        """
        require_columns(row, item, persons)
        if len(item) and (item.min() < 0 or item.max() >= domain.size("item")):
            msg = "an item code is outside the domain; codes are positions in its values"
            raise DomainError(msg)
        rows, items = distinct_rows([row, item])
        starts = list_starts(rows)
        numbers = rows[starts[:-1]].astype(np.int64)
        owners = None if persons is None else persons[numbers]
        return cls(domain, numbers, starts, items, np.ones(len(numbers), np.int64), owners)

    @classmethod
    def from_masks(cls, masks: Integers, counts: Integers, domain: Domain) -> Sets:
        """Make `counts` records of each itemset; bit `i` of its mask stands for item `i`."""
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
    ) -> Sets:
        """Make a data set of a long table of itemsets; itemset number `row` stands for `counts[row]` records."""
        if counts.dtype.kind != "i" or np.any(counts[row] < 1):
            msg = "the counts of itemsets must be whole numbers of at least 1"
            raise ParameterError(msg)
        data = cls.from_columns(row=row, item=item, domain=domain)
        return replace(data, weights=counts[data.numbers])

    def narrowed(self) -> Sets:
        """Return the same records over the items that occur, in the order of these."""
        narrow = super().narrowed()
        row = np.repeat(np.arange(len(self.numbers)), np.diff(self.starts))
        return replace(narrow, items=narrow.items[np.lexsort((narrow.items, row))])

    def histogram(self) -> tuple[Integers, Integers]:
        """Return the masks of the itemsets that occur, ascending, and the number of records with each."""
        if self.domain.size("item") > MASK_ITEMS:
            msg = f"a mask holds {MASK_ITEMS} items; the domain has {self.domain.size('item')}"
            raise DomainError(msg)
        counted = self.engine.open_records(self.symbol_lists()).count(Mask(self.domain.size("item")))
        return counted.codes, counted.counts

    def count_items(self, *, most: int) -> Integers:
        """For every item, count the records that have it among their first `most` items."""
        size = self.domain.size("item")
        return self.engine.open_symbols(self.truncated(most).symbol_lists()).count(NextSymbol(size)).by_code()[:size]

    def count_sizes(self, classes: Integers) -> Integers:
        """Count the records by the class of their number of items: `classes[k]` for `k` items, the last for more."""
        return self.engine.open_records(self.symbol_lists()).count(ListSize(classes)).by_code()

    def weigh_items(self, weights: Integers) -> Integers:
        """For every item, add up the weights of the records that have it.

        `weights[k]` is the weight of a record of `k` items; it has an entry for every size up to the whole domain.

        Examples
        --------
        >>> data = Sets.from_records([[0, 2], [2]], domain=Domain.declare(item=range(3)))
        >>> data.weigh_items(np.array([0, 10, 7, 1])).tolist()
        [7, 0, 17]
        """
        distinct, classes = np.unique(weights, return_inverse=True)
        rule = SymbolBySize(self.domain.size("item"), classes.astype(np.int64))
        counted = self.engine.open_symbols(self.symbol_lists()).count(rule)
        item, weight = np.divmod(counted.codes, len(distinct))
        sums = np.zeros(self.domain.size("item"), np.int64)
        np.add.at(sums, item, distinct[weight] * counted.counts)
        return sums

    def weigh_pairs(self, items: Integers, weights: Integers) -> Integers:
        """For every pair of these items, add up the weights of the records that have both.

        `weights[s]` is the weight of a record with `s` of these items. Pairs are in the order of `items`: the first
        with each later one, then the second, ...
        """
        return self.engine.open_records(self.symbol_lists()).weigh_pairs(items, weights)

    def itemsets(self) -> list[tuple[tuple[Value, ...], int]]:
        """List each distinct itemset with its number of records, by size, then by item order."""
        return self.distinct_records()

    def partition(self, by: Literal["first item"]) -> Iterator[tuple[Value, Sets]]:
        """Yield one piece per public key, empty ones too; every record is in exactly one piece."""
        if by != "first item":
            msg = f"Sets can be cut by 'first item'; got {by!r}"
            raise ParameterError(msg)
        first = self.items[self.starts[:-1]]
        for code, value in enumerate(self.domain.values("item")):
            yield value, self._only(first == code)

    def partitions(self) -> Frontier:
        """Open a frontier on all records; over few items, equal records are merged into one row."""
        if self.domain.size("item") > MASK_ITEMS:
            return self.engine.open_records(self.symbol_lists())
        bits = np.int64(1) << self.items.astype(np.int64)
        rows = np.bitwise_or.reduceat(bits, self.starts[:-1])
        masks, counts = total_by_key(rows, self.weights, 2 ** self.domain.size("item"))
        return self.engine.open_records(Sets.from_masks(masks, counts, self.domain).symbol_lists())
