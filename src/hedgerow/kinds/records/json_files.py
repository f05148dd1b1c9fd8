"""Nested records as JSON: one object per line, or one list of objects.

Each object is parsed alone, but a list that is torn cannot be read further.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn

import msgspec

from hedgerow.errors import ReadError
from hedgerow.formats.long_table import ReadRequest
from hedgerow.formats.text_lines import split_lines
from hedgerow.kinds.records.documents import DEEPEST, OutputDocuments, RecordRows
from hedgerow.kinds.records.layout import Document, Number, Object, RecordRequest

_BLANKS = " \t\n\r"
_SPACE = re.compile(r"[ \t\n\r]*")


def read_lines(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read one object per line."""
    rows = RecordRows(where, request, most=most)
    return _collect(rows, documents_in_lines(where, content, drop_bad=request.drop_bad, skip_lines=request.skip_lines))


def read_list(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read the objects of a list."""
    return _collect(RecordRows(where, request, most=most), documents_in_list(where, content))


def _collect(rows: RecordRows, read_documents: Iterator[tuple[int, Document, str]]) -> RecordRows:
    """Collect the records of documents."""
    for line, document, wrong in read_documents:
        if wrong:
            rows.refuse(line, wrong)
        else:
            rows.add(line, document)
    return rows


def write_lines(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write one object per line."""
    del columns
    return b"".join(msgspec.json.encode(document) + b"\n" for document in output.documents(numbers=True))


def write_list(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write a list with one object per line."""
    del columns
    lines = b",\n".join(map(msgspec.json.encode, output.documents(numbers=True)))
    return b"[\n%b\n]\n" % lines if lines else b"[]\n"


def documents_in_lines(
    where: str, content: bytes, *, drop_bad: bool = False, skip_lines: int = 0
) -> Iterator[tuple[int, Document, str]]:
    """Yield the line of each record, its document, and what is wrong with it."""
    lines = ReadRequest("records", None, (), (), {}, drop_bad=drop_bad, skip_lines=skip_lines)
    split = split_lines(where, content, lines)
    parser = JsonParser()
    for line, raw in enumerate(split.content.split(b"\n"), start=split.skipped + 1):
        text = raw.decode().strip(_BLANKS)
        if not text:
            continue
        document: Document = None
        try:
            document, end = parser.parse(text)
            wrong = parser.wrong if end == len(text) else "there is more than one document on the line; correct it"
        except (ValueError, RecursionError):
            wrong = "the line is not a JSON document; correct it"
        yield line, document, wrong


def documents_in_list(where: str, content: bytes) -> Iterator[tuple[int, Document, str]]:
    """Yield the line of each record, its document, and what is wrong with it."""
    text, parser = _decode(where, content), JsonParser()
    line, counted = 1, 0

    def fail(at: int, what: str) -> NoReturn:
        msg = f"{where}:{line + text.count(chr(10), counted, at)}: {what}"
        raise ReadError(msg)

    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        fail(at, "the file must be one JSON list of records; for one record per line, use the ending .jsonl")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        try:
            document, end = parser.parse(text, at)
        except RecursionError:
            fail(at, "a record is nested too deep; flatten it")
        except ValueError as error:
            fail(getattr(error, "pos", at), "this is not JSON; correct the file")
        yield line, document, parser.wrong
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            if text[at : at + 1] != "]":
                continue
        elif text[at : at + 1] == "]":
            continue
        fail(at, "records of a list must be separated by one comma, and the list closed by ]; correct the file")
    if _skip(text, at + 1) < len(text):
        fail(at, "there is more after the list of records; remove it")


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _decode(where: str, content: bytes) -> str:
    """Decode a file that is one document."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        msg = f"{where}:{line}: not UTF-8 text; convert the file"
        raise ReadError(msg) from None


class JsonParser:
    """Parses documents one by one, with numbers as they are spelled.

    Whatever is wrong with one that is otherwise JSON is said in `wrong`, and does not stop the parser.
    """

    def __init__(self) -> None:
        self.wrong = ""
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=Number, parse_int=Number, parse_constant=self._constant
        )

    def parse(self, text: str, start: int = 0) -> tuple[Document, int]:
        """Parse the document that starts at a position; return it, and where it ends."""
        self.wrong = ""
        document, end = self._decoder.raw_decode(text, start)
        if _is_deep(document):
            self.wrong = f"the record is nested more than {DEEPEST} deep; flatten it"
        return document, end

    def _object(self, pairs: list[tuple[str, Document]]) -> Object:
        made = dict(pairs)
        if len(made) < len(pairs):
            self.wrong = "an object has two values under one key; correct it"
        return made

    def _constant(self, name: str) -> None:
        del name
        self.wrong = "NaN and Infinity are not JSON; correct them"


def _is_deep(document: Document) -> bool:
    level = _containers([document])
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _containers(each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return True


def _containers(values: Iterable[Document]) -> list[Object | list[Document]]:
    return [value for value in values if isinstance(value, (dict, list))]
