"""The file of the owners of published records: for the owner of the data, to check a promise that counts persons.

It links records of a person, so it must never be published.
"""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError, ReadError
from hedgerow.io.files import read_bytes, write_file
from hedgerow.privacy.guarantee import Owners

__all__ = ["read_owners", "write_owners"]

Integers: TypeAlias = NDArray[np.int64]

_HEADER = ["data", "unit", "person"]
#: numbers of records and persons have at most so many digits
_DIGITS = 18


def write_owners(path: Path, owners: Owners) -> None:
    """Write one line per record: the data set, the number of the record in it, and the number of its owner.

    The file is readable by its owner only, and replaces no other file.
    """
    if path.exists():
        msg = f"{path} exists already; choose another name for the file of owners"
        raise ParameterError(msg)
    lines = StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(_HEADER)
    for name, persons in owners.items():
        if persons is not None:
            writer.writerows((name, number, person) for number, person in enumerate(persons.tolist(), start=1))
    write_file(path, lines.getvalue().encode(), private=True)


def read_owners(path: Path, name: str, records: int) -> Integers:
    """Read the owners of all records of a data set, in the order of their numbers."""
    try:
        rows = list(csv.reader(StringIO(read_bytes(path).decode(), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise _wrong(path) from None
    if not rows or rows[0] != _HEADER or not all(len(row) == len(_HEADER) for row in rows):
        raise _wrong(path)
    mine = [(unit, person) for data, unit, person in rows[1:] if data == name]
    if not all(text.isascii() and text.isdigit() and len(text) <= _DIGITS for row in mine for text in row):
        raise _wrong(path)
    owner = {int(unit): int(person) for unit, person in mine}
    if len(mine) != records or set(owner) != set(range(1, records + 1)):
        msg = f"{path} does not have exactly one owner for each of the {records:,} records of the release"
        raise ReadError(msg)
    return np.array([owner[number] for number in range(1, records + 1)], np.int64)


def _wrong(path: Path) -> ReadError:
    return ReadError(f"{path} is not a file of owners as `hedgerow publish --owners` writes it")
