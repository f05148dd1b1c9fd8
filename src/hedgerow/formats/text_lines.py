"""Text files as lines: each line is read alone, so that none changes how another is read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.errors import ReadError
from hedgerow.numerics.arrays import Flags, Integers

_BLANK = b" "[0]
_NEWLINE = b"\n"[0]
_ASCII = 127
_NO_TEXT = "\ufffd"


class LineRequest(Protocol):
    """What a request says about lines: whether bad ones are dropped, and how many precede the first record."""

    @property
    def drop_bad(self) -> bool | None:
        """Whether lines that cannot be read are dropped; None where none may be."""
        ...

    @property
    def skip_lines(self) -> int:
        """How many lines precede the first record, or the header."""
        ...


@dataclass(frozen=True, eq=False)
class TextLines:
    r"""The lines of a text file, each ended by `\n`; a blank line is not a record in any format."""

    content: bytes
    #: how many lines of the file precede the first one here
    skipped: int = 0

    @cached_property
    def text(self) -> NDArray[np.uint8]:
        """The content as an array of bytes."""
        return np.frombuffer(self.content, np.uint8)

    @cached_property
    def ends(self) -> Integers:
        """Where each line ends."""
        return np.flatnonzero(self.text == _NEWLINE)

    @property
    def numbers(self) -> Integers:
        """The number of each line in its file, counted from 1."""
        return np.arange(self.skipped + 1, self.skipped + 1 + len(self), dtype=np.int64)

    @cached_property
    def starts(self) -> Integers:
        """Where each line starts."""
        return np.append(0, self.ends[:-1] + 1)

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.ends)

    def take(self, which: Flags) -> list[bytes]:
        """Return the chosen lines, without their line breaks."""
        spans = zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True)
        return [self.content[start:end] for start, end in spans]

    def select(self, which: Flags) -> bytes:
        """Return the chosen lines as one text."""
        if which.all():
            return self.content
        return self.text[np.repeat(which, np.diff(self.ends, prepend=-1))].tobytes()

    def lines_at(self, positions: Integers) -> Flags:
        """Return which lines contain one of these positions of the text."""
        lines = np.zeros(len(self), np.bool_)
        lines[np.searchsorted(self.ends, positions)] = True
        return lines

    def blank_out(self, which: Flags) -> TextLines:
        """Return the same lines, with the chosen ones blank."""
        text = self.text.copy()
        text[np.repeat(which, np.diff(self.ends, prepend=-1))] = _BLANK
        text[self.ends] = _NEWLINE
        return TextLines(text.tobytes(), self.skipped)

    def refuse(self, where: str, bad: Flags, what: str, request: LineRequest) -> TextLines:
        """Raise an error for the first of these lines, or blank them out where bad records are dropped."""
        if not bad.any():
            return self
        if not request.drop_bad:
            line = self.numbers[np.argmax(bad)]
            more = "" if request.drop_bad is None else ", or drop such lines with on_bad=drop"
            msg = f"{where}:{line}: {what}{more}"
            raise ReadError(msg)
        progress.count("lines that cannot be read", int(bad.sum()))
        return self.blank_out(bad)


def split_lines(where: str, content: bytes, request: LineRequest, before: int = 0) -> TextLines:
    r"""Split a file, or a part of it after `before` lines, into lines of UTF-8 text.

    A line may end in `\r\n`. A byte order mark at the start of a line is removed: concatenated files have several.
    """
    content = content if content.endswith(b"\n") else content + b"\n"
    begin = 0
    for _ in range(request.skip_lines):
        if begin == len(content):
            break
        begin = content.find(b"\n", begin) + 1
    content = content[begin:]
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    if codecs.BOM_UTF8 in content:
        content = content.removeprefix(codecs.BOM_UTF8)
        content = content.replace(b"\n" + codecs.BOM_UTF8, b"\n")
    lines = TextLines(content, request.skip_lines + before)
    if b"\0" in content:
        zeros = lines.lines_at(np.flatnonzero(lines.text == 0))
        what = "a zero byte, so this is not a text file; give the right format with --format"
        lines = lines.refuse(where, zeros, what, request)
    if content.isascii():
        return lines
    return lines.refuse(where, _not_utf8(lines), "not UTF-8 text; convert the file", request)


def keep_as_text(content: bytes) -> bytes:
    r"""Put a sign that no number has in the place of bytes that are no text; line breaks and commas stay.

    Examples
    --------
    >>> ascii(keep_as_text(b"1,\xff\n2\0,3").decode())
    "'1,\\ufffd\\n2\\ufffd,3'"
    """
    return content.replace(b"\0", _NO_TEXT.encode()).decode(errors="replace").encode()


def _not_utf8(lines: TextLines) -> Flags:
    """Return which lines are not UTF-8."""
    try:
        codecs.decode(lines.content, "utf-8")
    except UnicodeDecodeError:
        bad = lines.lines_at(np.flatnonzero(lines.text > _ASCII))
        bad[bad] = [not _is_utf8(line) for line in lines.take(bad)]
        return bad
    return np.zeros(len(lines), np.bool_)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
