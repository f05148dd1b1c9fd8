"""The structure of a Parquet file: what its pages unpack to, before anything is unpacked, and what is not data in it.

A page of a few bytes may hold gigabytes: by compression, or as one value repeated. The headers (Thrift, compact
protocol) declare how much of either. A reader stops where a page exceeds its header, so the sum over all headers bounds
the memory that reading takes.

A reader looks only where the footer points, so anything may stand elsewhere, and in fields that it does not need. We
walk over the whole file: every byte belongs to a page or to a structure about pages, and no structure has a text that
our own file of the same table does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

#: what a structure of the compact protocol has in each field, by number
Element: TypeAlias = bool | int | bytes | list["Element"] | dict[int, "Element"]
Structure: TypeAlias = dict[int, Element]

_MAGIC, _TAIL = b"PAR1", 8
#: bytes of memory that one value takes at least
_CELL = 16
#: limits of files that we write: a page has about a megabyte, and a row group a few hundred bytes of footer
_MOST_PAGES, _MOST_FOOTER = 50_000, 2**21
_DEEPEST = 20
#: types of the compact protocol
_TRUE, _FALSE, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (*(1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12),)
#: the fields that are read
_ROW_GROUPS, _MAKER, _COLUMNS, _META = 4, 6, 1, 3
#: the indices of the pages of a column: the place of each, and its length
_INDICES = ((4, 5), (6, 7))
_PACKED, _DATA_AT, _DICTIONARY_AT = 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _HEADS = 2, 3, (5, 7, 8)
#: what names itself as the maker of our files
_POLARS = re.compile(rb"Polars( \((python|rust)\))? version [0-9.]{1,20}( \(build [0-9a-f]{0,40}\))?")


def unpacked_bytes(content: bytes) -> int:
    """Sum the unpacked sizes that the headers of all pages declare.

    Raises
    ------
    ValueError
        If it is not a Parquet file, or its headers are damaged.
    """
    total = 0
    for number, page in enumerate(_walk(content).pages):
        heads = [page[field] for field in _HEADS if field in page]
        values = sum(_whole(head, 1) for head in heads)
        total += _whole(page, _PAGE_UNPACKED) + _CELL * values
        if number > _MOST_PAGES:
            raise ValueError
    return total


def describe_foreign(content: bytes, ours: bytes) -> str:
    """Say what a file has that is not data, compared with our own file of the same table; an empty text if nothing."""
    try:
        walk = _walk(content)
        structures: list[Element] = [*walk.structures(), *walk.pages]
        spans = sorted(walk.spans)
    except ValueError:
        return "it is not a Parquet file as Hedgerow writes it"
    if any(end != start for (_, end), (start, _) in pairwise([(0, 0), *spans, (len(content), 0)])):
        return "it has bytes that belong to no page"
    own = _walk(ours)
    known = set(_texts([*own.structures(), *own.pages]))
    maker = walk.footer.get(_MAKER)
    if isinstance(maker, bytes) and _POLARS.fullmatch(maker):
        known.add(((_MAKER,), maker))
    return "" if set(_texts(structures)) <= known else "it has metadata that Hedgerow does not write"


class _Walk(NamedTuple):
    """The structures of a file, and where each is; pages are walked as they are taken."""

    footer: Structure
    pages: Iterator[Structure]
    content: bytes
    #: from where to where every structure stands that was walked over
    spans: list[tuple[int, int]]

    def structures(self) -> Iterator[Structure]:
        """Yield the footer and the indices of pages."""
        yield self.footer
        for column in _columns(self.footer):
            for at, length in _INDICES:
                if at in column:
                    start = _whole(column, at)
                    index = _Reader(self.content, start, min(start + _whole(column, length), len(self.content)))
                    yield index.structure()
                    self.spans.append((start, index.at))


def _walk(content: bytes) -> _Walk:
    """Read the footer of a file."""
    ends = len(content) - _TAIL
    length = int.from_bytes(content[ends : ends + 4], "little")
    whole = content[:4] == content[-4:] == _MAGIC and 0 < length <= min(ends - 4, _MOST_FOOTER)
    if not whole:
        raise ValueError
    reader = _Reader(content, ends - length, ends)
    footer = reader.structure()
    spans = [(0, len(_MAGIC)), (ends - length, reader.at), (ends, len(content))]
    return _Walk(footer, _pages(content, footer, spans), content, spans)


def _pages(content: bytes, footer: Structure, spans: list[tuple[int, int]]) -> Iterator[Structure]:
    """Yield the header of every page of every column."""
    for column in _columns(footer):
        [meta] = _structures([column.get(_META, False)])
        places = [_whole(meta, at) for at in (_DATA_AT, _DICTIONARY_AT) if at in meta]
        start = at = min((place for place in places if place), default=0)
        end = at + _whole(meta, _PACKED)
        if not len(_MAGIC) <= at <= end <= len(content):
            raise ValueError
        while at < end:
            reader = _Reader(content, at, end)
            page = reader.structure()
            yield page
            at = reader.at + _whole(page, _PAGE_PACKED)
        spans += [(start, at), (at, _end_of_copy(content, at, meta))]


def _end_of_copy(content: bytes, at: int, meta: Structure) -> int:
    """Where the description of a column ends that may follow its pages, as the footer has it; otherwise `at`."""
    reader = _Reader(content, at, len(content))
    try:
        return reader.at if reader.structure() == meta else at
    except ValueError:
        return at


def _columns(footer: Structure) -> Iterator[Structure]:
    """Yield the entry of every column of every group of rows."""
    for group in _structures(footer.get(_ROW_GROUPS, [])):
        yield from _structures(group.get(_COLUMNS, []))


def _texts(value: Element, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """Yield every text within structures, with the fields that lead to it."""
    if isinstance(value, bytes):
        yield path, value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, path)
    elif isinstance(value, dict):
        for field, each in value.items():
            yield from _texts(each, (*path, field))


def _structures(value: Element | None) -> list[Structure]:
    elements = value if isinstance(value, list) else [False]
    structures = [each for each in elements if isinstance(each, dict)]
    if len(structures) < len(elements):
        raise ValueError
    return structures


def _whole(structure: Element | None, field: int) -> int:
    """Take a number that is not negative."""
    value = structure.get(field) if isinstance(structure, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


class _Reader:
    """Reads structures of the compact protocol as dictionaries by field."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self.content, self.at, self.end = content, at, end

    def structure(self, depth: int = 0) -> Structure:
        """Read fields up to the end of the structure."""
        if depth > _DEEPEST:
            raise ValueError
        fields: Structure = {}
        field = 0
        while head := self._byte():
            step = head >> 4
            field = field + step if step else self._integer()
            if field in fields:  # whoever takes the last one would not see the others
                raise ValueError
            fields[field] = self._value(head & 15, depth, inside=False)
        return fields

    def _value(self, kind: int, depth: int, *, inside: bool) -> Element:
        if kind in {_TRUE, _FALSE}:
            return self._byte() == _TRUE if inside else kind == _TRUE
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self.structure(depth + 1)
        if kind in _LISTS and depth <= _DEEPEST:
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._number()  # noqa: PLR2004 - four bits
            return [self._value(head & 15, depth + 1, inside=True) for _ in range(self._room(size))]
        sizes = {_BYTE: 1, _DOUBLE: 8}
        if kind not in {*sizes, _BINARY}:  # no structure of Parquet has a map
            raise ValueError
        size = self._room(sizes.get(kind) or self._number())
        self.at += size
        return self.content[self.at - size : self.at]

    def _room(self, size: int) -> int:
        """Refuse a size beyond the rest of the content: an element takes at least one byte."""
        if size > self.end - self.at:
            raise ValueError
        return size

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ValueError
        self.at += 1
        return self.content[self.at - 1]

    def _number(self) -> int:
        """Read a number in groups of seven bits, the lowest first."""
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:  # noqa: PLR2004 - the eighth bit is set if more groups follow
                return value
            if shift > 63:  # noqa: PLR2004 - no field is longer
                raise ValueError

    def _integer(self) -> int:
        """Read a signed number: the lowest bit is its sign."""
        value = self._number()
        return (value >> 1) ^ -(value & 1)
