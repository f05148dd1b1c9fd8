"""What every format is written from: rows of values, laid out as lines of text or as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Value

__all__ = ["Laid", "Marks", "Rows"]

Integers: TypeAlias = NDArray[np.int64]

#: so many values are written at a time
_CHUNK = 1 << 22


class Marks(NamedTuple):
    """What stands before the first value of a line, between two, and after the last."""

    begin: bytes
    between: bytes
    end: bytes


class Laid(ABC):
    """What is written as a table."""

    @abstractmethod
    def frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay all rows out as a long table, units numbered afresh from 1."""


@dataclass(frozen=True, eq=False)
class Rows(Laid):
    """Distinct rows as lists of values, and how often each is repeated; written as lines, too.

    `codes[starts[r] : starts[r + 1]]` are the positions in `values` of row `r`; no row is empty.
    """

    role: str
    values: Sequence[Value]
    starts: Integers
    codes: Integers
    counts: Integers

    def lines(self, write: Callable[[Value], bytes], marks: Marks) -> bytes:
        """Write one record per line, a part of them at a time; `write` turns a value into bytes, or refuses it."""
        pool = _Pool.of([write(value) for value in self.values], marks)
        parts = (
            pool.joined(*self._repeated(self.starts[begin : end + 1], counts)) * copies
            for begin, end, counts, copies in self._parts()
        )
        return b"".join(parts)

    def frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay all rows out as a long table, units numbered afresh from 1."""
        sizes, code = self._repeated(self.starts, self.counts)
        unit = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.int64), sizes)
        column = pl.Series(list(self.values)).gather(code)
        return pl.DataFrame({names["unit"]: unit, names[self.role]: column})

    def _parts(self) -> Generator[tuple[int, int, Integers, int]]:
        """Yield which rows make a part, the count of each, and how often the part is repeated.

        A row that is too much for one part is written once and repeated as text.
        """
        upto = np.cumsum(np.diff(self.starts) * self.counts)
        begin = 0
        while begin < len(self.counts):
            done = int(upto[begin - 1]) if begin else 0
            end = int(np.searchsorted(upto, done + _CHUNK, "right"))
            if end > begin:
                yield begin, end, self.counts[begin:end], 1
            else:
                end = begin + 1
                yield begin, end, np.ones(1, np.int64), int(self.counts[begin])
            begin = end

    def _repeated(self, starts: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """Repeat each row by its count."""
        sizes = np.repeat(np.diff(starts), counts)
        shift = np.repeat(starts[:-1], counts) - (np.cumsum(sizes) - sizes)
        return sizes, self.codes[np.repeat(shift, sizes) + np.arange(int(sizes.sum()))]


class _Pool(NamedTuple):
    """The texts of all values, one after another, each in four ways.

    Code `4 * value + 2 * (it is the first of its line) + (it is the last)` starts at `starts` and
    goes on for `sizes` bytes.
    """

    text: NDArray[np.uint8]
    starts: Integers
    sizes: Integers

    @classmethod
    def of(cls, texts: Sequence[bytes], marks: Marks) -> _Pool:
        ways = [
            first + text + last for text in texts for first in (b"", marks.begin) for last in (marks.between, marks.end)
        ]
        sizes = np.array([len(text) for text in ways], np.int64)
        return cls(np.frombuffer(b"".join(ways), np.uint8), np.cumsum(sizes) - sizes, sizes)

    def joined(self, sizes: Integers, codes: Integers) -> bytes:
        """Write lines of so many values."""
        ways = 4 * codes
        ends = np.cumsum(sizes)
        ways[ends - sizes] += 2
        ways[ends - 1] += 1
        lengths = self.sizes[ways]
        places = np.cumsum(lengths)
        shift = self.starts[ways] - (places - lengths)
        return self.text[np.repeat(shift, lengths) + np.arange(int(places[-1]))].tobytes()
