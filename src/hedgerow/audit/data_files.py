"""Check that the data files of a release hold their data, in the order that says nothing, and no other byte.

The bytes of a data file are a function of its content and of the libraries that packed it (`io/packing.py`). So the
data is written again: if that gives the file, there is nothing else in it. If not, the content is compared without its
packing, and the file is searched for what no version of a library writes. What is left cannot be told from what another
version of a library would have written: the check is not possible here.
"""

from __future__ import annotations

import io
import zipfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.data import Dataset
from hedgerow.io.codec import codec_of
from hedgerow.io.files import UNLIMITED, ending_of, hash_parts, is_plainly_compressed, read_bytes, read_chunks
from hedgerow.io.packing import libraries_of, pack
from hedgerow.io.parquet import read_table
from hedgerow.io.parquet_pages import describe_foreign
from hedgerow.release import Manifest, Release
from hedgerow.statement import File

__all__ = ["check_data_files"]

#: by itself it does not determine the bytes: systems build it with changes, under the same version
_BUILT_DIFFERENTLY = "zlib"


class _Comparison(NamedTuple):
    """Whether a file has the content that we write, and nothing else; None if that cannot be told, and why."""

    same: bool
    alone: bool | None = True
    why: str = ""


def check_data_files(folder: Path, release: Release[Any], manifest: Manifest, order: str) -> dict[str, bool | None]:
    """Compare the data files with what we write for their data; `order` is the name of the check of the content."""
    compared = {file.file: _compare(folder / file.file, release.outputs[file.data], file) for file in manifest.files}
    checks: dict[str, bool | None] = {order: all(each.same for each in compared.values())}
    others = {
        f"{name} holds nothing but its data: {each.why}": each.alone for name, each in compared.items() if each.why
    }
    return checks | (others or {"the files hold nothing but the data": checks[order]})


def _compare(path: Path, data: Dataset, file: File) -> _Comparison:
    compression = ending_of(path).compression
    packed = pack(data, file.format, file.columns, compression)
    deque(packed.parts, maxlen=0)  # take them all, keep none
    if packed.digest.hexdigest() == file.sha256:  # which was compared with the file before
        return _Comparison(same=True)
    if not is_plainly_compressed(path):
        return _Comparison(same=True, alone=False, why="it has a head or a part that Hedgerow does not write")
    # it was read before, within its limit
    if packed.content.digest() != hash_parts(read_chunks(path, most=UNLIMITED)).digest():
        if file.format not in _COMPARED:
            return _Comparison(same=False)
        ours, theirs = codec_of(data.kind).write(data, file.format, file.columns), read_bytes(path, most=UNLIMITED)
        same, foreign = _COMPARED[file.format](theirs, ours)
        if not same or foreign:
            return _Comparison(same, alone=False, why=foreign)
    return _judge(file, libraries_of(file.kind, file.format, compression))


def _judge(file: File, here: dict[str, str]) -> _Comparison:
    """Judge a file of which only the packing is not ours: another version of a library may have written it."""
    by, own = (", ".join(f"{name} {version}" for name, version in each.items()) for each in (file.written_by, here))
    if file.written_by != here:
        why = f"it was written by {by}, and what is here, {own}, writes other bytes: verify it with those versions"
        return _Comparison(same=True, alone=None, why=why)
    if _BUILT_DIFFERENTLY in here:
        return _Comparison(same=True, alone=None, why=f"its bytes are not those that {own}, writes as it is built here")
    return _Comparison(same=True, alone=False, why=f"its bytes are not those that {own} writes")


def _compare_tables(content: bytes, ours: bytes) -> tuple[bool, str]:
    """Whether a Parquet file has our table, and what else it has."""
    try:
        same = read_table(ours).equals(read_table(content))
    # a column that is not ours was not read before; the library reports damage by many kinds of errors, and by a panic
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        same = False
    return same, describe_foreign(content, ours) if same else ""


def _compare_archives(content: bytes, ours: bytes) -> tuple[bool, str]:
    """Whether a zip archive has our members, and what else it has."""
    with zipfile.ZipFile(io.BytesIO(content)) as theirs, zipfile.ZipFile(io.BytesIO(ours)) as own:
        members, known = theirs.infolist(), own.infolist()
        same = [(each.filename, theirs.read(each)) for each in members] == [
            (each.filename, own.read(each)) for each in known
        ]
        heads = [[(each.date_time, each.flag_bits, each.external_attr) for each in some] for some in (members, known)]
        # the size of an archive without comments, extra fields, and gaps between its members
        size = 22 + sum(76 + 2 * len(each.filename.encode()) + each.compress_size for each in members)
    plain = heads[0] == heads[1] and size == len(content)
    return same, "" if plain or not same else "the archive has parts that Hedgerow does not write"


#: how the content of a format is compared that a library packs
_COMPARED: dict[str, Callable[[bytes, bytes], tuple[bool, str]]] = {
    "parquet": _compare_tables,
    "zip": _compare_archives,
}
