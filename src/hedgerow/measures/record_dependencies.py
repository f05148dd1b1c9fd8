"""How well a sensitive value is guessed from a label of its vertex: such labels undo generalisation.

A title may determine its price, and a course without grades its only mark. Values of a position are then diverse, and
yet say which title is meant; anyone who knows the title knows the price. No promise limits that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.records import Records
from hedgerow.privacy.tree_orbits import bucket_numbers

__all__ = ["Dependency", "find_dependencies"]

Integers: TypeAlias = NDArray[np.int64]


class Dependency(NamedTuple):
    """The share of values of a sensitive attribute that are guessed from a label, and without it."""

    sensitive: str
    label: str
    guessed: float
    anyway: float


def find_dependencies(data: Records) -> Iterator[Dependency]:
    """Guess each sensitive value, or group of values, as the most frequent one of the *other* vertices of its label.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("book", None, ("title",), "price"),))
    >>> domain = Domain.declare(**{"book.title": ["a", "b", "c"], "book.price": [1, 2]})
    >>> books = [("book", [title], price, []) for title, price in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("c", 1)]]
    >>> list(find_dependencies(Records.from_trees(books, schema, domain)))
    [Dependency(sensitive='book.price', label='book.title', guessed=0.8, anyway=0.6)]
    """
    for kind, table in zip(data.schema.types, data.tables, strict=True):
        given = np.flatnonzero(table.sensitive >= 0)
        if kind.sensitive_axis is None or not len(given):
            continue
        bucket = bucket_numbers(data.domain.axis(kind.sensitive_axis))[table.sensitive[given]]
        anyway = _guess(np.zeros(len(given), np.int64), bucket)
        for column, axis in enumerate(kind.quasi_axes):
            yield Dependency(kind.sensitive_axis, axis, _guess(table.labels[given, column], bucket), anyway)


def _guess(label: Integers, bucket: Integers) -> float:
    """The share of vertices whose bucket is, by one or more, the most frequent one of the others of their label."""
    width = int(bucket.max()) + 1
    pairs, counts = np.unique(label * width + bucket, return_counts=True)
    order = np.lexsort((-counts, pairs // width))
    of, times = (pairs // width)[order], counts[order]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    after = np.append(times, 0)[first + 1]
    second = np.where(np.append(of, -1)[first + 1] == of[first], after, 0)
    most = times[first]
    return float(most[(most > second) & (most > 1)].sum() / len(bucket))
