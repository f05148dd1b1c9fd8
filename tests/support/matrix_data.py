"""Public tables of the thesis on matrices, as it used them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

__all__ = ["read_uci", "relative_difference"]


def read_uci(name: str) -> np.ndarray:
    """Read WBC (699 x 9), WDBC (569 x 30) or Wine (178 x 13), without names and classes.

    The 16 missing cells of WBC are 8 in malignant and 1 in benign rows, the rounded means of the classes.
    """
    if not os.environ.get("HEDGEROW_DATA"):
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    folder = Path(os.environ["HEDGEROW_DATA"]) / "uci-numeric"
    if name in {"wdbc", "wine"}:
        return np.ascontiguousarray(np.loadtxt(folder / f"{name}.csv", delimiter=",")[:, :-1])
    lines = (folder / "breast-cancer-wisconsin-original.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines if line]
    missing = {"2": 1.0, "4": 8.0}
    return np.array([[missing[row[-1]] if cell == "?" else float(cell) for cell in row[1:-1]] for row in rows])


def relative_difference(original: np.ndarray, released: np.ndarray, *, spectral: bool = False) -> float:
    """VD: the size of the difference over that of the original, in the Frobenius or the spectral norm."""
    norm = 2 if spectral else None
    return float(np.linalg.norm(original - released, norm) / np.linalg.norm(original, norm))
