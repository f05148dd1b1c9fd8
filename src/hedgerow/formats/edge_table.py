"""Edges on their way between files and graphs: one row per edge, and what the source says about vertices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.formats.long_table import Delimiters, LongTable, OutputRecords, OutputTable, ReadRequest
from hedgerow.numerics.arrays import Flags, Integers


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Edges as read: `table` has the columns source and target, one row per edge.

    Parameters
    ----------
    vertices
        The vertices that the source lists besides the ends of edges.
    rows
        The number of rows of an adjacency matrix, whose ends are positions and not names.
    directed
        Whether the source declares that its edges have a direction; `one_way` marks single edges that have one.
    further
        Which lines have more than two fields.
    """

    table: LongTable
    vertices: Sequence[Value] = ()
    rows: int | None = None
    directed: bool = False
    one_way: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    further: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))

    def numbered(self) -> LongTable:
        """Return the table with a number for each edge, by which it is checked like a record."""
        number = pl.Series("unit", np.arange(len(self.table.line), dtype=np.int64))
        return replace(self.table, columns={"unit": number, **self.table.columns})


class EdgeColumns(NamedTuple):
    """Source, target and line of each edge, and a mark that means what its format says."""

    source: pl.Series
    target: pl.Series
    line: Integers
    marked: Flags

    @classmethod
    def join(cls, pieces: Sequence[EdgeColumns]) -> EdgeColumns:
        """Put edges that were read in pieces together."""
        return cls(
            _concat([piece.source for piece in pieces]),
            _concat([piece.target for piece in pieces]),
            np.concatenate([piece.line for piece in pieces]),
            np.concatenate([piece.marked for piece in pieces]),
        )

    def refuse(self, where: str, bad: Flags, what: str, request: ReadRequest) -> EdgeColumns:
        """Raise an error for the first of these edges, or leave them out where bad edges are dropped."""
        if not bad.any():
            return self
        refuse_edges(where, int(self.line[np.argmax(bad)]), what, request, int(bad.sum()))
        kept = pl.Series(~bad)
        return EdgeColumns(self.source.filter(kept), self.target.filter(kept), self.line[~bad], self.marked[~bad])

    def to_table(self, where: str, request: ReadRequest) -> LongTable:
        """Make the table of these edges."""
        return LongTable(
            where, request, {"source": self.source, "target": self.target}, self.line, np.zeros(0, np.int64)
        )


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
    """Published edges, to be written as a table or as lines: each once, the vertex that comes first in front."""

    #: all vertices, whether or not they have edges
    vertices: tuple[Value, ...]
    first: NDArray[np.int32]
    second: NDArray[np.int32]

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one edge per row."""
        values = pl.Series(list(self.vertices))
        ends = {"source": self.first, "target": self.second}
        columns: dict[str, Any] = {names[role]: values.gather(codes) for role, codes in ends.items()}
        return pl.DataFrame(columns)

    def to_lines(self, write: Callable[[Value], bytes], delimiters: Delimiters) -> bytes:
        """Write one edge per line; `write` turns a vertex into bytes, or refuses it."""
        edges = len(self.first)
        codes = np.empty(2 * edges, np.int64)
        codes[::2], codes[1::2] = self.first, self.second
        starts = np.arange(0, 2 * edges + 1, 2)
        records = OutputRecords("vertex", self.vertices, starts, codes, np.ones(edges, np.int64))
        return records.to_lines(write, delimiters)
