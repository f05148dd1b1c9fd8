"""What private data looks like, for its owner."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Dataset, Sets
from hedgerow.errors import ParameterError

__all__ = ["describe", "describe_sets"]


def describe_sets(data: Sets) -> dict[str, str]:
    """Describe sets; every line is a function of the private data, for the owner only.

    Examples
    --------
    >>> data = Sets.from_records([["tea"], ["tea", "milk"]])
    >>> describe_sets(data)["items a record"]
    '1 to 2, mean 1.50, median 1'
    """
    rows = data.engine.collect(data.rows, order=["row"])
    items = data.engine.collect(data.items, order=["row", "item"])
    sizes = np.bincount(np.searchsorted(rows["row"], items["row"]), minlength=len(rows["row"]))
    sizes = np.repeat(sizes, rows["weight"])
    held = {
        "records": f"{len(sizes):,}",
        "items of the domain": f"{data.domain.size('item'):,}",
        "items that occur": f"{len(np.unique(items['item'])):,}",
        "domain": data.domain.source.value,
    }
    if len(sizes):
        held["items a record"] = (
            f"{sizes.min()} to {sizes.max()}, mean {sizes.mean():.2f}, "
            f"median {int(np.median(sizes))}"
        )
    if "person" in rows:
        owned = np.unique(rows["person"], return_counts=True)[1]
        held["persons"] = f"{len(owned):,}"
        held["records a person"] = (
            f"{owned.min()} to {owned.max()}, mean {owned.mean():.2f}, "
            f"median {int(np.median(owned))}"
        )
    return held


def describe(data: Dataset) -> dict[str, str]:
    """Describe data of any kind there is a description for."""
    if isinstance(data, Sets):
        return describe_sets(data)
    msg = f"there is no description of {data.kind} yet"
    raise ParameterError(msg)
