"""Edges on their way between files and graphs: one row per edge, and what the source says about vertices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.formats.long_table import Delimiters, LongTable, OutputRecords, OutputTable, ReadRequest
from hedgerow.numerics.arrays import Flags, Floats, Integers


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Edges as read: `table` has the columns source and target, and weight if it is declared; one row per edge.

    Parameters
    ----------
    vertices
        The vertices that the source lists besides the ends of edges.
    rows
        The number of rows of an adjacency matrix, whose ends are positions and not names; a row here is a cell.
    directed
        Whether the source declares that its edges have a direction; None if it does not say.
    marks
        What single edges say of themselves: `further`, that there is more to them than is read; `one_way`, that they
        have a direction; `unordered`, that they have none. A mark that is missing is that of no edge.
    more
        What `further` means, and the remedy, for messages.
    """

    table: LongTable
    vertices: Sequence[Value] = ()
    rows: int | None = None
    directed: bool | None = None
    marks: Mapping[str, Flags] = field(default_factory=dict[str, Flags])
    more: str = ""

    @property
    def further(self) -> Flags:
        """Which edges have more than is read of them."""
        return self._mark("further")

    @property
    def one_way(self) -> Flags:
        """Which edges say that they have a direction."""
        return self._mark("one_way")

    @property
    def unordered(self) -> Flags:
        """Which edges say that they have no direction."""
        return self._mark("unordered")

    def _mark(self, name: str) -> Flags:
        return self.marks.get(name, np.zeros(len(self.table.line), np.bool_))

    def numbered(self, *, pairs: bool = False) -> LongTable:
        """Return the table with a number for each edge, by which it is checked like a record.

        With `pairs`, the two cells of a matrix that join the same vertices are one record.
        """
        number = np.arange(len(self.table.line), dtype=np.int64)
        if pairs and self.rows is not None:
            source, target = (self.table.columns[role].to_numpy() for role in ("source", "target"))
            number = np.minimum(source, target) * self.rows + np.maximum(source, target)
        return replace(self.table, columns={"unit": pl.Series("unit", number), **self.table.columns})


@dataclass(frozen=True, eq=False)
class EdgeColumns:
    """Columns of edges by role, the line of each edge, and its marks."""

    columns: Mapping[str, pl.Series]
    line: Integers
    marks: Mapping[str, Flags] = field(default_factory=dict[str, Flags])

    @classmethod
    def numbered(cls, columns: Mapping[str, pl.Series], marks: Mapping[str, Flags]) -> EdgeColumns:
        """Take edges that are numbered from 1 on, instead of lines."""
        return cls(columns, np.arange(1, len(columns["source"]) + 1, dtype=np.int64), marks)

    @classmethod
    def join(cls, pieces: Sequence[EdgeColumns]) -> EdgeColumns:
        """Put edges that were read in pieces together."""
        return cls(
            {role: _concat([piece.columns[role] for piece in pieces]) for role in pieces[0].columns},
            np.concatenate([piece.line for piece in pieces]),
            {name: np.concatenate([piece.marks[name] for piece in pieces]) for name in pieces[0].marks},
        )

    def refuse(self, where: str, bad: Flags, what: str, request: ReadRequest) -> EdgeColumns:
        """Raise an error for the first of these edges, or leave them out where bad edges are dropped."""
        if not bad.any():
            return self
        refuse_edges(where, int(self.line[np.argmax(bad)]), what, request, int(bad.sum()))
        kept = pl.Series(~bad)
        return EdgeColumns(
            {role: column.filter(kept) for role, column in self.columns.items()},
            self.line[~bad],
            {name: mark[~bad] for name, mark in self.marks.items()},
        )

    def to_table(self, where: str, request: ReadRequest) -> LongTable:
        """Make the table of these edges."""
        return LongTable(where, request, self.columns, self.line, np.zeros(0, np.int64))


def _concat(columns: list[pl.Series]) -> pl.Series:
    """Join columns, as texts if not all are numbers: which piece a line is in must not matter."""
    numbers = all(column.dtype == pl.Int64 for column in columns)
    return pl.concat(columns if numbers else [column.cast(pl.String) for column in columns])


def refuse_edges(where: str, line: int, what: str, request: ReadRequest, edges: int = 1) -> None:
    """Raise an error for the edge on a line, or count bad edges where they are dropped."""
    if not request.drop_bad:
        msg = f"{where}:{line}: {what}, or drop such edges with the reading option on_bad=drop"
        raise ReadError(msg)
    progress.count("edges that cannot be read", edges)


@dataclass(frozen=True, eq=False)
class OutputEdges(OutputTable):
    """Published edges, to be written as a table or as lines: each once, in the order of their ends."""

    #: all vertices, whether or not they have edges
    vertices: tuple[Value, ...]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weights: Floats | None = None
    directed: bool = False

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one edge per row."""
        values = pl.Series(list(self.vertices))
        ends = {"source": self.first, "target": self.second}
        columns: dict[str, Any] = {names[role]: values.gather(codes) for role, codes in ends.items()}
        if self.weights is not None:
            columns[names["weight"]] = pl.Series(self.weights)
        return pl.DataFrame(columns)

    def to_lines(self, write: Callable[[Value], bytes], delimiters: Delimiters, before_weight: bytes = b"") -> bytes:
        """Write one edge per line; `write` turns a vertex into bytes, or refuses it.

        A weight follows the two ends, after `before_weight`.
        """
        if self.weights is not None:
            begin, between, end = (part.decode() for part in delimiters)
            names = pl.Series([write(value).decode() for value in self.vertices], dtype=pl.String)
            ends = names.gather(self.first), names.gather(self.second)
            parts = [begin, ends[0], between, ends[1], before_weight.decode(), _decimals(self.weights), end]
            lines = pl.select(pl.concat_str([pl.lit(part) for part in parts])).to_series()
            return "".join(lines.to_list()).encode()
        edges = len(self.first)
        codes = np.empty(2 * edges, np.int64)
        codes[::2], codes[1::2] = self.first, self.second
        starts = np.arange(0, 2 * edges + 1, 2)
        records = OutputRecords("vertex", self.vertices, starts, codes, np.ones(edges, np.int64))
        return records.to_lines(write, delimiters)

    def with_decimals(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one edge per row, weights as texts: which digits a library writes may change."""
        frame = self.to_frame(names)
        return frame if self.weights is None else frame.with_columns(_decimals(self.weights).alias(names["weight"]))


def _decimals(weights: Floats) -> pl.Series:
    """Write each weight as the shortest decimal from which it is read back exactly."""
    return pl.Series(list(map(repr, weights.tolist())), dtype=pl.String)
