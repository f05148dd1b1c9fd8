"""Charts of a release of sequences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.charts import Chart, bar_chart, column_chart
from hedgerow.kinds.sequences.data import Sequences

_MOST = 15


def charts(data: Sequences, *, compared: bool) -> list[Chart]:
    """Draw the most frequent items and the lengths of sequences; nothing if a comparison shows both."""
    starts, items, weights = data.arrays()
    if compared or not len(weights):
        return []
    sizes: NDArray[np.int64] = np.diff(starts)
    values = data.domain.values("item")
    occurrences = np.bincount(items, np.repeat(weights, sizes), len(values)).astype(np.int64)
    top: list[int] = np.argsort(-occurrences, kind="stable")[:_MOST].tolist()
    frequent = [{"item": str(values[code]), "occurrences": int(occurrences[code])} for code in top if occurrences[code]]
    lengths, place = np.unique(np.minimum(sizes, _MOST), return_inverse=True)
    records = np.bincount(place, weights).astype(np.int64).tolist()
    rows = [
        {"items": f"{length}{' or more' if length == _MOST else ''}", "sequences": count}
        for length, count in zip(lengths.tolist(), records, strict=True)
    ]
    return [
        bar_chart("Most frequent items in the release", frequent, "item", "occurrences"),
        column_chart("Items per sequence in the release", rows, "items", "sequences"),
    ]
