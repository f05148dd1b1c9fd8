"""XML read by a streaming parser that follows no declaration of a document type, and text written for it.

A document type could define entities that unpack without bound or name other files, so none is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias
from xml.parsers import expat

from hedgerow.errors import ReadError

Attributes: TypeAlias = dict[str, str]
#: separates the namespace and the name of an element; neither can contain it
BETWEEN = " "
#: how many bytes are parsed at a time, and the most bytes of one tag or comment
_PIECE, _LONGEST = 1 << 18, 1 << 20
#: how UTF-16 begins, with a byte order mark or without
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
_UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_ESCAPES = {ord(sign): f"&#{ord(sign)};" for sign in "&<>\"'\t\n\r"}


def escape(text: str) -> str:
    """Write a text as content or as the value of an attribute.

    Examples
    --------
    >>> escape("R&D")
    'R&#38;D'
    """
    return text.translate(_ESCAPES)


def has_only_characters(text: str) -> bool:
    r"""Whether XML has all characters of a text; control characters it has not.

    Examples
    --------
    >>> has_only_characters("tea\n"), has_only_characters("tea\0")
    (True, False)
    """
    return all(sign in "\t\n\r" or (sign >= " " and sign not in "\ufffe\uffff") for sign in text)


class XmlParser:
    """Calls `start` with the name and the attributes of each element, `end` with its name, and `text` with texts."""

    def __init__(
        self,
        where: str,
        *,
        start: Callable[[str, Attributes], None],
        end: Callable[[str], None],
        text: Callable[[str], None] | None = None,
    ) -> None:
        self._where = where
        self._parser = parser = expat.ParserCreate(namespace_separator=BETWEEN)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = text
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype

    @property
    def line(self) -> int:
        """The line that is being parsed."""
        return self._parser.CurrentLineNumber

    def parse(self, content: bytes) -> None:
        """Parse a whole file."""
        if content.startswith(_WIDE_MARKS):
            self.fail("the encoding must be UTF-8; convert the file")
        rest = memoryview(content)
        try:
            for begin in range(0, len(content), _PIECE):
                piece = rest[begin : begin + _PIECE]
                self._parser.Parse(piece)
                # the parser scans what it has of an unfinished tag again whenever it gets more
                if begin + len(piece) - self._parser.CurrentByteIndex > _LONGEST:
                    self.fail(f"a tag or comment is longer than {_LONGEST:,} bytes")
            self._parser.Parse(b"", True)  # noqa: FBT003 - the parser takes no keywords
        except expat.ExpatError as error:
            # the library's messages do not quote the file
            reason = expat.errors.messages[error.code]
            msg = f"{self._where}:{error.lineno}: this is not well-formed XML ({reason}); correct the file"
            raise ReadError(msg) from None

    def fail(self, what: str) -> NoReturn:
        """Refuse the file at the line that is being parsed."""
        msg = f"{self._where}:{self.line}: {what}"
        raise ReadError(msg)

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        del version, standalone
        if encoding is not None and encoding.lower() not in _UTF8:
            self.fail("the encoding must be UTF-8; convert the file")

    def _doctype(self, *declared: object) -> None:
        del declared
        self.fail("a document type (DOCTYPE) is not read, since it may define entities; remove it")
