"""Charts of a release of a matrix."""

from __future__ import annotations

import numpy as np

from hedgerow.data.matrices import Matrix
from hedgerow.report.charts import Chart, column_chart

__all__ = ["charts"]

#: singular values that are drawn
_DRAWN = 24


def charts(data: Matrix, *, compared: bool) -> list[Chart]:
    """Draw how the released numbers spread over directions."""
    del compared
    if not len(data):
        return []
    squares = np.linalg.eigvalsh(data.values.T @ data.values)[::-1]
    singular = np.sqrt(np.maximum(squares, 0.0))[:_DRAWN]
    rows = [{"number": str(number), "singular value": value} for number, value in enumerate(singular.tolist(), start=1)]
    return [column_chart("Singular values of the release", rows, "number", "singular value")]
