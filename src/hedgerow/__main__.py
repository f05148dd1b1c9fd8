"""Run the command line: `python -m hedgerow`, and the command `hedgerow`."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from hedgerow.errors import INTERRUPTED

__all__ = ["main"]

_STDERR = 2
#: whoever ends us by one of these is answered like whoever presses Ctrl-C
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command line; an interrupt is one line at every moment."""
    _on_signals(signal.default_int_handler)
    try:
        _fill_closed_streams()
        _keep_stderr()
        from hedgerow.cli.app import main as run  # noqa: PLC0415 - it may take a moment

        run()
    except SystemExit as end:
        _on_signals(signal.SIG_IGN)  # it is over, and everything was said
        if end.code == INTERRUPTED:
            _end_interrupted()
        raise
    except KeyboardInterrupt:  # while something is loaded, or while the end is told
        _on_signals(signal.SIG_IGN)
        from hedgerow.progress import outcome  # noqa: PLC0415

        became = outcome()
        said = ("interrupted", became.published or "nothing went out", became.charged)
        with suppress(OSError):  # somebody may have closed it
            sys.stderr.write(f"hedgerow: {'; '.join(filter(None, said))}\n")
        _end_interrupted()


def _end_interrupted() -> NoReturn:
    """End at once, with our code: Python ends by a signal if one came while a library loaded."""
    os._exit(INTERRUPTED)


def _on_signals(action: Callable[..., Any] | signal.Handlers) -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, action)


def _fill_closed_streams() -> None:
    """Open what was closed, or the next file we write would be taken for the standard output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - till the end


def _keep_stderr() -> None:
    """Let nobody but us write to standard error.

    A library whose core panics over a damaged file prints that to descriptor 2, past Python, from
    any of its threads; it reports it as well, and we say it in one line.
    """
    try:
        own, nowhere = os.dup(_STDERR), os.open(os.devnull, os.O_WRONLY)
        sys.stderr = os.fdopen(own, "w", 1, sys.stderr.encoding, "backslashreplace")
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)
    except (OSError, AttributeError):
        pass  # it is closed: nothing is shown anyway


if __name__ == "__main__":
    main()
