"""One record per line, its values split by blanks; `%` and `#` start comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.formats.long_table import Delimiters, LongTable, OutputRecords, ReadRequest
from hedgerow.formats.text_lines import TextLines, split_lines
from hedgerow.numerics.arrays import Flags, Integers

Bytes: TypeAlias = NDArray[np.uint8]
_RETURN, _ZERO = b"\r"[0], b"0"[0]
_COMMENTS = b"%#"
_BLANK = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
_DIGITS = 18


def read(where: str, content: bytes, request: ReadRequest, most: int, *, comments: bytes = _COMMENTS) -> LongTable:
    """Read records; values are numbers if all of them are whole numbers without leading zeros.

    A line that starts with one of `comments` is not a record.
    """
    del most
    lines, starts, sizes = split_words(where, split_lines(where, content, request), request, comments=comments)
    if comments == _COMMENTS and b"-2" in lines.content:
        what = "this looks like SPMF (-1 after each item, -2 at the end); pass --format spmf"
        lines = lines.refuse(where, _are_spmf(lines), what, request)
        starts, sizes = _split(lines)
    values = read_words(lines, starts)
    filled = np.flatnonzero(sizes)  # a blank line is not a record
    return LongTable.from_records(where, request, values, sizes[filled], lines.numbers[filled])


class Words(NamedTuple):
    """Where the values of lines start in their text, and how many each line has; comments are blanked out."""

    lines: TextLines
    starts: Integers
    sizes: Integers


def split_words(where: str, lines: TextLines, request: ReadRequest, *, comments: bytes = _COMMENTS) -> Words:
    """Split lines into values; a line that starts with one of `comments` has none."""
    if b"\r" in lines.content:
        returns = lines.lines_at(np.flatnonzero(lines.text == _RETURN))
        what = "the line ends in \\r alone; convert the file to lines that end in \\n"
        lines = lines.refuse(where, returns, what, request)
    starts, sizes = _split(lines)
    comment = _are_comments(lines, starts, sizes, comments)
    if comment.any():
        lines = lines.blank_out(comment)
        starts, sizes = _split(lines)
    return Words(lines, starts, sizes)


def check(values: Sequence[Value]) -> None:
    """Refuse values that would be read back as something else."""
    if not all(is_word(text) and text != "-2" for text in map(str, values)):
        msg = "values that have blanks, start with % or #, or are -2 cannot be written to lines; use CSV"
        raise DomainError(msg)


def is_word(text: str) -> bool:
    """Whether a text is read back as one value, wherever in a line it is.

    Examples
    --------
    >>> [is_word(text) for text in ("tea", "green tea", "#1", "")]
    [True, False, False, False]
    """
    return not text.startswith(("%", "#", "\ufeff")) and text.encode().split() == [text.encode()]


def write(records: OutputRecords, columns: Mapping[str, str]) -> bytes:
    """Write one record per line; values that would be read back as something else are refused."""
    del columns
    return records.to_lines(_text, Delimiters(b"", b" ", b"\n"))


def _text(value: Value) -> bytes:
    check([value])
    return str(value).encode()


def _split(lines: TextLines) -> tuple[Integers, Integers]:
    """Return where the values start, and how many each line has."""
    blank = _BLANK[lines.text]
    first = ~blank
    first[1:] &= blank[:-1]
    starts = np.flatnonzero(first)
    return starts, np.diff(np.searchsorted(starts, lines.ends), prepend=0)


def _are_comments(lines: TextLines, starts: Integers, sizes: Integers, marks: bytes) -> Flags:
    """Return which lines are comments."""
    comment = np.zeros(len(sizes), np.bool_)
    if not any(bytes([mark]) in lines.content for mark in marks):
        return comment
    filled = np.flatnonzero(sizes)
    comment[filled] = np.isin(lines.text[starts[(np.cumsum(sizes) - sizes)[filled]]], list(marks))
    return comment


def _are_spmf(lines: TextLines) -> Flags:
    """Return which lines have -1 after each value and -2 at the end."""
    texts: list[Any] = lines.content.split(b"\n")[:-1]
    column = pl.Series(texts, dtype=pl.Binary).cast(pl.String)
    return column.str.contains(r"^\s*(\S+\s+-1\s+)+-2\s*$").to_numpy()


def read_words(lines: TextLines, starts: Integers) -> pl.Series:
    """Read the values that start at these positions, all of them; numbers if they all are whole numbers."""
    if _are_numbers(lines.content, lines.text, starts):
        return pl.Series(_numbers(lines.text, starts))
    words: list[Any] = lines.content.split()
    return pl.Series(words, dtype=pl.Binary).cast(pl.String)


def _numbers(text: Bytes, starts: Integers) -> Integers:
    """Read the whole numbers at these positions, one digit of all of them at a time."""
    numbers = text[starts].astype(np.int64) - _ZERO
    number, digit = np.arange(len(starts)), starts + 1
    while True:
        longer = ~_BLANK[text[digit]]
        number, digit = number[longer], digit[longer]
        if not len(number):
            return numbers
        numbers[number] = 10 * numbers[number] + text[digit] - _ZERO
        digit += 1


def _are_numbers(content: bytes, text: Bytes, starts: Integers) -> bool:
    """Whether all values are whole numbers of few digits; `01` is a name, not a number."""
    if len(starts) == 0 or content.translate(None, b"0123456789 \t\r\n"):
        return False
    padded = (text[starts] == _ZERO) & ~_BLANK[text[np.minimum(starts + 1, len(text) - 1)]]
    return not padded.any() and int(np.diff(starts, append=len(text)).max()) <= _DIGITS
