"""Hypothesis strategies for data: random ones, and the catalogue of awkward ones."""

from __future__ import annotations

from typing import Any

from hedgerow.data import Dataset, Sets
from hedgerow.errors import MissingExtra
from hedgerow.testing.catalogue import CATALOGUE, sets_of

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    msg = "hedgerow.testing.strategies needs hypothesis; install hedgerow[testing]"
    raise MissingExtra(msg) from None

__all__ = ["of_kind", "seeds", "sets"]


def of_kind(kind: type[Dataset]) -> SearchStrategy[Any]:
    """Data of a kind, with at least one unit."""
    known = {Sets: sets}
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
    shapes: list[Any] = [build() for build in CATALOGUE[Sets].values()]
    fitting = [shape for shape in shapes if len(shape) >= least]
    return st.one_of(random, random, random, random, st.sampled_from(fitting))
