"""SPMF sequence databases: whole numbers, `-1` after each itemset, `-2` after each sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.io import lines
from hedgerow.io.long import Flags, Integers, Long, Wanted
from hedgerow.io.rows import Marks, Rows

__all__ = ["check", "read", "write"]

_ITEMSET, _SEQUENCE = -1, -2
#: `@` starts the lines that name items, which stay numbers
_COMMENTS = b"%#@"
#: stands for what is no whole number; it is refused
_NO_NUMBER = -3


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read sequences of single items; several items at one time are refused."""
    long = lines.read(where, content, wanted, most, comments=_COMMENTS)
    role = wanted.role_in_lines(where)
    numbers = long.columns[role].cast(pl.Int64, strict=False).fill_null(_NO_NUMBER)
    values, unit = numbers.to_numpy(), long.columns["unit"].to_numpy()
    bad = _misplaced(values, unit)
    if bad.any() and not wanted.drop:
        what = (
            "not an SPMF sequence of single items: each item is followed by -1, all by -2; "
            "correct it, or leave out such lines by on_bad=drop"
        )
        raise long.fail(int(long.line[np.argmax(bad)]), what)
    whole = ~np.isin(unit, unit[bad])  # a record with one bad mark is dropped
    item = (values >= 0) & whole
    columns = {"unit": long.columns["unit"].filter(pl.Series(item)), role: pl.Series(values[item])}
    empty = np.setdiff1d(unit[whole], unit[item])
    first = long.line[np.searchsorted(unit, empty)]
    return Long(where, wanted, columns, long.line[item], first)


def check(values: Sequence[Value]) -> None:
    """Refuse what is no whole number of at least 0."""
    if not all(isinstance(value, int) and value >= 0 for value in values):
        msg = "SPMF files hold whole numbers of at least 0; use lines or CSV"
        raise DomainError(msg)


def write(rows: Rows, columns: Mapping[str, str]) -> bytes:
    """Write sequences."""
    del columns
    return rows.lines(_text, Marks(b"", b"", b"-2\n"))


def _misplaced(values: Integers, unit: Integers) -> Flags:
    """Say which numbers stand where they may not, by the numbers around them in their record."""
    last = np.append(unit[1:] != unit[:-1], True)[: len(unit)]
    marked = np.append(values[1:] == _ITEMSET, False)[: len(values)] & ~last
    item = values >= 0
    bad = (item & ~marked) | ((values == _SEQUENCE) != last) | (values < _SEQUENCE)
    after_item = np.append(False, item[:-1] & ~last[:-1])[: len(values)]
    return bad | ((values == _ITEMSET) & ~after_item)


def _text(value: Value) -> bytes:
    check([value])
    return f"{value} -1 ".encode()
