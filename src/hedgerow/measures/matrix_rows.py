"""Which row of a release belongs to which row of the original: by their names or numbers, if they have any."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.matrices import Matrix

__all__ = ["PairedRows", "pair_rows"]

Floats: TypeAlias = NDArray[np.float64]


class PairedRows(NamedTuple):
    """The numbers of the original and of the release, row by row."""

    original: Floats
    released: Floats


def pair_rows(original: Matrix, released: Matrix) -> PairedRows | None:
    """Pair rows; None if rows have no names, or other columns, so that nobody can tell which belong together.

    Rows without names are published in another order. To pair them, publish with a column `id`, or with
    the reading option `rows=numbered`.

    Examples
    --------
    >>> data = Matrix.from_rows([[1.0], [2.0]], ids=["a", "b"])
    >>> pair_rows(data, data.take(np.array([1, 0]))).released.tolist()
    [[1.0], [2.0]]
    """
    if original.ids is None or released.ids is None or original.values.shape[1] != released.values.shape[1]:
        return None
    first, second = _names(original.ids), _names(released.ids)
    if len({*first}) < len(first) or len({*second}) < len(second):
        return None
    place = {name: number for number, name in enumerate(second)}
    rows = [(number, place[name]) for number, name in enumerate(first) if name in place]
    if not rows:
        return None
    mine, theirs = np.array(rows).T
    return PairedRows(original.values[mine], released.values[theirs])


def _names(ids: NDArray[Any]) -> list[str]:
    return [str(name) for name in ids.tolist()]
