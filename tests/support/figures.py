"""Figures of the checks that take longer than CI should: `make full` runs them by hand and commits what they write."""

import json
from pathlib import Path

#: one JSON file per check
FIGURES = Path(__file__).parents[2] / "docs" / "results" / "full"


def write_figures(check: str, figures: dict) -> None:
    """Write what a check of `make full` counted to `docs/results/full/<check>.json`."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    (FIGURES / f"{check}.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
