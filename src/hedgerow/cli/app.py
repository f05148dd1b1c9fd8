"""The command `hedgerow`: its commands, its errors and its exit codes.

Nothing heavy is imported here: `hedgerow --help` answers at once.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NoReturn

import click

from hedgerow.cli import printing
from hedgerow.cli.printing import for_terminal, printable, say
from hedgerow.errors import INTERRUPTED, HedgerowError, WriteError
from hedgerow.progress import Outcome, outcome, register_outcome

__all__ = ["app", "emit", "main"]

#: the commands in the order they are used, with what each is for
COMMANDS = {
    "methods": "What exists: kind, guarantee, unit, parameters, paper.",
    "describe": "What will be read and how it looks; for the owner only.",
    "publish": "Turn private data into a release.",
    "evaluate": "Measure what a release kept and lost; for the owner only.",
    "report": "Make one page, offline, of one or more releases.",
    "verify": "Check a release, or a file, independently: 0 satisfied, 3 not.",
    "account": "What was spent on a data set, and on what; for the owner only.",
    "demo": "The main job on built-in data, in under a minute.",
}

_USAGE, _ENGINE, _OURS = 2, 4, 70
#: set by a shell that wants to know how a line could go on
_COMPLETE = "_HEDGEROW_COMPLETE"


class _Commands(click.Group):
    """Finds a command's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"hedgerow.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="hedgerow", message="hedgerow %(version)s")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Publish rich data, not the people in it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line; every way out has its code, and an error is one line."""
    warnings.showwarning = _warn
    register_outcome(Outcome)  # nothing has become of anything yet
    try:
        sys.exit(_run())
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except BrokenPipeError:  # whoever read our help has seen enough
        _drop_output()
        sys.exit(0)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every way out is one line, a library's panic too
        _leave(*_explain(error), error)


def _run() -> int:
    """Run a command; unlike `app.main`, leave all errors and a closed pipe to us."""
    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415 - seldom needed

        return shell_complete(app, {}, "hedgerow", _COMPLETE, instruction)
    with app.make_context("hedgerow", sys.argv[1:]) as context:
        app.invoke(context)
    return 0


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Show our warnings in one line; what libraries warn of is for developers."""
    if issubclass(category, UserWarning):
        _tell(f"warning: {message}")


def _explain(error: BaseException) -> tuple[str, int]:  # noqa: PLR0911 - one a way out
    """Say what is wrong, and which exit code that has."""
    match error:
        case click.ClickException():
            return error.format_message(), _USAGE
        case HedgerowError() if error.exit_code != _OURS:
            return str(error), error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return "interrupted", INTERRUPTED
        case MemoryError():
            return "there is not enough memory for this data", _ENGINE
        case OSError():
            return f"the system refused: {os.strerror(error.errno or 5).lower()}", _ENGINE
        case ValueError() if "null byte" in str(error):
            return "the name of a file holds a zero byte", _USAGE
        case UnicodeEncodeError():
            return "the name of a file is not UTF-8 text; rename it", _USAGE
        case RuntimeError() if "Symlink loop" in str(error):
            return "the name of a file is a link that leads to itself", _USAGE
        case _:
            return _place(error), _OURS


def _leave(message: str, code: int, error: BaseException) -> NoReturn:
    """Say what is wrong in one line, and what went out before; with --json also as a document."""
    became = outcome()
    nothing = "nothing went out" if code == INTERRUPTED else ""
    said = (message, became.published or nothing, became.charged)
    line = printable(" ".join("; ".join(filter(None, said)).split()))
    if code == INTERRUPTED and became.published:
        _redirect_output()  # it was being printed: that may not go on, or not end
    elif "--json" in sys.argv:
        report = {"kind": type(error).__name__, "message": line, "exit_code": code}
        with suppress(WriteError):  # the line below and the code are left
            _print(printing.as_json({"error": report}, indent=-1))
    _drop_output()
    _tell(line)
    sys.exit(code)


def _place(error: BaseException) -> str:
    """Name the line a bug of ours shows itself at: no values, no locals."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}hedgerow{os.sep}" in frame.filename]
    at = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    version = metadata.version("hedgerow")
    return f"a bug of ours ({type(error).__name__} at {at}, version {version}); please report it"


def emit(document: Any, text: str | Sequence[str], *, as_json: bool) -> None:
    """Print a result: one JSON document and nothing else, or a text, or lines, for people.

    Lines may hold text of a file; a text of one's own may have line breaks.
    """
    _print(printing.as_json(document) if as_json else for_terminal(text, sys.stdout))


def _print(text: str) -> None:
    """Write to the standard output. That nobody reads it any more changes no exit code."""
    try:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - it was closed
            raise OSError(errno.EBADF, "")  # noqa: TRY301
        # a library that hears Ctrl-C before us lets a full pipe block on
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003
        click.echo(text)
    except BrokenPipeError:
        _drop_output()
        if said := "; ".join(filter(None, outcome())):
            _tell(said)
    except OSError as error:
        msg = f"the result could not be printed ({os.strerror(error.errno or 5).lower()})"
        raise WriteError(msg) from None


def _tell(line: str) -> None:
    """Write one line to the standard error; if that is not there, the exit code is left."""
    with suppress(OSError):
        say([f"hedgerow: {line}"], err=True)


def _drop_output() -> None:
    """Send what could not be printed nowhere, or Python would try and fail once more at its end."""
    try:
        sys.stdout.flush()
    except AttributeError:  # there is no standard output
        pass
    except OSError:
        _redirect_output()


def _redirect_output() -> None:
    with suppress(OSError, AttributeError):
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
