"""hedgerow evaluate: what a release kept and lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import columns_given, json_option, pairs, reading_options, shown

__all__ = ["command"]


@click.command("evaluate")
@click.argument("folder", type=click.Path())
@click.option("--against", required=True, type=click.Path(), help="The private data.")
@click.option("--scores", required=True, type=click.Path(), help="Where the scores go.")
@reading_options
@click.option("--seed", type=int, help="Makes the workloads repeatable.")
@json_option
def command(folder: str, *, as_json: bool, **given: Any) -> None:
    """Compare the release in FOLDER with the data it was made of. For the owner only."""
    import msgspec  # noqa: PLC0415

    from hedgerow import progress  # noqa: PLC0415
    from hedgerow.evaluate import evaluate  # noqa: PLC0415
    from hedgerow.io.folder import open_folder  # noqa: PLC0415
    from hedgerow.io.read import read  # noqa: PLC0415
    from hedgerow.io.scores import check_apart, write_scores  # noqa: PLC0415

    path = Path(given["scores"])
    check_apart(path, Path(folder))
    with shown():
        progress.tell("reading the release")
        release, held = open_folder(Path(folder))
        progress.tell("reading the data")
        original = read(
            given["against"],
            kind=held.kind,
            domain=release.domain,
            format=given["form"],
            columns=columns_given(given["columns"]),
            options=pairs("--read", given["read_options"]),
        )
        progress.tell("measuring")
        scores = evaluate(release, original, seed=given["seed"])
    write_scores(path, scores, kind=held.kind, method=held.method, guarantee=held.guarantee)
    lines = ["For the owner only: no promise covers these figures.", "", *map(str, scores)]
    document = {"scope": "for the owner only", "scores": msgspec.to_builtins(scores)}
    emit(document, "\n".join([*lines, "", f"Written to {path}."]), as_json=as_json)
