"""One record a line, its values split by blanks; `%` and `#` start comments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.errors import DomainError, ReadError
from hedgerow.io.long import Integers, Long, Wanted, require_text
from hedgerow.io.rows import Laid, Marks

__all__ = ["check", "read", "write"]

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]

#: the two lines between which the web logs of MSNBC list their categories
_MSNBC = (b"% Different categories found in input file:", b"% Sequences:")
_NEWLINE, _SPACE, _ZERO = b"\n"[0], b" "[0], b"0"[0]
_COMMENTS = list(b"%#")
_BLANK = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
_DIGITS = 18
_SPMF_END = re.compile(rb" -2[ \t\r]*\n")


def read(where: str, content: bytes, wanted: Wanted, most: int, *, spmf: bool = False) -> Long:
    """Read records; numbers stay numbers if all values are, written without leading zeros."""
    del most
    role = wanted.role_in_lines(where)
    content = require_text(where, content)
    if b"\r" in content and b"\n" not in content:
        msg = f"{where} ends its lines by \\r alone; convert it to lines that end in \\n"
        raise ReadError(msg)
    content = content if content.endswith(b"\n") else content + b"\n"
    text = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    starts = _starts(text)
    sizes = np.diff(np.searchsorted(starts, ends), prepend=0)
    comment = _comments(content, text, starts, sizes)
    if comment.any():
        text = text.copy()
        begins = np.append(0, ends[:-1] + 1)
        for begin, end in zip(begins[comment].tolist(), ends[comment].tolist(), strict=True):
            text[begin:end] = _SPACE
        starts, content = starts[~np.repeat(comment, sizes)], text.tobytes()
    if len(starts) and not spmf and _is_spmf(content, int(np.count_nonzero(sizes[~comment]))):
        msg = f"{where} looks like an SPMF file (-1 after each item, -2 at the end); say its format"
        raise ReadError(msg)
    values = _values(content, text, starts)
    line = np.arange(1, len(ends) + 1, dtype=np.int64)[~comment]
    sizes = sizes[~comment]
    # blank lines before the first record and after the last are no records
    filled = np.flatnonzero(sizes)
    span = slice(filled[0], filled[-1] + 1) if len(filled) else slice(0, 0)
    return Long.of_records(where, role, values, sizes[span], line[span])


def check(values: Sequence[Value]) -> None:
    """Refuse values that would not come back as they are."""
    for value in map(str, values):
        if len(value.encode().split()) != 1 or value.startswith(("%", "#", "\ufeff")):
            msg = "values with blanks, or that start with % or #, do not fit lines; use CSV"
            raise DomainError(msg)


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write records; values that would not come back as they are are refused."""
    del columns
    return rows.lines(_text, Marks(b"", b" ", b"\n"))


def _text(value: Value) -> bytes:
    check([value])
    return str(value).encode()


def _starts(text: Bytes) -> Integers:
    """Find where values start."""
    blank = _BLANK[text]
    first = ~blank
    first[1:] &= blank[:-1]
    return np.flatnonzero(first)


def _comments(content: bytes, text: Bytes, starts: Integers, sizes: Integers) -> Flags:
    """Say which lines are comments, or the head of a web log."""
    comment = np.zeros(len(sizes), np.bool_)
    filled = np.flatnonzero(sizes)
    comment[filled] = np.isin(text[starts[(np.cumsum(sizes) - sizes)[filled]]], _COMMENTS)
    if content.startswith(_MSNBC[0]) and _MSNBC[1] in content:
        comment[: content[: content.index(_MSNBC[1])].count(b"\n") + 1] = True
    return comment


def _is_spmf(content: bytes, records: int) -> bool:
    """Whether every record ends in -2, and items are split by -1."""
    return b" -1 " in content and len(_SPMF_END.findall(content)) == records


def _values(content: bytes, text: Bytes, starts: Integers) -> pl.Series:
    if _are_numbers(content, text, starts):
        return pl.Series(_numbers(text, starts))
    found: list[Any] = content.split()
    return pl.Series(found, dtype=pl.Binary).cast(pl.String)


def _numbers(text: Bytes, starts: Integers) -> Integers:
    """Read the whole numbers that start there, one digit of all of them at a time."""
    numbers = text[starts].astype(np.int64) - _ZERO
    at, place = np.arange(len(starts)), starts + 1
    while True:
        longer = ~_BLANK[text[place]]
        at, place = at[longer], place[longer]
        if not len(at):
            return numbers
        numbers[at] = 10 * numbers[at] + text[place] - _ZERO
        place += 1


def _are_numbers(content: bytes, text: Bytes, starts: Integers) -> bool:
    """Whether all values are whole numbers of few digits; `01` is a name, not a number."""
    if len(starts) == 0 or content.translate(None, b"0123456789 \t\r\n"):
        return False
    padded = (text[starts] == _ZERO) & ~_BLANK[text[np.minimum(starts + 1, len(text) - 1)]]
    return not padded.any() and int(np.diff(starts, append=len(text)).max()) <= _DIGITS
