"""Test cases of sets: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow.data import Domain
from hedgerow.kinds.sets.data import Sets
from hedgerow.samples.owners import RECORDS_PER_PERSON, owners


def sets_of(records: Iterable[Sequence[int]], items: int) -> Sets:
    """Make records over items 0, 1, ..., owned unevenly: some persons own more than the domain declares."""
    listed = [list(record) for record in records]
    domain = Domain.declare(item=range(items), records_per_person=RECORDS_PER_PERSON)
    return Sets.from_records(listed, domain=domain, persons=owners(len(listed)))


def _subsets(items: int) -> list[list[int]]:
    return [[item for item in range(items) if mask >> item & 1] for mask in range(1, 2**items)]


def _many() -> Sets:
    draw = np.random.default_rng(20_111)
    subsets = _subsets(6)
    numbers: list[int] = draw.integers(0, len(subsets), 40).tolist()
    return sets_of((subsets[number] for number in numbers), 6)


EDGE_CASES: dict[str, Callable[[], Sets]] = {
    "no records": lambda: sets_of([], 3),
    "one record": lambda: sets_of([[1]], 3),
    "one record of all items": lambda: sets_of([[0, 1, 2, 3]], 4),
    "one item in the universe": lambda: sets_of([[0]] * 3, 1),
    "two items": lambda: sets_of([[0], [1], [0, 1]], 2),
    "all alike": lambda: sets_of([[0, 2]] * 9, 4),
    "every set once": lambda: sets_of(_subsets(3), 3),
    "one rare among many": lambda: sets_of([[0]] * 12 + [[2, 3]], 4),
    "first comes last": lambda: sets_of([[3], [2], [1], [0], [0, 1, 2, 3]], 4),
    "most items never seen": lambda: sets_of([[4], [4, 5]], 9),
    "long and short": lambda: sets_of([[0], list(range(7)), [6]], 7),
    "hundreds alike": lambda: sets_of([[1]] * 300 + [[0, 2]] * 120 + [[0]] * 30 + [[2]], 3),
    "many": _many,
}


def random_data(st: Any, *, least: int, items: int = 6, most: int = 12) -> Any:
    """Draw sets of at least `least` records; `st` is hypothesis.strategies."""

    def build(drawn: tuple[int, list[int]]) -> Sets:
        size, masks = drawn
        full = 2**size - 1
        chosen = [(mask % full) + 1 for mask in masks]
        return sets_of(([item for item in range(size) if mask >> item & 1] for mask in chosen), size)

    masks = st.lists(st.integers(0, 2**items - 1), min_size=least, max_size=most)
    return st.tuples(st.integers(1, items), masks).map(build)


def from_vector(vector: Mapping[str, Any]) -> Sets:
    """Read the data of a vector: `records` over `items`."""
    return Sets.from_records(vector["records"], domain=Domain.declare(item=vector["items"]))


def to_vector(data: Sets) -> list[Any]:
    """Write published data in the form of a vector: each distinct record and its number of records."""
    return [[list(record), count] for record, count in data.distinct_records()]
