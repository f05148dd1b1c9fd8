"""Awkward data of every kind, by name: what breaks methods is rarely random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from hedgerow.data import Dataset, Domain, Sets

__all__ = ["CATALOGUE", "awkward", "sets_of"]

_MOST = 2


def sets_of(records: Iterable[Sequence[int]], items: int) -> Sets:
    """Hold records over items 0, 1, ..., owned by as many persons as needed, unevenly.

    Persons own 1, 2, 3, 1, 2, 3, ... records in turn, and the domain declares at most 2, so some
    own more than is used.
    """
    held = [list(record) for record in records]
    owners = [person for person in range(len(held)) for _ in range(1 + person % 3)][: len(held)]
    domain = Domain.declare(item=range(items), records_per_person=_MOST)
    return Sets.from_records(held, domain=domain, persons=owners)


def _subsets(items: int) -> list[list[int]]:
    return [[item for item in range(items) if mask >> item & 1] for mask in range(1, 2**items)]


def _many() -> Sets:
    draw = np.random.default_rng(20_111)
    subsets = _subsets(6)
    numbers: list[int] = draw.integers(0, len(subsets), 40).tolist()
    return sets_of((subsets[number] for number in numbers), 6)


CATALOGUE: dict[type[Dataset], dict[str, Callable[[], Dataset]]] = {
    Sets: {
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
}


def awkward(kind: type[Dataset]) -> dict[str, Dataset]:
    """Build the awkward data of a kind."""
    return {name: build() for name, build in CATALOGUE[kind].items()}
