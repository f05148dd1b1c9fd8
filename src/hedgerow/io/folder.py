"""The release folder: written aside, read again and verified there, then renamed into place."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hedgerow.errors import InternalError, NotSatisfied, ParameterError, ReadError, WriteError
from hedgerow.io.codec import codec_of, explain
from hedgerow.io.files import (
    Ending,
    ending_of,
    pack,
    reason,
    sync_folder,
    umask,
    write_all,
)
from hedgerow.io.opening import RELEASE, SIGNATURE, STATEMENT, names_of, open_folder, read_json
from hedgerow.io.placement import Placement, part_of, put_in_place, remove_leftovers
from hedgerow.io.signing import sign
from hedgerow.release import Release
from hedgerow.statement import File

__all__ = [
    "Layout",
    "check_free",
    "open_folder",
    "read_release",
    "write_folder",
    "write_release",
]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Layout(NamedTuple):
    """How the data of a release is written: as its input was."""

    format: str
    ending: Ending
    columns: Mapping[str, str] = _NOTHING

    @classmethod
    def like(cls, path: Path, form: str | None, *, kind: str, columns: Mapping[str, str] = _NOTHING) -> Layout:
        """Lay out as that file is; of its name only an ending we know is taken over."""
        ending, codec = ending_of(path), codec_of(kind)
        name = codec.format_name(form, ending)
        known = codec.formats[name].endings
        if ending.form not in known:
            ending = Ending(known[0], ending.compression)
        return cls(name, ending, columns)

    @classmethod
    def plain(cls, kind: str) -> Layout:
        """Lay out in the first format of a kind: what is published beside the data has no input."""
        name, form = next(iter(codec_of(kind).formats.items()))
        return cls(name, Ending(form.endings[0], ""))

    def name(self, output: str) -> str:
        """The name of the file of an output."""
        return f"data.{output}.{self.ending}" if output else f"data.{self.ending}"


def check_free(folder: Path, *, overwrite: bool) -> None:
    """Refuse a place that is taken, before any work is done; only a release may be replaced."""
    if not folder.name or not folder.parent.is_dir():
        msg = f"{folder} cannot be made: there is no folder {folder.parent}; create it first"
        raise ParameterError(msg)
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        msg = f"{folder} cannot be made: no permission to write in {folder.parent}"
        raise WriteError(msg)
    if not os.path.lexists(folder):
        return
    if not overwrite:
        msg = f"{folder} is there already; choose another name, or pass --overwrite"
        raise ParameterError(msg)
    if not _is_release(folder):
        msg = f"{folder} is there and is not just a release of ours; it will not be replaced"
        raise ParameterError(msg)


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a release and nothing else."""
    if folder.is_symlink() or not (folder / RELEASE).is_file():
        return False
    try:
        written = read_json(folder, trusted=True)
    except ReadError:
        return False
    return {path.name for path in folder.iterdir()} <= names_of(written)


def write_release(
    release: Release[Any],
    folder: str | Path,
    *,
    like: str | Path,
    columns: Mapping[str, str] = _NOTHING,
    overwrite: bool = False,
) -> Path:
    """Write a release folder, all or nothing.

    Parameters
    ----------
    folder
        Where; it must not exist, unless `overwrite` says that a release may be replaced.
    like
        A name of a file whose ending says how the data is written: `baskets.csv.gz`.
    columns
        The names of the columns by role, where they are not the roles' own.
    """
    layout = Layout.like(Path(like), None, kind=release.kind, columns=columns)
    return write_folder(release, Path(folder), layout, overwrite=overwrite)


def read_release(folder: str | Path, *, trusted: bool = False) -> Release[Any]:
    """Read a release folder with the public reader, and check its promise again.

    Parameters
    ----------
    trusted
        Whether it may take as much memory and time as it asks for; else that is bounded by a
        multiple of what was sent.
    """
    return open_folder(Path(folder), trusted=trusted)[0]


def write_folder(
    release: Release[Any],
    folder: Path,
    layout: Layout,
    *,
    overwrite: bool = False,
    placement: Placement | None = None,
    ready: Callable[[Path], None] | None = None,
    key: Any = None,
) -> Path:
    """Write a release folder in a layout, signed if there is a key.

    It is written beside its place under another name, readable by its owner only, read again by the
    public reader, compared, verified, and renamed. What earlier runs left behind when they were
    killed is removed first.

    Parameters
    ----------
    placement
        Knows afterwards, whatever happened, if the folder has its name.
    ready
        Called with the finished folder, just before it gets its name; if it fails, it gets none.

    Returns
    -------
    The folder.
    """
    placement = placement or Placement(folder)
    try:
        remove_leftovers(folder)
        check_free(folder, overwrite=overwrite)
        with part_of(folder) as part:
            files, digests = _write(release, part, layout, key)
            _verify(release, part, files, digests)
            part.chmod(0o777 & ~umask())
            sync_folder(part)
            if overwrite:  # what is there may have become something else
                check_free(folder, overwrite=True)
            if ready is not None:
                ready(part)
            put_in_place(part, placement, overwrite=overwrite)
            sync_folder(folder.parent)
    except OSError as error:
        if placement.is_out():
            msg = f"{folder} is complete, but may not outlast a power cut ({reason(error)})"
        else:
            msg = f"{folder} could not be written ({reason(error)}); nothing was published"
        raise WriteError(msg) from None
    return folder


def _write(release: Release[Any], part: Path, layout: Layout, key: Any) -> tuple[list[File], list[bytes]]:
    """Write data, release and statement; return the files of the data, and a digest of what each unpacks to."""
    files: list[File] = []
    digests: list[bytes] = []
    for name, data in release.outputs.items():
        codec, own = codec_of(data.kind), layout if data.kind == release.kind else Layout.plain(data.kind)
        columns = {role: own.columns.get(role, role) for role in codec.written}
        content = codec.write(data, own.format, columns)
        digests.append(sha256(content).digest())
        packed, place = pack(content, own.ending.compression), own.name(name)
        _write_file(part / place, packed)
        hashed = sha256(packed).hexdigest()
        files.append(File(name, data.kind, place, hashed, own.format, columns, codec.reread(data)))
    reading = explain(files)
    written = release.to_json(files, reading)
    _write_file(part / RELEASE, written)
    if key is not None:
        _write_file(part / SIGNATURE, sign(key, written))
    _write_file(part / STATEMENT, release.statement(reading).encode())
    return files, digests


def _verify(release: Release[Any], part: Path, files: list[File], digests: list[bytes]) -> None:
    """Read the folder as a receiver would: the same data, the same promise, still kept."""
    again, _ = open_folder(part, trusted=True)
    for file, digest in zip(files, digests, strict=True):
        rewritten = codec_of(file.kind).write(again.outputs[file.data], file.format, file.columns)
        if sha256(rewritten).digest() != digest:
            msg = f"the data in {file.file} does not come back as it was written"
            raise InternalError(msg)
    reading = explain(files)
    if again.guarantee != release.guarantee or again.to_json(files, reading) != release.to_json(files, reading):
        msg = f"{RELEASE} does not come back as it was written"
        raise InternalError(msg)
    if not again.verdict.satisfied:
        msg = f"the written data does not keep {release.guarantee.name}; nothing was published"
        raise NotSatisfied(msg)


def _write_file(path: Path, content: bytes) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(opened, content)
    finally:
        os.close(opened)
