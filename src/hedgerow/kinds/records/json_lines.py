"""Nested records as JSON: one object per line, or one list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.formats.long_table import ReadRequest
from hedgerow.formats.text_lines import split_lines
from hedgerow.kinds.records.layout import Number, RecordRequest
from hedgerow.kinds.records.rows import DEEPEST, OutputDocuments, RecordRows

_BLANKS = " \t\n\r"


class JsonParser:
    """Parses documents one by one, with numbers as they are spelled.

    Whatever is wrong with one that is otherwise JSON is said in `wrong`, and does not stop the parser.
    """

    def __init__(self) -> None:
        self.wrong = ""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=Number, parse_int=Number, parse_constant=self._constant
        )

    def parse(self, text: str, start: int = 0) -> tuple[Any, int]:
        """Parse the document that starts at a position; return it, and where it ends."""
        self.wrong = ""
        document, end = self._decoder.raw_decode(text, start)
        if _is_deep(document):
            self.wrong = f"the record is nested more than {DEEPEST} deep; flatten it"
        return document, end

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            self.wrong = "an object has two values under one key; correct it"
        return made

    def _constant(self, name: str) -> None:
        del name
        self.wrong = "NaN and Infinity are not JSON; correct them"


def _is_deep(document: Any) -> bool:
    level = _containers([document])
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _containers(each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return True


def _containers(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [value for value in values if isinstance(value, (dict, list))]


def documents(
    where: str, content: bytes, *, drop_bad: bool = False, skip_lines: int = 0
) -> Iterator[tuple[int, Any, str]]:
    """Yield the line of each record, its document, and what is wrong with it."""
    lines = ReadRequest("records", None, (), (), {}, drop_bad=drop_bad, skip_lines=skip_lines)
    split = split_lines(where, content, lines)
    parser = JsonParser()
    for line, raw in enumerate(split.content.split(b"\n"), start=split.skipped + 1):
        text = raw.decode().strip(_BLANKS)
        if not text:
            continue
        document: Any = None
        try:
            document, end = parser.parse(text)
            wrong = parser.wrong if end == len(text) else "there is more than one document on the line; correct it"
        except (ValueError, RecursionError):
            wrong = "the line is not a JSON document; correct it"
        yield line, document, wrong


def read(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read one object per line."""
    rows = RecordRows(where, request, most=most)
    return collect(rows, documents(where, content, drop_bad=request.drop_bad, skip_lines=request.skip_lines))


def collect(rows: RecordRows, read_documents: Iterator[tuple[int, Any, str]]) -> RecordRows:
    """Collect the records of documents."""
    for line, document, wrong in read_documents:
        if wrong:
            rows.refuse(line, wrong)
        else:
            rows.add(line, document)
    return rows


def check(values: Sequence[Value]) -> None:
    """Accept any value."""
    del values


def write(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write one object per line."""
    del columns
    return b"".join(msgspec.json.encode(document) + b"\n" for document in output.documents(numbers=True))


def decode_text(where: str, content: bytes) -> str:
    """Decode a file that is one document."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        msg = f"{where}:{line}: not UTF-8 text; convert the file"
        raise ReadError(msg) from None
