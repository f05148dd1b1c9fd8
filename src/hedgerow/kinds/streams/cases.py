"""Test cases of streams: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hedgerow.data import Domain
from hedgerow.data.number_axis import NumberAxis
from hedgerow.kinds.streams.data import Estimates, Stream


def stream_of(values: Sequence[float], steps: int = 1) -> Stream:
    """Make a stream of whole numbers from 0 to `steps`; of bits, if that is 1.

    Examples
    --------
    >>> stream_of([0, 3], 5).axis.steps
    5
    """
    return Stream.from_values(list(values), Domain.declare(value=NumberAxis.between(0, steps, 1)))


EDGE_CASES: dict[str, Callable[[], Stream]] = {
    "no event": lambda: stream_of([]),
    "one event": lambda: stream_of([1]),
    "two events": lambda: stream_of([0, 1]),
    "all zero": lambda: stream_of([0] * 9),
    "all one": lambda: stream_of([1] * 16),
    "one at the end": lambda: stream_of([0] * 20 + [1]),
    "one at the start": lambda: stream_of([1] + [0] * 6),
    "in turn": lambda: stream_of([0, 1] * 17),
    "a power of two and one": lambda: stream_of([1, 1, 0, 1] * 8 + [1]),
    "many": lambda: stream_of([event * event % 7 % 2 for event in range(150)]),
}


def random_data(st: Any, *, least: int, most: int = 40) -> Any:
    """Draw a stream of at least `least` bits; `st` is hypothesis.strategies."""
    return st.lists(st.integers(0, 1), min_size=least, max_size=max(least, most)).map(stream_of)


def from_vector(vector: Mapping[str, Any]) -> Stream:
    """Read the data of a vector: its `values`, bits unless `steps` says otherwise."""
    return stream_of(vector["values"], vector.get("steps", 1))


def to_vector(data: Estimates) -> list[Any]:
    """Write published data in the form of a vector: a list of time, value and half width per row, rounded."""
    rows = data.all_rows()
    numbers = zip(rows.times.tolist(), rows.values.tolist(), rows.half_widths.tolist(), strict=True)
    return [[time, round(value, 9), round(half_width, 9)] for time, value, half_width in numbers]
