"""Score files: what was measured on a release; for the owner only."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from hedgerow.errors import GuaranteeError, InputError, ParameterError, ReadError
from hedgerow.io.files import read_bytes, write_file
from hedgerow.release import Manifest
from hedgerow.score import Score

__all__ = ["Scores", "check_owners_file", "read_scores", "write_scores"]


class Scores(msgspec.Struct, frozen=True):
    """The content of a score file."""

    scope: str
    kind: str
    method: str
    guarantee: dict[str, Any]
    #: the SHA-256 of each data file of the release
    files: tuple[str, ...]
    scores: tuple[Score, ...]

    def is_of(self, release: Manifest) -> bool:
        """Whether these scores were measured on this release, and not on another by the same method and promise."""
        return replace(self, scores=()) == _about(release)


def check_owners_file(path: Path, inputs: Sequence[Path], is_ours: Callable[[Path], object]) -> None:
    """Refuse to write a file of the owner into a release, or over a file of another type."""
    if not path.parent.is_dir():
        msg = f"{path} cannot be written: there is no folder {path.parent}; create it first"
        raise ParameterError(msg)
    place = Path(os.path.realpath(path))  # unlike Path.resolve, it accepts a link to itself
    if any((folder / "release.json").exists() for folder in place.parents):
        msg = f"{path} is inside a release folder, which has the files of the release only; write it somewhere else"
        raise GuaranteeError(msg)
    if any(place == Path(os.path.realpath(other)) for other in inputs):
        msg = f"{path} is read by this command; write to another file"
        raise ParameterError(msg)
    if path.exists():
        try:
            ours = is_ours(path)
        except InputError:
            ours = False
        if not ours:
            msg = f"{path} exists already and is another type of file; it is not replaced"
            raise ParameterError(msg)


def write_scores(path: Path, scores: Sequence[Score], release: Manifest) -> None:
    """Write a score file that only its owner may read."""
    content = replace(_about(release), scores=tuple(scores))
    write_file(path, msgspec.json.format(msgspec.json.encode(content)) + b"\n", private=True)


def read_scores(path: Path) -> Scores:
    """Read a score file."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Scores)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        msg = f"{path} is not a score file; hedgerow evaluate writes one"
        raise ReadError(msg) from None


def _about(release: Manifest) -> Scores:
    files = tuple(file.sha256 for file in release.files)
    return Scores("for the owner only", release.kind, release.method, release.guarantee, files, ())
