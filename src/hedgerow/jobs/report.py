"""A report: releases in, and scores if there are any; one page out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.io.files import read_bytes, write_file
from hedgerow.io.folder import open_folder
from hedgerow.io.scores import check_owners_file, read_scores
from hedgerow.report import report

__all__ = ["run_report"]


def run_report(folders: Sequence[Path], scores: Sequence[Path], html: Path, *, trusted: bool = False) -> None:
    """Draw one page of releases; with scores it is for the owner only."""
    inputs = [*scores, *(folder / "release.json" for folder in folders)]
    check_owners_file(html, inputs, _is_page)
    progress.tell("reading")
    opened = [open_folder(folder, trusted=trusted) for folder in folders]
    measured = [read_scores(path) for path in scores]
    for (_, written), path, score in zip(opened, scores, measured, strict=False):
        if (score.method, score.guarantee) != (written.method, written.guarantee):
            msg = f"{path} was measured on another release; give the scores in the same order"
            raise ParameterError(msg)
    progress.tell("drawing")
    names = [f"{n}. {folder.name}" for n, folder in enumerate(folders, start=1)]
    pages = [(name, release) for name, (release, _) in zip(names, opened, strict=True)]
    page = report(pages, [score.scores for score in measured])
    write_file(html, page.encode(), private=bool(scores))


def _is_page(path: Path) -> bool:
    return b"Made by Hedgerow" in read_bytes(path)
