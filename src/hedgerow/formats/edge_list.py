"""Edge lists: one edge per line, its two vertices and perhaps its weight separated by blanks; `%`, `#`: comments.

The fields of a line have no names. A column is named by its number: the weight is mostly the third.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import DomainError, ParameterError
from hedgerow.formats.blank_separated import Words, is_word, read_words, split_words
from hedgerow.formats.edge_table import EdgeColumns, EdgeTable, OutputEdges
from hedgerow.formats.long_table import Delimiters, ReadRequest
from hedgerow.formats.text_lines import TextLines, split_lines
from hedgerow.numerics.arrays import Integers

MORE = (
    "the line has more than two fields; name that of the weight, such as --columns weight=3, or ignore them with "
    "weights=ignore"
)
#: the number of the field of each role, where it is not named
_FIELDS = {"source": 1, "target": 2, "weight": 3}
#: how many bytes are split into fields at a time: their positions take many times as much memory
_PIECE = 1 << 24
#: the number of a field has at most so many digits
_DIGITS = 4


def read(where: str, content: bytes, request: ReadRequest, most: int) -> EdgeTable:
    """Read edges; lines with more fields than are read are marked."""
    del most
    fields = field_numbers(request)
    lines = split_lines(where, content, request)
    edges = EdgeColumns.join([_read_piece(where, piece, request, fields) for piece in _pieces(lines)])
    return EdgeTable(edges.to_table(where, request), marks=edges.marks, more=MORE)


def field_numbers(request: ReadRequest) -> dict[str, int]:
    """Return the number of the field of each role that is read: they are named by numbers, if at all."""
    roles = (*request.required, *request.optional)
    fields = {role: _field_number(role, request.columns[role]) for role in roles}
    if len(set(fields.values())) < len(fields):
        msg = "one field of an edge list cannot have two roles; give each its own number"
        raise ParameterError(msg)
    return fields


def _field_number(role: str, name: str) -> int:
    number = int(name) if name.isascii() and name.isdigit() and len(name) <= _DIGITS else 0
    if number:
        return number
    if role == "weight":
        msg = (
            "the fields of an edge have numbers instead of names; give that of the weight, such as --columns weight=3; "
            f"got {name[:40]!r}"
        )
        raise ParameterError(msg)
    return _FIELDS[role]  # a release names all columns, whether or not its format has names


def written_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the names that columns have in an edge list that is written: the numbers of its fields."""
    return {role: str(_FIELDS[role]) if role == "weight" or name.isdigit() else name for role, name in columns.items()}


def check(values: Sequence[Value]) -> None:
    """Refuse vertices that would be read back as something else."""
    if not all(map(is_word, map(str, values))):
        msg = "vertices that have blanks or start with % or # cannot be written to an edge list; use CSV"
        raise DomainError(msg)


def write(edges: OutputEdges, columns: Mapping[str, str]) -> bytes:
    """Write one edge per line; vertices that would be read back as something else are refused."""
    del columns
    return edges.to_lines(_text, Delimiters(b"", b" ", b"\n"), before_weight=b" ")


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


def _read_piece(where: str, lines: TextLines, request: ReadRequest, fields: Mapping[str, int]) -> EdgeColumns:
    """Return the edges of lines; those with further fields are marked, and a weight that is missing is null."""
    words = split_words(where, lines, request)
    needed = max(fields[role] for role in request.required)
    what = (
        "the line has one field, and an edge needs two vertices, separated by a blank; correct it"
        if needed == len(request.required)
        else f"the line has fewer than {needed} fields, where the vertices of an edge are; correct it"
    )
    words.lines.refuse(where, (words.sizes > 0) & (words.sizes < needed), what, request)
    edges = np.flatnonzero(words.sizes >= needed)
    columns = _take_fields(words, edges, fields)
    return EdgeColumns(columns, words.lines.numbers[edges], {"further": words.sizes[edges] > len(fields)})


def _take_fields(words: Words, edges: Integers, fields: Mapping[str, int]) -> dict[str, pl.Series]:
    """Take the fields with these numbers out of the chosen lines; null where a line has fewer."""
    values = read_words(words.lines, words.starts)
    first = (np.cumsum(words.sizes) - words.sizes)[edges]
    columns: dict[str, pl.Series] = {}
    for role, number in fields.items():
        there = pl.Series(words.sizes[edges] >= number)
        columns[role] = values.gather(pl.select(pl.when(there).then(pl.Series(first + number - 1))).to_series())
    return columns
