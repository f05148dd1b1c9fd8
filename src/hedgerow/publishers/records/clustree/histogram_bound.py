r"""An upper bound of what a representative saves with every record, by histograms of labels.

For a label $x$ let $h_T(x)$ be the number of labels of a tree at or below $x$, and $\omega(x)$ the loss of its parent
minus its own. Whatever is matched, no more than $\min(h_1(x), h_2(x))$ pairs of labels have $x$ at or above their
common ancestor, so the saving is at most $\sum_x \omega(x) \min(h_1(x), h_2(x))$. The minimum of two counts is the number
of steps $t$ that both reach: with one column per label and step, filled up to the count (a thermometer code), the
bound for all records is one product of a sparse matrix and a vector.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hedgerow.frontiers.rows import index_ranges
from hedgerow.publishers.records.clustree.forest import KEEP, Forest
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["HistogramBound"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class HistogramBound:
    """The histograms of all records of a forest."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        sizes = [[1, *(len(losses.hierarchy) for losses in attributes)] for attributes in forest.losses]
        ends = np.cumsum([size for of_type in sizes for size in of_type])
        starts = iter(np.concatenate([[0], ends[:-1]]).tolist())
        #: the first bin of each type, which counts vertices, and of each of its attributes
        self._first: list[list[int]] = [[next(starts) for _ in of_type] for of_type in sizes]
        weights = [part for attributes in forest.losses for part in ([KEEP], *(losses.steps for losses in attributes))]
        self._weights = np.concatenate([np.asarray(part, np.float64) for part in weights])
        self._encode(self._record_histograms())

    def savings(self, representative: Representative) -> Floats:
        """At least what the representative saves with each record."""
        bins = [self._bins(number, positions.labels)[1] for number, positions in enumerate(representative.types)]
        counts = np.bincount(np.concatenate(bins), minlength=len(self._weights))
        counts = np.minimum(counts, self._most)
        vector = np.zeros(self._matrix.shape[1])
        vector[index_ranges(self._starts, counts)] = np.repeat(self._weights, counts)
        return self._matrix @ vector

    def _bins(self, number: int, labels: Integers) -> tuple[Integers, Integers]:
        """The row of `labels` and the bin, for every label and each of its ancestors, and for the vertex itself."""
        rows = np.arange(len(labels))
        vertices, *attributes = self._first[number]
        every = [(rows, np.full(len(labels), vertices))]
        for first, losses, column in zip(attributes, self._forest.losses[number], labels.T, strict=True):
            above = losses.hierarchy.ancestors[column]
            place = np.nonzero(above >= 0)
            every.append((rows[place[0]], first + above[place]))
        return np.concatenate([row for row, _ in every]), np.concatenate([bins for _, bins in every])

    def _record_histograms(self) -> sparse.coo_matrix:
        records: list[Integers] = []
        bins: list[Integers] = []
        owner: list[Integers] = []
        for number, above in enumerate(self._forest.schema.parents):
            arrays = self._forest.types[number]
            owner.append(arrays.parent if above < 0 else owner[above][arrays.parent])
            row, column = self._bins(number, self._forest.labels(number, np.arange(len(arrays.parent))))
            records.append(owner[number][row])
            bins.append(column)
        place = (np.concatenate(records), np.concatenate(bins))
        counts = sparse.coo_matrix((np.ones(len(place[0]), np.int64), place), (len(self._forest), len(self._weights)))
        return counts.tocsr().tocoo()

    def _encode(self, counts: sparse.coo_matrix) -> None:
        """Fill one column per bin and step, up to the count of the bin."""
        most = np.zeros(len(self._weights), np.int64)
        np.maximum.at(most, counts.col, counts.data)
        self._most, self._starts = most, np.cumsum(most) - most
        columns = index_ranges(self._starts[counts.col], counts.data)
        rows = np.repeat(counts.row, counts.data)
        shape = (len(self._forest), int(most.sum()))
        self._matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
