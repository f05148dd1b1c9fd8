"""Events in a column of a Parquet file; groups of rows without a wanted event are not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data.event_sources import REFUSE, Events, Positions, encode_events
from hedgerow.data.lattice import CellRule, LatticeCells
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ReadError
from hedgerow.io.files import explained, require_file
from hedgerow.io.number_table import lattice_cells

__all__ = ["ParquetEvents"]

Integers: TypeAlias = NDArray[np.int64]


class ParquetEvents(Events):
    """One event per row."""

    def __init__(self, name: str, column: str, axis: NumberAxis, rule: CellRule = REFUSE) -> None:
        self._where, self._axis, self._column, self._rule = name, axis, column, rule
        # the library would also take an address, a pattern of names, or a folder, and wait for a pipe
        with explained(Path(name)):
            require_file(Path(name))
        try:
            self._table = pl.scan_parquet(Path(name), glob=False, hive_partitioning=False)
            columns = self._table.collect_schema().names()
            self.length = int(self._table.select(pl.len()).collect().item())
        except BaseException as error:  # noqa: BLE001 - see _unreadable
            raise _unreadable(name, error) from None
        if column not in columns:
            msg = f"{name} has no column {column!r}; name the column of the values with --columns value=NAME"
            raise ReadError(msg)

    def read(self, start: int, stop: int) -> Integers:
        """Read these rows of the column."""
        cells = self._cells(start, stop)
        return self._encode(cells, range(start, start + len(cells.steps)))

    def _pick(self, positions: Integers) -> Integers:
        """Read the rows from the first position to the last, and check only those that are wanted."""
        cells = self._cells(int(positions[0]), int(positions[-1]) + 1)
        positions = positions[positions - positions[0] < len(cells.steps)]
        return self._encode(cells.take(positions - positions[0]), positions)

    def _encode(self, cells: LatticeCells, positions: Positions) -> Integers:
        return encode_events(cells, self._axis, self._where, positions, self._rule)

    def _cells(self, start: int, stop: int) -> LatticeCells:
        size = max(0, stop - start)
        try:
            cells: Any = self._table.select(self._column).slice(start, size).collect().to_series()
        except BaseException as error:  # noqa: BLE001 - see _unreadable
            raise _unreadable(self._where, error) from None
        return lattice_cells(self._where, self._column, cells, self._axis.lattice, rounded=self._rule.rounded)


def _unreadable(name: str, error: BaseException) -> BaseException:
    """Return the error to raise: messages of the library may quote a cell, and some damage makes its core panic."""
    if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
        return error
    return ReadError(f"{name} cannot be read; it is damaged, or it is not a Parquet table")
