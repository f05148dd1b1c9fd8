"""Evaluate a release: the release and its private data in, scores for the owner out."""

from __future__ import annotations

from pathlib import Path

from hedgerow import progress
from hedgerow.data import Source
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.io.read import read
from hedgerow.io.release_writer import open_folder
from hedgerow.io.scores import check_owners_file, read_scores, write_scores
from hedgerow.jobs.reading import options_of
from hedgerow.jobs.recipe import Reading
from hedgerow.score import Score

__all__ = ["run_evaluation"]


def run_evaluation(
    folder: Path,
    reading: Reading,
    scores: Path,
    *,
    seed: int | None = None,
    trusted: bool = False,
) -> list[Score]:
    """Compare a release with the data it was made from, and write the scores."""
    check_owners_file(scores, [Path(reading.data)], read_scores)
    progress.tell("reading the release")
    release, document = open_folder(folder, trusted=trusted)
    if reading.kind not in {"", document.kind}:
        msg = f"{folder} is a release of {document.kind}; got --kind {reading.kind!r}"
        raise ParameterError(msg)
    progress.tell("reading the data")
    original = read(
        reading.data,
        kind=document.kind,
        domain=None if release.domain.source is Source.INFERRED else release.domain,
        format=reading.format,
        columns=reading.columns,
        options=options_of(reading, release.guarantee.columns),
    )
    progress.tell("measuring")
    measured = evaluate(release, original, seed=seed)
    write_scores(scores, measured, kind=document.kind, method=document.method, guarantee=document.guarantee)
    return measured
