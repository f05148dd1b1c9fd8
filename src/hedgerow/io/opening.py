"""A release folder as its receiver opens it: made by anybody, so nothing in it is believed.

Memory and time are bounded by what was sent, not by what it says of itself: a domain, a compressed
file, a Parquet table and a promise can each be short and ask for more than any machine has.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.data import Dataset, Domain
from hedgerow.data.domain import MOST_VALUES
from hedgerow.errors import DomainError, EngineError, LimitExceeded, ReadError, UnsupportedVersion
from hedgerow.io.codec import codec_of
from hedgerow.io.files import UNLIMITED, ending_of, read_bytes, reason
from hedgerow.io.parquet_pages import unpacked_bytes
from hedgerow.io.read import read
from hedgerow.release import SCHEMA, Manifest, Release, version
from hedgerow.statement import File

__all__ = ["RELEASE", "SIGNATURE", "STATEMENT", "names_of", "open_folder", "own_bytes", "read_json"]

RELEASE, STATEMENT, SIGNATURE = "release.json", "STATEMENT.md", "release.json.sig"

#: bytes of a `release.json`, and of a statement, at most; as values in memory twenty times as many
_MOST_JSON, _MOST_TEXT = 2**24, 2**22
#: memory that reading a file may take: 320 MiB; up to 1 GiB if that is 8,000 times what was sent; beyond, 2,000 times.
#: Releases stand in canonical order and compress well: those of a million records like MSNBC 5 to 55 times, of short
#: records up to 170 times; only a few records in very many copies compress a thousand times and more
_MEMORY, _MEMORY_PER_BYTE = (320 * 2**20, 2**30), (8_000, 2_000)
#: memory per byte that a file unfolds to, measured on what costs most: of 8 MiB of JSON or lines, some 5 kB sent,
#: reading and checking takes 450 MB and 5 seconds in all; of 24 MiB of Parquet pages 400 MB and 2 seconds
_PER_BYTE_OF_TEXT, _PER_BYTE_OF_PAGES = 40, 13
#: so many sequences may be looked at to check a promise, and so many more a byte of the data
_EFFORT, _EFFORT_PER_BYTE = 2_000_000, 50
#: values of a domain that are given by their ends, and bytes of one that is listed at least
_FEW_VALUES, _VALUE = 20_000, 4
_MOST_FILES = 8
#: no `release.json` has a higher version than this
_MOST_SCHEMA = 10_000

_NAME = re.compile(r"[A-Za-z0-9_-]{0,40}")
_HASH = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,39}")
_TRUST = "if you trust whoever made it, pass --trusted"


class _Version(msgspec.Struct):
    """What every `release.json` says, whatever its schema; the first one did not say which it is."""

    hedgerow: str
    schema: int = 1


def open_folder(folder: Path, *, trusted: bool = False) -> tuple[Release[Any], Manifest]:
    """Read a release folder: the release, and what its `release.json` says.

    Every file must be the one that `release.json` names by its SHA-256; the promise is checked
    again on the data.

    Parameters
    ----------
    trusted
        Whether it may take as much memory and time as it asks for.

    Raises
    ------
    ReadError
        If it is no release, or was changed or damaged; `LimitExceeded` if it asks for too much.
    """
    written = read_json(folder, trusted=trusted)
    _check_files(folder, written)
    domain = _domain(folder, written, trusted=trusted)
    most = None if trusted else _EFFORT
    outputs: dict[str, Dataset] = {}
    for file in written.files:
        size = _check_content(folder / file.file, file, trusted=trusted)
        most_bytes = UNLIMITED if trusted else _most_bytes(file, size)
        outputs[file.data] = _read_output(folder / file.file, file, domain, most_bytes)
        most = None if most is None else most + _EFFORT_PER_BYTE * size
    domain = domain or next(iter(outputs.values())).domain
    if not {name for name, _ in domain.axes} <= {a for data in outputs.values() for a in data.axes}:
        msg = f"{folder / RELEASE} has a domain of more than the data stands on; it was changed"
        raise ReadError(msg)
    try:
        release = Release.from_manifest(written, domain, outputs, most)
    except LimitExceeded as error:
        msg = f"{folder}: {error}; {_TRUST}"
        raise LimitExceeded(msg) from None
    units = {unit for data in outputs.values() for unit in data.units}
    if written.kind != release.kind or not set(release.guarantee.units) <= units:
        raise _changed(folder)
    return release, written


def read_json(folder: Path, *, trusted: bool = False) -> Manifest:
    """Read what `release.json` says, and nothing else."""
    if not os.path.lexists(folder / RELEASE):
        msg = f"{folder} is not a release: it holds no {RELEASE}"
        raise ReadError(msg)
    content = own_bytes(folder / RELEASE, None if trusted else _MOST_JSON)
    try:
        written = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _other_version(folder, content) or _changed(folder) from None
    if written.schema != SCHEMA or not _VERSION.fullmatch(written.hedgerow):
        raise _other_version(folder, content) or _changed(folder)
    return written


def names_of(written: Manifest) -> set[str]:
    """The names a release may have in its folder; the signature is not in every one."""
    return {RELEASE, STATEMENT, SIGNATURE, *(file.file for file in written.files)}


def own_bytes(path: Path, most: int | None = _MOST_TEXT) -> bytes:
    """Read a file of a release as it is: no link out of the folder, no pipe, no endless one."""
    with _opened(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            msg = f"{path} is larger than {most:,} bytes; {_TRUST}"
            raise LimitExceeded(msg)
        return file.read()


def _opened(path: Path):  # noqa: ANN202 - an open file
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            msg = f"{path} is a link; a release holds its files itself"
            raise ReadError(msg)
        if not stat.S_ISREG(mode):
            msg = f"{path} is no file"
            raise ReadError(msg)
        # if it was exchanged just now, a pipe does not make us wait
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise ReadError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read ({reason(error)})"
        raise EngineError(msg) from None


def _domain(folder: Path, written: Manifest, *, trusted: bool) -> Domain | None:
    """Take the domain; of values that are not listed there may be a few, or as many as listed."""
    listed = (folder / RELEASE).stat().st_size // _VALUE
    most = MOST_VALUES if trusted else max(_FEW_VALUES, listed)
    try:
        return Domain.from_plain(written.domain, most)
    except DomainError as error:
        msg = f"{folder / RELEASE}: {error}"
        raise ReadError(msg) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _changed(folder) from None


def _changed(folder: Path) -> ReadError:
    return ReadError(f"{folder / RELEASE} is not what Hedgerow writes; it was changed or damaged")


def _other_version(folder: Path, content: bytes) -> UnsupportedVersion | None:
    """Say that another version wrote this, if that is what it says."""
    try:
        said = msgspec.json.decode(content, type=_Version)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if said.schema == SCHEMA or not 1 <= said.schema <= _MOST_SCHEMA or not _VERSION.fullmatch(said.hedgerow):
        return None
    msg = (
        f"{folder} was made by Hedgerow {said.hedgerow} with version {said.schema} of {RELEASE}, "
        f"and this is Hedgerow {version()}, which reads version {SCHEMA}"
    )
    return UnsupportedVersion(msg)


def _check_files(folder: Path, written: Manifest) -> None:
    """Refuse files that no writer of ours would name, and options that it would not write."""
    if not 1 <= len(written.files) <= _MOST_FILES:
        msg = f"{folder / RELEASE} names no data, or too many files"
        raise ReadError(msg)
    if len({file.data for file in written.files}) < len(written.files):
        msg = f"{folder / RELEASE} names one data set twice; it was changed or damaged"
        raise ReadError(msg)
    if not all(map(_is_ours, written.files)):
        raise _changed(folder)


def _is_ours(file: File) -> bool:
    """Whether a writer of ours can have named this; what else a reader can be told, a stranger would tell."""
    codec, ending = codec_of(file.kind), ending_of(Path(file.file))
    name = f"data.{file.data}.{ending}" if file.data else f"data.{ending}"
    return (
        file.file == name
        and bool(_NAME.fullmatch(file.data))
        and file.format in codec.formats
        and ending.form in codec.formats[file.format].endings
        and set(file.columns) == set(codec.written)
        and codec.is_reread(file.options)
        and bool(_HASH.fullmatch(file.sha256))
    )


def _most_bytes(file: File, size: int) -> int:
    """To how many bytes a file may unfold of which so many were sent."""
    (small, large), (many, few) = _MEMORY, _MEMORY_PER_BYTE
    memory = max(small, min(many * size, large), few * size)
    return memory // (_PER_BYTE_OF_PAGES if file.format == "parquet" else _PER_BYTE_OF_TEXT)


def _check_content(path: Path, named: File, *, trusted: bool) -> int:
    """Refuse a file that is not the one that was published; return how large it really is."""
    with _opened(path) as file:
        status = os.fstat(file.fileno())
        # what is not on the disk was not sent: a file of holes is as short as it is large
        size = min(status.st_size, status.st_blocks * 512)
        if not trusted and status.st_size > _most_bytes(named, size):
            msg = f"{path} has {status.st_size:,} bytes, and {size:,} on the disk; {_TRUST}"
            raise LimitExceeded(msg)
        if hashlib.file_digest(file, "sha256").hexdigest() != named.sha256:
            msg = f"{path} is not the file that was published (its SHA-256 is another)"
            raise ReadError(msg)
    return size


def _read_output(path: Path, file: File, domain: Domain | None, most: int) -> Dataset:
    """Read one data set, which may grow to so many bytes."""
    if file.format == "parquet" and most < UNLIMITED:
        _check_pages(path, most)
    try:
        return read(
            path,
            kind=file.kind,
            domain=domain,
            format=file.format,
            columns=file.columns,
            options={**file.options, "most_bytes": str(most)},
        ).canonical()
    except ReadError as error:
        # whoever reads a release cannot set reading options
        said, sign, _ = str(error).partition("; if that is meant")
        if not sign:
            raise
        msg = f"{said}; {_TRUST}"
        raise LimitExceeded(msg) from None


def _check_pages(path: Path, most: int) -> None:
    """Refuse a table that unfolds to more than that, before it does."""
    try:
        unpacked = unpacked_bytes(read_bytes(path, most=most))
    except ValueError:
        msg = f"{path} is not a Parquet file as Hedgerow writes it, or it is damaged"
        raise ReadError(msg) from None
    if unpacked > most:
        msg = f"{path} holds more than {most:,} bytes when decompressed; {_TRUST}"
        raise LimitExceeded(msg)
