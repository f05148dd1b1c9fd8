"""Folders that appear completely or not at all: written under a temporary name, renamed in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from hedgerow.errors import WriteError
from hedgerow.formats.locks import abandoned, make_locked, remove

_PREFIX, _SUFFIX, _LOCK = ".hedgerow-", ".part", ".lock"
#: the errors of renaming if something with the new name exists
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}


class Placement:
    """The place of a folder that is being written, and whether it was renamed to it.

    `is_out` asks the file system, so it is right whatever interrupted the renaming.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._expected: os.stat_result | None = None

    @property
    def name(self) -> str:
        """What an account calls the place."""
        return os.path.abspath(self.folder)  # noqa: PTH100 - keeps links

    def expect(self, part: Path) -> None:
        """Remember the finished folder that will be renamed next."""
        self._expected = part.stat()

    def is_out(self) -> bool:
        """Whether the expected folder is in its place."""
        try:
            return self._expected is not None and os.path.samestat(self._expected, self.folder.stat())
        except OSError:
            return False


@contextmanager
def temporary_folder(folder: Path) -> Generator[Path]:
    """Make a temporary folder next to the place, and remove it in the end, unless it was renamed.

    A file next to it is locked while its maker lives, because not every system can lock a folder.
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
    """Remove temporary folders of killed runs, and restore a folder that a killed run was about to replace."""
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
    """Remove a folder of ours, if possible."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        # if `rmtree` is interrupted, it closes a file twice and raises that error instead
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is not None:
            raise KeyboardInterrupt from None


def _old(folder: Path) -> Path:
    return folder.with_name(f"{_PREFIX}{folder.name}.old")


def put_in_place(part: Path, placement: Placement, *, overwrite: bool) -> None:
    """Rename the finished folder to its place; of two runs at once, one wins."""
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
        msg = f"{folder} was created by another process in the meantime; this release was not written"
        raise WriteError(msg) from None
    if not placement.is_out():  # the system reported success without renaming
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def _replace(part: Path, folder: Path) -> None:
    """Replace a folder in two steps; if the second fails, the first is undone."""
    old = _old(folder)
    try:
        folder.rename(old)
        part.rename(folder)
    except BaseException:
        if not folder.exists():
            old.rename(folder)
        raise
    with suppress(OSError):
        old.rename(part)  # the temporary folder is removed in the end, as after a swap


# Swap two folders in one step, where the system can: both names exist at every moment.

_HERE = -100
_EXCHANGE = 2


def swap_folders(one: Path, other: Path) -> bool:
    """Swap two folders; return whether the system could. If not, nothing was changed."""
    name = "renamex_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        return function(first, second, _EXCHANGE) == 0
    return function(_HERE, first, _HERE, second, _EXCHANGE) == 0
