"""Comma-separated tables with a header: long tables, or one row of numbers per record.

Every line is a row: a quoted cell cannot span several lines. Otherwise one quote that is not closed would change how
the lines after it are read, which are records of other people.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Value
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats.dataframes import to_long_table
from hedgerow.formats.long_table import LongTable, OutputTable, ReadRequest
from hedgerow.formats.number_table import MatrixRequest, NumberTable
from hedgerow.formats.text_lines import LineRequest, TextLines, keep_as_text, split_lines
from hedgerow.numerics.arrays import Flags, Integers

_COMMA, _QUOTE, _NEWLINE, _RETURN = b',"\n\r'


def read(where: str, content: bytes, request: ReadRequest, most: int) -> LongTable:
    """Read a long table; all cells are text."""
    del most
    table = read_cells(where, content, request, {*request.columns.values(), *request.extra_columns})
    return replace(to_long_table(where, table.frame, request, table.line), others=table.others)


def read_numbers(where: str, content: bytes, request: MatrixRequest, most: int) -> NumberTable:
    """Read a table of numbers; its columns may have names that are declared, instead of a header."""
    del most
    names = None if request.names is None else list(request.names)
    table = read_cells(where, content, request, names=names, fill=request.rule.instead is not None)
    request.require_dropped(where, tuple(table.frame.columns))
    return NumberTable(where, request, tuple(table.frame.columns), dict(table.frame.to_dict()), table.line)


class CellTable(NamedTuple):
    """A table of texts, the line of each row, and how many columns of the file are not in it."""

    frame: pl.DataFrame
    line: Integers
    others: int = 0


def read_cells(
    where: str,
    content: bytes,
    request: LineRequest,
    wanted: Collection[str] | None = None,
    names: list[str] | None = None,
    before: int = 0,
    *,
    fill: bool = False,
) -> CellTable:
    """Read some columns of a table, or all; the first line has their names, unless they are given.

    `before` is how many lines of the file precede the content, if it is a part of one. With `fill`, bytes that are no
    text, and a line that is one cell and cannot be read, stay in their place: the caller puts something there.
    """
    lines = split_lines(where, keep_as_text(content) if fill else content, request, before)
    cells = _cells(lines)
    header = names is None
    names = _names(where, lines, cells, wanted) if names is None else names
    body = np.ones(len(lines), np.bool_)
    if len(names) > 1:  # otherwise a blank line is an empty cell
        body = ~_blank(lines, cells.number != len(names))
    if header:
        body[:1] = False
    if fill and len(names) == 1:
        lines, cells = _blank_cells(lines, cells, body & (cells.number != 1))
    torn = body & (cells.number == 0)
    what = "a quote is not closed on its line; put every row on one line, or use Parquet"
    lines.refuse(where, torn, what, request)
    uneven = body & (cells.number != len(names))
    what = "the line has more or fewer cells than the header; correct it"
    lines.refuse(where, uneven & ~torn, what, request)
    body &= ~uneven
    columns = [name for name in names if wanted is None or name in wanted]
    if not before:  # not once more for every part of a file
        progress.count("columns that are not read", len(names) - len(columns))
    frame = _frame(lines.select(body), names, columns, quoted=bool((cells.quoted & body).any()))
    return CellTable(frame, lines.numbers[body], len(names) - len(columns))


def check(values: Sequence[Value]) -> None:
    """Refuse values with line breaks."""
    if any("\n" in value or "\r" in value for value in values if isinstance(value, str)):
        msg = "values with line breaks cannot be written to CSV; use Parquet or JSON lines"
        raise DomainError(msg)


def write(table: OutputTable, columns: Mapping[str, str]) -> bytes:
    """Write a table; numbers so that they are read back exactly."""
    return table.to_frame(columns).write_csv().encode()


class _Cells(NamedTuple):
    """How many cells each line has, 0 if it cannot be split, and whether it has quotes."""

    number: Integers
    quoted: Flags


def _cells(lines: TextLines) -> _Cells:
    commas = np.flatnonzero(lines.text == _COMMA)
    number = np.diff(np.searchsorted(commas, lines.ends), prepend=0) + 1
    if b"\r" in lines.content:
        number[lines.lines_at(np.flatnonzero(lines.text == _RETURN))] = 0
    if b'"' not in lines.content:
        return _Cells(number, np.zeros(len(lines), np.bool_))
    quotes = np.flatnonzero(lines.text == _QUOTE)
    through = np.searchsorted(quotes, lines.ends)  # quotes up to the end of each line
    before = np.append(0, through[:-1])  # quotes before each line
    line = np.searchsorted(lines.ends, commas)
    inside = (np.searchsorted(quotes, commas) - before[line]) % 2 == 1
    number -= np.bincount(line[inside], minlength=len(lines))
    torn = (through - before) % 2 == 1
    torn |= lines.lines_at(quotes[_misplaced(lines, quotes, before)])
    number[torn] = 0
    return _Cells(number, through > before)


def _blank_cells(lines: TextLines, cells: _Cells, bad: Flags) -> tuple[TextLines, _Cells]:
    """Empty these lines of a table with one column: each is one cell."""
    return lines.blank_out(bad), _Cells(np.where(bad, 1, cells.number), cells.quoted & ~bad)


def _misplaced(lines: TextLines, quotes: Integers, before: Integers) -> Flags:
    """Return which quotes are out of place.

    The quotes of a line open and close a cell in turn. One opens at the start of a cell and closes at its end; a
    doubled quote inside a cell closes and opens again.
    """
    around = np.concatenate(([_NEWLINE], lines.text, [_NEWLINE]))
    opens = (np.arange(len(quotes)) - before[np.searchsorted(lines.ends, quotes)]) % 2 == 0
    neighbour = np.where(opens, around[quotes], around[quotes + 2])
    return ~np.isin(neighbour, [_NEWLINE, _COMMA, _QUOTE])


def _blank(lines: TextLines, which: Flags) -> Flags:
    """Return which of the chosen lines hold nothing but blanks."""
    blank = np.zeros(len(lines), np.bool_)
    blank[which] = [not text.strip() for text in lines.take(which)]
    return blank


def _names(where: str, lines: TextLines, cells: _Cells, wanted: Collection[str] | None) -> list[str]:
    """Read the names of the columns from the first line, whatever it holds."""
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
        msg = f"{where}: the names of the columns must be separated by commas, and so must all cells"
        raise ReadError(msg)
    for name in names if wanted is None else wanted:
        if names.count(name) > 1:
            # a name that starts like a number may be a cell, of a file without names
            which = "of one name in its first line" if name.lstrip(" +-.")[:1].isdigit() else repr(name)
            msg = f"{where} has two columns {which}; rename one"
            raise ReadError(msg)
    return names


def _frame(body: bytes, names: list[str], columns: list[str], *, quoted: bool) -> pl.DataFrame:
    """Take columns out of lines that all have one cell per name."""
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
