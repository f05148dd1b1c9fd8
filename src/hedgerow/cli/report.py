"""hedgerow report: one page about releases."""

from __future__ import annotations

from pathlib import Path

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, show_progress, trusted_option


@click.command("report")
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option(
    "--scores",
    multiple=True,
    type=click.Path(),
    help="The score file of each release, in order; the page is then for the owner only. Repeatable.",
)
@click.option("--html", required=True, type=click.Path(), help="The file to write the page to.")
@trusted_option
@json_option
def command(folders: tuple[str, ...], scores: tuple[str, ...], html: str, *, trusted: bool, as_json: bool) -> None:
    """Make one self-contained page about the releases in FOLDERS."""
    from hedgerow.jobs.report import run_report

    with show_progress():
        paths = [Path(folder) for folder in folders]
        run_report(paths, [Path(file) for file in scores], Path(html), trusted=trusted)
    scope = "for the owner only" if scores else "public"
    emit({"html": html, "scope": scope}, [f"Written to {html} ({scope})."], as_json=as_json)
