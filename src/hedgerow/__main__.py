"""The entry point of the command line: `python -m hedgerow`, and the command `hedgerow`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from hedgerow.errors import INTERRUPTED

_STDERR = 2
#: the signals that are treated like Ctrl-C
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command line; an interrupt at any moment prints one line."""
    _on_signals(signal.default_int_handler)
    try:
        _fill_closed_streams()
        _keep_stderr()
        from hedgerow.cli.app import main as run  # noqa: PLC0415 - interrupts are handled while it loads

        run()
    except SystemExit as end:
        _on_signals(signal.SIG_IGN)  # all output is written
        if end.code == INTERRUPTED:
            _end_interrupted()
        raise
    except KeyboardInterrupt:  # while modules are loaded, or while an error is printed
        _on_signals(signal.SIG_IGN)
        from hedgerow.progress import outcome  # noqa: PLC0415

        result = outcome()
        sentences = ("interrupted", result.published or "nothing was published", result.charged)
        with suppress(OSError):  # it may be closed
            sys.stderr.write(f"hedgerow: {'; '.join(filter(None, sentences))}\n")
        _end_interrupted()


def _end_interrupted() -> NoReturn:
    """Exit at once with our code: Python would end by a signal if one came while a library was loaded."""
    os._exit(INTERRUPTED)


def _on_signals(action: Callable[..., Any] | signal.Handlers) -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, action)


def _fill_closed_streams() -> None:
    """Open standard streams that are closed: otherwise the next file we open would get their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - stays open


def _keep_stderr() -> None:
    """Let only us write to standard error.

    If the core of a library panics over a damaged file, it prints to descriptor 2, bypassing Python, from any of its
    threads. It also raises an error, which we print in one line.
    """
    try:
        own, null = os.dup(_STDERR), os.open(os.devnull, os.O_WRONLY)
        sys.stderr = os.fdopen(own, "w", 1, sys.stderr.encoding, "backslashreplace")
        os.dup2(null, _STDERR)
        os.close(null)
    except (OSError, AttributeError):
        pass  # it is closed, so nothing can be shown


if __name__ == "__main__":
    main()
