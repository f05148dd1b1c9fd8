"""Hypothesis strategies for data of every kind: random, and the awkward shapes."""

from __future__ import annotations

from typing import Any

from hedgerow.data import Dataset
from hedgerow.errors import MissingExtra
from hedgerow.kinds import find_kind
from hedgerow.testing.edge_cases import build_edge_cases

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    msg = "hedgerow.testing.strategies needs hypothesis; install hedgerow[testing]"
    raise MissingExtra(msg) from None

__all__ = ["of_kind", "seeds"]


def of_kind(kind: type[Dataset], *, least: int = 1, **limits: int) -> SearchStrategy[Any]:
    """Data of a kind with at least `least` units: random four times out of five, else an awkward shape.

    Parameters
    ----------
    limits
        How large random data may be, in the words of the kind: `items=5`, `most=12`.
    """
    random = find_kind(kind.kind).module("testing").random_data(st, least=least, **limits)
    fitting = [shape for shape in build_edge_cases(kind).values() if shape.count_units(kind.units[0]) >= least]
    return st.one_of(random, random, random, random, st.sampled_from(fitting))


def seeds() -> SearchStrategy[int]:
    """Seeds for the noise of a recorded run."""
    return st.integers(0, 2**32 - 1)
