"""The release folder: written aside, read again and verified there, then renamed into place."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from hedgerow.data import Dataset, Domain
from hedgerow.errors import InternalError, NotSatisfied, ParameterError, ReadError, WriteError
from hedgerow.io.files import (
    Ending,
    ending_of,
    pack,
    read_bytes,
    reason,
    sync_folder,
    umask,
    write_all,
)
from hedgerow.io.placement import Placement, part_of, put_in_place, remove_leftovers
from hedgerow.io.read import FORMATS, any_kind, format_of, read
from hedgerow.release import Release, Written
from hedgerow.statement import File

__all__ = [
    "Layout",
    "check_free",
    "open_folder",
    "read_release",
    "write_folder",
    "write_release",
]

_RELEASE, _STATEMENT = "release.json", "STATEMENT.md"
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Layout(NamedTuple):
    """How the data of a release is written: as its input was."""

    format: str
    ending: Ending
    columns: Mapping[str, str] = _NOTHING

    @classmethod
    def like(cls, path: Path, form: str | None, columns: Mapping[str, str] = _NOTHING) -> Layout:
        """Lay out as that file is; of its name only an ending we know is taken over."""
        ending = ending_of(path)
        name, _ = format_of(form, ending)
        known = FORMATS[name][1]
        if ending.form not in known:
            ending = Ending(known[0], ending.compression)
        return cls(name, ending, columns)

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
    if folder.is_symlink() or not (folder / _RELEASE).is_file():
        return False
    try:
        held = _written(folder)
    except ReadError:
        return False
    names = {_RELEASE, _STATEMENT, *(file.file for file in held.files)}
    return {path.name for path in folder.iterdir()} <= names


def write_release(
    release: Release,
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
    layout = Layout.like(Path(like), None, columns)
    return write_folder(release, Path(folder), layout, overwrite=overwrite)


def read_release(folder: str | Path) -> Release:
    """Read a release folder with the public reader, and check its promise again."""
    return open_folder(Path(folder))[0]


def write_folder(
    release: Release,
    folder: Path,
    layout: Layout,
    *,
    overwrite: bool = False,
    placement: Placement | None = None,
    ready: Callable[[Path], None] | None = None,
) -> Path:
    """Write a release folder in a layout.

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
            contents, files = _write(release, part, layout)
            _verify(release, part, contents, files)
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


def open_folder(folder: Path) -> tuple[Release, Written]:
    """Read a release folder: the release, and what its `release.json` says."""
    if not (folder / _RELEASE).is_file():
        msg = f"{folder} is not a release: it holds no {_RELEASE}"
        raise ReadError(msg)
    held = _written(folder)
    try:
        domain = Domain.from_plain(held.domain)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        msg = f"{folder / _RELEASE} is not what Hedgerow writes; it was changed or damaged"
        raise ReadError(msg) from None
    if len({file.data for file in held.files}) < len(held.files):
        msg = f"{folder / _RELEASE} names one data set twice; it was changed or damaged"
        raise ReadError(msg)
    outputs = {file.data: _read_output(folder, file, domain) for file in held.files}
    if not outputs:
        msg = f"{folder / _RELEASE} names no data"
        raise ReadError(msg)
    domain = domain or next(iter(outputs.values())).domain
    return Release.restored(held, domain, outputs), held


def _written(folder: Path) -> Written:
    try:
        return msgspec.json.decode(read_bytes(folder / _RELEASE), type=Written)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        msg = f"{folder / _RELEASE} is not what Hedgerow writes; it was changed or damaged"
        raise ReadError(msg) from None


def _read_output(folder: Path, file: File, domain: Domain | None) -> Dataset:
    if Path(file.file).name != file.file or not file.file.startswith("data."):
        msg = f"{folder / _RELEASE} names a file outside the release"
        raise ReadError(msg)
    if (folder / file.file).is_symlink():
        msg = f"{folder / file.file} is a link; a release holds its data itself"
        raise ReadError(msg)
    return read(
        folder / file.file,
        kind=file.kind,
        domain=domain,
        format=file.format,
        columns=file.columns,
        options=file.options,
    ).canonical()


def _write(release: Release, part: Path, layout: Layout) -> tuple[dict[str, bytes], list[File]]:
    """Write data, release and statement; return what was written, and the files of the data."""
    contents: dict[str, bytes] = {}
    files: list[File] = []
    for name, data in release.outputs.items():
        kind = any_kind(data.kind)
        held = layout if not kind.format else Layout(kind.format, Ending(kind.format, ""))
        columns = {role: held.columns.get(role, role) for role in kind.roles}
        _, form = format_of(held.format, held.ending)
        contents[name] = form.write(kind.rows(data), columns)
        _write_file(part / held.name(name), pack(contents[name], held.ending.compression))
        written = {role: columns[role] for role in kind.written}
        again = kind.again(data)
        files.append(File(name, data.kind, held.name(name), held.format, written, again))
    _write_file(part / _RELEASE, release.to_json(files))
    _write_file(part / _STATEMENT, release.statement(files).encode())
    return contents, files


def _verify(release: Release, part: Path, contents: Mapping[str, bytes], files: list[File]) -> None:
    """Read the folder as a receiver would: the same data, the same promise, still kept."""
    again, _ = open_folder(part)
    for file in files:
        rows = any_kind(file.kind).rows
        _, form = format_of(file.format, Ending("", ""))
        if form.write(rows(again.outputs[file.data]), file.columns) != contents[file.data]:
            msg = f"the data in {file.file} does not come back as it was written"
            raise InternalError(msg)
    if again.guarantee != release.guarantee or again.to_json(files) != release.to_json(files):
        msg = f"{_RELEASE} does not come back as it was written"
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
