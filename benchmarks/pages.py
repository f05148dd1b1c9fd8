"""Make the result pages of the documents from the JSON that the benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages_kcl import kcl_pages
from pages_ngram import ngram_pages
from pages_prefix import prefix_pages, times_page
from tables import table

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SETTINGS = {"tree": "fan-out 10", "narrow": "fan-out 5, c1 1.5, c2 0.5, tau 1"}
CONTROLS = ("empty release", "noisy singletons")


def utility(scores: dict[str, dict[str, float]]) -> str:
    """Write the scores of one experiment, controls beside them."""
    rows = [
        [
            name,
            f"{held['value']:.3f}" + (f" +- {held['standard error']:.3f}" if "standard error" in held else ""),
            *(f"{held[control]:.3f}" for control in CONTROLS),
        ]
        for name, held in scores.items()
    ]
    return table(["measure", "diffpart", *CONTROLS], rows)


def five_groups(scores: dict[str, dict[str, float]]) -> float:
    """The mean over the five groups of uniform queries."""
    held = [score["value"] for name, score in scores.items() if "uniform" in name]
    return sum(held) / len(held)


def msnbc(name: str, held: dict[str, Any]) -> str:
    """Write one setting on MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters: all itemsets at once")
    return (
        f"## MSNBC as sets, epsilon {name.split()[1]}, {kind}\n\n"
        f"{held['runs']} runs; published in {held['seconds']:.2f} s, {held['ratio']:.2f} times the "
        f"floor. Mean over the five groups of uniform queries: {five_groups(held['scores']):.3f}."
        f"\n\n{utility(held['scores'])}"
    )


def sample(name: str, held: dict[str, Any]) -> str:
    """Write one setting on a sample of MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters: all itemsets at once")
    return (
        f"## {int(name.split()[1]):,} records of MSNBC, epsilon 1, {kind}\n\n"
        f"{held['runs']} runs. Mean over the five groups of uniform queries: "
        f"{five_groups(held['scores']):.3f}.\n\n{utility(held['scores'])}"
    )


def large(name: str, held: dict[str, Any]) -> str:
    """Write a large universe."""
    return (
        f"## {name.capitalize()}, epsilon 1\n\n"
        f"{held['records']:,} records, {held['items']:,} items; "
        f"published in {held['seconds']:.1f} s with {held['gigabytes']:.2f} GB. Of the records "
        f"{held['released'] / held['records']:.1%} come out, as {held['itemsets']:,} itemsets.\n\n"
        f"{utility(held['scores'])}"
    )


def growth(name: str, held: list[dict[str, Any]]) -> str:
    """Write how time grows."""
    rows = [[f"{row['records']:,}", f"{row['items']:,}", f"{row['seconds']:.2f}"] for row in held]
    return f"## Growth with {name}\n\n{table(['records', 'items', 'seconds'], rows)}"


def persons(held: dict[str, Any]) -> str:
    """Write the figures for persons."""
    head = ["baskets a person at most", "baskets used", "released", "seconds"]
    rows = [
        [
            most,
            f"{row['used']:,} of {row['records']:,}",
            f"{row['released']:,}",
            f"{row['seconds']:.2f}",
        ]
        for most, row in held.items()
    ]
    title = f"## FoodMart by category, unit person, epsilon 1\n\n{table(head, rows)}"
    tables = [f"At most {most}:\n\n{utility(row['scores'])}" for most, row in held.items()]
    return "\n\n".join([title, *tables])


def page(results: dict[str, Any]) -> str:
    """Write the page of DiffPart."""
    head = "# Results: diffpart\n\nMade by `benchmarks/pages.py` from `diffpart.json`; do not edit. "
    head += "Times are of publishing alone, reading apart; the floor is to gunzip, parse and sort."
    parts = [head]
    for name, held in results.items():
        if name.startswith("msnbc"):
            parts.append(msnbc(name, held))
        elif name.startswith("sample"):
            parts.append(sample(name, held))
        elif name in {"retail", "generated"}:
            parts.append(large(name, held))
        elif name in {"records", "items"}:
            parts.append(growth(name, held))
        else:
            parts.append(persons(held))
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Every page and picture by its name, from what was measured."""
    held = {path.stem: json.loads(path.read_text()) for path in RESULTS.glob("*.json")}
    return {
        "diffpart.md": page(held["diffpart"]),
        **kcl_pages(held["kcl"], held["kcl-real"]),
        **ngram_pages(held["ngram"]),
        **prefix_pages(held["prefix-tree"]),
        "prefix-tree-times.md": times_page(held["prefix-tree-times"]),
    }


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (RESULTS / name).write_text(text)


if __name__ == "__main__":
    main()
