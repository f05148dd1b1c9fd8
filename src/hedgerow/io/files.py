"""Bytes of files: read within a limit, decompressed by their ending, written all or nothing."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from hedgerow.errors import EngineError, ReadError, WriteError

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

#: what a compressed file may grow to, unless the reader is told otherwise
MOST_BYTES = 4 * 2**30
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


def read_bytes(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Read a whole file, decompressed by its ending.

    Raises
    ------
    ReadError
        If there is no such file, it is no file, it is cut off or damaged, or it grows beyond
        `most` bytes: a small compressed file can hold more than any memory.
    """
    try:
        if path.is_dir():
            msg = f"{path} is a folder; give the file in it"
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
    """Write a file all or nothing, by renaming; a private one is the owner's alone to read."""
    part: Path | None = None
    try:
        opened, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        part = Path(name)
        with os.fdopen(opened, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            part.chmod(0o666 & ~umask())
        part.replace(path)
    except OSError as error:
        msg = f"{path} could not be written ({reason(error)})"
        raise WriteError(msg) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def umask() -> int:
    """What the user's settings take off the permissions of a new file."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def reason(error: OSError) -> str:
    """Say what went wrong in the words of the system, without the names of our own files."""
    return os.strerror(error.errno or errno.EIO).lower()


def _decompressed(raw: IO[bytes], compression: str, path: Path, most: int) -> bytes:
    if not compression:
        return raw.read()
    held = io.BytesIO()
    with _OPEN[compression](raw) as file:
        while chunk := file.read(_CHUNK):
            held.write(chunk)
            if held.tell() > most:
                msg = (
                    f"{path} holds more than {most:,} bytes when decompressed; "
                    "if that is meant, allow more by the reading option most_bytes"
                )
                raise ReadError(msg)
    return held.getvalue()


#: how a compressed stream is opened: something that has `read`
_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {
    "gz": lambda raw: gzip.GzipFile(fileobj=raw),
    "zst": zstd.ZstdFile,
}
