"""hedgerow demo: publish, evaluate and report on built-in data."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, show_progress

if TYPE_CHECKING:  # a command imports what it needs when it runs
    from collections.abc import Sequence

    from hedgerow.demo import DemoResult
    from hedgerow.score import Score


@click.command("demo")
@click.option("--out", default="hedgerow-demo", type=click.Path(), show_default=True, help="The folder to write to.")
@json_option
def command(out: str, *, as_json: bool) -> None:
    """Publish the baskets of an invented shop, measure what was kept, and write the report."""
    from hedgerow.demo import run_demo

    start = time.perf_counter()
    with show_progress():
        result = run_demo(Path(out))
    seconds = time.perf_counter() - start
    emit(_document(result, seconds), _text(result, seconds), as_json=as_json)


def _document(result: DemoResult, seconds: float) -> dict[str, Any]:
    return {
        "folder": str(result.folder),
        "promise": result.release.promise.sentence(),
        "seconds": round(seconds, 1),
        "next": _next(result.folder),
    }


def _text(result: DemoResult, seconds: float) -> str:
    before, after, lost = _bread(result.scores)
    return "\n".join(
        [
            f"The baskets of an invented shop were published in {result.folder / 'release'} ({seconds:.1f} s).",
            "",
            result.release.promise.sentence(),
            "",
            "For you, the owner, only:",
            f"  baskets with bread and butter: {before:,.0f} in the data, {after:,.0f} in the release",
            f"  the 100 most frequent itemsets lost {lost:.1%} of their support",
            "",
            "Next:",
            *(f"  {line}" for line in _next(result.folder)),
        ]
    )


def _bread(scores: Sequence[Score]) -> tuple[float, float, float]:
    pair = next(score for score in scores if score.at in {"bread, butter", "butter, bread"})
    lost = next(score for score in scores if score.name == "utility loss of the top 100 itemsets")
    return dict(pair.controls)["original"], pair.value, lost.value


def _command() -> str:
    """The command as it can be typed here."""
    return "hedgerow" if shutil.which("hedgerow") else sys.argv[0]


def _next(folder: Path) -> list[str]:
    return [
        f"open {folder / 'report.html'} in a browser: what is promised and what was kept",
        f"read {folder / 'release' / 'STATEMENT.md'}: what a receiver is told",
        f"{_command()} publish --method raked-histogram --help: publish your own data",
    ]
