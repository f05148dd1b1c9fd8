"""The protocol by which private rows are counted where they are.

Private records are lists of symbols. A *frontier* is a set of rows, one per record or one per symbol of each record,
and every row is in a *cell*, a small number. There are three operations:

- `count` groups rows by cell and *code*, and returns a small table: cell, code, count. The code of a row is given by a
  public rule on the row's own record and cell.
- `move` keeps the rows of chosen pairs of cell and code, and puts them into new cells: the index of their pair.
- `weigh_pairs` adds up, for every pair of chosen symbols, the weights of the rows whose lists have both. The weight of
  a row is given by a public table, by how many of the chosen symbols its list has.

Rows never leave their engine. This package knows nothing about privacy or kinds of data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.frontiers.rows import Rule, SymbolLists
from hedgerow.frontiers.rules import AtStart
from hedgerow.numerics.arrays import Integers

#: engines by the name that a command or a recipe gives; strings, so that none is imported before it is used
ENGINES = {"local": "hedgerow.frontiers.local:LocalEngine"}


@dataclass(frozen=True, eq=False, repr=False)
class Counts(ABC):
    """The number of records, by weight, per cell and code: those that occur, sorted by cell and then by code."""

    size: int
    cells: Integers
    codes: Integers
    counts: Integers

    @abstractmethod
    def move(self, cells: Integers, codes: Integers) -> Frontier:
        """Keep the rows of these pairs of cell and code, each given once; its index is their new cell."""

    def find(self, cells: Integers, codes: Integers) -> Integers:
        """Return the counts of these pairs of cell and code: 0 for pairs that do not occur."""
        keys, queries = self.cells * self.size + self.codes, cells * self.size + codes
        if len(keys) == 0:
            return np.zeros(len(queries), np.int64)
        nearest = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
        return np.where(keys[nearest] == queries, self.counts[nearest], 0)

    def by_code(self) -> Integers:
        """Return the counts of all codes, over all cells."""
        return np.bincount(self.codes, self.counts, self.size).astype(np.int64)


class Frontier(ABC):
    """Private rows in cells, on an engine."""

    @abstractmethod
    def count(self, rule: Rule) -> Counts:
        """Count the rows of each cell by their code under a rule."""

    @abstractmethod
    def weigh_pairs(self, symbols: Integers, weights: Integers) -> Integers:
        """For every pair of these symbols, add up the weights of the rows whose lists have both from there on.

        Parameters
        ----------
        symbols
            The chosen symbols, in an order that numbers the pairs: (0, 1), (0, 2), ... (1, 2), ...
        weights
            `weights[s]` is the weight of a row with `s` of these symbols. No list has a symbol twice.
        """

    def first(self) -> Frontier:
        """Keep the rows that are at the first symbol of their record, all in cell 0."""
        zero = np.zeros(1, np.int64)
        return self.count(AtStart()).move(zero, zero)


class Engine(ABC):
    """A place where rows are counted."""

    name: ClassVar[str]

    @abstractmethod
    def open_records(self, lists: SymbolLists) -> Frontier:
        """Open a frontier of one row per record, at its first symbol, all in cell 0; an empty record has no row."""

    @abstractmethod
    def open_symbols(self, lists: SymbolLists) -> Frontier:
        """Open a frontier of one row per symbol of each record, all in cell 0."""


def find_engine(name: str) -> Engine:
    """Return the engine with this name.

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
