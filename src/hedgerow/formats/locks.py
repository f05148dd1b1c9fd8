"""Files that are locked while their maker lives, so that other processes recognise leftovers.

Files are opened for writing to lock them: network file systems (NFS) lock no others.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from hedgerow.errors import EngineError

#: how long to wait for another process, in seconds; a lock is usually released within milliseconds
PATIENCE = 60.0
_PAUSE = 0.02


def make_locked(folder: Path, prefix: str, suffix: str) -> tuple[Path, int]:
    """Create an empty file with a random name, for its owner only, and lock it.

    Returns
    -------
    Its path, and the open file: the lock lasts until that is closed.
    """
    while True:
        opened, name = tempfile.mkstemp(suffix, prefix, folder)
        path = folder / Path(name).name
        try:
            # another process may just have taken it for a leftover, and have locked or removed it
            if _try_flock(opened) and _has_its_name(opened, path):
                return path, opened
        except BaseException:
            remove(path)
            os.close(opened)
            raise
        os.close(opened)


@contextmanager
def abandoned(path: Path) -> Generator[bool]:
    """Yield whether no living process holds the lock of a file, and prevent that one takes it meanwhile.

    A file that does not exist is abandoned; one that cannot be opened is not.
    """
    try:
        opened = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError as error:
        yield error.errno == errno.ENOENT
        return
    try:
        yield _try_flock(opened)
    finally:
        os.close(opened)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock of a file that is changed by replacing it; wait for other processes, with a warning.

    Raises
    ------
    EngineError
        If another process still holds it after a minute.
    """
    opened = _wait_for(path)
    try:
        yield
    finally:
        os.close(opened)


def remove(path: Path) -> None:
    """Remove a file of ours, if possible."""
    with suppress(OSError):
        path.unlink()


def remove_abandoned(folder: Path, name: str) -> None:
    """Remove the files in a folder whose names match a pattern and whose makers are dead."""
    pattern = re.compile(name)
    with suppress(OSError):
        for path in folder.iterdir():
            if pattern.fullmatch(path.name):
                with abandoned(path) as dead:
                    if dead:
                        remove(path)


def _wait_for(path: Path) -> int:
    deadline = time.monotonic() + PATIENCE
    warned = False
    while True:
        opened = os.open(path, os.O_RDWR)
        ours = False
        try:
            free = _try_flock(opened)
            ours = free and _has_its_name(opened, path)
        finally:
            if not ours:
                os.close(opened)
        if ours:
            return opened
        if time.monotonic() > deadline:
            msg = f"{path} is still in use after {PATIENCE:g} seconds; try again later"
            raise EngineError(msg)
        if not free and not warned:
            warned = True
            msg = f"{path} is in use by another process; waiting for at most {PATIENCE:g} seconds"
            warnings.warn(msg, stacklevel=4)
        time.sleep(_PAUSE)


def _try_flock(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _has_its_name(opened: int, path: Path) -> bool:
    """Whether an open file is still the one with this name, and was not replaced or removed before it was locked."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ESTALE}:
            return False
        raise
