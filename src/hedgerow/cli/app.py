"""The command `hedgerow`: its commands, its errors and its exit codes.

Nothing heavy is imported here, so that `hedgerow --help` is fast.
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

#: the commands in order of use, with a short help for each
COMMANDS = {
    "methods": "List the methods: kind of data, guarantee, unit, parameters, paper.",
    "describe": "Show what is read from a file, before publishing; for the owner only.",
    "schema": "Draft the schema file of nested records, for you to complete; for the owner only.",
    "publish": "Turn private data into a release.",
    "evaluate": "Measure what a release kept and lost; for the owner only.",
    "attack": "Recover the original from a release, as an attacker would; for the owner only.",
    "query": "Estimate counts by conditions, or inner products, from a release.",
    "answer": "The inner products of query, under their older name.",
    "merge-weights": "Merge what several owners of one network published into one file.",
    "report": "Make one self-contained page about one or more releases.",
    "verify": "Check the promise of a release or file; exit code 0 if satisfied, 3 if not.",
    "account": "List the epsilon spent on a data set, or create an account; for the owner only.",
    "demo": "Publish, evaluate and report on built-in data, in under a minute.",
}
_USAGE, _ENGINE, _OURS = 2, 4, 70
#: set by a shell to ask for completions
_COMPLETE = "_HEDGEROW_COMPLETE"


class _Commands(click.Group):
    """Imports the module of a command on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"hedgerow.cli.{cmd_name.replace('-', '_')}").command

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
    """Run the command line; every way to end has an exit code, and an error is one line."""
    warnings.showwarning = _warn
    register_outcome(Outcome)  # nothing has become of anything yet
    try:
        sys.exit(_run())
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except BrokenPipeError:  # the reader of our help closed the pipe
        _drop_output()
        sys.exit(0)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every error is one line, also a panic of a library
        _exit(*_explain(error), error)


def _run() -> int:
    """Run a command; unlike `app.main`, do not handle errors or a closed pipe."""
    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "hedgerow", _COMPLETE, instruction)
    with app.make_context("hedgerow", sys.argv[1:]) as context:
        app.invoke(context)
    return 0


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print our warnings in one line; those of libraries are for developers."""
    if issubclass(category, UserWarning):
        _tell(f"warning: {message}")


def _explain(error: BaseException) -> tuple[str, int]:  # noqa: PLR0911 - one per exit code
    """Return the message and the exit code of an error."""
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
            return f"the system reported an error: {os.strerror(error.errno or 5).lower()}", _ENGINE
        case ValueError() if "null byte" in str(error):
            return "a file name contains a zero byte; rename the file", _USAGE
        case UnicodeEncodeError():
            return "a file name is not UTF-8 text; rename the file", _USAGE
        case RuntimeError() if "Symlink loop" in str(error):
            return "a file name is a link that leads to itself", _USAGE
        case _:
            return _bug_report(error), _OURS


def _exit(message: str, code: int, error: BaseException) -> NoReturn:
    """Print the error in one line, with what was published before; with --json also as a document."""
    result = outcome()
    nothing = "nothing was published" if code == INTERRUPTED else ""
    sentences = (message, result.published or nothing, result.charged)
    line = printable(" ".join("; ".join(filter(None, sentences)).split()))
    if code == INTERRUPTED and result.published:
        _redirect_output()  # the result was being printed, which may never end
    elif "--json" in sys.argv:
        report = {"kind": type(error).__name__, "message": line, "exit_code": code}
        with suppress(WriteError):  # the line on standard error and the exit code remain
            _print(printing.as_json({"error": report}, indent=-1))
    _drop_output()
    _tell(line)
    sys.exit(code)


def _bug_report(error: BaseException) -> str:
    """Name the line of our code where a bug appeared, without any values."""
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).parents[1]  # by its folder: others may be called hedgerow as well
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(package)]
    at = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    version = metadata.version("hedgerow")
    return f"a bug in Hedgerow ({type(error).__name__} at {at}, version {version}); please report it"


def emit(document: Any, text: str | Sequence[str], *, as_json: bool) -> None:
    """Print a result: one JSON document and nothing else, or a text or lines for people.

    Pass lines if they may contain text from a file; a text may have line breaks of our own.
    """
    _print(printing.as_json(document) if as_json else for_terminal(text, sys.stdout))


def _print(text: str) -> None:
    """Write to standard output; a closed pipe does not change the exit code."""
    try:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - it was closed
            raise OSError(errno.EBADF, "")  # noqa: TRY301
        # a library may catch Ctrl-C first and leave us blocked on a full pipe
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003
        click.echo(text)
    except BrokenPipeError:
        _drop_output()
        if sentences := "; ".join(filter(None, outcome())):
            _tell(sentences)
    except OSError as error:
        msg = f"the result could not be printed ({os.strerror(error.errno or 5).lower()})"
        raise WriteError(msg) from None


def _tell(line: str) -> None:
    """Write one line to standard error; if that fails, the exit code remains."""
    with suppress(OSError):
        say([f"hedgerow: {line}"], err=True)


def _drop_output() -> None:
    """Discard what could not be printed: otherwise Python would try again at exit, and fail."""
    try:
        sys.stdout.flush()
    except AttributeError:  # standard output is closed
        pass
    except OSError:
        _redirect_output()


def _redirect_output() -> None:
    with suppress(OSError, AttributeError):
        number = sys.stdout.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
