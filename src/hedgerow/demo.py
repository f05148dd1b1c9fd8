"""The main job on built-in data: publish, evaluate, report, in one folder to look at."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import polars as pl

from hedgerow import progress
from hedgerow.evaluate import evaluate
from hedgerow.io.domains import read_domain
from hedgerow.io.files import pack, write_file
from hedgerow.io.read import read
from hedgerow.io.scores import write_scores
from hedgerow.job import Job, run_job, save_job
from hedgerow.release import Release
from hedgerow.report import report
from hedgerow.samples import shopping_baskets
from hedgerow.samples.shopping import SHELVES
from hedgerow.score import Score

__all__ = ["Shown", "run_demo"]

_BASKETS = 150_000


class Shown(NamedTuple):
    """What a demo made."""

    release: Release
    scores: list[Score]
    folder: Path


def run_demo(folder: Path, *, baskets: int = _BASKETS) -> Shown:
    """Publish a made-up shop's baskets, with everything a publication leaves behind."""
    folder.mkdir(parents=True, exist_ok=True)
    progress.tell("making up a shop")
    data, domain, out = folder / "baskets.csv.gz", folder / "domain.toml", folder / "release"
    write_file(data, pack(_csv(baskets), "gz"))
    write_file(domain, _domain().encode())
    job = Job(
        data=str(data),
        kind="sets",
        columns={"unit": "basket"},
        domain=str(domain),
        method="diffpart",
        promise={"epsilon": "1", "unit": "record"},
        out=str(out),
        overwrite=True,
    )
    save_job(job, folder / "recipe.toml")
    release, _ = run_job(job)
    progress.tell("measuring")
    original = read(data, kind="sets", domain=read_domain(domain), columns=job.columns)
    scores = evaluate(release, original)
    held = release.written()
    write_scores(
        folder / "scores.json",
        scores,
        kind=held.kind,
        method=held.method,
        guarantee=held.guarantee,
    )
    progress.tell("drawing")
    page = report([("release", release)], [scores])
    write_file(folder / "report.html", page.encode(), private=True)
    return Shown(release, scores, folder)


def _csv(baskets: int) -> bytes:
    held = shopping_baskets(baskets)
    table = pl.DataFrame({"basket": held.basket, "customer": held.customer, "item": held.item})
    content = io.BytesIO()
    table.write_csv(content)
    return content.getvalue()


def _domain() -> str:
    """What the shop sells hangs on its door: public."""
    items = [(item, shelf) for shelf, held in SHELVES.items() for item in held]
    values = ", ".join(f'"{item}"' for item, _ in items)
    paths = ", ".join(f'"{shelf}"' for _, shelf in items)
    head = "# what the shop sells, and on which shelf"
    return f"{head}\n[item]\nvalues = [{values}]\npaths = [{paths}]\n"
