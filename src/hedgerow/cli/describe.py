"""hedgerow describe: what will be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import ReadingCommand, columns_given, json_option, pairs, reading_options, shown
from hedgerow.kinds import KINDS

__all__ = ["command"]


@click.command("describe", cls=ReadingCommand)
@click.argument("data", type=click.Path())
@reading_options
@click.option("--domain", type=click.Path(), help="Declared values (TOML); else those seen.")
@click.option("--draft-domain", type=click.Path(), help="Write a domain file for you to check.")
@json_option
def command(data: str, *, as_json: bool, **given: Any) -> None:
    """Say what will be read from DATA and how it looks. For the owner only."""
    from hedgerow import progress  # noqa: PLC0415
    from hedgerow.jobs.reading import read_data  # noqa: PLC0415
    from hedgerow.jobs.recipe import Reading  # noqa: PLC0415
    from hedgerow.measures.describe import describe  # noqa: PLC0415

    if given["kind"] is None:
        msg = f"say what the data is: --kind {' or '.join(KINDS)}"
        raise click.UsageError(msg)
    reading = Reading(
        data=data,
        kind=given["kind"],
        format=given["form"],
        columns=columns_given(given["columns"]),
        read=pairs("--read", given["read_options"]),
        domain=given["domain"],
    )
    with shown(), progress.counting() as counts:
        read = read_data(reading)
        facts = {**describe(read), **counts}
    if given["draft_domain"]:
        _draft(Path(given["draft_domain"]), read)
        facts["draft of the domain"] = given["draft_domain"]
    width = max(map(len, facts))
    lines = [f"{name:{width}}  {_shown(value)}" for name, value in facts.items()]
    said = ["For the owner only: every line is about the private data.", "", *lines]
    emit({"scope": "for the owner only", **facts}, said, as_json=as_json)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,}" for name, number in cast("dict[str, Any]", value).items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _draft(path: Path, data: Any) -> None:
    from hedgerow.io.domains import draft_domain  # noqa: PLC0415
    from hedgerow.io.files import write_file  # noqa: PLC0415

    if path.exists():
        msg = f"{path} is there already; a draft does not replace it"
        raise click.UsageError(msg)
    write_file(path, draft_domain(data.domain).encode(), private=True)
