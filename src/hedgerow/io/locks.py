"""Files that are locked as long as their maker lives, so that others know what was left behind.

Whatever is locked is opened for writing: over a network (NFS) nothing else can be locked.
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

__all__ = ["abandoned", "locked", "make_locked", "remove", "remove_abandoned"]

#: how long somebody else is waited for, in seconds; a lock lasts milliseconds
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
            # who takes it for a leftover just now has the lock, or has removed it
            if _try_flock(opened) and _has_its_name(opened, path):
                return path, opened
        except BaseException:
            remove(path)
            os.close(opened)
            raise
        os.close(opened)


@contextmanager
def abandoned(path: Path) -> Generator[bool]:
    """Say whether nobody alive holds the lock of a file, and keep it so meanwhile.

    Nobody locks a file that is not there; one that cannot be opened is not ours to judge.
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
    """Hold the lock of a file that whoever changes it replaces; wait for others, and say so.

    Raises
    ------
    EngineError
        If somebody else still has it after a minute.
    """
    opened = _wait_for(path)
    try:
        yield
    finally:
        os.close(opened)


def remove(path: Path) -> None:
    """Remove a file of ours, if that can be done."""
    with suppress(OSError):
        path.unlink()


def remove_abandoned(folder: Path, name: str) -> None:
    """Remove the files that dead makers left in a folder, by a pattern of their names."""
    pattern = re.compile(name)
    with suppress(OSError):
        for left in folder.iterdir():
            if pattern.fullmatch(left.name):
                with abandoned(left) as dead:
                    if dead:
                        remove(left)


def _wait_for(path: Path) -> int:
    until = time.monotonic() + PATIENCE
    told = False
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
        if time.monotonic() > until:
            msg = f"{path} is still in use after {PATIENCE:g} seconds; try again later"
            raise EngineError(msg)
        if not free and not told:
            told = True
            msg = f"{path} is in use; waiting for it, {PATIENCE:g} seconds at most"
            warnings.warn(msg, stacklevel=4)
        time.sleep(_PAUSE)


def _try_flock(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _has_its_name(opened: int, path: Path) -> bool:
    """Whether an open file was neither replaced nor removed before it was locked."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ESTALE}:
            return False
        raise
