"""Files as bytes: read within a size limit, decompressed by their ending, written completely or not at all."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import select
import stat
import struct
import sys
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from hedgerow.errors import EngineError, ParameterError, ReadError, WriteError
from hedgerow.formats.locks import make_locked, remove, remove_abandoned

if sys.version_info >= (3, 14):  # pragma: no cover - the library of newer versions
    from compression import zstd
else:
    from backports import zstd
#: the size that a compressed file may unpack to by default; reading takes about thirty times as much memory
MOST_BYTES = 2**30
#: more bytes than any file has: for files that were read before, or that we wrote
UNLIMITED = 2**50
#: beyond this size, unpacking to more than a hundred times the size is treated as an attack
_SUSPICIOUS, _RATIO = 2**28, 100
_CHUNK = 2**22
#: how hard files are compressed
GZIP_LEVEL, ZSTD_LEVEL = 6, 3
#: the head of our gzip files (RFC 1952): no name, no time, no operating system
_GZIP_HEAD = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
#: milliseconds after which a signal is noticed, and seconds in which what comes is read together
_WHILE, _MOMENT = 100, 0.02
#: the ending of a file until it is complete
_SUFFIX = ".part"
#: where Linux keeps the access control list of a file
_ACCESS_LIST = "system.posix_acl_access"


class Digest(Protocol):
    """A hash, complete when all that it is of was seen."""

    def digest(self) -> bytes:
        """The hash as bytes."""
        ...

    def hexdigest(self) -> str:
        """The hash as hexadecimal digits."""
        ...


class Ending(NamedTuple):
    """The ending of a file name: `dat.gz` is the form `dat`, compressed as `gz`."""

    form: str
    compression: str

    def __str__(self) -> str:
        return f"{self.form}.{self.compression}" if self.compression else self.form


def ending_of(path: Path) -> Ending:
    """Return the ending of a file name.

    Examples
    --------
    >>> ending_of(Path("baskets.2024.csv.zst"))
    Ending(form='csv', compression='zst')
    """
    *rest, last = path.name.lower().split(".")
    if last in _OPEN:
        return Ending(rest[-1] if len(rest) > 1 else "", last)
    return Ending(last if rest else "", "")


def read_bytes(path: Path, *, most: int | None = None) -> bytes:
    """Read a whole file, decompressed by its ending.

    Raises
    ------
    ReadError
        If there is no such file, it is not a regular file, it is cut off or damaged, or it unpacks to more than `most`
        bytes or a hundred times its size: a small compressed file can unpack to more than fits into memory.
    """
    with explained(path):
        require_file(path)
        with path.open("rb") as raw:
            return read_open(raw, path, most=most)


def read_open(raw: IO[bytes], path: Path, *, most: int | None = None) -> bytes:
    """Read an open file, decompressed by the ending of its path."""
    require_regular(os.fstat(raw.fileno()).st_mode, path)
    compression = ending_of(path).compression
    if not compression:
        return raw.read()
    content = io.BytesIO()
    for chunk in _decompress(raw, compression, path, most):
        content.write(chunk)
    return content.getvalue()


def read_chunks(path: Path, *, most: int | None = None, pipes: bool = False) -> Iterator[bytes]:
    """Read a file in parts, decompressed by its ending; or a pipe, if `pipes` are allowed.

    Raises
    ------
    ReadError
        As `read_bytes`.
    """
    with explained(path):
        require_file(path, pipes=pipes)
        compression = ending_of(path).compression
        with path.open("rb", buffering=0 if not compression else -1) as raw:
            yield from _decompress(raw, compression, path, most) if compression else read_as_it_comes(raw.fileno())


def read_as_it_comes(opened: int) -> Iterator[bytes]:
    """Read an open file, or a pipe: what comes within a moment is one part, so that fast pipes have large parts.

    A signal may be delivered to a thread of a library. Then it does not interrupt reading, so a pipe is waited for a
    while at a time, and the signal is handled in between.
    """
    waiting = select.poll()
    waiting.register(opened, select.POLLIN)
    while True:
        while not waiting.poll(_WHILE):
            pass
        part = bytearray(os.read(opened, _CHUNK))
        if not part:
            return
        end = time.monotonic() + _MOMENT
        while len(part) < _CHUNK and waiting.poll(max(0.0, 1000 * (end - time.monotonic()))):
            if not (more := os.read(opened, _CHUNK)):
                yield bytes(part)
                return
            part += more
        yield bytes(part)


def require_file(path: Path, *, pipes: bool = False) -> None:
    """Refuse what is not a file, or a pipe if `pipes` are allowed."""
    mode = path.stat().st_mode
    if not (pipes and stat.S_ISFIFO(mode)):
        require_regular(mode, path)


def require_regular(mode: int, path: Path) -> None:
    """Refuse what is not a file, by its mode."""
    if not stat.S_ISREG(mode):
        msg = f"{path} is {'a folder; name a file in it' if stat.S_ISDIR(mode) else 'not a regular file'}"
        raise ReadError(msg)


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn errors of the system and of damaged files into ours."""
    try:
        yield
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise ReadError(msg) from None
    except PermissionError:
        msg = f"no permission to read {path}"
        raise EngineError(msg) from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zstd.ZstdError):
        msg = f"{path} is cut off or damaged; it cannot be decompressed"
        raise ReadError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read ({reason(error)})"
        raise EngineError(msg) from None


def too_large(where: str | Path, most: int) -> ReadError:
    """Make the error for a file that unpacks to more than it may."""
    return ReadError(
        f"{where} holds more than {most:,} bytes when decompressed; "
        "if that is intended, allow more with the reading option most_bytes"
    )


def compress(content: bytes, compression: str) -> bytes:
    """Compress at once; equal content gives equal bytes, as far as the libraries are equal."""
    if compression == "zst":
        return zstd.compress(content, ZSTD_LEVEL)
    return b"".join(compress_parts([content], compression))


def compress_parts(parts: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Compress content that comes in parts; where it is divided does not change the bytes."""
    if compression == "gz":
        yield from _gzip(parts)
    elif compression == "zst":
        packer = zstd.ZstdCompressor(ZSTD_LEVEL)
        for part in parts:
            yield packer.compress(part)
        yield packer.flush()
    else:
        yield from parts


def _gzip(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Write a gzip file with a head of our own: libraries name the operating system in it."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    check, size = 0, 0
    yield _GZIP_HEAD
    for part in parts:
        check, size = zlib.crc32(part, check), size + len(part)
        yield packer.compress(part)
    yield packer.flush() + struct.pack("<II", check, size % 2**32)


def is_plainly_compressed(path: Path) -> bool:
    """Whether a compressed file has nothing but its content: no name, time or system, no further stream."""
    compression = ending_of(path).compression
    if not compression:
        return True
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS) if compression == "gz" else zstd.ZstdDecompressor()
    with path.open("rb") as packed:
        part = packed.read(len(_GZIP_HEAD))
        if compression == "gz" and part != _GZIP_HEAD:
            return False
        while part and not stream.eof:
            stream.decompress(part)
            part = packed.read(_CHUNK)
        return stream.eof and not stream.unused_data and not part


def write_file(path: Path, content: bytes, *, private: bool = False, like: Path | None = None) -> None:
    """Write a file completely or not at all, by renaming; a private one can be read by its owner only.

    Until it is complete it has a random name, and only its owner may open it. Leftovers of killed runs that wrote the
    same file are removed.

    Parameters
    ----------
    like
        A file whose owner, group and permissions the new file gets: who could write that one can write this one.
    """
    try:
        remove_abandoned(path.parent, rf"\.{re.escape(path.name)}\.(\w{{8}}\.)?part")
        part, opened = make_locked(path.parent, f".{path.name}.", _SUFFIX)
        try:
            write_all(opened, [content])
            if like is None:
                os.fchmod(opened, 0o600 if private else 0o666 & ~umask())
            else:
                copy_permissions(opened, like)
            part.replace(path)
        except BaseException:
            remove(part)
            raise
        finally:
            os.close(opened)
    except FileNotFoundError:
        msg = f"{path} cannot be written: there is no folder {path.parent}; create it first"
        raise ParameterError(msg) from None
    except OSError as error:
        msg = f"{path} could not be written ({reason(error)})"
        raise WriteError(msg) from None
    try:
        sync_folder(path.parent)
    except OSError as error:
        msg = f"{path} was written, but may not survive a power cut ({reason(error)})"
        raise WriteError(msg) from None


def hash_parts(parts: Iterable[bytes]) -> Digest:
    """Return the SHA-256 of parts, one after another."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest


def write_all(opened: int, parts: Iterable[bytes]) -> None:
    """Write parts to an open file as they come, and make them survive a power cut."""
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(opened, rest) :]
    os.fsync(opened)


def copy_permissions(opened: int, like: Path) -> None:
    """Give a new file the owner, group, permissions and access control list of another one."""
    status = like.stat()
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.fchown(opened, status.st_uid, status.st_gid)
    except PermissionError:
        # the new file is ours; its former owner can write it only as one of all users, or of its group
        if not mode & stat.S_IWOTH:
            if not mode & stat.S_IWGRP:
                msg = f"{like} belongs to another user; let its group write it (chmod g+w)"
                raise WriteError(msg) from None
            os.fchown(opened, -1, status.st_gid)
    os.fchmod(opened, mode)
    if sys.platform == "linux":
        try:
            access_list = os.getxattr(like, _ACCESS_LIST)
        except OSError:
            return  # most files have no such list, and many file systems do not know it
        os.setxattr(opened, _ACCESS_LIST, access_list)


def sync_folder(folder: Path) -> None:
    """Make a renaming survive a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def umask() -> int:
    """The permissions that the user's settings take away from new files."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def reason(error: OSError) -> str:
    """Return the system's message for an error, without the names of our temporary files."""
    return os.strerror(error.errno or errno.EIO).lower()


def _decompress(raw: IO[bytes], compression: str, path: Path, most: int | None) -> Iterator[bytes]:
    packed = os.fstat(raw.fileno()).st_size
    if packed == 0:
        raise EOFError
    size = 0
    with _OPEN[compression](raw) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            bomb = most is None and size > max(_SUSPICIOUS, _RATIO * packed)
            if bomb or size > (MOST_BYTES if most is None else most):
                raise too_large(path, size - len(chunk))
            yield chunk


#: how a compressed stream is opened, by ending
_OPEN: dict[str, Callable[[IO[bytes]], gzip.GzipFile | zstd.ZstdFile]] = {
    "gz": lambda raw: gzip.GzipFile(fileobj=raw),
    "zst": zstd.ZstdFile,
}
