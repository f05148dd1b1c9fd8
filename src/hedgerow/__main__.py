"""Run the command line: `python -m hedgerow`, and the command `hedgerow`."""

import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; an interrupt is one line even while the rest is being loaded."""
    try:
        from hedgerow.cli.app import main as run  # noqa: PLC0415 - it may take a moment

        run()
    except KeyboardInterrupt:
        sys.stderr.write("hedgerow: interrupted\n")
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
