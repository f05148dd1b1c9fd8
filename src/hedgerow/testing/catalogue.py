"""Awkward data of every kind, by name: what breaks methods is rarely random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from hedgerow.data import Dataset, Domain, Sequences, Sets, Trajectories

__all__ = ["CATALOGUE", "awkward", "sequences_of", "sets_of", "trajectories_of"]

_MOST = 2


def sets_of(records: Iterable[Sequence[int]], items: int) -> Sets:
    """Hold records over items 0, 1, ..., owned by as many persons as needed, unevenly.

    Persons own 1, 2, 3, 1, 2, 3, ... records in turn, and the domain declares at most 2, so some
    own more than is used.
    """
    held = [list(record) for record in records]
    domain = Domain.declare(item=range(items), records_per_person=_MOST)
    return Sets.from_records(held, domain=domain, persons=_owners(len(held)))


def sequences_of(records: Iterable[Sequence[int]], items: int) -> Sequences:
    """Hold sequences over items 0, 1, ..., owned as `sets_of` does."""
    held = [list(record) for record in records]
    domain = Domain.declare(item=range(items), records_per_person=_MOST)
    return Sequences.from_records(held, domain=domain, persons=_owners(len(held)))


def _owners(records: int) -> list[int]:
    return [person for person in range(records) for _ in range(1 + person % 3)][:records]


def _subsets(items: int) -> list[list[int]]:
    return [[item for item in range(items) if mask >> item & 1] for mask in range(1, 2**items)]


def _many() -> Sets:
    draw = np.random.default_rng(20_111)
    subsets = _subsets(6)
    numbers: list[int] = draw.integers(0, len(subsets), 40).tolist()
    return sets_of((subsets[number] for number in numbers), 6)


def trajectories_of(
    records: Iterable[Sequence[int]],
    *,
    ill: Iterable[int] = (),
    places: int = 3,
    several: bool = False,
    shared: bool = False,
) -> Trajectories:
    """Hold records of visits, one at each of these hours, at places in turn; some are ill.

    Everybody owns one; or, if they are `shared`, as many as those of `sets_of`. With `several`,
    every hour has two visits.
    """
    held = [[(f"p{(hour + n) % places}", hour) for hour in r] for n, r in enumerate(records)]
    if several:
        held = [[visit for place, hour in r for visit in ((place, hour), ("p0", hour))] for r in held]
    marked = set(ill)
    values = ["flu" if number in marked else "well" for number in range(len(held))]
    hours = 1 + max((hour for record in held for _, hour in record), default=0)
    domain = Domain.declare(
        place=[f"p{place}" for place in range(places)],
        time=range(hours),
        diagnosis=["flu", "well"],
        records_per_person=_MOST,
    )
    return Trajectories.from_records(
        held,
        sensitive={"diagnosis": values},
        domain=domain,
        persons=_owners(len(held)) if shared else range(len(held)),
        several=several,
    )


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
    },
    Sequences: {
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
    },
    Trajectories: {
        "one record": lambda: trajectories_of([[1, 2]]),
        "all alike": lambda: trajectories_of([[0, 2]] * 6, places=1),
        "a record without visits": lambda: trajectories_of([[], [1], [1]], places=1),
        "one rare among many": lambda: trajectories_of([[0, 1]] * 9 + [[0, 5]], places=1),
        "all ill": lambda: trajectories_of([[0, 1], [0]] * 4, ill=range(8), places=1),
        "long and short": lambda: trajectories_of([range(9), [0], [0, 8]] * 3, ill=[0, 4]),
        "no records": lambda: trajectories_of([]),
        "hundreds": lambda: trajectories_of([[0, 1, 2]] * 200 + [[2]] * 90 + [[1, 2]], places=2),
        "long ones": lambda: trajectories_of([range(40), range(0, 60, 3)] * 20, places=2),
        "nested": lambda: trajectories_of([range(n) for n in range(1, 7)] * 2, places=1),
    },
}


def awkward(kind: type[Dataset]) -> dict[str, Dataset]:
    """Build the awkward data of a kind."""
    return {name: build() for name, build in CATALOGUE[kind].items()}
