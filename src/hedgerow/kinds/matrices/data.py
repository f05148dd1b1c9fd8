"""Numeric matrices: one row of numbers per record, over public columns; and an order of rows by content alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import is_text
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.number_axis import NumberAxis, to_number_axis
from hedgerow.errors import DomainError, UndeclaredDomain
from hedgerow.frontiers import NextSymbol, SymbolLists
from hedgerow.numerics.arrays import Floats

#: numbers that are looked at together, so that they stay in the cache of the processor
_BLOCK = 2**17
#: the reading option that rounds numbers to their lattice
ROUND = "round=nearest"
#: the bits of -0.0
_NEGATIVE_ZERO = np.array(-0.0).view(np.int64)
#: in how many ways a neighbour differs by one unit: a cell is changed to either bound and by one step, a count by one
#: step up or down
_WAYS = {"row": 1, "cell": 3, "count": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Dataset):
    """Rows of finite numbers over public columns; there is no missing cell.

    Parameters
    ----------
    values
        One row per record, one column per axis of the domain.
    ids
        The names of the rows, if they may be published; whole numbers if rows are numbered by their position.
    labels
        A class per row, if any. Like names, labels are published as they are, or not at all.

    Examples
    --------
    >>> data = Matrix.from_rows([[1.5, 20], [2.5, 10]], columns=["age", "dose"])
    >>> data, data.columns, data.values.sum(0).tolist()
    (<Matrix: numbers age, numbers dose, inferred from the data>, ('age', 'dose'), [4.0, 30.0])
    """

    kind: ClassVar[str] = "matrices"
    units: ClassVar[tuple[str, ...]] = ("row", "cell", "count")

    values: Floats
    ids: NDArray[Any] | None = None
    labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.columns
        if self.values.ndim != 2 or self.values.dtype != np.float64 or self.values.shape[1] != len(names):  # noqa: PLR2004
            msg = f"a matrix needs rows of {len(names)} numbers, one per column of its domain; use Matrix.from_rows"
            raise DomainError(msg)
        if not names or len(set(names)) < len(names) or not all(map(_is_name, names)):
            msg = "a matrix needs at least one column, and names of columns that are distinct lines of text"
            raise DomainError(msg)
        if not all(isinstance(axis, NumberAxis) for _, axis in self.domain.axes):
            msg = "the columns of a matrix are declared by NumberAxis; use Matrix.from_rows"
            raise DomainError(msg)
        for column in (self.ids, self.labels):
            if column is not None and column.shape != (len(self),):
                msg = f"names and labels of rows must be one per row; got {len(column)} for {len(self)} rows"
                raise DomainError(msg)
        if not all(map(_is_finite, row_blocks(self.values))):
            msg = "a matrix needs finite numbers in all cells; fill in missing numbers, or leave the rows out"
            raise DomainError(msg)
        if any(map(_has_negative_zeros, row_blocks(self.values))):
            # otherwise two rows could be equal and written differently
            object.__setattr__(self, "values", _frozen(self.values + 0.0))

    @classmethod
    def from_rows(
        cls,
        rows: Any,
        *,
        columns: Sequence[str] | None = None,
        domain: Domain | None = None,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Matrix:
        """Make a matrix of an array, or of lists of numbers; over a domain, or columns that are known by name only."""
        if np.ma.is_masked(rows):
            msg = "a matrix needs a number in every cell, and some are masked; fill them in, or leave the rows out"
            raise DomainError(msg)
        try:
            values = np.array(rows, np.float64, order="C", ndmin=2)
        except (TypeError, ValueError):
            msg = "a matrix needs rows of numbers, all of one length"
            raise DomainError(msg) from None
        if domain is None:
            names = [f"c{number}" for number in range(1, values.shape[1] + 1)] if columns is None else list(columns)
            domain = columns_domain(names, Source.INFERRED)
        axes = tuple((name, to_number_axis(name, axis)) for name, axis in domain.axes)
        return cls(replace(domain, axes=axes), values, _texts(ids), _texts(labels))

    def __len__(self) -> int:
        """Count the rows."""
        return self.values.shape[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in their public order."""
        return tuple(name for name, _ in self.domain.axes)

    @property
    def bounds(self) -> tuple[NumberAxis, ...]:
        """The declared bounds of each column, for a promise that needs them.

        Raises
        ------
        UndeclaredDomain
            If a column has none.
        """
        axes = tuple(cast("NumberAxis", axis) for _, axis in self.domain.axes)
        missing = [name for name, axis in zip(self.columns, axes, strict=True) if not axis.bounded]
        if missing:
            msg = (
                f"column {missing[0]!r} has no declared bounds, and bounds from the data are private; declare low, "
                "high and step of every column (--domain FILE)"
            )
            raise UndeclaredDomain(msg)
        return axes

    @property
    def numbers_rows(self) -> bool:
        """Whether rows have whole numbers, in any order, and no names."""
        return self.ids is not None and self.ids.dtype.kind == "i"

    @property
    def numbered(self) -> bool:
        """Whether rows are named by their position: 1, 2, ..."""
        return self.numbers_rows and np.array_equal(cast("NDArray[Any]", self.ids), np.arange(1, len(self) + 1))

    def lattice(self) -> NDArray[np.int64]:
        """Return how many steps each number is above the lower bound of its column; bounds and steps are declared.

        A number outside the bounds is moved to the bound, by itself.

        Raises
        ------
        DomainError
            If a number is between two steps; `rounded` rounds them all, which is for the caller to declare.
        """
        codes = np.empty(self.values.shape, np.int64)
        for number in range(len(self.columns)):
            codes[:, number] = self.lattice_column(number)
        return codes

    def lattice_column(self, number: int) -> NDArray[np.int64]:
        """Return how many steps each number of one column is above its lower bound."""
        steps, off, _ = self.bounds[number].lattice.place(self.values[:, number])
        if off.any():
            msg = (
                f"row {int(np.argmax(off)) + 1}: column {self.columns[number]!r} has a number between two steps; "
                f"declare a finer step, or round them all ({ROUND} when reading, Matrix.rounded() in Python)"
            )
            raise DomainError(msg)
        return steps

    def rounded(self) -> Matrix:
        """Return the numbers within their bounds and on their lattice, each rounded half up by itself.

        Examples
        --------
        >>> domain = Domain.declare(dose=NumberAxis.between(0, 1, "0.1"))
        >>> Matrix.from_rows([[0.04], [0.05], [7]], domain=domain).rounded().values.tolist()
        [[0.0], [0.1], [1.0]]
        """
        values = np.empty(self.values.shape)
        for number, axis in enumerate(self.bounds):
            values[:, number] = axis.lattice.numbers(axis.lattice.place(self.values[:, number]).steps)
        return replace(self, values=values)

    def count_bins(self, widths: Sequence[int]) -> NDArray[np.int64]:
        """Count the rows per cell of a grid: bin number k of a column has `widths` steps of it, from k times that on.

        Examples
        --------
        >>> axis = NumberAxis.between(0, 3, 1)
        >>> domain = Domain((("a", axis), ("b", axis)), Source.DECLARED)
        >>> data = Matrix.from_rows([[0, 3], [1, 3], [3, 0]], domain=domain)
        >>> data.count_bins([2, 4]).tolist()
        [[2], [1]]
        """
        shape = tuple(axis.steps // width + 1 for axis, width in zip(self.bounds, widths, strict=True))
        cells = np.zeros(len(self), np.int64)
        for number, (bins, width) in enumerate(zip(shape, widths, strict=True)):
            cells = cells * bins + self.lattice_column(number) // width
        return self._total(cells, math.prod(shape), None).reshape(shape)

    def column_in_order(self, number: int) -> NDArray[np.int64]:
        """Return one column on its lattice, in the order of the numbers of the rows."""
        if self.ids is None:
            msg = "rows have no order; number them"
            raise DomainError(msg)
        places = np.empty(len(self), np.int64)
        places[np.argsort(self.ids, kind="stable")] = np.arange(len(self))
        return self._total(places, len(self), self.lattice_column(number))

    def _total(self, places: NDArray[np.int64], size: int, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Count the rows at each place, by weight, on the engine of this data: a row is a list of one symbol."""
        symbols = np.full(2 * len(places), size, np.int64)
        symbols[::2] = places
        frontier = self.engine.open_records(SymbolLists(size, symbols, weights))
        return frontier.count(NextSymbol(size)).by_code()[:size]

    def on_lattice(self, codes: NDArray[np.int64], ids: NDArray[Any] | None = None) -> Matrix:
        """Return rows of numbers that are so many steps above the lower bounds of the columns."""
        values = np.empty(codes.shape)
        for number, axis in enumerate(self.bounds):
            values[:, number] = axis.lattice.numbers(codes[:, number])
        return replace(self, values=values, ids=ids, labels=None)

    def distorted(
        self,
        values: Floats,
        *,
        ids: NDArray[Any] | None = None,
        labels: NDArray[Any] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Matrix:
        """Return other numbers over the same columns, no longer within their declared bounds.

        With other columns, nothing that was declared is about these numbers.
        """
        if columns is None:
            domain = replace(self.domain, axes=tuple((name, NumberAxis()) for name in self.columns))
        else:
            domain = columns_domain(columns, Source.INFERRED)
        return replace(self, domain=domain, values=values, ids=ids, labels=labels)

    def take(self, rows: NDArray[Any]) -> Matrix:
        """Return these rows, by their positions or by flags."""
        ids, labels = (None if column is None else column[rows] for column in (self.ids, self.labels))
        return replace(self, values=self.values[rows], ids=ids, labels=labels)

    def count_units(self, unit: str) -> int:
        """Count the rows, or the cells: every cell is a count, if counts are protected."""
        self.require_unit(unit)
        return len(self) if unit == "row" else self.values.size

    def count_neighbours(self, unit: str) -> int:
        """Count the neighbours: one per row, or several per cell."""
        return self.count_units(unit) * _WAYS[unit]

    def neighbour(self, index: int, *, unit: str) -> Matrix:
        """Return this matrix without one row, or with another number in one cell.

        A count is a whole number of steps above the lower bound.
        """
        self.require_unit(unit)
        if unit == "row":
            return self.take(np.delete(np.arange(len(self)), index))
        (row, column), way = divmod(index // _WAYS[unit], self.values.shape[1]), index % _WAYS[unit]
        values = self.values.copy()
        axis = cast("NumberAxis", self.domain.axes[column][1])
        if axis.bounded:
            step = int(self.lattice_column(column)[row])
            other = _step_beside(step, axis.steps, way) if unit == "count" else _another_step(step, axis.steps, way)
            values[row, column] = axis.lattice.numbers(np.array([other]))[0]
        else:
            value = float(values[row, column])
            values[row, column] = (value + 1.0, value - 1.0, value / 2 if value / 2 != value else 0.5)[way]
        return replace(self, values=values)

    def bounded(self, unit: str) -> Matrix:
        """Move numbers to the declared bounds, each by itself; refuse those that are between two steps.

        Which rows there are is private if the unit is a row. If it is a cell or a count, only numbers are private: rows
        are numbered, in the order in which they are given unless they have numbers already.
        """
        self.require_unit(unit)
        ids = None
        if unit != "row":
            ids = self.ids if self.numbers_rows else np.arange(1, len(self) + 1)
        return self.on_lattice(self.lattice(), ids)

    def canonical(self) -> Matrix:
        """Put rows into the order of their names, or else into one that depends on their content alone."""
        order = self.order
        return self if np.array_equal(order, np.arange(len(self))) else self.take(order)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The positions of the rows in canonical order."""
        return canonical_order(self.values, self.ids, self.labels)

    def in_order(self) -> Matrix:
        """Return the same, by a method that has put its rows into canonical order: they are not sorted again."""
        vars(self)["order"] = np.arange(len(self))
        return self

    def without_attributes(self) -> Matrix:
        """Drop names and labels of rows; numbers tell their order only, which `bounded` drops if it is private."""
        return replace(self, ids=self.ids if self.numbers_rows else None, labels=None)

    def narrowed(self) -> Matrix:
        """Return the same: every column occurs."""
        return self

    def shuffled(self, order: np.random.Generator) -> Matrix:
        """Return the same rows in another order."""
        return self.take(order.permutation(len(self)))

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, axis.to_plain()) for name, axis in self.domain.axes]
        names = [None if column is None else column.tolist() for column in (self.ids, self.labels)]
        head = msgspec.json.encode([self.kind, axes, self.domain.source.value, names, len(self)])
        return head + self.values.tobytes()


def canonical_order(values: Floats, ids: NDArray[Any] | None, labels: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the positions of rows in the order of their names; without names, in one that their content determines."""
    keys: list[NDArray[Any]] = []
    if ids is not None:
        # by length first, so that 2 is before 10
        keys = [ids] if ids.dtype.kind == "i" else [np.strings.str_len(ids), ids]
    return order_rows(keys, values, [] if labels is None else [labels])


def columns_domain(columns: Sequence[str], source: Source) -> Domain:
    """Return a domain of columns without bounds."""
    return Domain(tuple((name, NumberAxis()) for name in columns), source)


def row_blocks(values: Floats) -> Iterator[Floats]:
    """Yield the rows in blocks that fit into the cache of a processor."""
    rows = max(1, _BLOCK // max(1, values.shape[1]))
    return (values[start : start + rows] for start in range(0, len(values), rows))


def _is_finite(block: Floats) -> bool:
    return bool(np.isfinite(block).all())


def _has_negative_zeros(block: Floats) -> bool:
    return bool(np.any(np.ravel(block).view(np.int64) == _NEGATIVE_ZERO))


def _is_name(name: str) -> bool:
    return bool(name) and is_text(name) and "\n" not in name and "\r" not in name


def _frozen(values: Floats) -> Floats:
    values.flags.writeable = False
    return values


def _texts(names: Sequence[Any] | None) -> NDArray[Any] | None:
    return None if names is None else np.array([str(name) for name in names], np.str_)


def _step_beside(step: int, most: int, way: int) -> int:
    """Return the next step up or down; at a bound there is one way only."""
    return step + 1 if step == 0 or (way == 0 and step < most) else step - 1


def _another_step(step: int, most: int, way: int) -> int:
    """Return another step: that of a bound, or one beside it."""
    target = (0, most, step + 1 if step < most else step - 1)[way]
    return target if target != step else (most, 0, most)[way]


# An order of rows that depends on their content alone, and that says nothing about where they were.

Positions: TypeAlias = NDArray[np.intp]
_HALF = np.uint64(32)
_WEYL, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
#: rows that are compared as a whole at a time
_CHUNK = 2**12


def order_rows(before: Sequence[NDArray[Any]], numbers: Floats, after: Sequence[NDArray[Any]] = ()) -> Positions:
    """Return the row numbers in the order of the columns `before`, of the hash of numbers, and of the columns `after`.

    Sorting one hash per row is many times faster than comparing rows of numbers, of which many may be equal. Different
    rows of equal hash are sorted by the first column in which they differ.

    Examples
    --------
    >>> rows = np.array([[2.0, 5.0], [1.0, 9.0], [2.0, 4.0]])
    >>> rows[order_rows([], rows)].tolist() == rows[::-1][order_rows([], rows[::-1])].tolist()
    True
    """
    ties = _Ties(len(numbers))
    for column in before:
        ties.split(column[ties.order[ties.tied]])
    if len(ties.tied):
        ties.split(hash_rows(numbers)[ties.order[ties.tied]])
    for column in after:
        ties.split(column[ties.order[ties.tied]])
    while len(ties.tied):
        first = _first_difference(ties, numbers)
        if first is None:
            break
        ties.split(numbers[ties.order[ties.tied], first])
    return ties.order


def hash_rows(numbers: Floats) -> NDArray[np.uint64]:
    """Return 64 bits per row that depend on all of its numbers."""
    hashes = np.empty(len(numbers), np.uint64)
    factors = _factors(numbers.shape[1])
    for begin in range(0, len(numbers), _CHUNK):
        bits = np.ascontiguousarray(numbers[begin : begin + _CHUNK]).view(np.uint64)
        # whole numbers differ in their leading bits only, which a product would lose
        folded = bits ^ (bits >> _HALF)
        folded *= factors
        own = np.add.reduce(folded, axis=1)
        hashes[begin : begin + _CHUNK] = own ^ (own >> _HALF)
    return hashes


def _factors(columns: int) -> NDArray[np.uint64]:
    """Return an odd factor per column, all fixed: the steps of a Weyl sequence, mixed."""
    steps = np.arange(1, columns + 1, dtype=np.uint64) * _WEYL
    steps = (steps ^ (steps >> np.uint64(30))) * _MIX
    return (steps ^ (steps >> np.uint64(27))) | np.uint64(1)


class _Ties:
    """An order of rows so far, the places of rows that are tied in it, and the number of the group of each of them."""

    def __init__(self, rows: int) -> None:
        self.order: Positions = np.arange(rows)
        self.tied: Positions = np.arange(rows)
        self.group: Positions = np.zeros(rows, np.intp)

    def split(self, cells: NDArray[Any]) -> None:
        """Sort each group by these cells of its rows, and split it."""
        if not len(self.tied):
            return
        one = self.group[0] == self.group[-1]
        moved = np.argsort(cells, kind="stable") if one else np.lexsort((cells, self.group))
        self.order[self.tied] = self.order[self.tied][moved]
        cells = cells[moved]
        starts = np.ones(len(cells) + 1, np.bool_)
        starts[1:-1] = (cells[1:] != cells[:-1]) | (self.group[1:] != self.group[:-1])
        self.keep(~(starts[:-1] & starts[1:]), np.cumsum(starts[:-1], dtype=np.intp))

    def keep(self, which: NDArray[np.bool_], group: Positions) -> None:
        """Go on with some of the tied rows, in these groups."""
        self.tied, self.group = self.tied[which], group[which]


def _first_difference(ties: _Ties, numbers: Floats) -> Positions | None:
    """Return the first column in which the rows of each group differ, for each row; leave out groups of equal rows."""
    columns = numbers.shape[1]
    rows = ties.order[ties.tied]
    differs = np.full(len(rows), columns, np.intp)  # where a row differs from the one before it
    for begin in range(1, len(rows), _CHUNK):
        some = numbers[rows[begin - 1 : begin + _CHUNK]]
        unequal = some[1:] != some[:-1]
        differs[begin : begin + _CHUNK] = np.where(unequal.any(1), unequal.argmax(1), columns)
    starts = np.append(True, ties.group[1:] != ties.group[:-1])
    differs[starts] = columns
    number = np.cumsum(starts) - 1
    first = np.minimum.reduceat(differs, np.flatnonzero(starts))[number]
    ties.keep(first < columns, number)
    first = first[first < columns]
    return first if len(first) else None
