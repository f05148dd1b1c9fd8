"""The bytes of data files: a function of the published content, and of the libraries that pack it.

What is text depends on the content alone. Parquet tables and compressed files are written by libraries, and another
version of one may write the same content as other bytes. So a release names the versions: its receiver can tell whether
other bytes are to be expected.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import metadata
from typing import NamedTuple

from hedgerow.data import Dataset
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import GZIP_LEVEL, ZSTD_LEVEL, Digest, compress, compress_parts, zstd

_COMPRESSED_BY = {"gz": ("zlib",), "zst": ("zstd",)}
#: short numbers: longer ones, such as those of a telephone, are no version
_NUMBERS = r"[0-9]{1,2}(\.[0-9]{1,3}){0,3}"
_VERSION = re.compile(rf"{_NUMBERS}(-ng)?(, level [0-9])?")


class Packed(NamedTuple):
    """A data file in parts; both digests are complete when the parts are taken."""

    parts: Iterable[bytes]
    #: the SHA-256 of the file
    digest: Digest
    #: the SHA-256 of its content before compression
    content: Digest


def pack(data: Dataset, form: str, columns: Mapping[str, str], compression: str) -> Packed:
    """Write data in a format, and compress it."""
    codec = codec_of(data.kind)
    content, content_digest = hashed(codec.write_parts(data, form, columns))
    # one part is compressed at once, which is smaller
    parts = compress_parts(content, compression) if codec.in_parts else _at_once(content, compression)
    return Packed(*hashed(parts), content_digest)


def _at_once(parts: Iterable[bytes], compression: str) -> Iterator[bytes]:
    yield compress(b"".join(parts), compression)


def hashed(parts: Iterable[bytes]) -> tuple[Iterator[bytes], Digest]:
    """Pass parts on, and hash them on the way."""
    digest = sha256()

    def passed_on() -> Iterator[bytes]:
        for part in parts:
            digest.update(part)
            yield part

    return passed_on(), digest


def libraries_of(kind: str, form: str, compression: str) -> dict[str, str]:
    """The libraries that pack a file here, by name, with version and level."""
    names = (*codec_of(kind).formats[form].libraries, *_COMPRESSED_BY.get(compression, ()))
    return {name: version for name, version in _versions().items() if name in names}


def is_library_version(text: str) -> bool:
    """Whether a text is a version as it is written here: numbers, since a release has no place for free text."""
    return _VERSION.fullmatch(text) is not None


def _numbers(version: str) -> str:
    numbers = re.match(_NUMBERS, version)
    return numbers.group() if numbers else "0"


@cache
def _versions() -> dict[str, str]:
    """The version of each library that is installed here."""
    # it replaces zlib on some systems, and compresses otherwise
    other = "-ng" if "zlib-ng" in zlib.ZLIB_RUNTIME_VERSION else ""
    return {
        "polars": _numbers(metadata.version("polars")),
        "zlib": f"{_numbers(zlib.ZLIB_RUNTIME_VERSION)}{other}, level {GZIP_LEVEL}",
        "zstd": f"{_numbers(zstd.zstd_version)}, level {ZSTD_LEVEL}",
    }
