"""The cases of the reading law for matrices: every format and table; each cell is read alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from reading_law import Case
from reading_units import (
    OBJECTS,
    TEXTS,
    Pool,
    csv_unit,
    pandas_table,
    parquet_file,
    polars_table,
    row_unit,
    text_file,
)

from hedgerow import Domain
from hedgerow.data import NumberAxis

__all__ = ["MATRIX_CASES"]

COLUMNS = ["unit", "x", "y"]
DECLARED = Domain.declare(x=NumberAxis(), y=NumberAxis.between(-8, 8, "0.5"))
NUMBERS = Pool(["1", "-2.5", " 3 ", "4e-3"], [*TEXTS, "inf", "-Infinity", "1e999", "0x10", "1_000", "1,5", "\u0661"])
FLOATS = Pool([1.0, -2.5, 3.0], [1e300, float("nan"), float("inf"), None, -0.0])
CELLS = OBJECTS[5:] + OBJECTS[:4]  # pandas does not take a lone surrogate


def rows_of(data: Any) -> Iterable[Any]:
    """The rows that were read, with their names."""
    names = [""] * len(data) if data.ids is None else data.ids.tolist()
    return [(str(name), *row) for name, row in zip(names, data.values.tolist(), strict=True)]


def array_unit(chance: random.Random, number: int) -> list[tuple[float, float]]:
    """Rows of numbers, some of which are none."""
    del number
    pool = FLOATS.of(tame=chance.random() < 0.6)
    return [tuple(np.nan if cell is None else cell for cell in chance.choices(pool, k=2)) for _ in range(2)]


def array(rows: list[Any], _: Path) -> Any:
    return np.array(rows, np.float64).reshape(-1, 2)


def npy_file(rows: list[Any], folder: Path) -> Path:
    np.save(folder / "a.npy", array(rows, folder))
    return folder / "a.npy"


_case = partial(Case, "matrices", domain=DECLARED, listed=rows_of)
TYPED = polars_table(COLUMNS, unit=pl.Int64, x=pl.Float64, y=pl.Float64)
FLOAT_ROWS = row_unit(lambda number: number, x=FLOATS, y=FLOATS)
HEADER = text_file("a.csv", b"unit,x,y\n")

MATRIX_CASES: dict[str, Case] = {
    "CSV of numbers": _case(csv_unit(NUMBERS, NUMBERS), HEADER),
    "CSV of numbers without header": _case(
        csv_unit(NUMBERS, NUMBERS), text_file("a.csv", b"a line\n"), {"names": "unit,x,y", "skip_lines": "1"}
    ),
    "polars texts of numbers": _case(row_unit(str, x=NUMBERS, y=NUMBERS), polars_table(COLUMNS)),
    "polars numbers": _case(FLOAT_ROWS, TYPED),
    "Parquet numbers": _case(FLOAT_ROWS, parquet_file(TYPED)),
    "pandas numbers": _case(FLOAT_ROWS, pandas_table(COLUMNS)),
    "pandas, anything numeric": _case(
        row_unit(lambda number: number, x=Pool([1, 2.5, "3"], CELLS), y=Pool([1, 2.5, "3"], CELLS)),
        pandas_table(COLUMNS),
    ),
    "an array": _case(array_unit, array),
    "a NumPy file": _case(array_unit, npy_file),
}
