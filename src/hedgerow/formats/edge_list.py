"""Edge lists: one edge per line, its two vertices separated by blanks; `%` and `#` start comments."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from hedgerow.data import Value
from hedgerow.errors import DomainError
from hedgerow.formats.blank_separated import is_word, read_words, split_words
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable, OutputEdges
from hedgerow.formats.long_table import Delimiters, ReadRequest
from hedgerow.formats.text_lines import TextLines, split_lines

#: how many bytes are split into fields at a time: their positions take many times as much memory
_PIECE = 1 << 24


def read(where: str, content: bytes, request: ReadRequest, most: int) -> EdgeTable:
    """Read edges; lines with more than two fields are marked."""
    del most
    lines = split_lines(where, content, request)
    edges = EdgeColumns.join([_read_piece(where, piece, request) for piece in _pieces(lines)])
    return EdgeTable(edges.to_table(where, request), further=edges.marked)


def check(values: Sequence[Value]) -> None:
    """Refuse vertices that would be read back as something else."""
    if not all(map(is_word, map(str, values))):
        msg = "vertices that have blanks or start with % or # cannot be written to an edge list; use CSV"
        raise DomainError(msg)


def write(edges: OutputEdges, columns: Mapping[str, str]) -> bytes:
    """Write one edge per line; vertices that would be read back as something else are refused."""
    del columns
    return edges.to_lines(_text, Delimiters(b"", b" ", b"\n"))


def _text(value: Value) -> bytes:
    check([value])
    return str(value).encode()


def _pieces(lines: TextLines) -> Generator[TextLines]:
    """Cut a long file between lines."""
    content, begin, skipped = lines.content, 0, lines.skipped
    while begin < len(content) or not begin:
        end = content.find(b"\n", begin + _PIECE) + 1 or max(1, len(content))
        piece = TextLines(content[begin:end], skipped)
        yield piece
        begin, skipped = end, skipped + len(piece)


def _read_piece(where: str, lines: TextLines, request: ReadRequest) -> EdgeColumns:
    """Return the edges of lines; those with further fields are marked."""
    lines, starts, sizes = split_words(where, lines, request)
    what = "the line has one field, and an edge needs two vertices, separated by a blank; correct it"
    lines.refuse(where, sizes == 1, what, request)
    words = read_words(lines, starts)
    edges = np.flatnonzero(sizes > 1)
    first = (np.cumsum(sizes) - sizes)[edges]
    further = sizes[edges] > 2  # noqa: PLR2004
    return EdgeColumns(words.gather(first), words.gather(first + 1), lines.numbers[edges], further)
