"""Events as lines of text: a number per line, or a column of a comma-separated table; each line is read alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data.event_sources import REFUSE, encode_events
from hedgerow.data.lattice import CellRule, LatticeCells
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ReadError
from hedgerow.io.delimited import read_cells
from hedgerow.io.event_files import ByteParts, EventBlock, ForwardEvents
from hedgerow.io.number_table import lattice_cells, number_cells

__all__ = ["EventRequest", "TextEvents", "TextTable", "read_table"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: a line is in memory as a whole, and a stream without line breaks must not be
_LONGEST = 2**24


class EventRequest(NamedTuple):
    """What is read: the column of values, what the rows of the file are, and how many lines precede the first one."""

    value: str = "value"
    estimates: str = "events"
    skip_lines: int = 0
    rule: CellRule = REFUSE
    #: dropping an event would renumber all others
    drop_bad: bool | None = None


class TextTable(NamedTuple):
    """Some lines of a file: the columns that are read, and how many lines of the file precede them."""

    where: str
    content: bytes
    names: list[str]
    wanted: tuple[str, ...]
    before: int
    #: how many lines there are
    lines: int
    request: EventRequest

    def cells(self) -> pl.DataFrame:
        """Return the cells as texts, one row per line."""
        instead = self.request.rule.instead is not None
        # the request skips lines at the start of a file only; a line is an event, whatever is wrong with it
        request = self.request._replace(skip_lines=0, drop_bad=instead or None)
        table = read_cells(self.where, self.content, request, set(self.wanted), self.names, self.before, fill=instead)
        if len(table.line) == self.lines:
            return table.frame
        if not instead:
            line = np.setdiff1d(np.arange(self.lines) + self.before + 1, table.line)[0]
            msg = f"{self.where}:{line}: the line is empty; every line is an event"
            raise ReadError(msg)
        # the first row, of empty cells, stands for every line that cannot be split
        row = np.zeros(self.lines, np.int64)
        row[table.line - self.before - 1] = np.arange(len(table.line)) + 1
        return pl.concat([table.frame.clear(1), table.frame])[row]

    def columns(self) -> list[Floats]:
        """Turn the cells into numbers; a cell that is not one is NaN."""
        cells = self.cells()
        return [number_cells(self.where, name, cells[name])[0] for name in self.wanted]


def read_table(
    parts: ByteParts, wanted: tuple[str, ...], request: EventRequest, *, header: bool
) -> Iterator[TextTable]:
    """Read a file in blocks of lines; without a header, it has one column."""
    names = None if header else list(wanted)
    before = 0
    for part in _whole_lines(parts):
        content = part
        if before < request.skip_lines:
            content = _without(part, request.skip_lines - before)
            before += part.count(b"\n") - content.count(b"\n")
        if names is None and content:
            head, _, content = content.partition(b"\n")
            names = _read_names(parts.where, head + b"\n", wanted, request, before)
            before += 1
        if content and names is not None:
            lines = content.count(b"\n")
            yield TextTable(parts.where, content, names, wanted, before, lines, request)
            before += lines
    if names is None:
        msg = f"{parts.where} is empty: its first line must name the columns"
        raise ReadError(msg)


def _whole_lines(parts: ByteParts) -> Iterator[bytes]:
    """Yield bytes that end with a line."""
    rest: list[bytes] = []
    size = 0
    for part in parts.open():
        whole, newline, after = part.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, whole, newline])
            rest, size = [], 0
        rest.append(after)
        size += len(after)
        if size > _LONGEST:
            msg = f"{parts.where} has a line of over {_LONGEST:,} bytes; for one sign per event, give --format bits"
            raise ReadError(msg)
    if last := b"".join(rest):
        yield last + b"\n"


def _without(content: bytes, lines: int) -> bytes:
    return b"".join(content.split(b"\n", lines)[lines:])


def _read_names(where: str, head: bytes, wanted: Sequence[str], request: EventRequest, before: int) -> list[str]:
    names = read_cells(where, head, request._replace(skip_lines=0), before=before).frame.columns
    for name in wanted:
        if name not in names:
            msg = f"{where} has no column {name!r}; name the column of the values with --columns value=NAME"
            raise ReadError(msg)
    return names


class _TextBlock:
    """Lines that are decoded if one of their events is asked for."""

    def __init__(self, table: TextTable, axis: NumberAxis, first: int) -> None:
        self._table = table
        self._axis = axis
        self._first = first
        self._size = table.lines

    def __len__(self) -> int:
        return self._size

    def decode(self, at: slice | Integers) -> Integers:
        positions = range(self._first, self._first + len(self))[at] if isinstance(at, slice) else self._first + at
        return encode_events(self._cells.take(at), self._axis, self._table.where, positions, self._table.request.rule)

    @cached_property
    def _cells(self) -> LatticeCells:
        table = self._table
        column = table.cells()[table.wanted[0]]
        rounded = table.request.rule.rounded
        return lattice_cells(table.where, table.wanted[0], column, self._axis.lattice, rounded=rounded)


class TextEvents(ForwardEvents):
    """One event per line."""

    def __init__(self, parts: ByteParts, axis: NumberAxis, request: EventRequest, *, header: bool) -> None:
        self._axis = axis
        self._request = request
        self._header = header
        super().__init__(parts)

    def _split(self, parts: Iterator[bytes]) -> Iterator[EventBlock]:
        del parts  # lines are put together first
        first = 0
        for table in read_table(self._parts, (self._request.value,), self._request, header=self._header):
            yield _TextBlock(table, self._axis, first)
            first += table.lines
