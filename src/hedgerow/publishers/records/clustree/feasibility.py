"""What no choice of classes can publish, said to the owner before classes are built."""

from __future__ import annotations

import warnings
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.records import Records
from hedgerow.errors import NotSatisfied
from hedgerow.publishers.records.clustree.clustering import class_bound
from hedgerow.publishers.records.clustree.forest import bucket_codes

__all__ = ["bound_published", "require_feasible"]

Integers: TypeAlias = NDArray[np.int64]


def require_feasible(data: Records, *, k: int, l: int | None) -> None:  # noqa: E741 - the name of the promise
    """Refuse data of which no record can be published, and warn if there are records or vertices that cannot be."""
    size = max(k, l or 1)
    if len(data) < size:
        msg = f"a class needs {size:,} records, and there are {len(data):,}; lower k or l, or add records"
        raise NotSatisfied(msg)
    if l is None:
        return
    _require_roots(data, size, l)
    for number, kind in enumerate(data.schema.types[1:], start=1):
        counts = _count_buckets(data, number)
        if 0 < len(counts) < l:
            warnings.warn(
                f"fewer than l = {l:,} values or groups of values of {kind.sensitive_axis!r} occur: all vertices that "
                f"have one ({int(counts.sum()):,}) will be suppressed",
                stacklevel=4,
            )


def _require_roots(data: Records, size: int, l: int) -> None:  # noqa: E741
    counts = _count_buckets(data, 0)
    missing = len(data) - int(counts.sum())
    published = bound_published(counts, l) + (missing if missing >= size else 0)
    name = data.schema.types[0].sensitive_axis
    if published < size:
        msg = (
            f"no record can be published with l = {l:,}: too few values or groups of values of {name!r} occur, or one "
            "is too frequent; lower l, or declare finer buckets"
        )
        raise NotSatisfied(msg)
    if published < len(data):
        warnings.warn(
            f"at most {published:,} of {len(data):,} records can be published with l = {l:,}, since a value or group "
            f"of values of {name!r} is too frequent; a lower l or finer buckets keep more",
            stacklevel=5,
        )


def bound_published(counts: Integers, l: int) -> int:  # noqa: E741
    r"""How many records can be published at most, given how many have each sensitive value at their root.

    Of $N$ published records at most $\lfloor N / l \rfloor$ have the same value, since that holds in every class: the
    largest $N$ with $\sum_v \min(c_v, \lfloor N / l \rfloor) \ge N$.

    Examples
    --------
    >>> bound_published(np.array([34, 183, 356, 308, 119]), 3)
    966
    """
    share = class_bound(counts, size=l, most=1)
    return min(int(np.minimum(counts, share).sum()), share * l + l - 1)


def _count_buckets(data: Records, number: int) -> Integers:
    """Count the vertices with each sensitive value, or group of values, that occurs."""
    axis, codes = data.schema.types[number].sensitive_axis, data.tables[number].sensitive
    if axis is None:
        return np.zeros(0, np.int64)
    counts = np.bincount(bucket_codes(data.domain.axis(axis))[codes[codes >= 0]])
    return counts[counts > 0]
