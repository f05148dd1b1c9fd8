"""Tables of the result pages."""

from __future__ import annotations

from typing import Any


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(value: float, error: float) -> str:
    """Write a mean, and its standard error unless that rounds to 0."""
    return f"{value:.3f}" + (f" +- {error:.3f}" if error >= 0.0005 else "")


def growth_table(results: dict[str, Any]) -> str:
    """Write time and memory of runs on synthetic data."""
    rows = [
        [
            f"{run['records']:,}",
            f"{run['items']:,}",
            f"{run['seconds']:.1f}",
            f"{run['gigabytes']:.1f}",
            f"{run['number']:.3f}",
        ]
        for run in results.values()
        if "gigabytes" in run
    ]
    return table(["records", "items", "seconds", "GB", "released / original"], rows)
