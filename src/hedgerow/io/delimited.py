"""Comma-separated tables with a header: one value per line, its unit beside it.

Every line is a row: a quoted cell does not go over several lines. Otherwise one quote that somebody
forgot to close would change how the lines after it are read, and these are other people's.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError, ReadError
from hedgerow.io.long import Flags, Integers, Long, Wanted
from hedgerow.io.rows import Laid
from hedgerow.io.tables import long_from
from hedgerow.io.text import Lines, text_lines

__all__ = ["check", "read", "write"]

_COMMA, _QUOTE, _NEWLINE, _RETURN = b',"\n\r'


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read a long table; everything is text."""
    del most
    lines = text_lines(where, content, wanted)
    cells = _cells(lines)
    names = _names(where, lines, cells, wanted)
    body = ~_blank(lines, cells.number != len(names))
    body[:1] = False
    torn = body & (cells.number == 0)
    what = "a quote is not closed on its line; put every row on one line, or use Parquet"
    lines.refuse(where, torn, what, wanted)
    crooked = body & (cells.number != len(names))
    what = "more or fewer cells than the header has; correct it"
    lines.refuse(where, crooked & ~torn, what, wanted)
    body &= ~crooked
    asked = {*wanted.columns.values(), *wanted.further}
    columns = [name for name in names if name in asked]
    frame = _frame(lines.only(body), names, columns, quoted=bool((cells.quoted & body).any()))
    return long_from(where, frame, wanted, lines.numbers[body])


def check(values: Sequence[Value]) -> None:
    """Refuse values that go over several lines."""
    if any("\n" in value or "\r" in value for value in values if isinstance(value, str)):
        msg = "values with line breaks do not fit CSV; use Parquet or JSON lines"
        raise DomainError(msg)


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write a long table with fresh unit numbers."""
    return rows.frame(columns).write_csv().encode()


class _Cells(NamedTuple):
    """How many cells each line has, 0 if it cannot be split, and whether it has quotes."""

    number: Integers
    quoted: Flags


def _cells(lines: Lines) -> _Cells:
    commas = np.flatnonzero(lines.text == _COMMA)
    number = np.diff(np.searchsorted(commas, lines.ends), prepend=0) + 1
    if b"\r" in lines.content:
        number[lines.with_any(np.flatnonzero(lines.text == _RETURN))] = 0
    if b'"' not in lines.content:
        return _Cells(number, np.zeros(len(lines), np.bool_))
    quotes = np.flatnonzero(lines.text == _QUOTE)
    upto = np.searchsorted(quotes, lines.ends)
    before = np.append(0, upto[:-1])  # quotes before each line
    line = np.searchsorted(lines.ends, commas)
    inside = (np.searchsorted(quotes, commas) - before[line]) % 2 == 1
    number -= np.bincount(line[inside], minlength=len(lines))
    torn = (upto - before) % 2 == 1
    torn |= lines.with_any(quotes[_misplaced(lines, quotes, before)])
    number[torn] = 0
    return _Cells(number, upto > before)


def _misplaced(lines: Lines, quotes: Integers, before: Integers) -> Flags:
    """Say which quotes stand where they may not.

    Of the quotes of a line every other one opens and the next one closes. One opens at the start of
    a cell and closes at its end; a doubled one inside a cell closes and opens again.
    """
    around = np.concatenate(([_NEWLINE], lines.text, [_NEWLINE]))
    opens = (np.arange(len(quotes)) - before[np.searchsorted(lines.ends, quotes)]) % 2 == 0
    beside = np.where(opens, around[quotes], around[quotes + 2])
    return ~np.isin(beside, [_NEWLINE, _COMMA, _QUOTE])


def _blank(lines: Lines, which: Flags) -> Flags:
    """Say which of some lines hold nothing but blanks."""
    blank = np.zeros(len(lines), np.bool_)
    blank[which] = [not text.strip() for text in lines.take(which)]
    return blank


def _names(where: str, lines: Lines, cells: _Cells, wanted: Wanted) -> list[str]:
    """Read the names of the columns: the first line, whatever it holds."""
    header = lines.content.partition(b"\n")[0]
    if not header.strip() or cells.number[0] == 0:
        msg = f"{where} is empty, or its first line does not name the columns in UTF-8 text"
        raise ReadError(msg)
    try:
        names = next(csv.reader([header.decode()]))
    except csv.Error:
        msg = f"{where}: the names of the columns are too long"
        raise ReadError(msg) from None
    if len(names) == 1 and any(sign in names[0] for sign in ";\t|"):
        msg = f"{where}: the names of the columns must be split by commas, and so must all cells"
        raise ReadError(msg)
    for name in (*wanted.columns.values(), *wanted.further):
        if names.count(name) > 1:
            msg = f"{where} has two columns {name!r}"
            raise ReadError(msg)
    return names


def _frame(body: bytes, names: list[str], columns: list[str], *, quoted: bool) -> pl.DataFrame:
    """Take columns out of lines that all have as many cells as there are names."""
    if not body or not columns:
        return pl.DataFrame({name: pl.Series([], dtype=pl.String) for name in columns})
    frame = pl.read_csv(
        body,
        has_header=False,
        columns=[names.index(name) for name in columns],
        infer_schema=False,
        quote_char='"' if quoted else None,
    )
    frame.columns = columns
    return frame
