"""Edge cases of every kind of data, by name: random data rarely shows what breaks a method."""

from __future__ import annotations

from typing import Any

from hedgerow.kind_registry import find_kind


def build_edge_cases(kind: str) -> dict[str, Any]:
    """Build the edge cases of a kind."""
    return {name: build() for name, build in find_kind(kind).module("cases").EDGE_CASES.items()}
