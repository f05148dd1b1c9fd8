"""Test cases of matrices: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hedgerow.data import Domain, NumberAxis, Source
from hedgerow.kinds.matrices.data import Matrix

_LOW, _HIGH, _STEP = "-8", "8", "0.5"


def matrix_of(rows: Sequence[Sequence[float]], columns: int, **named: Any) -> Matrix:
    """Make a matrix of columns `c1`, `c2`, ... with numbers between -8 and 8, in steps of one half.

    Examples
    --------
    >>> matrix_of([[1, 2.5]], 2).lattice().tolist()
    [[18, 21]]
    """
    axes = {f"c{number}": NumberAxis.between(_LOW, _HIGH, _STEP) for number in range(1, columns + 1)}
    values = np.array(rows, np.float64).reshape(-1, columns)
    return Matrix.from_rows(values, domain=Domain(tuple(axes.items()), Source.DECLARED), **named)


def _made_up(rows: int, columns: int) -> list[list[float]]:
    """Numbers that look random, on the lattice."""
    return [
        [((7 * row * row + 5 * row * column + 3 * column + row) % 33 - 16) / 2 for column in range(columns)]
        for row in range(rows)
    ]


EDGE_CASES: dict[str, Callable[[], Matrix]] = {
    "no row": lambda: matrix_of([], 3),
    "one row": lambda: matrix_of([[1, -2, 3.5]], 3),
    "one column": lambda: matrix_of([[1], [2], [5], [-3]], 1),
    "two rows": lambda: matrix_of([[1, 2], [-3, 8]], 2),
    "all zero": lambda: matrix_of([[0, 0, 0]] * 4, 3),
    "rows alike": lambda: matrix_of([[1, 2, -3]] * 6, 3),
    "a constant column": lambda: matrix_of([[4, row - 3, (row * row) % 7] for row in range(7)], 3),
    "at the bounds": lambda: matrix_of([[-8, 8, 8], [8, -8, 8], [8, 8, -8], [-8, -8, -8], [8, 8, 8]], 3),
    "one row far away": lambda: matrix_of([*[[0.5, 0, -0.5, 0]] * 5, [8, -8, 8, -8]], 4),
    "fewer rows than columns": lambda: matrix_of(_made_up(3, 6), 6),
    "names and labels": lambda: matrix_of(
        _made_up(9, 4),
        4,
        ids=[f"p{9 - row}" for row in range(9)],
        labels=["ill" if row % 3 else "well" for row in range(9)],
    ),
    "odd sizes": lambda: matrix_of(_made_up(11, 5), 5),
    "many": lambda: matrix_of(_made_up(40, 8), 8),
}


def random_data(st: Any, *, least: int, most: int = 10, columns: int = 4) -> Any:
    """Draw a matrix of at least `least` rows; `st` is hypothesis.strategies."""

    def draw_rows(width: int) -> Any:
        cell = st.integers(-16, 16).map(_half)
        row = st.lists(cell, min_size=width, max_size=width)
        return st.lists(row, min_size=least, max_size=max(least, most)).map(partial(matrix_of, columns=width))

    return st.integers(1, columns).flatmap(draw_rows)


def _half(number: int) -> float:
    return number / 2


def from_vector(vector: Mapping[str, Any]) -> Matrix:
    """Read the data of a vector: its `rows`, and the bounds `low`, `high` and `step` of all columns, if any."""
    rows = vector["rows"]
    bounds = [vector[name] for name in ("low", "high", "step") if name in vector]
    axis = NumberAxis.between(*bounds) if bounds else NumberAxis()
    axes = {f"c{number}": axis for number in range(1, len(rows[0]) + 1)}
    return Matrix.from_rows(rows, domain=Domain(tuple(axes.items()), Source.DECLARED), ids=vector.get("ids"))


def to_vector(data: Matrix) -> list[Any]:
    """Write published data in the form of a vector: its rows, sorted unless they have names or numbers."""
    rows: list[list[float]] = data.values.tolist()
    return sorted(rows) if data.ids is None else rows
