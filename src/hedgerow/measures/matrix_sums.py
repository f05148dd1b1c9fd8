"""Sums over a few random entries of each column: what vectors are asked for by keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.scoring import Better, exact_score
from hedgerow.score import Score

__all__ = ["SUMS", "measure_sums"]

Floats: TypeAlias = NDArray[np.float64]

SUMS = "error of sums of random entries, in parts of the mean sum"
#: queries that are asked of a column, and columns of which they are asked
_ASKED, _COLUMNS = 400, 24
_LOWER: Better = "lower"


def measure_sums(
    original: Floats, released: Mapping[str, Floats], names: tuple[str, ...], keywords: int, rng: np.random.Generator
) -> list[Score]:
    """Compare sums over `keywords` random rows, or half of all, column by column; the release has the empty name.

    Beside the controls stands the answer 0, whose error is 1.
    """
    number = max(1, min(keywords, len(original) // 2))
    chosen = np.array([rng.permutation(len(original))[:number] for _ in range(_ASKED)])
    scores: list[Score] = []
    for column, name in enumerate(names[:_COLUMNS]):
        true = original[chosen, column].sum(1)
        size = float(np.abs(true).mean())
        if size > 0:
            errors = {
                key: float(np.abs(values[chosen, column].sum(1) - true).mean()) / size
                for key, values in released.items()
            }
            title = f"{SUMS} ({chosen.shape[1]:,} of {len(original):,}): {name}"
            scores.append(
                exact_score(title, errors.pop(""), errors | {"answer 0": 1.0}, better=_LOWER, chart=SUMS, at=name)
            )
    return scores
