"""A system that fails: the n-th call that opens, writes, locks, renames or removes gives an error."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import io
import os
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

#: what a publication asks of the system; nothing of ours is replaced
CALLS = [
    (os, "open"),
    (os, "write"),
    (os, "fsync"),
    (os, "rename"),
    (os, "replace"),
    (os, "mkdir"),
    (os, "rmdir"),
    (os, "unlink"),
    (os, "chmod"),
    (os, "fchmod"),
    (os, "fchown"),
    (fcntl, "flock"),
    (io, "open"),
]


class System:
    """Counts calls, and fails at one of them: before it is done, or (`late`) after."""

    def __init__(self, fail_at: int = 0, error: int = errno.EIO, *, late: bool = False) -> None:
        self.calls: list[str] = []
        self.fail_at = fail_at
        self.error = error
        self.late = late

    def watch(self, name, call):
        def watched(*given, **named):
            self.calls.append(name)
            if len(self.calls) != self.fail_at:
                return call(*given, **named)
            if self.late:
                call(*given, **named)
            elif name == "write":
                call(given[0], given[1][: len(given[1]) // 2])  # a disk fills in the middle
            raise OSError(self.error, os.strerror(self.error))

        return watched

    def watch_exchange(self, library):
        """Watch the one call that does not go through Python's `os`."""
        watched = self.watch("exchange", library.renameat2)

        def renameat2(*given):
            try:
                return watched(*given)
            except OSError:
                return -1

        return renameat2


@contextmanager
def faulty(system: System, *, without_exchange: bool = False):
    """Let everything within go through such a system."""
    library = ctypes.CDLL(None, use_errno=True)

    class Library:
        renameat2 = None if without_exchange else staticmethod(system.watch_exchange(library))

    with ExitStack() as stack:
        for home, name in CALLS:
            call = getattr(home, name)
            stack.enter_context(patch.object(home, name, system.watch(name, call)))
        stack.enter_context(patch.object(ctypes, "CDLL", lambda *_, **__: Library))
        yield system
