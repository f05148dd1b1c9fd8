"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hedgerow.kind_registry import KINDS, find_kind
from hedgerow.promises import list_options

if TYPE_CHECKING:  # a command imports what it needs when it runs
    from hedgerow.jobs.recipe import Reading

Command = TypeVar("Command", bound=Callable[..., Any])
trusted_option = click.option("--trusted", is_flag=True, help="Allow any size: the maker of the folder is trusted.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


def parse_pairs(what: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Read texts such as `name=value`."""
    named: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            msg = f"{what} takes name=value; got {text!r}"
            raise click.UsageError(msg)
        named[name.strip()] = value
    return named


def typed_after(option: str) -> str | None:
    """The word after an option on the command line; help is shown before options are parsed."""
    words = [word for text in sys.argv[1:] for word in text.split("=", 1)]
    return words[words.index(option) + 1] if option in words[:-1] else None


class ReadingCommand(click.Command):
    """A command that reads data; its help lists the kinds or, with --kind, how data of that kind is read."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help below the options."""
        del ctx
        kind = typed_after("--kind")
        if kind is None:
            with formatter.section("Kinds of data (--kind KIND --help lists the columns and reading options of one)"):
                formatter.write_dl([(row.name, row.summary) for row in KINDS.values()])
            return
        from hedgerow.formats.options import COMMON_OPTIONS

        codec = find_kind(kind).module("files").CODEC
        if codec.columns:
            with formatter.section(f"Columns of {kind} (--columns ROLE=NAME)"):
                formatter.write_dl(list(codec.columns.items()))
        with formatter.section(f"Reading options of {kind} (--read NAME=VALUE)"):
            formatter.write_dl(list({**codec.options, **COMMON_OPTIONS, **codec.options}.items()))
        with formatter.section(f"Formats of {kind} (--format NAME)"):
            formatter.write_dl([(name, ", ".join(f".{end}" for end in f.endings)) for name, f in codec.formats.items()])


def reading_options(command: Command) -> Command:
    """Add the options for reading data; the command must be a `ReadingCommand`."""
    options = [
        click.option("--kind", metavar="KIND", help=f"The kind of the data: {', '.join(KINDS)}."),
        click.option("--format", "form", metavar="NAME", help="The format of the file; by default its ending tells."),
        click.option(
            "--columns", "columns", multiple=True, metavar="ROLE=NAME,...", help="The name of the column of each role."
        ),
        click.option(
            "--read",
            "read_options",
            multiple=True,
            metavar="NAME=VALUE",
            help="A reading option, such as on_bad=drop; repeatable.",
        ),
        click.option("--schema", type=click.Path(), help="The schema file (TOML) of nested records."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def promise_options(command: Command) -> Command:
    """Add the options of all promises."""
    for name, option in reversed(list_options().items()):
        sentence = f"{option.help[0].upper()}{option.help[1:]}."
        command = click.option(f"--{name}", name, multiple=option.repeated, help=sentence)(command)
    return command


def select_promise(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are options of a promise."""
    options = {name: option for name, option in list_options().items() if arguments[name] not in {None, ()}}
    return {name: list(arguments[name]) if option.repeated else arguments[name] for name, option in options.items()}


def parse_columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Read `role=name,role=name`."""
    return parse_pairs("--columns", tuple(part for text in texts for part in text.split(",")))


def read_against(arguments: dict[str, Any]) -> Reading:
    """How the private data is read that a release is compared with: `--against` and the reading options."""
    from hedgerow.jobs.recipe import Reading

    return Reading(
        data=arguments["against"],
        kind=arguments["kind"] or "",
        format=arguments["form"],
        columns=parse_columns(arguments["columns"]),
        read=parse_pairs("--read", arguments["read_options"]),
        schema=arguments["schema"],
    )


@contextmanager
def show_progress() -> Generator[None]:
    """Show a progress bar on a terminal; print nothing in a pipe."""
    stderr = sys.stderr
    if not stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from hedgerow import progress

    text = TextColumn("{task.description}")
    columns = (SpinnerColumn(), text, BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def listen(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        with progress.listening(listen):
            yield
