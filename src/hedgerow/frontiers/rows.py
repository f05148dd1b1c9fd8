"""Private rows as arrays, and the base class of rules that read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Flags, Integers, index_ranges


@dataclass(frozen=True, eq=False, repr=False)
class SymbolLists:
    """Lists of symbols 0, 1, ... `size` - 1, and the number of records that each list stands for.

    `symbols` are the symbols of all lists, each list followed by an end marker, `size`. `weights` is None if every list
    is one record.
    """

    size: int
    symbols: NDArray[Any]
    weights: Integers | None

    @classmethod
    def from_arrays(cls, starts: Integers, values: NDArray[Any], weights: Integers, size: int) -> SymbolLists:
        """Add an end marker to each list; `starts` are the starts of the lists in `values`, and the end of the last."""
        lists = len(starts) - 1
        ends = starts[1:] + np.arange(lists)
        symbols = np.empty(len(values) + lists, np.min_scalar_type(size))
        inner = np.ones(len(symbols), np.bool_)
        inner[ends] = False
        symbols[ends] = size
        symbols[inner] = values
        single = not lists or int(weights.max()) == 1
        return cls(size, symbols, None if single else weights)

    @cached_property
    def ends(self) -> Integers:
        """The position of the end marker of each list."""
        return np.flatnonzero(self.symbols == self.size)

    @property
    def starts(self) -> Integers:
        """The start of each list."""
        return np.concatenate((np.zeros(1, np.int64), self.ends + 1))[:-1]

    def take(self, chosen: Integers) -> SymbolLists:
        """Keep the lists of these numbers, in this order."""
        starts = self.starts[chosen]
        kept = index_ranges(starts, self.ends[chosen] + 1 - starts)
        return SymbolLists(self.size, self.symbols[kept], None if self.weights is None else self.weights[chosen])


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows of a frontier: each is in a cell and at a position of its list.

    `at` are positions in `lists.symbols`, ascending.
    """

    lists: SymbolLists
    at: NDArray[Any]
    cell: NDArray[Any]

    def __len__(self) -> int:
        return len(self.at)

    @property
    def next(self) -> NDArray[Any]:
        """The symbol at the position of each row, or the end marker."""
        return self.lists.symbols[self.at]

    @property
    def first(self) -> Flags:
        """Whether a row is at the first symbol of its list."""
        # index -1 is the last position, which is an end marker as well
        return self.lists.symbols[self.at - 1] == self.lists.size

    @property
    def length(self) -> Integers:
        """The number of symbols from the position of each row to the end of its list."""
        ends = self.lists.ends
        return ends[np.searchsorted(ends, self.at)] - self.at

    @property
    def size(self) -> Integers:
        """The number of symbols of each row's list."""
        number = np.searchsorted(self.lists.ends, self.at)
        return (self.lists.ends - self.lists.starts)[number]

    @property
    def index(self) -> NDArray[Any]:
        """The index of each row's position in its list, from 0."""
        starts = self.lists.starts
        return self.at - np.repeat(starts.astype(self.at.dtype), self.lists.ends + 1 - starts)[self.at]


class Rule(ABC):
    """The code of a row, as a public function of the row's own record and cell.

    A rule is a frozen value of public numbers and arrays, so that it can be pickled and sent to another machine. It
    gets rows in batches, in any order, and must treat each row independently.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of codes: 0, 1, ... `size` - 1."""

    @abstractmethod
    def encode(self, rows: Rows) -> NDArray[Any]:
        """Return the code of each row; a row with a negative code is not counted, and cannot be moved."""

    def advance(self, codes: Integers) -> Integers:
        """The number of symbols by which rows with these codes advance when they are moved."""
        return np.zeros(len(codes), np.int64)
