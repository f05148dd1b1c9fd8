"""Hypothesis strategies for data: random ones, and the catalogue of awkward ones."""

from __future__ import annotations

from typing import Any

from hedgerow.data import Dataset, Sequences, Sets, Trajectories
from hedgerow.errors import MissingExtra
from hedgerow.testing.catalogue import CATALOGUE, sequences_of, sets_of, trajectories_of

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    msg = "hedgerow.testing.strategies needs hypothesis; install hedgerow[testing]"
    raise MissingExtra(msg) from None

__all__ = ["of_kind", "seeds", "sequences", "sets", "trajectories"]


def of_kind(kind: type[Dataset]) -> SearchStrategy[Any]:
    """Data of a kind, with at least one unit."""
    known = {Sets: sets, Sequences: sequences, Trajectories: trajectories}
    return known[kind]()  # pyright: ignore[reportArgumentType] - a kind without a strategy is an error


def seeds() -> SearchStrategy[int]:
    """Seeds for the noise of a recorded run."""
    return st.integers(0, 2**32 - 1)


def sets(*, items: int = 6, most: int = 12, least: int = 1) -> SearchStrategy[Sets]:
    """Set-valued data with at least `least` records, every fifth from the catalogue."""

    def build(drawn: tuple[int, list[int]]) -> Sets:
        size, masks = drawn
        universe = range(size)
        full = 2**size - 1
        held = [(mask % full) + 1 for mask in masks]
        return sets_of(([item for item in universe if mask >> item & 1] for mask in held), size)

    masks = st.lists(st.integers(0, 2**items - 1), min_size=least, max_size=most)
    random = st.tuples(st.integers(1, items), masks).map(build)
    return _often(random, Sets, least)


def sequences(*, items: int = 4, most: int = 12, least: int = 1) -> SearchStrategy[Sequences]:
    """Sequences with at least `least` records, every fifth from the catalogue."""

    def build(drawn: tuple[int, list[list[int]]]) -> Sequences:
        size, records = drawn
        return sequences_of(([item % size for item in record] for record in records), size)

    record = st.lists(st.integers(0, items - 1), min_size=1, max_size=8)
    records = st.lists(record, min_size=least, max_size=most)
    return _often(st.tuples(st.integers(1, items), records).map(build), Sequences, least)


def trajectories(*, hours: int = 6, most: int = 12, least: int = 1) -> SearchStrategy[Trajectories]:
    """Trajectories with at least `least` records, every fifth from the catalogue."""

    def build(drawn: tuple[int, list[int], list[int]]) -> Trajectories:
        places, masks, ill = drawn
        records = [[hour for hour in range(hours) if mask >> hour & 1] for mask in masks]
        return trajectories_of(records, ill=ill, places=places)

    masks = st.lists(st.integers(0, 2**hours - 1), min_size=least, max_size=most)
    ill = st.lists(st.integers(0, most - 1))
    return _often(st.tuples(st.integers(1, 3), masks, ill).map(build), Trajectories, least)


def _often(random: SearchStrategy[Any], kind: type[Dataset], least: int) -> SearchStrategy[Any]:
    """Random data four times out of five, else awkward data of the catalogue."""
    shapes: list[Any] = [build() for build in CATALOGUE[kind].values()]
    fitting = [shape for shape in shapes if len(shape) >= least]
    return st.one_of(random, random, random, random, st.sampled_from(fitting))
