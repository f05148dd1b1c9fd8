"""The main job on built-in data: publish, evaluate, report, in one folder to look at."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.io.files import pack, write_file
from hedgerow.jobs.evaluate import run_evaluation
from hedgerow.jobs.publish import run_job
from hedgerow.jobs.recipe import Job, Reading
from hedgerow.jobs.report import run_report
from hedgerow.release import Release
from hedgerow.samples import shopping_baskets
from hedgerow.samples.shopping import SHELVES
from hedgerow.score import Score

__all__ = ["Shown", "run_demo"]

_BASKETS = 150_000
_MARK = "ABOUT.txt"
_ABOUT = """Made by hedgerow demo, and made again whenever that is run here.

baskets.csv.gz  the private data of a made-up shop
domain.toml     what everybody knows: what the shop sells
recipe.toml     how the release was made; hedgerow publish --recipe FILE
release         what goes out: data, release.json, STATEMENT.md
scores.json     what was kept and lost; for the owner only
report.html     the same to look at; for the owner only
"""


class Shown(NamedTuple):
    """What a demo made."""

    release: Release[Any]
    scores: list[Score]
    folder: Path


def run_demo(folder: Path, *, baskets: int = _BASKETS) -> Shown:
    """Publish a made-up shop's baskets, with everything a publication leaves behind."""
    _require_own(folder)
    progress.tell("making up a shop")
    data, domain, out = folder / "baskets.csv.gz", folder / "domain.toml", folder / "release"
    write_file(folder / _MARK, _ABOUT.encode())
    write_file(data, pack(_csv(baskets), "gz"))
    write_file(domain, _domain().encode())
    reading: dict[str, Any] = {"data": str(data), "kind": "sets", "columns": {"unit": "basket"}}
    job = Job(
        **reading,
        domain=str(domain),
        method="raked-histogram",
        promise={"epsilon": "1", "unit": "record"},
        out=str(out),
        overwrite=True,
    )
    release, _ = run_job(job, folder / "recipe.toml")
    scores = run_evaluation(out, Reading(**reading), folder / "scores.json")
    run_report([out], [folder / "scores.json"], folder / "report.html")
    return Shown(release, scores, folder)


def _require_own(folder: Path) -> None:
    """Make the folder, or take one that an earlier demo made; nobody else's files are replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        msg = f"{folder} is a file; name a folder for the demo"
        raise ParameterError(msg) from None
    if not (folder / _MARK).is_file() and any(folder.iterdir()):
        msg = f"{folder} is not empty and was not made by the demo; name another folder"
        raise ParameterError(msg)


def _csv(baskets: int) -> bytes:
    made = shopping_baskets(baskets)
    table = pl.DataFrame({"basket": made.basket, "customer": made.customer, "item": made.item})
    content = io.BytesIO()
    table.write_csv(content)
    return content.getvalue()


def _domain() -> str:
    """What the shop sells hangs on its door: public."""
    items = [(item, shelf) for shelf, names in SHELVES.items() for item in names]
    values = ", ".join(f'"{item}"' for item, _ in items)
    paths = ", ".join(f'"{shelf}"' for _, shelf in items)
    head = "# what the shop sells, and on which shelf"
    return f"{head}\n[item]\nvalues = [{values}]\npaths = [{paths}]\n"
