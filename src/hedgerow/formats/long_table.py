"""Long tables, one value per line: what most formats are read into, and what they write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Axis, Value
from hedgerow.data.encoding import codes_over
from hedgerow.errors import ReadError
from hedgerow.numerics.arrays import Flags, Integers

#: whole numbers that span no more than this are numbered by a lookup table
_SPAN = 2**16
#: how many values are written at a time
_CHUNK = 1 << 22


class ReadRequest(NamedTuple):
    """What a kind reads from a file.

    Parameters
    ----------
    list_role
        The role whose values make up a record in formats with one record per line; None if the kind cannot be read
        from such formats.
    required, optional
        The roles that a table must have, and those that it may have.
    columns
        The name of the column of each role.
    extra_columns
        Columns without a role that are read as well, by name.
    nullable
        Roles whose cells may be empty; those of extra columns always may.
    fractional
        Roles whose cells may be numbers with a fraction.
    named_roles
        Roles whose column the caller named.
    drop_bad
        Whether records that cannot be read are dropped instead of being an error.
    skip_lines
        How many lines precede the first record, or the header, of a text file.
    """

    kind: str
    list_role: str | None
    required: tuple[str, ...]
    optional: tuple[str, ...]
    columns: Mapping[str, str]
    extra_columns: tuple[str, ...] = ()
    nullable: tuple[str, ...] = ()
    fractional: tuple[str, ...] = ()
    named_roles: frozenset[str] = frozenset()
    drop_bad: bool = False
    skip_lines: int = 0

    def require_list_role(self, where: str) -> str:
        """The role whose values make up a line, in formats with one record per line."""
        if self.list_role is None:
            msg = f"{where}: {self.kind} are read from tables with a column for each role; use CSV or Parquet"
            raise ReadError(msg)
        return self.list_role

    def may_be_empty(self, role: str) -> bool:
        """Whether cells of a role, or of an extra column, may be empty."""
        return role in self.nullable or role in self.extra_columns


@dataclass(frozen=True, eq=False)
class LongTable:
    """One row per value, as read: a column per role, each of text or whole numbers.

    `line` is the line of the file that each value was read from, counted from 1; `empty` has the lines of records
    without values. `unit` is a column like any other: formats with one record per line number their lines. Empty cells
    are null, and so are the cells that `unreadable` marks, by role. `others` counts the columns that are not read.
    """

    where: str
    request: ReadRequest
    columns: Mapping[str, pl.Series]
    line: Integers
    empty: Integers
    unreadable: Mapping[str, Flags] = field(default_factory=dict[str, Flags])
    others: int = 0

    @classmethod
    def from_records(
        cls,
        where: str,
        request: ReadRequest,
        values: pl.Series,
        sizes: Integers,
        line: Integers,
        **record_columns: pl.Series,
    ) -> LongTable:
        """Build the table of records with one line each: `sizes` values, read from `line`.

        `record_columns` have one value per record.
        """
        role = request.require_list_role(where)
        record = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        columns = {"unit": pl.Series("unit", record), role: values}
        columns |= {name: column.gather(record) for name, column in record_columns.items()}
        return cls(where, request, columns, line[record], line[sizes == 0])

    def error_at(self, line: int, what: str) -> ReadError:
        """Make the error for a line; it names the line and never quotes its content."""
        return ReadError(f"{self.where}:{line}: {what}")


def number_values(column: pl.Series) -> tuple[Integers, list[Value]]:
    """Number the distinct values of a column in order of first occurrence; return the numbers and the values."""
    if column.dtype == pl.Int64 and len(column):
        numbers = column.to_numpy()
        low, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        if span <= max(_SPAN, len(numbers)):
            return _number_dense(numbers - low, span, low)
    distinct = column.unique(maintain_order=True)
    if column.dtype == pl.String:
        codes = column.cast(pl.Enum(distinct)).to_physical()
    else:
        place = pl.Series(np.arange(len(distinct), dtype=np.int64))
        codes = column.replace_strict(distinct, place, return_dtype=pl.Int64)
    values: list[Any] = distinct.to_list()
    return codes.cast(pl.Int64).to_numpy(), values


def number_groups(column: pl.Series) -> Integers:
    """Number the distinct values of a column as `number_values` does, without returning the values."""
    if column.dtype == pl.Int64 and column.is_sorted():
        numbers = column.to_numpy()
        new = np.zeros(len(numbers), np.bool_)
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        return np.cumsum(new, dtype=np.int64)
    return number_values(column)[0]


def codes_of(column: pl.Series, axis: Axis | None = None) -> Integers:
    """Number the values of a column by their position on an axis, or without one by first occurrence.

    Empty cells and values that are not on the axis are -1.
    """
    filled = column.is_not_null().to_numpy()
    codes, values = number_values(column.drop_nulls())
    if axis is not None:
        codes = np.append(codes_over(axis, values), -1)[codes]
    if filled.all():
        return codes
    all_codes = np.full(len(column), -1, np.int64)
    all_codes[filled] = codes
    return all_codes


def _number_dense(numbers: Integers, span: int, low: int) -> tuple[Integers, list[Value]]:
    """Number whole numbers in a short range by a lookup table."""
    first = np.full(span, len(numbers), np.int64)
    # written in reverse, so that the first occurrence is the one that stays
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1, dtype=np.int64)
    seen = np.flatnonzero(first < len(numbers))
    seen = seen[np.argsort(first[seen])]
    codes = np.empty(span, np.int64)
    codes[seen] = np.arange(len(seen))
    return codes[numbers], (seen + low).tolist()


# What is written: published data on its way to a table, or to one record per line.


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
