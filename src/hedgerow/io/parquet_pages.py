"""The unpacked size of a Parquet file, read from its page headers before anything is unpacked.

A page of a few bytes may hold gigabytes: by compression, or as one value repeated. The headers (Thrift, compact
protocol) declare how much of either. A reader stops where a page exceeds its header, so the sum over all headers bounds
the memory that reading takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

__all__ = ["unpacked_bytes"]

_MAGIC, _TAIL = b"PAR1", 8
#: bytes of memory that one value takes at least
_CELL = 16
#: limits of files that we write: a page has about a megabyte, and a row group a few hundred bytes of footer
_MOST_PAGES, _MOST_FOOTER = 50_000, 2**21
_DEEPEST = 20
#: types of the compact protocol
_TRUE, _FALSE, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (*(1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12),)
#: the fields that are read
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_PACKED, _DATA_AT, _DICTIONARY_AT = 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _HEADS = 2, 3, (5, 7, 8)


def unpacked_bytes(content: bytes) -> int:
    """Sum the unpacked sizes that the headers of all pages declare.

    Raises
    ------
    ValueError
        If it is not a Parquet file, or its headers are damaged.
    """
    ends = len(content) - _TAIL
    length = int.from_bytes(content[ends : ends + 4], "little")
    whole = content[:4] == content[-4:] == _MAGIC and 0 < length <= min(ends - 4, _MOST_FOOTER)
    if not whole:
        raise ValueError
    footer = _Reader(content, ends - length, ends).structure()
    total = 0
    for number, page in enumerate(_pages(content, footer)):
        heads = [page[field] for field in _HEADS if field in page]
        values = sum(_whole(head, 1) for head in heads)
        total += _whole(page, _PAGE_UNPACKED) + _CELL * values
        if number > _MOST_PAGES:
            raise ValueError
    return total


def _pages(content: bytes, footer: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """Yield the header of every page of every column."""
    for group in _structures(footer.get(_ROW_GROUPS, [])):
        for column in _structures(group.get(_COLUMNS, [])):
            [meta] = _structures([column.get(_META)])
            places = [_whole(meta, at) for at in (_DATA_AT, _DICTIONARY_AT) if at in meta]
            at = min((place for place in places if place), default=0)
            end = at + _whole(meta, _PACKED)
            if not len(_MAGIC) <= at <= end <= len(content):
                raise ValueError
            while at < end:
                reader = _Reader(content, at, end)
                page = reader.structure()
                yield page
                at = reader.at + _whole(page, _PAGE_PACKED)


def _structures(value: Any) -> list[dict[int, Any]]:
    if not isinstance(value, list) or not all(isinstance(x, dict) for x in cast("Any", value)):
        raise ValueError
    return cast("list[dict[int, Any]]", value)


def _whole(structure: Any, field: int) -> int:
    """Take a number that is not negative."""
    value = cast("dict[int, Any]", structure).get(field) if isinstance(structure, dict) else None
    if type(value) is not int or value < 0:
        raise ValueError
    return value


class _Reader:
    """Reads structures of the compact protocol as dictionaries by field."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self.content, self.at, self.end = content, at, end

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Read fields up to the end of the structure."""
        if depth > _DEEPEST:
            raise ValueError
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            step = head >> 4
            field = field + step if step else self._integer()
            fields[field] = self._value(head & 15, depth, inside=False)
        return fields

    def _value(self, kind: int, depth: int, *, inside: bool) -> Any:
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
