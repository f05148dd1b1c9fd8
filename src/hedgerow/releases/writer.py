"""Write release folders: under a temporary name, read again and verified there, then renamed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hedgerow.errors import InternalError, NotSatisfied, ParameterError, ReadError, WriteError
from hedgerow.formats.codec import codec_of, explain
from hedgerow.formats.files import Ending, ending_of, hash_parts, reason, sync_folder, umask, write_all
from hedgerow.formats.packing import libraries_of, pack
from hedgerow.release import Release
from hedgerow.releases.atomic_folder import Placement, put_in_place, remove_leftovers, temporary_folder
from hedgerow.releases.reader import RELEASE, SIGNATURE, STATEMENT, allowed_names, open_folder, read_manifest
from hedgerow.releases.signing import sign
from hedgerow.statement import File

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Layout(NamedTuple):
    """How the data of a release is written: its format, file ending and column names."""

    format: str
    ending: Ending
    columns: Mapping[str, str] = _NOTHING

    @classmethod
    def like(cls, path: Path, form: str | None, *, kind: str, columns: Mapping[str, str] = _NOTHING) -> Layout:
        """The layout of that input file; of its name only a known ending is used."""
        ending, codec = ending_of(path), codec_of(kind)
        name = codec.format_name(form, ending)
        if codec.formats[name].written_as:
            name, ending = codec.formats[name].written_as, Ending("", "")
        known = codec.formats[name].endings
        if ending.form not in known:
            ending = Ending(known[0], ending.compression)
        return cls(name, ending, columns)

    @classmethod
    def plain(cls, kind: str) -> Layout:
        """The first format of a kind, for what is published next to the data and has no input file."""
        name, form = next(iter(codec_of(kind).formats.items()))
        return cls(name, Ending(form.endings[0], ""))

    def file_name(self, output: str) -> str:
        """The name of the file of an output."""
        return f"data.{output}.{self.ending}" if output else f"data.{self.ending}"


def check_free(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that exists, before any work is done; only a release may be replaced."""
    if not folder.name or not folder.parent.is_dir():
        msg = f"{folder} cannot be created: there is no folder {folder.parent}; create it first"
        raise ParameterError(msg)
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        msg = f"{folder} cannot be created: no permission to write in {folder.parent}"
        raise WriteError(msg)
    if not os.path.lexists(folder):
        return
    if not overwrite:
        msg = f"{folder} exists already; choose another name, or pass --overwrite"
        raise ParameterError(msg)
    if not _is_release(folder):
        msg = f"{folder} exists and holds something other than a release of Hedgerow; it is not replaced"
        raise ParameterError(msg)


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a release and nothing else."""
    if folder.is_symlink() or not (folder / RELEASE).is_file():
        return False
    try:
        document = read_manifest(folder, trusted=True)
    except ReadError:
        return False
    return {path.name for path in folder.iterdir()} <= allowed_names(document)


def write_release(
    release: Release[Any],
    folder: str | Path,
    *,
    like: str | Path,
    columns: Mapping[str, str] = _NOTHING,
    overwrite: bool = False,
) -> Path:
    """Write a release folder, completely or not at all.

    Parameters
    ----------
    folder
        The folder to create; it must not exist, unless `overwrite` allows to replace a release.
    like
        A file name whose ending tells how the data is written: `baskets.csv.gz`.
    columns
        The name of the column of each role, where it differs from the role.
    """
    layout = Layout.like(Path(like), None, kind=release.kind, columns=columns)
    return write_folder(release, Path(folder), layout, overwrite=overwrite)


def read_release(folder: str | Path, *, trusted: bool = False) -> Release[Any]:
    """Read a release folder as a receiver does, and check its promise again.

    Parameters
    ----------
    trusted
        Whether reading may take any amount of memory and time; otherwise both are bounded by a multiple of the size
        of the folder.
    """
    return open_folder(Path(folder), trusted=trusted)[0]


def write_folder(
    release: Release[Any],
    folder: Path,
    layout: Layout,
    *,
    overwrite: bool = False,
    placement: Placement | None = None,
    before_renaming: Callable[[Path], None] | None = None,
    key: Any = None,
) -> Path:
    """Write a release folder in a layout, signed if there is a key.

    It is written under a temporary name next to its place, readable by its owner only; then it is read with the public
    reader, compared, verified and renamed. Leftovers of killed runs are removed first.

    Parameters
    ----------
    placement
        Knows afterwards, whatever happened, whether the folder is in its place.
    before_renaming
        Called with the finished folder just before it is renamed; if it fails, the folder is not renamed.

    Returns
    -------
    The folder.
    """
    placement = placement or Placement(folder)
    try:
        remove_leftovers(folder)
        check_free(folder, overwrite=overwrite)
        with temporary_folder(folder) as temporary:
            files, digests = _write(release, temporary, layout, key)
            _verify(release, temporary, files, digests)
            temporary.chmod(0o777 & ~umask())
            sync_folder(temporary)
            if overwrite:  # the folder may have changed in the meantime
                check_free(folder, overwrite=True)
            if before_renaming is not None:
                before_renaming(temporary)
            put_in_place(temporary, placement, overwrite=overwrite)
            sync_folder(folder.parent)
    except OSError as error:
        if placement.is_out():
            msg = f"{folder} is complete, but may not survive a power cut ({reason(error)})"
        else:
            msg = f"{folder} could not be written ({reason(error)}); nothing was published"
        raise WriteError(msg) from None
    return folder


def _write(release: Release[Any], folder: Path, layout: Layout, key: Any) -> tuple[list[File], list[bytes]]:
    """Write data, `release.json` and statement; return the data files, and a digest of the unpacked content of each."""
    files: list[File] = []
    digests: list[bytes] = []
    for name, data in release.outputs.items():
        codec, own = codec_of(data.kind), layout if data.kind == release.kind else Layout.plain(data.kind)
        columns = codec.name_columns(data, own.format, own.columns)
        compression, file_name = own.ending.compression, own.file_name(name)
        packed = pack(data, own.format, columns, compression)
        _write_file(folder / file_name, packed.parts)
        digests.append(packed.content.digest())
        options, libraries = codec.reread_options(data, own.format), libraries_of(data.kind, own.format, compression)
        sha = packed.digest.hexdigest()
        files.append(File(name, data.kind, file_name, sha, own.format, columns, options, libraries))
    reading = explain(files)
    document = release.to_json(files, reading)
    _write_file(folder / RELEASE, [document])
    if key is not None:
        _write_file(folder / SIGNATURE, [sign(key, document)])
    _write_file(folder / STATEMENT, [release.statement(reading).encode()])
    return files, digests


def _verify(release: Release[Any], folder: Path, files: list[File], digests: list[bytes]) -> None:
    """Read the folder as a receiver would, and check that data and promise are the same and the promise is kept."""
    received, _ = open_folder(folder, trusted=True)
    for file, digest in zip(files, digests, strict=True):
        rewritten = codec_of(file.kind).write_parts(received.outputs[file.data], file.format, file.columns)
        if hash_parts(rewritten).digest() != digest:
            msg = f"{file.file} is not read back as it was written"
            raise InternalError(msg)
    reading = explain(files)
    if received.guarantee != release.guarantee or received.to_json(files, reading) != release.to_json(files, reading):
        msg = f"{RELEASE} is not read back as it was written"
        raise InternalError(msg)
    if not received.verdict.satisfied:
        msg = f"the written data does not keep {release.guarantee.name}; nothing was published"
        raise NotSatisfied(msg)


def _write_file(path: Path, content: Iterable[bytes]) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(opened, content)
    finally:
        os.close(opened)
