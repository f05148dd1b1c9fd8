"""hedgerow demo: the main job on built-in data."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, shown

__all__ = ["command"]


@click.command("demo")
@click.option("--out", default="hedgerow-demo", type=click.Path(), help="The folder to fill.")
@json_option
def command(out: str, *, as_json: bool) -> None:
    """Publish a made-up shop's baskets, measure what was kept, and draw the report."""
    from hedgerow.demo import run_demo  # noqa: PLC0415

    start = time.perf_counter()
    with shown():
        held = run_demo(Path(out))
    seconds = time.perf_counter() - start
    emit(_document(held, seconds), _text(held, seconds), as_json=as_json)


def _document(held: Any, seconds: float) -> dict[str, Any]:
    return {
        "folder": str(held.folder),
        "promise": held.release.guarantee.sentence(),
        "seconds": round(seconds, 1),
        "next": _next(held.folder),
    }


def _text(held: Any, seconds: float) -> str:
    before, after, lost = _bread(held.scores)
    return "\n".join(
        [
            f"A shop's baskets were published in {held.folder / 'release'} ({seconds:.1f} s).",
            "",
            held.release.guarantee.sentence(),
            "",
            "For you, the owner, only:",
            f"  baskets with bread and butter: {before:,.0f} in truth, {after:,.0f} in the release",
            f"  the 100 most frequent itemsets lost {lost:.1%} of their support",
            "",
            "Next:",
            *(f"  {line}" for line in _next(held.folder)),
        ]
    )


def _bread(scores: Any) -> tuple[float, float, float]:
    pair = next(score for score in scores if score.at in {"bread, butter", "butter, bread"})
    lost = next(score for score in scores if score.name == "utility loss of the top 100 itemsets")
    return dict(pair.controls)["original"], pair.value, lost.value


def _command() -> str:
    """Name the command as it can be typed here."""
    return "hedgerow" if shutil.which("hedgerow") else sys.argv[0]


def _next(folder: Path) -> list[str]:
    return [
        f"open {folder / 'report.html'} in a browser: what is promised, what was kept",
        f"read {folder / 'release' / 'STATEMENT.md'}: what a receiver is told",
        f"{_command()} publish --method raked-histogram --help: the same with your own data",
    ]
