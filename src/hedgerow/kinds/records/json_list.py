"""Nested records as one JSON list of objects; each is parsed alone, but a list that is torn cannot be read further."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import msgspec

from hedgerow.errors import ReadError
from hedgerow.kinds.records import json_lines
from hedgerow.kinds.records.json_lines import JsonParser, collect, decode_text
from hedgerow.kinds.records.layout import RecordRequest
from hedgerow.kinds.records.rows import OutputDocuments, RecordRows

_SPACE = re.compile(r"[ \t\n\r]*")

#: what JSON cannot hold is the same in both forms
check = json_lines.check


def read(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read the objects of a list."""
    return collect(RecordRows(where, request, most=most), documents(where, content))


def documents(where: str, content: bytes) -> Iterator[tuple[int, Any, str]]:
    """Yield the line of each record, its document, and what is wrong with it."""
    text, parser = decode_text(where, content), JsonParser()
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


def write(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write a list with one object per line."""
    del columns
    lines = b",\n".join(map(msgspec.json.encode, output.documents(numbers=True)))
    return b"[\n%b\n]\n" % lines if lines else b"[]\n"
