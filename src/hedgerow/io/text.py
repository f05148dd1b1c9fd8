"""Text files line by line: each line is read alone, so none changes how another is read."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.errors import ReadError
from hedgerow.io.long import Flags, Integers, Wanted

__all__ = ["Lines", "text_lines"]

_BLANK = b" "[0]
_NEWLINE = b"\n"[0]
_ASCII = 127


@dataclass(frozen=True, eq=False)
class Lines:
    r"""The lines of a text file, each ended by `\n`; a blank line is no record in any format."""

    content: bytes
    #: how many lines of the file stand before the first one here
    before: int = 0

    @cached_property
    def text(self) -> NDArray[np.uint8]:
        """The bytes."""
        return np.frombuffer(self.content, np.uint8)

    @cached_property
    def ends(self) -> Integers:
        """Where each line ends."""
        return np.flatnonzero(self.text == _NEWLINE)

    @property
    def numbers(self) -> Integers:
        """The number of each line in its file, counted from 1."""
        return np.arange(self.before + 1, self.before + 1 + len(self), dtype=np.int64)

    @cached_property
    def starts(self) -> Integers:
        """Where each line starts."""
        return np.append(0, self.ends[:-1] + 1)

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.ends)

    def take(self, which: Flags) -> list[bytes]:
        """Return some of the lines, without their ends."""
        spans = zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True)
        return [self.content[start:end] for start, end in spans]

    def only(self, which: Flags) -> bytes:
        """Return some of the lines as one text."""
        if which.all():
            return self.content
        return self.text[np.repeat(which, np.diff(self.ends, prepend=-1))].tobytes()

    def with_any(self, places: Integers) -> Flags:
        """Say which lines hold one of these places of the text."""
        there = np.zeros(len(self), np.bool_)
        there[np.searchsorted(self.ends, places)] = True
        return there

    def blanked(self, which: Flags) -> Lines:
        """Return the same lines, some of them blank."""
        text = self.text.copy()
        text[np.repeat(which, np.diff(self.ends, prepend=-1))] = _BLANK
        text[self.ends] = _NEWLINE
        return Lines(text.tobytes(), self.before)

    def refuse(self, where: str, bad: Flags, what: str, wanted: Wanted) -> Lines:
        """Refuse lines that cannot be read; where such records are dropped, blank them out."""
        if not bad.any():
            return self
        if not wanted.drop:
            line = self.numbers[np.argmax(bad)]
            msg = f"{where}:{line}: {what}, or leave out such lines by on_bad=drop"
            raise ReadError(msg)
        progress.count("lines that cannot be read", int(bad.sum()))
        return self.blanked(bad)


def text_lines(where: str, content: bytes, wanted: Wanted) -> Lines:
    r"""Split a file into lines of UTF-8 text.

    A line may end in `\r\n`. A byte order mark at the start of a line is no part of it: files
    that were put together have several.
    """
    content = content if content.endswith(b"\n") else content + b"\n"
    begin = 0
    for _ in range(wanted.skip):
        if begin == len(content):
            break
        begin = content.find(b"\n", begin) + 1
    content = content[begin:]
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    if codecs.BOM_UTF8 in content:
        content = content.removeprefix(codecs.BOM_UTF8)
        content = content.replace(b"\n" + codecs.BOM_UTF8, b"\n")
    lines = Lines(content, wanted.skip)
    if b"\0" in content:
        zeros = lines.with_any(np.flatnonzero(lines.text == 0))
        what = "a zero byte, so this is no text; name the format by the ending, or by --format"
        lines = lines.refuse(where, zeros, what, wanted)
    if content.isascii():
        return lines
    return lines.refuse(where, _not_utf8(lines), "not UTF-8 text; convert the file", wanted)


def _not_utf8(lines: Lines) -> Flags:
    """Say which lines are not UTF-8."""
    try:
        codecs.decode(lines.content, "utf-8")
    except UnicodeDecodeError:
        bad = lines.with_any(np.flatnonzero(lines.text > _ASCII))
        bad[bad] = [not _is_utf8(line) for line in lines.take(bad)]
        return bad
    return np.zeros(len(lines), np.bool_)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
