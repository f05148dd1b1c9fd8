"""Edge cases of every kind of data, by name: random data rarely shows what breaks a method."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hedgerow.kind_registry import find_kind


def build_edge_cases(kind: str, features: Collection[str] = ()) -> dict[str, Any]:
    """Build the edge cases of a kind, with features that a method needs."""
    cases = find_kind(kind).module("cases")
    built = {name: build() for name, build in cases.EDGE_CASES.items()}
    return {name: cases.equip(data, features) for name, data in built.items()} if features else built
