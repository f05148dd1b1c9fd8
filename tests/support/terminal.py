"""The command line as a user sees it: what is printed, and the exit code."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import sys
import warnings
from typing import NamedTuple

# imported before any test registers a toy: the options of a command are those of the promises at its first import
from hedgerow.cli.app import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(line: str | list[str], folder) -> Ran:
    """Run a command in this process, in a folder."""
    words = shlex.split(line) if isinstance(line, str) else line
    out, err = io.StringIO(), io.StringIO()
    before, argv = os.getcwd(), sys.argv  # noqa: PTH109 - the old place is put back
    shown = warnings.showwarning
    code = 0
    try:
        os.chdir(folder)
        sys.argv = ["hedgerow", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        os.chdir(before)
        sys.argv = argv
        warnings.showwarning = shown
    return Ran(code, out.getvalue(), err.getvalue())


def hear_interrupts() -> None:
    """Let a new process hear signals that its own starter ignores, as a shell in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
