"""Files that another file names: the values of a domain, a hierarchy, the stops of a feed, further tables.

Whoever wrote the naming file need not be who runs it, and what it names is read with the rights of the latter; the
values of a domain or hierarchy are published. So a file may name only what lies in its own folder, or below. Links are
not followed: each step is opened relative to the one before, so that nothing can be exchanged on the way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from hedgerow.errors import ReadError
from hedgerow.formats.files import explained, read_open, require_regular


def read_named(folder: Path, name: Any, where: str, *, most: int | None = None) -> tuple[Path, bytes]:
    """Read a file that a file in the folder names, decompressed by its ending; return its path, too.

    Parameters
    ----------
    where
        What names it, for messages.
    """
    parts = PurePosixPath(name).parts if isinstance(name, str) and "\0" not in name else ()
    if not parts or ".." in parts or parts[0].startswith("/"):
        msg = (
            f"{where} names the file {name!r}; it must be in the same folder, or in one below, and is named from there"
        )
        raise ReadError(msg)
    path = folder.joinpath(*parts)
    with explained(path), _missing():
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                at = _step(at, part, path, os.O_DIRECTORY)
            at = _step(at, parts[-1], path, 0)
            with os.fdopen(os.dup(at), "rb") as raw:
                return path, read_open(raw, path, most=most)
        finally:
            os.close(at)


@contextmanager
def _missing() -> Generator[None]:
    """What is below a file does not exist."""
    try:
        yield
    except NotADirectoryError:
        raise FileNotFoundError from None


def _step(at: int, part: str, path: Path, kind: int) -> int:
    """Open a folder, or a file, that is neither a link nor a device, and close the folder that it is in."""
    _require_plain(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode, path, kind)
    opened = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | kind, dir_fd=at)
    os.close(at)
    return opened


def _require_plain(mode: int, path: Path, kind: int) -> None:
    if stat.S_ISLNK(mode):
        msg = f"{path} is a link, or in a folder that is one; put the file itself beside the file that names it"
        raise ReadError(msg)
    if not kind:
        require_regular(mode, path)
    elif not stat.S_ISDIR(mode):
        raise NotADirectoryError
