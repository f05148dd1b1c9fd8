"""Read received release folders; anyone may have made them, so nothing in them is trusted.

Memory and time are bounded by the size of what was received, not by what it declares: a domain, a compressed file, a
Parquet table and a promise can each be short and require more than any machine has.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.data import Dataset, Domain
from hedgerow.data.axis import MOST_VALUES
from hedgerow.errors import DomainError, EngineError, LimitExceeded, ReadError, UnsupportedVersion
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import UNLIMITED, ending_of, read_bytes, reason
from hedgerow.formats.packing import is_library_version, libraries_of
from hedgerow.formats.parquet_pages import unpacked_bytes
from hedgerow.reading import read
from hedgerow.release import OLDEST_SCHEMA, SCHEMA, Manifest, Release, version
from hedgerow.statement import File

RELEASE, STATEMENT, SIGNATURE = "release.json", "STATEMENT.md", "release.json.sig"
#: the most bytes of a `release.json` and of a statement; values in memory take twenty times as many
_MOST_JSON, _MOST_TEXT = 2**24, 2**22
#: memory that reading a file may take: 320 MiB; up to 1 GiB if that is at most 8,000 times the size of the file; beyond
#: that, 2,000 times its size. Releases are in canonical order and compress well: those of a million records like MSNBC
#: 5 to 55 times, of short records up to 170 times; only few records in very many copies compress 1,000 times and more
_MEMORY, _MEMORY_PER_BYTE = (320 * 2**20, 2**30), (8_000, 2_000)
#: memory per unpacked byte, measured on the most expensive content: to read and check 8 MiB of JSON or lines, about
#: 5 kB compressed, takes 450 MB and 5 seconds in all; 24 MiB of Parquet pages take 400 MB and 2 seconds
_PER_BYTE_OF_TEXT, _PER_BYTE_OF_PAGES = 40, 13
#: how many cases may be looked at to check a promise, and how many more per byte of data
_EFFORT, _EFFORT_PER_BYTE = 2_000_000, 50
#: values of a domain that a folder of any size may declare as a range, and how many it may per byte of its files; to
#: verify a release takes up to 900 bytes and 5 microseconds per value
_FEW_VALUES, _VALUES_PER_BYTE = 200_000, 1
_MOST_FILES = 8
#: the highest version of `release.json` that is believed
_MOST_SCHEMA = 10_000
#: the version of `release.json` from which on it names the libraries that wrote a file
_NAMES_LIBRARIES = 4
_NAME = re.compile(r"[A-Za-z0-9_-]{0,40}")
_HASH = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,39}")
_TRUST = "if you trust its maker, pass --trusted"


class _Version(msgspec.Struct):
    """The fields that every `release.json` has, whatever its version; version 1 did not name itself."""

    hedgerow: str
    schema: int = 1


def open_folder(folder: Path, *, trusted: bool = False) -> tuple[Release[Any], Manifest]:
    """Read a release folder: the release, and the content of its `release.json`.

    Every file must have the SHA-256 that `release.json` names; the promise is checked again on the data.

    Parameters
    ----------
    trusted
        Whether reading may take any amount of memory and time.

    Raises
    ------
    ReadError
        If it is not a release, or was changed or damaged; `LimitExceeded` if it would take too much memory or time.
    """
    manifest = read_manifest(folder, trusted=trusted)
    _check_files(folder, manifest)
    sizes = [_check_content(folder / file.file, file, trusted=trusted) for file in manifest.files]
    domain = _domain(folder, manifest, sum(sizes), trusted=trusted)
    effort = None if trusted else _EFFORT
    outputs: dict[str, Dataset] = {}
    for file, size in zip(manifest.files, sizes, strict=True):
        most_bytes = UNLIMITED if trusted else _most_bytes(file, size)
        outputs[file.data] = _read_output(folder / file.file, file, domain, most_bytes)
        effort = None if effort is None else effort + _EFFORT_PER_BYTE * size
    if domain is None:
        outputs = {name: _with_declared_records(folder, manifest, data) for name, data in outputs.items()}
    domain = domain or next(iter(outputs.values())).domain
    if not {name for name, _ in domain.axes} <= {a for data in outputs.values() for a in data.axes}:
        msg = f"{folder / RELEASE} has a domain with axes that the data does not use; it was changed"
        raise ReadError(msg)
    try:
        release = Release.from_manifest(manifest, domain, outputs, effort)
    except LimitExceeded as error:
        msg = f"{folder}: {error}; {_TRUST}"
        raise LimitExceeded(msg) from None
    units = {unit for data in outputs.values() for unit in data.units}
    if manifest.kind != release.kind or not set(release.guarantee.units) <= units:
        raise _changed_error(folder)
    return release, manifest


def read_manifest(folder: Path, *, trusted: bool = False) -> Manifest:
    """Read `release.json`, and no other file."""
    if not os.path.lexists(folder / RELEASE):
        msg = f"{folder} is not a release: there is no {RELEASE} in it"
        raise ReadError(msg)
    content = read_own_file(folder / RELEASE, None if trusted else _MOST_JSON)
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _other_version(folder, content) or _changed_error(folder) from None
    if not OLDEST_SCHEMA <= manifest.schema <= SCHEMA or not _VERSION.fullmatch(manifest.hedgerow):
        raise _other_version(folder, content) or _changed_error(folder)
    return manifest


def allowed_names(manifest: Manifest) -> set[str]:
    """The file names that a release folder may have; the signature is optional."""
    return {RELEASE, STATEMENT, SIGNATURE, *(file.file for file in manifest.files)}


def read_own_file(path: Path, most: int | None = _MOST_TEXT) -> bytes:
    """Read a file of a release without decompressing it; links, pipes and overlong files are refused."""
    with _open_file(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            msg = f"{path} is larger than {most:,} bytes; {_TRUST}"
            raise LimitExceeded(msg)
        return file.read()


def _open_file(path: Path) -> BufferedReader:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            msg = f"{path} is a link; the files of a release must be in its folder"
            raise ReadError(msg)
        if not stat.S_ISREG(mode):
            msg = f"{path} is not a regular file"
            raise ReadError(msg)
        # if the file was replaced by a pipe just now, do not wait for it
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise ReadError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read ({reason(error)})"
        raise EngineError(msg) from None


def _domain(folder: Path, manifest: Manifest, size: int, *, trusted: bool) -> Domain | None:
    """Read the domain; a range may have a number of values, or more in proportion to the bytes of all files."""
    most = max(_FEW_VALUES, _VALUES_PER_BYTE * (size + (folder / RELEASE).stat().st_size))
    try:
        values = Domain.count_plain(manifest.domain)
        if trusted or values <= most or values > MOST_VALUES:
            return Domain.from_plain(manifest.domain)
    except DomainError as error:
        msg = f"{folder / RELEASE}: {error}"
        raise ReadError(msg) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _changed_error(folder) from None
    msg = f"{folder / RELEASE} declares {values:,} values, more than {most:,} for files of this size; {_TRUST}"
    raise LimitExceeded(msg)


def _with_declared_records(folder: Path, manifest: Manifest, data: Dataset) -> Dataset:
    """The data with the declared maximum of records per person, which is public even if the values are not."""
    most = manifest.domain.get("records_per_person")
    if most is None:
        return data
    try:
        return replace(data, domain=data.domain.with_records_per_person(most))
    except DomainError:
        raise _changed_error(folder) from None


def _changed_error(folder: Path) -> ReadError:
    return ReadError(f"{folder / RELEASE} is not as Hedgerow writes it; it was changed or damaged")


def _other_version(folder: Path, content: bytes) -> UnsupportedVersion | None:
    """Return the error that another version wrote this, if that is what it declares."""
    try:
        header = msgspec.json.decode(content, type=_Version)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    is_read = OLDEST_SCHEMA <= header.schema <= SCHEMA
    if is_read or not 1 <= header.schema <= _MOST_SCHEMA or not _VERSION.fullmatch(header.hedgerow):
        return None
    msg = (
        f"{folder} was made by Hedgerow {header.hedgerow} with version {header.schema} of {RELEASE}; "
        f"this is Hedgerow {version()}, which reads versions {OLDEST_SCHEMA} to {SCHEMA}"
    )
    return UnsupportedVersion(msg)


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Refuse file names and options that we would not write."""
    if not 1 <= len(manifest.files) <= _MOST_FILES:
        msg = f"{folder / RELEASE} names no data file, or too many"
        raise ReadError(msg)
    if len({file.data for file in manifest.files}) < len(manifest.files):
        msg = f"{folder / RELEASE} names one data set twice; it was changed or damaged"
        raise ReadError(msg)
    if not all(_is_ours(file) and _names_libraries(file, manifest.schema) for file in manifest.files):
        raise _changed_error(folder)


def _is_ours(file: File) -> bool:
    """Whether we can have written this entry: a stranger could name any file, column and reading option."""
    codec, ending = codec_of(file.kind), ending_of(Path(file.file))
    name = f"data.{file.data}.{ending}" if file.data else f"data.{ending}"
    return (
        file.file == name
        and bool(_NAME.fullmatch(file.data))
        and file.format in codec.formats
        and ending.form in codec.formats[file.format].endings
        and codec.can_write(file.columns)
        and codec.accepts_reread(file.options)
        and bool(_HASH.fullmatch(file.sha256))
    )


def _names_libraries(file: File, schema: int) -> bool:
    """Whether an entry names the libraries that write such a file, and the version of each; before version 4, none."""
    if schema < _NAMES_LIBRARIES:
        return not file.written_by
    needed = libraries_of(file.kind, file.format, ending_of(Path(file.file)).compression)
    return file.written_by.keys() == needed.keys() and all(map(is_library_version, file.written_by.values()))


def _most_bytes(file: File, size: int) -> int:
    """The size in bytes that a file of this size may unpack to."""
    (small, large), (many, few) = _MEMORY, _MEMORY_PER_BYTE
    memory = max(small, min(many * size, large), few * size)
    return memory // (_PER_BYTE_OF_PAGES if file.format == "parquet" else _PER_BYTE_OF_TEXT)


def _check_content(path: Path, named: File, *, trusted: bool) -> int:
    """Refuse a file that is not the one that was published; return its size on the disk."""
    with _open_file(path) as file:
        status = os.fstat(file.fileno())
        # holes of a sparse file were not sent: they take no space on the disk
        size = min(status.st_size, status.st_blocks * 512)
        if not trusted and status.st_size > _most_bytes(named, size):
            msg = f"{path} has {status.st_size:,} bytes, but only {size:,} on the disk; {_TRUST}"
            raise LimitExceeded(msg)
        if hashlib.file_digest(file, "sha256").hexdigest() != named.sha256:
            msg = f"{path} is not the file that was published (its SHA-256 differs)"
            raise ReadError(msg)
    return size


def _read_output(path: Path, file: File, domain: Domain | None, most: int) -> Dataset:
    """Read one data set, which may unpack to `most` bytes."""
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
        # a receiver cannot set reading options
        reason_only, advice, _ = str(error).partition("; if that is intended")
        if not advice:
            raise
        msg = f"{reason_only}; {_TRUST}"
        raise LimitExceeded(msg) from None


def _check_pages(path: Path, most: int) -> None:
    """Refuse a table that would unpack to more than `most` bytes, before it is unpacked."""
    try:
        unpacked = unpacked_bytes(read_bytes(path, most=most))
    except ValueError:
        msg = f"{path} is not a Parquet file as Hedgerow writes it, or it is damaged"
        raise ReadError(msg) from None
    if unpacked > most:
        msg = f"{path} holds more than {most:,} bytes when decompressed; {_TRUST}"
        raise LimitExceeded(msg)
