"""hedgerow attack: how much of the original an attacker recovers from a release."""

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


@click.command("attack", cls=ReadingCommand)
@click.argument("folder", type=click.Path())
@click.option("--against", required=True, type=click.Path(), help="The private data that the release was made from.")
@click.option(
    "--scores",
    required=True,
    type=click.Path(),
    help="The file to write the scores to, or to add them to if evaluate wrote it; for the owner only.",
)
@click.option(
    "--known",
    type=click.IntRange(min=1),
    help="How many original rows the attacker knows; default twice the number of columns.",
)
@reading_options
@click.option("--seed", type=click.IntRange(min=0), help="Let the attacker know the same rows with the same seed.")
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **arguments: Any) -> None:
    """Attack the release in FOLDER in all known ways, and compare with the private data. For the owner only."""
    import msgspec

    from hedgerow.jobs.evaluate import run_attack

    with show_progress():
        scores = run_attack(
            Path(folder),
            read_against(arguments),
            Path(arguments["scores"]),
            seed=arguments["seed"],
            known=arguments["known"],
            trusted=arguments["trusted"],
        )
    lines = ["For the owner only: what attackers recover from this release.", "", *map(str, scores)]
    document = {"scope": "for the owner only", "scores": msgspec.to_builtins(scores)}
    emit(document, [*lines, "", f"Written to {arguments['scores']}."], as_json=as_json)
