"""Sequences: click paths, journeys, events in order; one record is a list of items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.domain import Domain
from hedgerow.data.labels import Labels
from hedgerow.data.lists import Lists
from hedgerow.data.positions import Positions
from hedgerow.data.records import require_columns
from hedgerow.engines import Engine, LocalEngine
from hedgerow.errors import DomainError, ParameterError

__all__ = ["Sequences"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Lists):
    """Records that are lists of items, repeats allowed.

    Two tables: `rows` has one line a row (`row`, `weight` = how many records are this very list,
    and `person` where owners are known), `items` one line an item of a row (`row`, `at` = its
    place from 0, `item`). Every record has at least one item.

    Examples
    --------
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> visits = [["home", "shop", "home"], ["search"], ["search"]]
    >>> data = Sequences.from_records(visits, domain=domain)
    >>> len(data), data.named()
    (3, [(('search',), 2), (('home', 'shop', 'home'), 1)])
    """

    kind: ClassVar[str] = "sequences"
    units: ClassVar[tuple[str, ...]] = ("sequence", "person")
    order: ClassVar[str] = "at"
    #: codes beyond those of the domain
    beyond: ClassVar[int] = 0

    @classmethod
    def from_columns(
        cls,
        *,
        row: Integers,
        item: Integers,
        domain: Domain,
        persons: Integers | None = None,
        counts: Integers | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Hold a long table: `item` is the code of the next item of record number `row`.

        Items of a record stand in their order. A record number that never occurs is no record;
        `persons[row]` is the owner of a record, and `counts[row]` how many records are this list.
        """
        require_columns(row, item, persons)
        if len(item) and (item.min() < 0 or item.max() >= domain.size("item") + cls.beyond):
            msg = "an item code is outside the domain; codes are positions in its values"
            raise DomainError(msg)
        if counts is not None and (counts.dtype.kind != "i" or np.any(counts[row] < 1)):
            msg = "the counts of sequences must be whole numbers of at least 1"
            raise ParameterError(msg)
        engine = engine or LocalEngine()
        if np.any(row[1:] < row[:-1]):
            order = np.argsort(row, kind="stable")
            row, item = row[order], item[order]
        new = np.ones(len(row), np.bool_)
        new[1:] = row[1:] != row[:-1]
        starts = np.flatnonzero(new)
        at = np.arange(len(row)) - np.repeat(starts, np.diff(starts, append=len(row)))
        at = at.astype(np.int32)
        at.flags.writeable = False
        held = engine.table({"row": row, "at": at, "item": item})
        numbers = row[starts]
        weight = np.ones(len(numbers), np.int64) if counts is None else counts[numbers]
        columns = {"row": numbers, "weight": weight}
        if persons is not None:
            columns["person"] = persons[numbers]
        return cls(domain, engine.table(columns), held, engine)

    def truncated(self, longest: int) -> Self:
        """Keep the first items of each record: a rule for each alone."""
        early = self.engine.keep(self.items, lambda held: held["at"] < longest)
        return replace(self, items=early)

    def positions(self, longest: int) -> Positions:
        """Line up the first items of all records, each with an end marker, to count grams in."""
        starts, items, weights = self.truncated(longest).arrays()
        return Positions.of(starts, items, weights, self.domain.size("item"))

    @property
    def labels(self) -> Labels:
        """Labels are the items."""
        return Labels("item", self.domain.size("item"))

    def from_labels(self, table: NDArray[np.integer], counts: Integers) -> Self:
        """Make other sequences over the same domain: one per row of labels, filled up with -1, so many of each."""
        row, at = np.nonzero(table >= 0)
        return self.from_columns(row=row, item=table[row, at].astype(np.int64), counts=counts, domain=self.domain)

    def canonical(self) -> Self:
        """Merge equal sequences, sort them by length and then by items, number them afresh."""
        row, item, counts = self.merged()
        return self.from_columns(row=row, item=item, counts=counts, domain=self.domain, engine=self.engine)
