r"""An upper bound of what a representative saves with every record, by histograms of labels.

For a label $x$ let $h_T(x)$ be the number of labels of a tree at or below $x$, and $\omega(x)$ the loss of its parent
minus its own. Whatever is matched, no more than $\min(h_1(x), h_2(x))$ pairs of labels have $x$ at or above their
common ancestor, so the saving is at most $\sum_x \omega(x) \min(h_1(x), h_2(x))$. The minimum of two counts is the
number of steps that both reach: with one column per label and step, filled up to the count (a thermometer code), the
bound for all records is one product of a sparse matrix and a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges
from hedgerow.publishers.records.clustree.forest import KEEP, Forest
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["HistogramBound"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class _Counts(NamedTuple):
    """Histograms: how many labels of a row are in a bin."""

    row: Integers
    bin: Integers
    number: Integers


class HistogramBound:
    """The histograms of all subtrees of a forest that start at one type; those of its records, by default."""

    def __init__(self, forest: Forest, number: int = 0) -> None:
        self._forest = forest
        self._number = number
        sizes = [[1, *(len(losses.hierarchy) for losses in attributes)] for attributes in forest.losses]
        ends = np.cumsum([size for of_type in sizes for size in of_type])
        starts = iter(np.concatenate([[0], ends[:-1]]).tolist())
        #: the first bin of each type, which counts vertices, and of each of its attributes
        self._first: list[list[int]] = [[next(starts) for _ in of_type] for of_type in sizes]
        weights = [part for attributes in forest.losses for part in ([KEEP], *(losses.steps for losses in attributes))]
        self._weights = np.concatenate([np.asarray(part, np.float64) for part in weights])
        parents = [arrays.parent for arrays in forest.types]
        labels = [arrays.contents.labels[arrays.content] for arrays in forest.types]
        self._encode(self._histograms(parents, labels), len(parents[number]))

    def savings(self, representative: Representative) -> Floats:
        """At least what each position of the type, with what is below it, saves with each vertex."""
        parents = [positions.parent for positions in representative.types]
        counts = self._histograms(parents, [positions.labels for positions in representative.types])
        columns, rows = self._steps(counts._replace(number=np.minimum(counts.number, self._most[counts.bin])))
        vectors = np.zeros((len(self._step_weights), len(parents[self._number])))
        vectors[columns, rows] = self._step_weights[columns]
        return (self._matrix @ vectors).T

    def _histograms(self, parents: Sequence[Integers], labels: Sequence[Integers]) -> _Counts:
        """Count the labels at or below each label, in each subtree."""
        keys: list[Integers] = []
        tops: dict[int, Integers] = {self._number: np.arange(len(parents[self._number]))}
        for number, above in enumerate(self._forest.schema.parents):
            if above in tops:
                tops[number] = tops[above][parents[number]]
            if number in tops:
                row, column = self._bins(number, labels[number])
                keys.append(tops[number][row] * len(self._weights) + column)
        key, number = np.unique(np.concatenate(keys), return_counts=True)
        return _Counts(key // len(self._weights), key % len(self._weights), number)

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

    def _encode(self, counts: _Counts, rows: int) -> None:
        """Fill one column per bin and step, up to the count of the bin."""
        self._most = np.zeros(len(self._weights), np.int64)
        np.maximum.at(self._most, counts.bin, counts.number)
        self._starts = np.cumsum(self._most) - self._most
        self._step_weights = np.repeat(self._weights, self._most)
        columns, row = self._steps(counts)
        shape = (rows, len(self._step_weights))
        from scipy import sparse  # noqa: PLC0415 - listing the methods does not need it

        self._matrix: Any = sparse.csr_matrix((np.ones(len(row)), (row, columns)), shape)  # SciPy is not typed

    def _steps(self, counts: _Counts) -> tuple[Integers, Integers]:
        """The columns of the steps that each count reaches, and their rows."""
        return index_ranges(self._starts[counts.bin], counts.number), np.repeat(counts.row, counts.number)
