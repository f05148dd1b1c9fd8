"""SPMF sequence databases: whole numbers, `-1` after each itemset, `-2` after each sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.io import lines
from hedgerow.io.long import Long, Wanted
from hedgerow.io.rows import Laid, Marks

__all__ = ["check", "read", "write"]

_ITEMSET, _SEQUENCE = -1, -2


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read sequences of single items; several items at one time are refused."""
    # `@` starts the lines that name items, which stay numbers
    plain = b"\n".join(
        b"#" if text.lstrip().startswith(b"@") else text for text in content.split(b"\n")
    )
    held = lines.read(where, plain, wanted, most, spmf=True)
    role = wanted.role_in_lines(where)
    numbers = held.columns[role].cast(pl.Int64, strict=False)
    if numbers.null_count():
        raise held.fail(int(held.line[numbers.is_null().arg_max() or 0]), "not a whole number")
    values, unit = numbers.to_numpy(), held.columns["unit"].to_numpy()
    last = np.append(unit[1:] != unit[:-1], True)[: len(unit)]
    marked = np.append(values[1:] == _ITEMSET, False)[: len(values)]
    item = values >= 0
    bad = (item & ~marked) | ((values == _SEQUENCE) != last) | (values < _SEQUENCE)
    bad[1:] |= (values[1:] == _ITEMSET) & ~item[:-1]
    if bad.any():
        at = int(held.line[np.argmax(bad)])
        raise held.fail(
            at, "not an SPMF sequence of single items: each item is followed by -1, all by -2"
        )
    columns = {"unit": held.columns["unit"].filter(item), role: pl.Series(values[item])}
    whole = np.unique(unit)
    empty = np.setdiff1d(whole, unit[item])
    first = held.line[np.searchsorted(unit, empty)]
    return Long(where, columns, held.line[item], np.concatenate((held.empty, first)))


def check(values: Sequence[Value]) -> None:
    """Refuse what is no whole number of at least 0."""
    if not all(isinstance(value, int) and value >= 0 for value in values):
        msg = "SPMF files hold whole numbers of at least 0; use lines or CSV"
        raise DomainError(msg)


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write sequences."""
    del columns
    return rows.lines(_text, Marks(b"", b"", b"-2\n"))


def _text(value: Value) -> bytes:
    check([value])
    return f"{value} -1 ".encode()
