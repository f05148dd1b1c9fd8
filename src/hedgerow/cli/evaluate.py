"""hedgerow evaluate: what a release kept and lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    ReadingCommand,
    columns_given,
    json_option,
    pairs,
    reading_options,
    shown,
    trusted_option,
)

__all__ = ["command"]


@click.command("evaluate", cls=ReadingCommand)
@click.argument("folder", type=click.Path())
@click.option("--against", required=True, type=click.Path(), help="The private data.")
@click.option("--scores", required=True, type=click.Path(), help="Where the scores go.")
@reading_options
@click.option("--seed", type=click.IntRange(min=0), help="Makes the workloads repeatable.")
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **given: Any) -> None:
    """Compare the release in FOLDER with the data it was made of. For the owner only."""
    import msgspec  # noqa: PLC0415

    from hedgerow.jobs.evaluate import run_evaluation  # noqa: PLC0415
    from hedgerow.jobs.recipe import Reading  # noqa: PLC0415

    reading = Reading(
        data=given["against"],
        kind=given["kind"] or "",
        format=given["form"],
        columns=columns_given(given["columns"]),
        read=pairs("--read", given["read_options"]),
    )
    with shown():
        scores = run_evaluation(
            Path(folder),
            reading,
            Path(given["scores"]),
            seed=given["seed"],
            trusted=given["trusted"],
        )
    # what only makes up a picture is not read line by line
    told = [score for score in scores if not score.chart or score.better != "neither"]
    lines = ["For the owner only: no promise covers these figures.", "", *map(str, told)]
    if len(told) < len(scores):
        lines += ["", f"{len(scores) - len(told)} more make up the pictures of `hedgerow report`."]
    document = {"scope": "for the owner only", "scores": msgspec.to_builtins(scores)}
    emit(document, [*lines, "", f"Written to {given['scores']}."], as_json=as_json)
