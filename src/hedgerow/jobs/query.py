"""Count queries on a release folder: conditions in, an estimate with its interval out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hedgerow import progress
from hedgerow.releases.reader import open_folder
from hedgerow.score import CountEstimate


def run_query(folder: Path, where: Sequence[str], *, count: str = "record", trusted: bool = False) -> CountEstimate:
    """Estimate a count from the release in a folder."""
    progress.tell("reading the release")
    release, _ = open_folder(folder, trusted=trusted)
    progress.tell("counting")
    return release.query(where, count=count)
