"""Edge cases of every kind of data, by name: random data rarely shows what breaks a method."""

from __future__ import annotations

from typing import Any

from hedgerow.data import Dataset
from hedgerow.kinds import find_kind

__all__ = ["RECORDS_PER_PERSON", "build_edge_cases", "owners"]

#: the maximum that the domains of test data declare; some persons own more
RECORDS_PER_PERSON = 2


def build_edge_cases(kind: type[Dataset]) -> dict[str, Any]:
    """Build the edge cases of a kind."""
    return {name: build() for name, build in find_kind(kind.kind).module("testing").EDGE_CASES.items()}


def owners(records: int) -> list[int]:
    """Number the owners of records: persons own 1, 2, 3, 1, 2, 3, ... of them in turn."""
    return [person for person in range(records) for _ in range(1 + person % 3)][:records]
