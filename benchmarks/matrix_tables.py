"""Public tables of numbers, as the thesis on matrix distortion read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from floor import data_folder
from numpy.typing import NDArray

#: what the thesis put into missing cells of WBC, by class; its text has other numbers, its tables are of these
_IMPUTED = {"4": "8", "2": "1"}


class Table(NamedTuple):
    """Rows of numbers, and their labels."""

    values: NDArray[np.float64]
    labels: NDArray[Any]


def _lines(name: str) -> list[list[str]]:
    path: Path = data_folder() / "uci-numeric" / name
    return [line.split(",") for line in path.read_text().splitlines() if line.strip()]


def _of(rows: list[list[str]]) -> Table:
    """Take the last column as the label."""
    return Table(np.array([row[:-1] for row in rows], np.float64), np.array([row[-1] for row in rows]))


def read_table(name: str) -> Table:
    """Read a table by its short name: WBC, WDBC, Wine, Pima, or Bupa where there is a copy."""
    if name == "WBC":
        rows = _lines("breast-cancer-wisconsin-original.csv")
        return _of([[_IMPUTED[row[-1]] if cell == "?" else cell for cell in row[1:]] for row in rows])
    files = {"WDBC": "wdbc.csv", "Wine": "wine.csv", "Pima": "pima-diabetes.csv", "Bupa": "bupa.csv"}
    return _of(_lines(files[name]))


def has_table(name: str) -> bool:
    """Whether there is a copy of a table that is not always there."""
    return (data_folder() / "uci-numeric" / f"{name.lower()}.csv").exists()
