"""hedgerow merge-weights: one network of the files of several owners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, parse_columns, parse_pairs, show_progress, trusted_option


@click.command("merge-weights")
@click.argument("places", nargs=-1, required=True, type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="The file to write; it must not exist.")
@click.option("--format", "form", metavar="NAME", help="The format of files; by default their endings tell.")
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=NAME,...",
    help="The name of the column of each role, such as weight=minutes, in files that are read and in the one written.",
)
@click.option(
    "--read",
    "read_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A reading option of files, such as directed=yes; repeatable.",
)
@trusted_option
@json_option
def command(places: tuple[str, ...], out: str, *, as_json: bool, **arguments: Any) -> None:
    """Merge PLACES, release folders or files of several owners of one network, by gaussian-weights with owner=one.

    An edge without direction must be in exactly two of them, and gets the mean of its two weights, as if one program
    had drawn for both ends. An edge with a direction must be in exactly one. Anything else is refused.
    """
    from hedgerow.jobs.merge import run_merge

    with show_progress():
        edges = run_merge(
            [Path(place) for place in places],
            Path(out),
            form=arguments["form"],
            columns=parse_columns(arguments["columns"]),
            options=parse_pairs("--read", arguments["read_options"]),
            trusted=arguments["trusted"],
        )
    document = {"merged": len(places), "edges": edges, "out": out}
    text = f"Merged {len(places)} files into {out}: {edges:,} edges.\n\nNothing is promised of its weights."
    emit(document, text, as_json=as_json)
