"""Describe private data, for its owner only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Lists
from hedgerow.kind_registry import find_kind


def describe(data: Dataset) -> dict[str, Any]:
    """Describe data of any kind; every figure is a function of the private data: for the owner only."""
    return find_kind(data.kind).module("measures").describe(data)


def describe_lists(data: Lists) -> dict[str, Any]:
    """Describe records that are lists of items; for the owner only.

    Examples
    --------
    >>> from hedgerow import Sets
    >>> data = Sets.from_records([["tea"], ["tea", "milk"]])
    >>> describe_lists(data)["items per record"]
    {'least': 1, 'most': 2, 'mean': 1.5, 'median': 1.5}
    """
    starts, items, weights = data.arrays()
    facts: dict[str, Any] = {
        "records": int(weights.sum()),
        "items of the domain": data.domain.size("item"),
        "items that occur": len(np.unique(items)),
        "domain": data.domain.source.value,
        "items per record": spread(np.repeat(np.diff(starts), weights)),
    }
    if data.persons is not None:
        records = np.unique(data.persons, return_counts=True)[1]
        facts["persons"] = len(records)
        facts["records per person"] = spread(records)
    return facts


def spread(values: NDArray[np.integer]) -> dict[str, float]:
    """The minimum, maximum, mean and median of some numbers."""
    if len(values) == 0:
        return {}
    median = float(np.median(values))
    return {
        "least": int(values.min()),
        "most": int(values.max()),
        "mean": round(float(values.mean()), 2),
        "median": int(median) if median.is_integer() else median,
    }
