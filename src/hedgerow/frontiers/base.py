"""The protocol by which private rows are counted where they are.

Private records are lists of symbols. A *frontier* is a set of rows, one for each record or one for each symbol of
each record, and every row is in a *cell*, a small number. Two operations are all there is:

- `count` groups rows by their cell and by their *code*, and brings back a small table: cell, code, count. The code of a
  row is a public rule of the row's own record and cell.
- `move` keeps the rows of chosen pairs of cell and code, and sends them on: the index of the pair is their new cell.

Rows never leave the engine they are on. Nothing here has heard of privacy or of kinds of data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.frontiers.rows import Rule, SymbolLists
from hedgerow.frontiers.rules import AtStart

__all__ = ["ENGINES", "Counts", "Engine", "Frontier", "find_engine"]

Integers: TypeAlias = NDArray[np.int64]

#: engines by the name that a command or a recipe gives; strings, so that none is imported before it is used
ENGINES = {"local": "hedgerow.frontiers.local:LocalEngine"}


@dataclass(frozen=True, eq=False, repr=False)
class Counts(ABC):
    """How many records, by weight, are in each cell under each code; those that occur, by cell and then by code."""

    size: int
    cells: Integers
    codes: Integers
    counts: Integers

    @abstractmethod
    def move(self, cells: Integers, codes: Integers) -> Frontier:
        """Keep the rows of these cells and codes, each pair once; its place in the list is their new cell."""

    def find(self, cells: Integers, codes: Integers) -> Integers:
        """Return the counts of these cells and codes: 0 for those that do not occur."""
        keys, wanted = self.cells * self.size + self.codes, cells * self.size + codes
        if len(keys) == 0:
            return np.zeros(len(wanted), np.int64)
        nearest = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[nearest] == wanted, self.counts[nearest], 0)

    def by_code(self) -> Integers:
        """Return the counts of all codes, over all cells."""
        return np.bincount(self.codes, self.counts, self.size).astype(np.int64)


class Frontier(ABC):
    """Private rows in cells, on some engine."""

    @abstractmethod
    def count(self, rule: Rule) -> Counts:
        """Count the rows of each cell by their code under a rule."""

    def first(self) -> Frontier:
        """Keep the rows that are at the first symbol of their record, all in cell 0."""
        nothing = np.zeros(1, np.int64)
        return self.count(AtStart()).move(nothing, nothing)


class Engine(ABC):
    """Where rows are counted."""

    name: ClassVar[str]

    @abstractmethod
    def open_records(self, lists: SymbolLists) -> Frontier:
        """Open a frontier of one row per record, at its first symbol, all in cell 0; an empty record has no row."""

    @abstractmethod
    def open_symbols(self, lists: SymbolLists) -> Frontier:
        """Open a frontier of one row per symbol of each record, all in cell 0."""


def find_engine(name: str) -> Engine:
    """Return the engine of a name.

    Examples
    --------
    >>> find_engine("local").name
    'local'
    """
    if name not in ENGINES:
        msg = f"there is no engine {name!r}; choose from {', '.join(ENGINES)}"
        raise ParameterError(msg)
    module, _, attribute = ENGINES[name].partition(":")
    return getattr(import_module(module), attribute)()
