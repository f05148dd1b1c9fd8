"""hedgerow describe: show what is read from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import ReadingCommand, json_option, parse_columns, parse_pairs, reading_options, show_progress
from hedgerow.kind_registry import KINDS

if TYPE_CHECKING:  # a command imports what it needs when it runs
    from hedgerow.data import Dataset


@click.command("describe", cls=ReadingCommand)
@click.argument("data", type=click.Path())
@reading_options
@click.option(
    "--domain", type=click.Path(), help="Domain file (TOML) with the values that exist; by default those in the data."
)
@click.option("--draft-domain", type=click.Path(), help="Write a draft of the domain file, for you to check.")
@json_option
def command(data: str, *, as_json: bool, **arguments: Any) -> None:
    """Show what is read from DATA, before publishing. For the owner only."""
    from hedgerow import progress
    from hedgerow.jobs.reading import read_data
    from hedgerow.jobs.recipe import Reading
    from hedgerow.measures.describe import describe

    if arguments["kind"] is None:
        msg = f"--kind is missing; choose --kind {' or '.join(KINDS)}"
        raise click.UsageError(msg)
    reading = Reading(
        data=data,
        kind=arguments["kind"],
        format=arguments["form"],
        columns=parse_columns(arguments["columns"]),
        read=parse_pairs("--read", arguments["read_options"]),
        schema=arguments["schema"],
        domain=arguments["domain"],
    )
    with show_progress(), progress.counting() as counts:
        data_set = read_data(reading)
        facts = {**describe(data_set), **counts}
    if arguments["draft_domain"]:
        _draft(Path(arguments["draft_domain"]), data_set)
        facts["draft of the domain"] = arguments["draft_domain"]
    width = max(map(len, facts))
    lines = [f"{name:{width}}  {_format(value)}" for name, value in facts.items()]
    text = ["For the owner only: every line is about the private data.", "", *lines]
    emit({"scope": "for the owner only", **facts}, text, as_json=as_json)


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,}" for name, number in cast("dict[str, Any]", value).items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _draft(path: Path, data: Dataset) -> None:
    from hedgerow.formats.domains import draft_domain
    from hedgerow.formats.files import write_file

    if path.exists():
        msg = f"{path} exists already; a draft does not replace it"
        raise click.UsageError(msg)
    write_file(path, draft_domain(data.domain).encode(), private=True)
