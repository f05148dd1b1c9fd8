"""Sequences: click paths, journeys, events in order; one record is a list of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain
from hedgerow.data.lists import Lists
from hedgerow.data.record_encoding import require_columns
from hedgerow.errors import DomainError, ParameterError
from hedgerow.frontiers import Frontier
from hedgerow.kinds.sequences.labels import Labels
from hedgerow.numerics.arrays import Codes, Integers, list_starts, read_only


class LabelledRecords(Protocol):
    """Records of labels in order, as prefix trees take them: sequences, and trajectories with labels for visits."""

    @property
    def domain(self) -> Domain:
        """What is public about them."""
        ...

    @property
    def labels(self) -> Labels:
        """What is a label."""
        ...

    def positions(self, longest: int) -> Frontier:
        """Open a frontier on the first `longest` labels of every record."""
        ...

    def from_labels(self, table: NDArray[np.integer], counts: Integers) -> Dataset:
        """Make records of the same kind over the same domain: each row of labels, padded with -1, `counts` times."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Lists):
    """Records that are lists of items, repeats allowed.

    Examples
    --------
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> visits = [["home", "shop", "home"], ["search"], ["search"]]
    >>> data = Sequences.from_records(visits, domain=domain)
    >>> len(data), data.distinct_records()
    (3, [(('search',), 2), (('home', 'shop', 'home'), 1)])
    """

    kind: ClassVar[str] = "sequences"
    units: ClassVar[tuple[str, ...]] = ("sequence", "person")
    #: the number of codes in addition to those of the domain
    beyond: ClassVar[int] = 0

    @classmethod
    def from_columns(
        cls,
        *,
        row: Integers,
        item: Codes,
        domain: Domain,
        persons: Integers | None = None,
        counts: Integers | None = None,
    ) -> Self:
        """Make a data set of a long table: `item` is the code of the next item of record number `row`.

        The items of a record are in order. A record number that does not occur has no record; `persons[row]` is the
        owner of a record, and `counts[row]` the number of records with this list.
        """
        require_columns(row, item, persons)
        if len(item) and (item.min() < 0 or item.max() >= domain.size("item") + cls.beyond):
            msg = "an item code is outside the domain; codes are positions in its values"
            raise DomainError(msg)
        if counts is not None and (counts.dtype.kind != "i" or np.any(counts[row] < 1)):
            msg = "the counts of sequences must be whole numbers of at least 1"
            raise ParameterError(msg)
        if np.any(row[1:] < row[:-1]):
            order = np.argsort(row, kind="stable")
            row, item = row[order], item[order]
        starts = list_starts(row)
        numbers = row[starts[:-1]].astype(np.int64)
        weights = np.ones(len(numbers), np.int64) if counts is None else counts[numbers]
        owners = None if persons is None else persons[numbers]
        return cls(domain, numbers, starts, read_only(item), weights, owners)

    def positions(self, longest: int) -> Frontier:
        """Open a frontier on the first `longest` items of every record."""
        return self.engine.open_symbols(self.truncated(longest).symbol_lists())

    @property
    def labels(self) -> Labels:
        """The items as labels."""
        return Labels("item", self.domain.size("item"))

    def from_labels(self, table: NDArray[np.integer], counts: Integers) -> Self:
        """Make sequences over the same domain: each row of labels, padded with -1, `counts` times."""
        row, at = np.nonzero(table >= 0)
        return self.from_columns(row=row, item=table[row, at].astype(np.int64), counts=counts, domain=self.domain)
