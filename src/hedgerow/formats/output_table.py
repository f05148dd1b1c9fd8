"""Published data on its way to a file: a table, or records that are lists of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.numerics.arrays import Integers

#: how many values are written at a time
_CHUNK = 1 << 22


class Delimiters(NamedTuple):
    """What is written before the first value of a line, between two values, and after the last one."""

    begin: bytes
    between: bytes
    end: bytes


class OutputTable(ABC):
    """Published data that can be written as a table."""

    @abstractmethod
    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay all records out as a table, with new unit numbers from 1 on."""


@dataclass(frozen=True, eq=False)
class OutputRecords(OutputTable):
    """Distinct records as lists of values, and how often each is repeated; written as lines or as a table.

    `codes[starts[r] : starts[r + 1]]` are the positions in `values` of record `r`; no record is empty.
    """

    role: str
    values: Sequence[Value]
    starts: Integers
    codes: Integers
    counts: Integers

    def to_lines(self, write: Callable[[Value], bytes], delimiters: Delimiters) -> bytes:
        """Write one record per line, in parts of bounded size; `write` turns a value into bytes, or refuses it."""
        pool = _TextPool.of([write(value) for value in self.values], delimiters)
        parts = (
            pool.join(*self._repeated(self.starts[begin : end + 1], counts)) * copies
            for begin, end, counts, copies in self._parts()
        )
        return b"".join(parts)

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay all records out as a table, with new unit numbers from 1 on."""
        sizes, code = self._repeated(self.starts, self.counts)
        unit = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.int64), sizes)
        column = pl.Series(list(self.values)).gather(code)
        return pl.DataFrame({names["unit"]: unit, names[self.role]: column})

    def _parts(self) -> Generator[tuple[int, int, Integers, int]]:
        """Yield the records of each part as a range, the count of each, and how often the part is repeated.

        A record that is too frequent for one part is written once and repeated as text.
        """
        sizes = np.cumsum(np.diff(self.starts) * self.counts)
        begin = 0
        while begin < len(self.counts):
            done = int(sizes[begin - 1]) if begin else 0
            end = int(np.searchsorted(sizes, done + _CHUNK, "right"))
            if end > begin:
                yield begin, end, self.counts[begin:end], 1
            else:
                end = begin + 1
                yield begin, end, np.ones(1, np.int64), int(self.counts[begin])
            begin = end

    def _repeated(self, starts: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """Repeat each record by its count; return the sizes and the codes."""
        sizes = np.repeat(np.diff(starts), counts)
        shift = np.repeat(starts[:-1], counts) - (np.cumsum(sizes) - sizes)
        return sizes, self.codes[np.repeat(shift, sizes) + np.arange(int(sizes.sum()))]


class _TextPool(NamedTuple):
    """The texts of all values with their delimiters, one after another, in four variants per value.

    Variant `4 * value + 2 * (it is the first of its line) + (it is the last)` is `sizes` bytes from `starts` on.
    """

    text: NDArray[np.uint8]
    starts: Integers
    sizes: Integers

    @classmethod
    def of(cls, texts: Sequence[bytes], delimiters: Delimiters) -> _TextPool:
        variants = [
            first + text + last
            for text in texts
            for first in (b"", delimiters.begin)
            for last in (delimiters.between, delimiters.end)
        ]
        sizes = np.array([len(text) for text in variants], np.int64)
        return cls(np.frombuffer(b"".join(variants), np.uint8), np.cumsum(sizes) - sizes, sizes)

    def join(self, sizes: Integers, codes: Integers) -> bytes:
        """Write lines of `sizes` values each."""
        variants = 4 * codes
        ends = np.cumsum(sizes)
        variants[ends - sizes] += 2
        variants[ends - 1] += 1
        lengths = self.sizes[variants]
        positions = np.cumsum(lengths)
        shift = self.starts[variants] - (positions - lengths)
        return self.text[np.repeat(shift, lengths) + np.arange(int(positions[-1]))].tobytes()
