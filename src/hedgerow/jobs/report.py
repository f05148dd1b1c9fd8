"""Report on releases: release folders and optional scores in, one page out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.formats.files import read_bytes, write_file
from hedgerow.releases.owner_files import check_owners_file, read_scores
from hedgerow.releases.reader import open_folder
from hedgerow.report import report


def run_report(folders: Sequence[Path], scores: Sequence[Path], html: Path, *, trusted: bool = False) -> None:
    """Write one page about releases; with scores it is for the owner only."""
    inputs = [*scores, *(folder / "release.json" for folder in folders)]
    check_owners_file(html, inputs, _is_page)
    progress.tell("reading the releases")
    opened = [open_folder(folder, trusted=trusted) for folder in folders]
    measured = [read_scores(path) for path in scores]
    for (_, document), path, score in zip(opened, scores, measured, strict=False):
        if not score.is_of(document):
            msg = f"{path} belongs to another release; give the scores in the order of the releases"
            raise ParameterError(msg)
    progress.tell("drawing the report")
    names = [f"{n}. {folder.name}" for n, folder in enumerate(folders, start=1)]
    releases = [(name, release) for name, (release, _) in zip(names, opened, strict=True)]
    page = report(releases, [score.scores for score in measured])
    write_file(html, page.encode(), private=bool(scores))


def _is_page(path: Path) -> bool:
    return b"Made by Hedgerow" in read_bytes(path)
