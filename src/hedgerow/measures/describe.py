"""What private data looks like, for its owner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Lists, Trajectories
from hedgerow.errors import ParameterError

__all__ = ["describe", "describe_lists", "describe_trajectories"]


def describe_lists(data: Lists) -> dict[str, Any]:
    """Describe sets or sequences; every figure is a function of the private data: the owner's.

    Examples
    --------
    >>> from hedgerow import Sets
    >>> data = Sets.from_records([["tea"], ["tea", "milk"]])
    >>> describe_lists(data)["items a record"]
    {'least': 1, 'most': 2, 'mean': 1.5, 'median': 1}
    """
    starts, items, weights = data.arrays()
    held: dict[str, Any] = {
        "records": int(weights.sum()),
        "items of the domain": data.domain.size("item"),
        "items that occur": len(np.unique(items)),
        "domain": data.domain.source.value,
        "items a record": _spread(np.repeat(np.diff(starts), weights)),
    }
    if data.persons is not None:
        owned = np.unique(data.persons, return_counts=True)[1]
        held["persons"] = len(owned)
        held["records a person"] = _spread(owned)
    return held


def describe_trajectories(data: Trajectories) -> dict[str, Any]:
    """Describe trajectories; for the owner only."""
    starts, pairs, traits = data.arrays()
    size = data.domain.size("place")
    return {
        "records": len(data),
        "times that occur": len(np.unique(pairs // size)),
        "places that occur": len(np.unique(pairs % size)),
        "pairs of place and time that occur": len(np.unique(pairs)),
        "domain": data.domain.source.value,
        "visits a record": _spread(np.diff(starts)),
        **{f"values of {name}": len(np.unique(codes[codes >= 0])) for name, codes in traits.items()},
    }


def _spread(values: NDArray[np.integer]) -> dict[str, float]:
    if len(values) == 0:
        return {}
    return {
        "least": int(values.min()),
        "most": int(values.max()),
        "mean": round(float(values.mean()), 2),
        "median": int(np.median(values)),
    }


def describe(data: Dataset) -> dict[str, Any]:
    """Describe data of any kind there is a description for."""
    if isinstance(data, Lists):
        return describe_lists(data)
    if isinstance(data, Trajectories):
        return describe_trajectories(data)
    msg = f"there is no description of {data.kind} yet"
    raise ParameterError(msg)
