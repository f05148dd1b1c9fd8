"""Score files: what was measured, for the owner's eyes only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hedgerow.errors import GuaranteeError, ReadError
from hedgerow.io.files import read_bytes, write_file
from hedgerow.score import Score

__all__ = ["Scores", "check_apart", "read_scores", "write_scores"]


class Scores(msgspec.Struct, frozen=True):
    """The content of a score file."""

    scope: str
    kind: str
    method: str
    guarantee: dict[str, str]
    scores: tuple[Score, ...]


def check_apart(path: Path, folder: Path) -> None:
    """Refuse to put scores into a release: they are functions of the private data."""
    if path.resolve().is_relative_to(folder.resolve()):
        msg = (
            f"{path} is inside the release, and scores are for the owner only; "
            "write them somewhere else"
        )
        raise GuaranteeError(msg)


def write_scores(
    path: Path, scores: Sequence[Score], *, kind: str, method: str, guarantee: dict[str, str]
) -> None:
    """Write a score file that only its owner may read."""
    held = Scores("for the owner only", kind, method, guarantee, tuple(scores))
    write_file(path, msgspec.json.format(msgspec.json.encode(held)) + b"\n", private=True)


def read_scores(path: Path) -> Scores:
    """Read a score file."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Scores)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        msg = f"{path} is not a score file; hedgerow evaluate writes one"
        raise ReadError(msg) from None
