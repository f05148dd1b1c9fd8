"""Publish to a pipe: rows go to standard output as they come, and the statement to standard error before the first.

A pipe cannot be taken back. There is no folder that appears in the end, and nothing is read again: every row is
published when it is written. The promise holds row by row, since a method charges its whole budget to the ledger before
its first row; nothing is charged if the stream ends before anything is due. As for a folder, the account is charged
before the first question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hedgerow.errors import InternalError, ParameterError, WriteError
from hedgerow.formats.codec import codec_of, explain
from hedgerow.formats.files import reason
from hedgerow.jobs.recipe import Job
from hedgerow.release import Release
from hedgerow.releases.atomic_folder import Placement
from hedgerow.releases.writer import Layout
from hedgerow.statement import File

#: the name of the folder that means standard output
PIPE = "-"


class Pipe(NamedTuple):
    """Where rows go, and who is told the statement before the first of them."""

    out: BinaryIO
    announce: Callable[[str], None]


class PipePlacement(Placement):
    """Whether rows were written to the pipe."""

    def __init__(self) -> None:
        super().__init__(Path(PIPE))
        self.written = False

    @property
    def name(self) -> str:
        """The name that means standard output: there is no such file."""
        return PIPE

    def is_out(self) -> bool:
        """Whether anything was published."""
        return self.written


def require_pipe(job: Job) -> None:
    """Refuse a kind that is not written as it comes, and options that need a folder."""
    if not codec_of(job.kind).in_parts:
        msg = f"only streams are published to a pipe; name a folder for {job.kind} with --out"
        raise ParameterError(msg)
    if job.sign or job.overwrite:
        msg = "a pipe has no folder to sign or to overwrite; omit --sign and --overwrite, or name a folder with --out"
        raise ParameterError(msg)


def write_to_pipe(release: Release[Any], layout: Layout, placement: PipePlacement, pipe: Pipe) -> None:
    """Write the rows of a release as they come; a reader may close the pipe when it has enough."""
    codec = codec_of(release.kind)
    parts = codec.write_parts(release.data, layout.format, {})
    first = [next(parts), next(parts, b"")]  # the header, and the first rows: the whole budget is charged now
    _require_charged(release, rows=bool(first[1]))
    options = codec.reread_options(release.data, layout.format)
    file = File("", release.kind, "standard output", "", layout.format, {}, options)
    pipe.announce(release.statement(explain([file], in_folder=False)))
    placement.written = True
    try:
        for part in _all(first, parts):
            pipe.out.write(part)
            pipe.out.flush()
    except BrokenPipeError:
        return
    except OSError as error:
        msg = f"the pipe could not be written ({reason(error)})"
        raise WriteError(msg) from None


def _all(first: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield b"".join(first)
    yield from rest


def _require_charged(release: Release[Any], *, rows: bool) -> None:
    budget, total = release.guarantee.budget, release.evidence.total()
    if budget is None or (total != budget and (rows or total != 0)):
        msg = f"{release.recipe.method} has not charged its whole budget before its first row"
        raise InternalError(msg)
