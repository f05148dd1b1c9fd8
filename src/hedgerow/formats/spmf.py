"""SPMF sequence databases: whole numbers, `-1` after each itemset, `-2` after each sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.formats import blank_separated
from hedgerow.formats.long_table import Delimiters, LongTable, OutputRecords, ReadRequest
from hedgerow.numerics.arrays import Flags, Integers

_ITEMSET, _SEQUENCE = -1, -2
#: `@` starts lines that name items; the names are not read
_COMMENTS = b"%#@"
#: replaces what is not a whole number, to be refused
_NO_NUMBER = -3


def read(where: str, content: bytes, request: ReadRequest, most: int) -> LongTable:
    """Read sequences of single items; itemsets of several items are refused."""
    table = blank_separated.read(where, content, request, most, comments=_COMMENTS)
    role = request.require_list_role(where)
    numbers = table.columns[role].cast(pl.Int64, strict=False).fill_null(_NO_NUMBER)
    values, unit = numbers.to_numpy(), table.columns["unit"].to_numpy()
    bad = _misplaced(values, unit)
    if bad.any() and not request.drop_bad:
        what = (
            "not an SPMF sequence of single items: -1 must follow each item and -2 must end the line; "
            "correct it, or drop such lines with on_bad=drop"
        )
        raise table.error_at(int(table.line[np.argmax(bad)]), what)
    good = ~np.isin(unit, unit[bad])  # a record with one bad number is dropped
    item = (values >= 0) & good
    columns = {"unit": table.columns["unit"].filter(pl.Series(item)), role: pl.Series(values[item])}
    empty = np.setdiff1d(unit[good], unit[item])
    first = table.line[np.searchsorted(unit, empty)]
    return LongTable(where, request, columns, table.line[item], first)


def check(values: Sequence[Value]) -> None:
    """Refuse values that are not whole numbers of at least 0."""
    if not all(isinstance(value, int) and value >= 0 for value in values):
        msg = "SPMF files hold whole numbers of at least 0; use lines or CSV"
        raise DomainError(msg)


def write(records: OutputRecords, columns: Mapping[str, str]) -> bytes:
    """Write sequences."""
    del columns
    return records.to_lines(_text, Delimiters(b"", b"", b"-2\n"))


def _misplaced(values: Integers, unit: Integers) -> Flags:
    """Return which numbers are out of place, by the numbers around them in their record."""
    last = np.append(unit[1:] != unit[:-1], True)[: len(unit)]
    marked = np.append(values[1:] == _ITEMSET, False)[: len(values)] & ~last
    item = values >= 0
    bad = (item & ~marked) | ((values == _SEQUENCE) != last) | (values < _SEQUENCE)
    after_item = np.append(False, item[:-1] & ~last[:-1])[: len(values)]
    return bad | ((values == _ITEMSET) & ~after_item)


def _text(value: Value) -> bytes:
    check([value])
    return f"{value} -1 ".encode()
