"""Run the command line: `python -m hedgerow`, and the command `hedgerow`."""

import os
import sys

__all__ = ["main"]

_INTERRUPTED, _STDERR = 130, 2


def main() -> None:
    """Run the command line; an interrupt is one line even while the rest is being loaded."""
    _keep_stderr()
    try:
        from hedgerow.cli.app import main as run  # noqa: PLC0415 - it may take a moment

        run()
    except KeyboardInterrupt:
        sys.stderr.write("hedgerow: interrupted\n")
        sys.exit(_INTERRUPTED)


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
