"""Test cases of sequences: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hedgerow.data import Domain
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.samples.owners import RECORDS_PER_PERSON, owners


def sequences_of(records: Iterable[Sequence[int]], items: int) -> Sequences:
    """Make sequences over items 0, 1, ..., owned unevenly: some persons own more than the domain declares."""
    listed = [list(record) for record in records]
    domain = Domain.declare(item=range(items), records_per_person=RECORDS_PER_PERSON)
    return Sequences.from_records(listed, domain=domain, persons=owners(len(listed)))


EDGE_CASES: dict[str, Callable[[], Sequences]] = {
    "no records": lambda: sequences_of([], 3),
    "one record": lambda: sequences_of([[1]], 3),
    "one item in the universe": lambda: sequences_of([[0, 0], [0]], 1),
    "two items": lambda: sequences_of([[0], [1], [0, 1], [1, 0]], 2),
    "the same again and again": lambda: sequences_of([[0] * 40] + [[0] * 3] * 9, 3),
    "all alike": lambda: sequences_of([[0, 2, 1]] * 40, 4),
    "one rare among many": lambda: sequences_of([[0, 1]] * 60 + [[2, 3, 2]], 4),
    "back and forth": lambda: sequences_of([[0, 1] * 9, [1, 0] * 9] * 6, 3),
    "most items never seen": lambda: sequences_of([[4], [4, 5, 4]] * 20, 9),
    "long and short": lambda: sequences_of([[0], list(range(7)) * 5, [6]] * 5, 7),
    "hundreds": lambda: sequences_of([[1, 2]] * 300 + [[0, 2, 0]] * 120 + [[2]], 3),
}


def random_data(st: Any, *, least: int, items: int = 4, most: int = 12) -> Any:
    """Draw sequences of at least `least` records; `st` is hypothesis.strategies."""

    def build(drawn: tuple[int, list[list[int]]]) -> Sequences:
        size, records = drawn
        return sequences_of(([item % size for item in record] for record in records), size)

    record = st.lists(st.integers(0, items - 1), min_size=1, max_size=8)
    records = st.lists(record, min_size=least, max_size=most)
    return st.tuples(st.integers(1, items), records).map(build)


def from_vector(vector: Mapping[str, Any]) -> Sequences:
    """Read the data of a vector: `records` over `items`."""
    return Sequences.from_records(vector["records"], domain=Domain.declare(item=vector["items"]))


def to_vector(data: Sequences) -> list[Any]:
    """Write published data in the form of a vector: each distinct record and its number of records."""
    return [[list(record), count] for record, count in data.distinct_records()]
