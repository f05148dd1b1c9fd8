"""The long table every format is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Axis, Value
from hedgerow.data.encoding import codes_over
from hedgerow.errors import ReadError

__all__ = [
    "Flags",
    "Integers",
    "Long",
    "Wanted",
    "codes_of",
    "first_seen",
    "numbered",
]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: whole numbers that span no more than this are numbered by a table
_SPAN = 2**16


class Wanted(NamedTuple):
    """What a kind wants of a file: the column of each role, and further columns by name.

    `role` is the one whose values make a record where a file has one record per line; None if a
    kind cannot be read from such files. Cells of the roles in `blank`, and of further columns, may
    be empty; roles in `numbers` may have fractions. `named` are the roles whose column the caller
    named. `drop` says that records that cannot be read are dropped, and `skip` how many lines stand
    before the first one of a text file.
    """

    kind: str
    role: str | None
    needed: tuple[str, ...]
    optional: tuple[str, ...]
    columns: Mapping[str, str]
    further: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    drop: bool = False
    skip: int = 0

    def role_in_lines(self, where: str) -> str:
        """The role whose values stand on a line."""
        if self.role is None:
            msg = f"{where}: {self.kind} are read from tables, with a column for each role"
            raise ReadError(msg)
        return self.role

    def may_be_empty(self, role: str) -> bool:
        """Whether cells of a role, or of a further column, may be empty."""
        return role in self.blank or role in self.further


@dataclass(frozen=True, eq=False)
class Long:
    """One line per value, as read: a column per role, all of them text or whole numbers.

    `line` says where in the file a value stands, counted from 1; `empty` where records without
    values stand. `unit` is a column as any other: a format of one record per line numbers the
    lines. Empty cells are null, and so are those that `unreadable` marks, by role.
    """

    where: str
    wanted: Wanted
    columns: Mapping[str, pl.Series]
    line: Integers
    empty: Integers
    unreadable: Mapping[str, Flags] = field(default_factory=dict[str, Flags])

    @classmethod
    def of_records(
        cls,
        where: str,
        wanted: Wanted,
        values: pl.Series,
        sizes: Integers,
        line: Integers,
        **beside: pl.Series,
    ) -> Long:
        """Hold records that stand on a line each, `sizes` values long; `line` is where.

        Columns `beside` have one value per record.
        """
        role = wanted.role_in_lines(where)
        record = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        columns = {"unit": pl.Series("unit", record), role: values}
        columns |= {name: column.gather(record) for name, column in beside.items()}
        return cls(where, wanted, columns, line[record], line[sizes == 0])

    def fail(self, line: int, what: str) -> ReadError:
        """Make the error for a line; it says where, and never what stands there."""
        return ReadError(f"{self.where}:{line}: {what}")


def numbered(column: pl.Series) -> tuple[Integers, list[Value]]:
    """Number the distinct values of a column in the order they first occur."""
    if column.dtype == pl.Int64 and len(column):
        numbers = column.to_numpy()
        low, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        if span <= max(_SPAN, len(numbers)):
            return _numbered_closely(numbers - low, span, low)
    distinct = column.unique(maintain_order=True)
    if column.dtype == pl.String:
        codes = column.cast(pl.Enum(distinct)).to_physical()
    else:
        place = pl.Series(np.arange(len(distinct), dtype=np.int64))
        codes = column.replace_strict(distinct, place, return_dtype=pl.Int64)
    values: list[Any] = distinct.to_list()
    return codes.cast(pl.Int64).to_numpy(), values


def first_seen(column: pl.Series) -> Integers:
    """Number the distinct values of a column as `numbered` does; the values are not wanted."""
    if column.dtype == pl.Int64 and column.is_sorted():
        numbers = column.to_numpy()
        new = np.zeros(len(numbers), np.bool_)
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        return np.cumsum(new, dtype=np.int64)
    return numbered(column)[0]


def codes_of(column: pl.Series, axis: Axis | None = None) -> Integers:
    """Number the values of a column: as they stand on an axis, else as they first occur.

    Empty cells and unknown values are -1.
    """
    filled = column.is_not_null().to_numpy()
    codes, values = numbered(column.drop_nulls())
    if axis is not None:
        codes = np.append(codes_over(axis, values), -1)[codes]
    if filled.all():
        return codes
    every = np.full(len(column), -1, np.int64)
    every[filled] = codes
    return every


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
