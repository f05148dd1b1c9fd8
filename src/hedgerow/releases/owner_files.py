"""Files for the owner only: what was measured on a release (scores), and the owners of its records."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from hedgerow.errors import GuaranteeError, InputError, ParameterError, ReadError
from hedgerow.formats.files import read_bytes, write_file
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy.guarantee import Owners
from hedgerow.release import Manifest
from hedgerow.score import Score


class Scores(msgspec.Struct, frozen=True):
    """The content of a score file."""

    scope: str
    kind: str
    method: str
    guarantee: dict[str, Any]
    #: the SHA-256 of each data file of the release
    files: tuple[str, ...]
    scores: tuple[Score, ...]

    def is_of(self, release: Manifest) -> bool:
        """Whether these scores were measured on this release, and not on another by the same method and promise."""
        return replace(self, scores=()) == _about(release)


def check_owners_file(path: Path, inputs: Sequence[Path], is_ours: Callable[[Path], object]) -> None:
    """Refuse to write a file of the owner into a release, or over a file of another type."""
    if not path.parent.is_dir():
        msg = f"{path} cannot be written: there is no folder {path.parent}; create it first"
        raise ParameterError(msg)
    place = Path(os.path.realpath(path))  # unlike Path.resolve, it accepts a link to itself
    if any((folder / "release.json").exists() for folder in place.parents):
        msg = f"{path} is inside a release folder, which has the files of the release only; write it somewhere else"
        raise GuaranteeError(msg)
    if any(place == Path(os.path.realpath(other)) for other in inputs):
        msg = f"{path} is read by this command; write to another file"
        raise ParameterError(msg)
    if path.exists():
        try:
            ours = is_ours(path)
        except InputError:
            ours = False
        if not ours:
            msg = f"{path} exists already and is another type of file; it is not replaced"
            raise ParameterError(msg)


def write_scores(path: Path, scores: Sequence[Score], release: Manifest) -> None:
    """Write a score file that only its owner may read."""
    content = replace(_about(release), scores=tuple(scores))
    write_file(path, msgspec.json.format(msgspec.json.encode(content)) + b"\n", private=True)


def read_scores(path: Path) -> Scores:
    """Read a score file."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Scores)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        msg = f"{path} is not a score file; hedgerow evaluate writes one"
        raise ReadError(msg) from None


def _about(release: Manifest) -> Scores:
    files = tuple(file.sha256 for file in release.files)
    return Scores("for the owner only", release.kind, release.method, release.guarantee, files, ())


# The file of the owners of published records: for the owner of the data, to check a promise that counts persons.
#
# It links records of a person, so it must never be published.

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
