"""How many rows have a number within a range of a column: what a histogram is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.scoring import Better, exact_score
from hedgerow.score import Score

__all__ = ["RANGES", "measure_ranges"]

Floats: TypeAlias = NDArray[np.float64]

RANGES = "error of counts of rows within an eighth of a column, in parts of all rows"
#: ranges that are asked of a column, and columns of which they are asked
_ASKED, _COLUMNS = 200, 24
_PART = 8
_LOWER: Better = "lower"


def measure_ranges(
    original: Floats, released: Mapping[str, Floats], names: tuple[str, ...], rng: np.random.Generator
) -> list[Score]:
    """Compare counts of rows within ranges of each column; the release has the empty name.

    Ranges are drawn over the numbers of the original, so they are for the owner only.
    """
    scores: list[Score] = []
    for number, name in enumerate(names[:_COLUMNS]):
        column = np.sort(original[:, number])
        width = (column[-1] - column[0]) / _PART
        low = rng.uniform(column[0], column[-1] - width, _ASKED)
        true = _count(column, low, width)
        errors = {
            key: float(np.abs(_count(np.sort(values[:, number]), low, width) - true).mean()) / len(original)
            for key, values in released.items()
        }
        scores.append(exact_score(f"{RANGES}: {name}", errors.pop(""), errors, better=_LOWER, chart=RANGES, at=name))
    return scores


def _count(column: Floats, low: Floats, width: float) -> NDArray[np.int64]:
    """Count the numbers of a sorted column within ranges that begin at `low`."""
    return np.searchsorted(column, low + width, side="right") - np.searchsorted(column, low, side="left")
