"""Evaluate or attack a release: the release and its private data in, scores for the owner out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hedgerow import progress
from hedgerow.data import Dataset, Source
from hedgerow.errors import ParameterError
from hedgerow.evaluate import attack, evaluate
from hedgerow.jobs.reading import options_of
from hedgerow.jobs.recipe import Reading
from hedgerow.reading import read
from hedgerow.release import Manifest, Release
from hedgerow.releases.owner_files import check_owners_file, read_scores, write_scores
from hedgerow.releases.reader import open_folder
from hedgerow.score import ATTACK, Score


def run_evaluation(
    folder: Path,
    reading: Reading,
    scores: Path,
    *,
    seed: int | None = None,
    trusted: bool = False,
) -> list[Score]:
    """Compare a release with the data it was made from, and write the scores; those of attacks on it are kept."""
    release, original, document = _open(folder, reading, scores, trusted=trusted)
    progress.tell("measuring")
    measured = evaluate(release, original, seed=seed)
    attacked = [score for score in _scores_before(scores, document) if score.name.startswith(ATTACK)]
    write_scores(scores, [*measured, *attacked], document)
    return measured


def run_attack(
    folder: Path,
    reading: Reading,
    scores: Path,
    *,
    seed: int | None = None,
    known: int | None = None,
    trusted: bool = False,
) -> list[Score]:
    """Attack a release, and write how much was recovered; what was measured of the same release before is kept."""
    release, original, document = _open(folder, reading, scores, trusted=trusted)
    progress.tell("attacking")
    recovered = attack(release, original, seed=seed, known=known)
    measured = [score for score in _scores_before(scores, document) if not score.name.startswith(ATTACK)]
    write_scores(scores, [*measured, *recovered], document)
    return recovered


def _scores_before(path: Path, document: Manifest) -> tuple[Score, ...]:
    """What was measured of the same release before; a file about another release is replaced."""
    before = read_scores(path) if path.exists() else None
    return before.scores if before is not None and before.is_of(document) else ()


def _open(folder: Path, reading: Reading, scores: Path, *, trusted: bool) -> tuple[Release[Any], Dataset, Manifest]:
    """Read a release, and the data it was made from; refuse a file for scores that must not be written."""
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
    return release, original, document
