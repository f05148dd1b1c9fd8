"""hedgerow report: one page."""

from __future__ import annotations

from pathlib import Path

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, shown

__all__ = ["command"]


@click.command("report")
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option(
    "--scores",
    multiple=True,
    type=click.Path(),
    help="Scores of each release, in order; the page is then for the owner only.",
)
@click.option("--html", required=True, type=click.Path(), help="Where the page goes.")
@json_option
def command(folders: tuple[str, ...], scores: tuple[str, ...], html: str, *, as_json: bool) -> None:
    """Make one self-contained page of the releases in FOLDERS."""
    from hedgerow import progress  # noqa: PLC0415
    from hedgerow.io.files import write_file  # noqa: PLC0415
    from hedgerow.io.folder import read_release  # noqa: PLC0415
    from hedgerow.io.scores import check_apart, read_scores  # noqa: PLC0415
    from hedgerow.report import report  # noqa: PLC0415

    if scores:
        for folder in folders:
            check_apart(Path(html), Path(folder))
    with shown():
        progress.tell("reading")
        releases = [(folder, read_release(folder)) for folder in folders]
        measured = [read_scores(Path(held)).scores for held in scores]
        progress.tell("drawing")
        page = report(releases, measured)
    write_file(Path(html), page.encode(), private=bool(scores))
    scope = "for the owner only" if scores else "public"
    emit({"html": html, "scope": scope}, f"Written to {html} ({scope}).", as_json=as_json)
