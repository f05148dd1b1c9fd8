"""How a finished folder gets its name: made aside, put in its place in one step, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from hedgerow.errors import WriteError
from hedgerow.io.locks import abandoned, make_locked, remove
from hedgerow.io.swap import swap_folders

__all__ = ["Placement", "part_of", "put_in_place", "remove_leftovers"]

_PREFIX, _SUFFIX, _LOCK = ".hedgerow-", ".part", ".lock"
#: what renaming a folder says if there is something under the new name
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}


class Placement:
    """Where a folder goes that is being written, and whether it is there: asked of the system.

    Whatever interrupts a renaming, `is_out` tells the truth afterwards.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._part: os.stat_result | None = None

    def expect(self, part: Path) -> None:
        """Remember the finished folder that is renamed next."""
        self._part = part.stat()

    def is_out(self) -> bool:
        """Whether it was renamed."""
        try:
            return self._part is not None and os.path.samestat(self._part, self.folder.stat())
        except OSError:
            return False


@contextmanager
def part_of(folder: Path) -> Generator[Path]:
    """Make a folder beside the place, and remove it at last: it is gone already if it was renamed.

    A file beside it is locked as long as its maker lives: a folder cannot be locked everywhere.
    """
    lock, opened = make_locked(folder.parent, _PREFIX, _LOCK)
    part = lock.with_suffix(_SUFFIX)
    try:
        part.mkdir(0o700)
        yield part
    finally:
        _remove_tree(part)
        remove(lock)
        os.close(opened)


def remove_leftovers(folder: Path) -> None:
    """Remove parts whose maker is dead, and bring back what a killed run was about to replace."""
    for left in folder.parent.glob(f"{_PREFIX}*"):
        if left.suffix in {_SUFFIX, _LOCK}:
            lock = left.with_suffix(_LOCK)
            with abandoned(lock) as dead:
                if dead:
                    _remove_tree(left.with_suffix(_SUFFIX))
                    remove(lock)
    old = _old(folder)
    if old.is_dir():
        if folder.exists():
            _remove_tree(old)
        else:
            old.rename(folder)


def _remove_tree(folder: Path) -> None:
    """Remove a folder of ours, if that can be done."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        # if `rmtree` is interrupted, it closes a file twice, and fails of that instead
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is not None:
            raise KeyboardInterrupt from None


def _old(folder: Path) -> Path:
    return folder.with_name(f"{_PREFIX}{folder.name}.old")


def put_in_place(part: Path, placement: Placement, *, overwrite: bool) -> None:
    """Put the finished folder in its place; of two at once, one wins."""
    folder = placement.folder
    placement.expect(part)
    try:
        if overwrite and folder.exists():
            if not swap_folders(part, folder):
                _replace(part, folder)
        else:
            part.rename(folder)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        msg = f"{folder} was made by somebody else in the meantime; this release was not written"
        raise WriteError(msg) from None
    if not placement.is_out():  # the system did something else than it said
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def _replace(part: Path, folder: Path) -> None:
    """Replace a folder in two steps; whatever stops the second takes the first back."""
    old = _old(folder)
    try:
        folder.rename(old)
        part.rename(folder)
    except BaseException:
        if not folder.exists():
            old.rename(folder)
        raise
    with suppress(OSError):
        old.rename(part)  # which is removed at last, as it is after a swap
