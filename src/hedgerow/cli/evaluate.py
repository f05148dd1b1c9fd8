"""hedgerow evaluate: measure what a release kept and lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    ReadingCommand,
    json_option,
    read_against,
    reading_options,
    show_progress,
    trusted_option,
)


@click.command("evaluate", cls=ReadingCommand)
@click.argument("folder", type=click.Path())
@click.option("--against", required=True, type=click.Path(), help="The private data that the release was made from.")
@click.option("--scores", required=True, type=click.Path(), help="The file to write the scores to; for the owner only.")
@reading_options
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same workloads with the same seed.")
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **arguments: Any) -> None:
    """Compare the release in FOLDER with the private data. For the owner only."""
    import msgspec

    from hedgerow.jobs.evaluate import run_evaluation

    with show_progress():
        scores = run_evaluation(
            Path(folder),
            read_against(arguments),
            Path(arguments["scores"]),
            seed=arguments["seed"],
            trusted=arguments["trusted"],
        )
    # scores that only make up a chart are not listed
    listed = [score for score in scores if not score.chart or score.better != "neither"]
    lines = ["For the owner only: no promise covers these figures.", "", *map(str, listed)]
    if len(listed) < len(scores):
        lines += ["", f"{len(scores) - len(listed)} more scores are drawn as charts by `hedgerow report`."]
    document = {"scope": "for the owner only", "scores": msgspec.to_builtins(scores)}
    emit(document, [*lines, "", f"Written to {arguments['scores']}."], as_json=as_json)
