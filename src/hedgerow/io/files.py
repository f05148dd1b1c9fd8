"""Bytes of files: read within a limit, decompressed by their ending, written all or nothing."""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from hedgerow.errors import EngineError, ParameterError, ReadError, WriteError

if sys.version_info >= (3, 14):  # pragma: no cover - the library of newer versions
    from compression import zstd
else:
    from backports import zstd

__all__ = [
    "MOST_BYTES",
    "Ending",
    "ending_of",
    "pack",
    "read_bytes",
    "reason",
    "umask",
    "write_file",
]

#: what a compressed file may grow to, unless the reader is told otherwise: reading takes some
#: thirty times as much memory
MOST_BYTES = 2**30
#: beyond this, growing more than a hundredfold is taken for an attack
_SUSPICIOUS, _RATIO = 2**28, 100
_CHUNK = 2**22


class Ending(NamedTuple):
    """What the name of a file says about it: `dat.gz` is `dat`, compressed as `gz`."""

    form: str
    compression: str

    def __str__(self) -> str:
        return f"{self.form}.{self.compression}" if self.compression else self.form


def ending_of(path: Path) -> Ending:
    """Take the ending of a file's name apart.

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
        If there is no such file, it is no file, it is cut off or damaged, or it grows beyond
        `most` bytes, or a hundredfold: a small compressed file can hold more than any memory.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            msg = (
                f"{path} is {'a folder; give the file in it' if stat.S_ISDIR(mode) else 'no file'}"
            )
            raise ReadError(msg)
        with path.open("rb") as raw:
            return _decompressed(raw, ending_of(path).compression, path, most)
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


def pack(content: bytes, compression: str) -> bytes:
    """Compress; neither a name nor a time goes in, so equal content gives equal bytes."""
    if compression == "gz":
        return gzip.compress(content, 6, mtime=0)
    return zstd.compress(content) if compression == "zst" else content


def write_file(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file all or nothing, by renaming; a private one is the owner's alone to read.

    What a killed run left behind has a name of its own and is written over by the next.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        opened = _locked(part)
        try:
            os.ftruncate(opened, 0)
            with os.fdopen(os.dup(opened), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.fchmod(opened, 0o600 if private else 0o666 & ~umask())
            part.replace(path)
            sync_folder(path.parent)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            os.close(opened)
    except FileNotFoundError:
        msg = f"{path} cannot be written: there is no folder {path.parent}; create it first"
        raise ParameterError(msg) from None
    except OSError as error:
        msg = f"{path} could not be written ({reason(error)})"
        raise WriteError(msg) from None


def sync_folder(folder: Path) -> None:
    """Make a renaming last over a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _locked(part: Path) -> int:
    """Open a file that nobody else is writing; wait for who is."""
    while True:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        fcntl.flock(opened, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(opened), part.stat()):
                return opened
        except FileNotFoundError:
            pass  # it was renamed by whoever had the lock before
        os.close(opened)


def umask() -> int:
    """What the user's settings take off the permissions of a new file."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def reason(error: OSError) -> str:
    """Say what went wrong in the words of the system, without the names of our own files."""
    return os.strerror(error.errno or errno.EIO).lower()


def _decompressed(raw: IO[bytes], compression: str, path: Path, most: int | None) -> bytes:
    if not compression:
        return raw.read()
    packed = os.fstat(raw.fileno()).st_size
    if packed == 0:
        raise EOFError
    held = io.BytesIO()
    with _OPEN[compression](raw) as file:
        while chunk := file.read(_CHUNK):
            held.write(chunk)
            size = held.tell()
            bomb = most is None and size > max(_SUSPICIOUS, _RATIO * packed)
            if bomb or size > (MOST_BYTES if most is None else most):
                msg = (
                    f"{path} holds more than {size - len(chunk):,} bytes when decompressed; "
                    "if that is meant, allow more by the reading option most_bytes"
                )
                raise ReadError(msg)
    return held.getvalue()


#: how a compressed stream is opened: something that has `read`
_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {
    "gz": lambda raw: gzip.GzipFile(fileobj=raw),
    "zst": zstd.ZstdFile,
}
