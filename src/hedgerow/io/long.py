"""The long table every format is read into."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.errors import ReadError

__all__ = [
    "Integers",
    "Long",
    "Wanted",
    "first_seen",
    "numbered",
    "require_text",
]

Integers: TypeAlias = NDArray[np.int64]

#: whole numbers that span no more than this are numbered by a table
_SPAN = 2**16


class Wanted(NamedTuple):
    """What a kind wants of a file: the column of each role, and further columns by name.

    `role` is the one whose values make a record where a file has one record a line; None if a kind
    cannot be read from such files. Cells of the roles in `blank`, and of further columns, may be
    empty; roles in `numbers` may have fractions.
    """

    kind: str
    role: str | None
    needed: tuple[str, ...]
    optional: tuple[str, ...]
    columns: Mapping[str, str]
    further: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def role_in_lines(self, where: str) -> str:
        """The role whose values stand on a line."""
        if self.role is None:
            msg = f"{where}: {self.kind} are read from tables; use the format csv or parquet"
            raise ReadError(msg)
        return self.role


@dataclass(frozen=True, eq=False)
class Long:
    """One line a value, as read: a column a role, all of them text or whole numbers.

    `line` says where in the file a value stands, counted from 1; `empty` where records without
    values stand. `unit` is a column as any other: a format of one record a line numbers the lines.
    """

    where: str
    columns: Mapping[str, pl.Series]
    line: Integers
    empty: Integers
    locate: Callable[[int], int] | None = None

    @classmethod
    def of_records(
        cls, where: str, role: str, values: pl.Series, sizes: Integers, line: Integers
    ) -> Long:
        """Hold records that stand on a line each, `sizes` values long; `line` is where."""
        record = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        columns = {"unit": pl.Series("unit", record), role: values}
        return cls(where, columns, line[record], line[sizes == 0])

    def fail(self, line: int, what: str) -> ReadError:
        """Make the error for a line; it says where, and never what stands there."""
        at = self.locate(line) if self.locate else line
        return ReadError(f"{self.where}:{at}: {what}")


def numbered(column: pl.Series) -> tuple[Integers, list[Value]]:
    """Number the distinct values of a column in the order they first occur."""
    if column.dtype == pl.Int64 and len(column):
        numbers = column.to_numpy()
        low, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        if span <= max(_SPAN, len(numbers)):
            return _numbered_closely(numbers - low, span, low)
    found = column.unique(maintain_order=True)
    if column.dtype == pl.String:
        codes = column.cast(pl.Enum(found)).to_physical()
    else:
        place = pl.Series(np.arange(len(found), dtype=np.int64))
        codes = column.replace_strict(found, place, return_dtype=pl.Int64)
    values: list[Any] = found.to_list()
    return codes.cast(pl.Int64).to_numpy(), values


def first_seen(column: pl.Series) -> Integers:
    """Number the distinct values of a column as `numbered` does; the values are not wanted."""
    if column.dtype == pl.Int64 and column.is_sorted():
        numbers = column.to_numpy()
        new = np.zeros(len(numbers), np.bool_)
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        return np.cumsum(new, dtype=np.int64)
    return numbered(column)[0]


def _numbered_closely(numbers: Integers, span: int, low: int) -> tuple[Integers, list[Value]]:
    """Number whole numbers from 0 on that lie close together, by a table of them."""
    first = np.full(span, len(numbers), np.int64)
    # the last one written stays: the first occurrence
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1, dtype=np.int64)
    seen = np.flatnonzero(first < len(numbers))
    seen = seen[np.argsort(first[seen])]
    codes = np.empty(span, np.int64)
    codes[seen] = np.arange(len(seen))
    return codes[numbers], (seen + low).tolist()


def require_text(where: str, content: bytes) -> bytes:
    """Refuse what is not UTF-8 text; return it without a byte order mark."""
    if b"\0" in content:
        msg = f"{where} is not a text file; name its format by the ending, or by --format"
        raise ReadError(msg)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        msg = f"{where}:{line}: not UTF-8 text; convert the file"
        raise ReadError(msg) from None
    return content.removeprefix(codecs.BOM_UTF8)
