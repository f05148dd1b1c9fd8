"""Tables of numbers, as formats read them: which columns are wanted, and how each cell becomes a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data.encoding import EXACT, text_of
from hedgerow.data.lattice import CellRule, Lattice, LatticeCells, exact_number, shortest_decimals
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.long_table import OutputTable, number_values
from hedgerow.numerics.arrays import Flags, Floats, Integers

#: decimals of so many characters are told apart by floating-point numbers; longer ones than the second are no numbers
_SHORT, _LONGEST = 15, 400


class MatrixRequest(NamedTuple):
    """What is read from a table of numbers.

    Parameters
    ----------
    id_column, label_column
        The columns with the names and the labels of rows, if there are such columns.
    dropped
        Columns that are not read.
    names
        The names of the columns, if the file does not have them.
    numbered
        Whether rows are named by their position.
    drop_bad, skip_lines
        Whether rows that cannot be read are dropped, and how many lines precede the first one.
    rule
        What becomes of cells that cannot be read, or are between two steps.
    """

    id_column: str | None = None
    label_column: str | None = None
    dropped: frozenset[str] = frozenset()
    names: tuple[str, ...] | None = None
    numbered: bool = False
    drop_bad: bool | None = False
    skip_lines: int = 0
    rule: CellRule = CellRule()

    def require_dropped(self, where: str, names: tuple[str, ...]) -> None:
        """Refuse to drop a column that does not exist: another one would be published that should not be."""
        for name in sorted(self.dropped - set(names)):
            msg = f"{where} has no column {name!r} that could be dropped; name the columns that it has"
            raise ReadError(msg)

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns that are not numbers."""
        return tuple(name for name in (self.id_column, self.label_column) if name is not None)


@dataclass(frozen=True, eq=False)
class NumberTable:
    """What a format reads: an array of numbers, or a column of cells per name; `line` is where each row was."""

    where: str
    request: MatrixRequest
    names: tuple[str, ...]
    cells: NDArray[Any] | Mapping[str, pl.Series]
    line: Integers | None = None

    def __len__(self) -> int:
        """Count the rows."""
        if isinstance(self.cells, np.ndarray):
            return len(self.cells)
        return len(next(iter(self.cells.values()))) if self.cells else 0

    def line_of(self, row: int) -> int:
        """The number of a row in its source, counted from 1."""
        return row + 1 if self.line is None else int(self.line[row])

    def column(self, name: str) -> pl.Series:
        """Return the cells of a column."""
        if isinstance(self.cells, np.ndarray):
            return pl.Series(self.cells[:, self.names.index(name)])
        return self.cells[name]


@dataclass(frozen=True, eq=False)
class OutputRows(OutputTable):
    """Published rows, to be written: their numbers, and their names and labels if they are published."""

    columns: tuple[str, ...]
    values: Floats
    ids: NDArray[Any] | None
    labels: NDArray[Any] | None

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Return a table with the published columns; names and labels of rows come first."""
        table: dict[str, pl.Series] = {}
        carried = {"id": self.ids, "label": self.labels}
        for role, cells in carried.items():
            if cells is not None:
                table[names.get(role, role)] = pl.Series([str(cell) for cell in cells.tolist()], dtype=pl.String)
        for number, name in enumerate(self.columns):
            if name in table:
                msg = f"a column of numbers is named {name!r}, and so is a column of names or labels; rename one"
                raise ParameterError(msg)
            table[name] = pl.Series(self.values[:, number])
        return pl.DataFrame(table)


def pandas_column(column: Any) -> pl.Series:
    """Take a pandas column of numbers as it is, and any other cell by cell, so that no Arrow library is needed."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiu" and isinstance(column.dtype, np.dtype):
        return pl.Series(column.to_numpy())
    if kind == "f":  # with gaps; its type tells how many bits have decimals
        return pl.Series(column.to_numpy(column.dtype.numpy_dtype, na_value=np.nan))
    gaps: list[bool] = column.isna().tolist()
    cells: list[Any] = column.tolist()
    texts = [None if gap else _text_of_cell(cell) for gap, cell in zip(gaps, cells, strict=True)]
    return pl.Series(texts, dtype=pl.String)


def _text_of_cell(cell: Any) -> str | None:
    return str(cell) if type(cell) in (np.float16, np.float32) else text_of(cell, fractions=True)


def number_cells(where: str, name: str, column: pl.Series) -> tuple[Floats, Flags]:
    """Turn cells into numbers, each by itself; return also which cells are not finite numbers.

    A column of texts is parsed; the type that a table declares for a column must be text or a number.
    """
    return _numbers(_texts_or_numbers(where, name, column))


def lattice_cells(where: str, name: str, column: pl.Series, lattice: Lattice, *, rounded: bool) -> LatticeCells:
    """Turn cells into numbers, and these into steps of a lattice, exactly; each by itself.

    Floating-point numbers decide, but where a longer decimal could have been rounded to a point; or, if numbers are
    `rounded` to points anyway, to the middle between two.
    """
    column = _texts_or_numbers(where, name, column)
    numbers, unreadable = _numbers(column)
    steps, off, middle = lattice.place(numbers)
    far = ~(unreadable | lattice.is_near(numbers))
    doubtful = ((middle if rounded else ~off) | far) & _may_be_rounded(column, numbers)
    if lattice.has_decimals and doubtful.any():
        which, texts = number_values(column.filter(pl.Series(doubtful)).cast(pl.String))
        placed = [lattice.place_one(exact_number(str(text))) for text in texts]
        steps[doubtful] = np.array([step for step, _ in placed], np.int64)[which]
        off[doubtful] = np.array([is_off for _, is_off in placed], np.bool_)[which]
        # so far beyond the bounds its floating-point number may be another one
        numbers = np.where(doubtful & far, lattice.numbers(steps), numbers)
    return LatticeCells(numbers, unreadable, steps, off & ~unreadable)


def _texts_or_numbers(where: str, name: str, column: pl.Series) -> pl.Series:
    """Return a column of texts or numbers: exact decimals as texts."""
    dtype = column.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum, pl.Null)) or dtype.is_decimal():
        column, dtype = column.cast(pl.String), pl.String()
    if isinstance(dtype, pl.String):
        column = column.str.strip_chars(" \t")
        return column.set(column.str.len_bytes() > _LONGEST, None)
    if not dtype.is_numeric():
        msg = (
            f"{where}: column {name!r} must hold numbers; its type is {dtype}; leave it out with the reading option "
            f"drop={name}, or declare what it is with --columns id={name} or label={name}"
        )
        raise ReadError(msg)
    return column


def _numbers(column: pl.Series) -> tuple[Floats, Flags]:
    if column.dtype.is_float() and column.dtype != pl.Float64:
        filled = column.fill_null(np.nan).to_numpy()
        numbers = shortest_decimals(filled)
    else:
        numbers = column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return numbers, ~np.isfinite(numbers)


def _may_be_rounded(column: pl.Series, numbers: Floats) -> Flags:
    """Return which cells are decimals that their floating-point numbers may not tell from others."""
    if isinstance(column.dtype, pl.String):
        rounded = (column.str.len_bytes() > _SHORT).fill_null(value=False).to_numpy(writable=True)
        zeros = np.flatnonzero(numbers == 0)  # a short decimal can only be so small that it has become 0
        rounded[zeros] |= column.gather(zeros).str.contains_any(["e", "E"]).to_numpy()
        return rounded
    return np.abs(numbers) >= EXACT if column.dtype.is_integer() else np.zeros(len(column), np.bool_)


def text_cells(where: str, name: str, column: pl.Series) -> tuple[NDArray[Any], Flags]:
    """Turn names or labels of rows into texts, each by itself; return also which cells are empty or unreadable."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum, pl.Null)) or column.dtype.is_integer():
        column = column.cast(pl.String)
    elif column.dtype.is_float():
        texts = [None if cell is None else text_of(cell, fractions=True) for cell in column.to_list()]
        column = pl.Series(texts, dtype=pl.String)
    elif not isinstance(column.dtype, pl.String):
        msg = f"{where}: column {name!r} must hold text or numbers; its type is {column.dtype}"
        raise ReadError(msg)
    column = column.str.strip_chars(" \t")
    bad = column.is_null() | (column == "") | column.str.contains("[\0\r\n]")
    return np.array(column.fill_null("").to_list(), np.str_), bad.fill_null(value=True).to_numpy()
