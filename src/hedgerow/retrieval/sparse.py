r"""A noisy query as a few of its Haar coefficients: those that reach a multiple of the mean absolute coefficient.

The Haar basis is orthonormal, so inner products are those of coefficients. The threshold is computed from the *noisy*
query: one computed from the exact query would disclose it. The mean of the signed coefficients, which the thesis
prints, is near 0 and drops nothing [1]_.

References
----------
.. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
   University of Kentucky, 2015, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.haar import orthonormal

__all__ = ["SparseQuery", "multiply", "sparsify", "truncation_bound"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SparseQuery:
    """The coefficients that are sent: ascending `places`, counted from 0, among `length`, and their `values`.

    `dropped` is the Euclidean norm of those that are not; the sender knows it.
    """

    length: int
    places: Integers
    values: Floats
    dropped: float


def sparsify(noisy_query: Floats, factor: float = 1.0) -> SparseQuery:
    """Keep the coefficients of a noisy query of at least `factor` times their mean absolute value.

    Examples
    --------
    >>> query = sparsify(np.array([0.285, 1.875, 0.951, 2.871, -0.91, 0.123]))
    >>> query.places.tolist(), query.values.round(4).tolist()
    ([0, 1, 4, 5], [1.8367, 2.3932, -1.1243, -1.3576])
    """
    coefficients = orthonormal(noisy_query)
    sizes = np.abs(coefficients)
    kept = (sizes >= factor * sizes.mean()) & (sizes > 0)
    dropped = float(np.linalg.norm(coefficients[~kept]))
    return SparseQuery(len(coefficients), np.flatnonzero(kept), coefficients[kept], dropped)


def multiply(coefficients: Floats, query: SparseQuery) -> float:
    """Return the inner product of the coefficients of a vector with a sparse query: as many products as were sent."""
    return float(coefficients[query.places] @ query.values)


def truncation_bound(coefficients: Floats, query: SparseQuery) -> float:
    """Return how much the dropped coefficients can change the inner product: the product of both norms."""
    return float(np.linalg.norm(coefficients)) * query.dropped
