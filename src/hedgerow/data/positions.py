"""Positions of sequences by the gram that starts there, counted one item further at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Continued", "Positions"]

Integers: TypeAlias = NDArray[np.int64]

#: up to so many cells are counted in a table, if they are not far more than there is to count
_TABLE, _SMALL, _TIMES = 1 << 27, 1 << 22, 16


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """Which context each position continues.

    `symbols` are the items of all sequences, each followed by an end marker, `size`. A position in
    `active` starts an occurrence, `length` items long, of the context `home`. It is counted
    `weights` times, or once.
    """

    size: int
    symbols: NDArray[Any]
    active: NDArray[Any]
    home: NDArray[Any]
    weights: Integers | None
    length: int

    @classmethod
    def of(cls, starts: Integers, items: Integers, weights: Integers, size: int) -> Positions:
        """Put every position into one context, that of no items."""
        rows = len(starts) - 1
        ends = starts[1:] + np.arange(rows)
        symbols = np.empty(len(items) + rows, np.min_scalar_type(size))
        inner = np.ones(len(symbols), np.bool_)
        inner[ends] = False
        symbols[ends] = size
        symbols[inner] = items
        active = np.flatnonzero(inner).astype(np.int32 if len(symbols) < 2**31 else np.int64)
        plain = not len(weights) or int(weights.max()) == 1
        each = None if plain else np.repeat(weights, np.diff(starts))
        return cls(size, symbols, active, np.zeros(len(active), np.int32), each, 0)

    @property
    def _starts(self) -> NDArray[np.bool_]:
        """Which positions are the first of their sequence."""
        starts = np.ones(len(self.active), np.bool_)
        starts[1:] = self.symbols[self.active[1:] - 1] == self.size
        return starts

    def habits(self, places: int, longest: int) -> Integers:
        """How often one stays at a place, goes back to the one before, goes elsewhere, or ends.

        A row for each item of a sequence but the last of `longest`: sequences are cut there, so
        what follows says nothing. A symbol is at the place that is left when it is divided by
        `places`.
        """
        starts, number = self._starts, np.arange(len(self.active), dtype=np.int32)
        index = number - np.maximum.accumulate(np.where(starts, number, 0))
        kept = np.flatnonzero(index < longest - 1)
        active, index, starts = self.active[kept], index[kept], starts[kept]
        places_of = self.symbols if self.size == places else self.symbols % places
        here, then = places_of[active], places_of[active + 1]
        what = np.full(len(active), 2, np.int8)
        what[(then == places_of[active - 1]) & ~starts] = 1
        what[then == here] = 0
        what[self.symbols[active + 1] == self.size] = 3
        weights = None if self.weights is None else self.weights[kept]
        found = np.bincount(4 * index.astype(np.int64) + what, weights, 4 * (longest - 1))
        return found.astype(np.int64).reshape(-1, 4)

    def ends(self) -> tuple[Integers, Integers, Integers]:
        """The first and the last symbol of every sequence that has any, and how many it has."""
        first = np.flatnonzero(self._starts)
        size = np.diff(first, append=len(self.active)).astype(np.int64)
        symbols = self.symbols[self.active].astype(np.int64)
        return symbols[first], symbols[first + size - 1], size

    def first(self) -> Positions:
        """Keep the first position of every sequence."""
        kept = self._starts
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, active=self.active[kept], home=self.home[kept], weights=weights)

    def count(self, contexts: int) -> Continued:
        """Count the occurrences of every context by the symbol that follows."""
        keys = self.home.astype(np.int64)
        keys *= self.size + 1
        keys += self.symbols[self.active + self.length]
        cells = contexts * (self.size + 1)
        if _fits(cells, len(keys)):
            table = np.bincount(keys, self.weights, cells).astype(np.int64)
            found = np.flatnonzero(table)
            counts = table[found]
        else:
            found, at = np.unique(keys, return_inverse=True)
            counts = np.bincount(at, self.weights, len(found)).astype(np.int64)
        at, codes = np.divmod(found, self.size + 1)
        return Continued(self, keys, at, codes, counts)


@dataclass(frozen=True, eq=False, repr=False)
class Continued:
    """The continuations that occur: their context, the symbol that follows, and how often."""

    positions: Positions
    keys: Integers
    at: Integers
    codes: Integers
    counts: Integers

    def move(self, at: Integers, codes: Integers) -> Positions:
        """Keep the positions of these continuations; the place in the list is their new context."""
        home = self._homes(at * (self.positions.size + 1) + codes)
        kept = home >= 0
        old = self.positions
        return replace(
            old,
            active=old.active[kept],
            home=home[kept],
            weights=None if old.weights is None else old.weights[kept],
            length=old.length + 1,
        )

    def _homes(self, chosen: Integers) -> NDArray[np.int32]:
        """The place of each position's key among the chosen ones, -1 if it is none of them."""
        most = max(int(self.keys.max(initial=-1)), int(chosen.max(initial=-1))) + 1
        if _fits(most, len(self.keys)):
            table = np.full(most, -1, np.int32)
            table[chosen] = np.arange(len(chosen))
            return table[self.keys]
        order = np.argsort(chosen)
        place = np.minimum(np.searchsorted(chosen[order], self.keys), max(0, len(chosen) - 1))
        if len(chosen) == 0:
            return np.full(len(self.keys), -1, np.int32)
        found = order[place]
        return np.where(chosen[found] == self.keys, found, -1).astype(np.int32)


def _fits(cells: int, keys: int) -> bool:
    return cells <= min(_TABLE, max(_SMALL, _TIMES * keys))
