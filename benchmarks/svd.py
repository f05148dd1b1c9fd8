"""svd on 1,000,000 x 50: time as a ratio to the floor, memory, and how exact it is on 10,000 rows."""

from __future__ import annotations

import sys

import numpy as np
import scipy.linalg
from matrix_floor import compare

from hedgerow.kinds.matrices.methods.svd import truncate

ROWS, COLUMNS = 10_000, 50
#: ratios of the largest to the smallest singular value
CONDITIONS = (1e2, 1e6, 1e12)


def main() -> None:
    """Print times, and the largest difference from the decomposition of scipy."""
    compare("svd")
    if "--job" in sys.argv:
        return
    draw = np.random.default_rng(2)
    for condition in CONDITIONS:
        left, _ = np.linalg.qr(draw.normal(size=(ROWS, COLUMNS)))
        right, _ = np.linalg.qr(draw.normal(size=(COLUMNS, COLUMNS)))
        values = (left * np.geomspace(condition, 1, COLUMNS)) @ right
        vectors, singular, rows = scipy.linalg.svd(values, full_matrices=False)
        worst = 0.0
        for rank in (1, 5, 25, 45):
            exact = (vectors[:, :rank] * singular[:rank]) @ rows[:rank]
            own = values.copy()
            truncate(own, rank)
            worst = max(worst, float(np.linalg.norm(own - exact) / singular[0]))
        print(f"condition {condition:.0e}: differs from scipy.linalg.svd by {worst:.1e} of the largest singular value")


if __name__ == "__main__":
    main()
