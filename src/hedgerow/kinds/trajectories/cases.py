"""Test cases of trajectories: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hedgerow.data import Domain
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.samples.owners import RECORDS_PER_PERSON, owners


def trajectories_of(
    records: Iterable[Sequence[int]],
    *,
    ill: Iterable[int] = (),
    places: int = 3,
    several: bool = False,
    shared: bool = False,
) -> Trajectories:
    """Make records with one visit at each of these hours, at places in turn; the records in `ill` have the flu.

    Every person owns one record or, if `shared`, as many as `owners` assigns. With `several`, every hour has two
    visits.
    """
    visits = [[(f"p{(hour + n) % places}", hour) for hour in r] for n, r in enumerate(records)]
    if several:
        visits = [[visit for place, hour in r for visit in ((place, hour), ("p0", hour))] for r in visits]
    marked = set(ill)
    values = ["flu" if number in marked else "well" for number in range(len(visits))]
    hours = 1 + max((hour for record in visits for _, hour in record), default=0)
    domain = Domain.declare(
        place=[f"p{place}" for place in range(places)],
        time=range(hours),
        diagnosis=["flu", "well"],
        records_per_person=RECORDS_PER_PERSON,
    )
    return Trajectories.from_records(
        visits,
        sensitive={"diagnosis": values},
        domain=domain,
        persons=owners(len(visits)) if shared else range(len(visits)),
        several=several,
    )


EDGE_CASES: dict[str, Callable[[], Trajectories]] = {
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
}


def random_data(st: Any, *, least: int, hours: int = 6, most: int = 12) -> Any:
    """Draw trajectories of at least `least` records; `st` is hypothesis.strategies."""

    def build(drawn: tuple[int, list[int], list[int]]) -> Trajectories:
        places, masks, ill = drawn
        records = [[hour for hour in range(hours) if mask >> hour & 1] for mask in masks]
        return trajectories_of(records, ill=ill, places=places)

    masks = st.lists(st.integers(0, 2**hours - 1), min_size=least, max_size=most)
    ill = st.lists(st.integers(0, most - 1))
    return st.tuples(st.integers(1, 3), masks, ill).map(build)


def from_vector(vector: Mapping[str, Any]) -> Trajectories:
    """Read the data of a vector: `records` of places and times, over `places` and `times`."""
    domain = Domain.declare(place=vector["places"], time=vector["times"])
    return Trajectories.from_records(vector["records"], domain=domain)


def to_vector(data: Trajectories) -> list[Any]:
    """Write published data in the form of a vector: the visits of every record."""
    return [[list(visit) for visit in visits] for visits, _ in data.records()]
