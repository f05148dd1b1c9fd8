"""The verbs every kind counts by.

A kind never groups or joins by itself: it calls these verbs on tables it cannot look into. An
engine knows tables of integer codes and counts them exactly; it has never heard of privacy and
draws nothing. So a cluster engine is one more file, and no kind changes for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Columns", "Engine", "Flags", "Table"]

Codes: TypeAlias = NDArray[np.integer[Any]]
Columns: TypeAlias = Mapping[str, Codes]
Flags: TypeAlias = NDArray[np.bool_]


class Table(ABC):
    """Integer columns of equal length, held somewhere by an engine."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""


class Engine(ABC):
    """Where exact counting runs.

    No verb promises an order of rows unless it says so: an engine may hold its rows in many places.
    """

    @abstractmethod
    def table(self, columns: Columns) -> Table:
        """Hold these columns."""

    @abstractmethod
    def collect(self, table: Table, *, order: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return the columns as int64 arrays here, rows sorted by the columns in `order`."""

    @abstractmethod
    def rows(self, table: Table) -> int:
        """Count the rows."""

    @abstractmethod
    def derive(self, table: Table, name: str, function: Callable[[Columns], Codes]) -> Table:
        """Add a column computed row by row; `function` gets chunks of rows, in any order."""

    @abstractmethod
    def keep(self, table: Table, condition: Callable[[Columns], Flags]) -> Table:
        """Keep the rows that fulfil a condition; it gets chunks of rows, in any order."""

    @abstractmethod
    def select(self, table: Table, names: Sequence[str]) -> Table:
        """Keep these columns of every row."""

    @abstractmethod
    def distinct(self, table: Table, by: Sequence[str]) -> Table:
        """Keep each combination of the columns `by` once, and only those columns."""

    @abstractmethod
    def total(self, table: Table, by: Sequence[str], value: str) -> Table:
        """Sum the column `value` within each combination of `by`; columns `by` and `value`."""

    @abstractmethod
    def union(self, table: Table, by: Sequence[str], value: str) -> Table:
        """Unite the bits of `value` within each combination of `by`; columns `by` and `value`."""

    @abstractmethod
    def rank(self, table: Table, by: str, order: str, name: str) -> Table:
        """Add a column numbering the rows of each `by` from 0 in ascending `order`."""

    @abstractmethod
    def join(self, table: Table, other: Table, on: str) -> Table:
        """Keep the rows whose `on` is in `other`, with the other columns of its one row beside."""

    @abstractmethod
    def top(self, table: Table, value: str, most: int, *, ties: Sequence[str]) -> Table:
        """Keep the `most` rows of largest `value`, ties settled by ascending `ties`."""
