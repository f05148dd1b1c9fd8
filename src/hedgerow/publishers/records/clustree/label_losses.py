"""The loss of the deepest common ancestor of labels, by rows of a table."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.hierarchy import Hierarchy
from hedgerow.data.records import Records

__all__ = ["LabelLosses", "losses_of"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the maximum number of labels of which all pairs are kept in a table: 8 MB
_TABLE = 1024


class LabelLosses:
    """Which part of a label survives if it is published together with another one.

    Examples
    --------
    >>> from hedgerow.data.domain import Axis
    >>> courses = Axis(("CS201", "CS301", "CS305"), (("CS2",), ("CS3",), ("CS3",)))
    >>> losses = LabelLosses(Hierarchy.from_axis(courses))
    >>> losses.kept(np.array([1]), np.arange(3)).tolist()
    [[0.0, 1.0, 0.5]]
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        every = np.arange(len(hierarchy))
        self._table = self._rows(every, every) if len(hierarchy) <= _TABLE else None

    def kept(self, labels: Integers, others: Integers) -> Floats:
        """One minus the loss of the deepest common ancestor of each of these labels with each of the others."""
        if self._table is not None:
            return self._table[labels][:, others]
        distinct, place = np.unique(others, return_inverse=True)  # of a long hierarchy, few labels occur
        return self._rows(labels, distinct)[:, place]

    @property
    def steps(self) -> Floats:
        """What each label adds to the part that is kept, so that the sum along a path to the root is that part."""
        loss, parent = self.hierarchy.loss, self.hierarchy.parent
        return np.where(parent >= 0, loss[parent], 1.0) - loss

    def _rows(self, labels: Integers, others: Integers) -> Floats:
        rows = np.empty((len(labels), len(others)))
        for row, label in zip(rows, labels, strict=True):
            row[:] = 1 - self.hierarchy.loss[self.hierarchy.common_ancestor(np.full_like(others, label), others)]
        return rows


def losses_of(data: Records) -> tuple[tuple[LabelLosses, ...], ...]:
    """The losses of the quasi-identifiers of each type."""
    return tuple(tuple(map(LabelLosses, data.hierarchies(number))) for number in range(len(data.schema.types)))
