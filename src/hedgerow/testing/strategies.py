"""Hypothesis strategies for data of every kind: random data and edge cases."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import MissingExtra
from hedgerow.kind_registry import find_kind
from hedgerow.testing.edge_cases import build_edge_cases

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    msg = "hedgerow.testing.strategies needs hypothesis; install hedgerow[testing]"
    raise MissingExtra(msg) from None


def of_kind(kind: str, *, least: int = 1, **limits: int) -> SearchStrategy[Any]:
    """Data of a kind with at least `least` units: random data four times out of five, else an edge case.

    Parameters
    ----------
    limits
        The limits of random data, named as the kind names them: `items=5`, `most=12`.
    """
    row = find_kind(kind)
    random = row.module("cases").random_data(st, least=least, **limits)
    large_enough = [data for data in build_edge_cases(kind).values() if data.count_units(row.type.units[0]) >= least]
    return st.one_of(random, random, random, random, st.sampled_from(large_enough))


def seeds() -> SearchStrategy[int]:
    """Seeds for the noise of a recorded run."""
    return st.integers(0, 2**32 - 1)
