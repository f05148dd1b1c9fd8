"""Make the result pages of the documents from the JSON that the benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path

from pages_kcl import kcl_pages
from pages_ngram import ngram_pages
from pages_prefix import prefix_pages, times_page
from pages_sets import sets_page

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def pages() -> dict[str, str]:
    """Every page and picture by its name, from what was measured."""
    held = {path.stem: json.loads(path.read_text()) for path in RESULTS.glob("*.json")}
    return {
        **{f"{method}.md": sets_page(method, held[method]) for method in ("diffpart", "raked-histogram")},
        **kcl_pages(held["kcl"], held["kcl-reinsertion"]),
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
