"""The demo: publish, evaluate and report on built-in data, all in one folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.formats.files import compress, write_file
from hedgerow.jobs.evaluate import run_evaluation
from hedgerow.jobs.publish import run_job
from hedgerow.jobs.recipe import Job, Reading
from hedgerow.jobs.report import run_report
from hedgerow.release import Release
from hedgerow.samples import messages, shopping_baskets
from hedgerow.samples.messages import staff
from hedgerow.samples.roads import HOSPITALS, roads
from hedgerow.samples.shopping import SHELVES
from hedgerow.score import Score

_BASKETS = 150_000
_MARK = "ABOUT.txt"
_ABOUT = """Made by hedgerow demo, which replaces these files when it is run again.

baskets.csv.gz  the private data of an invented shop
domain.toml     public knowledge: what the shop sells
recipe.toml     how the release was made: hedgerow publish --recipe FILE
release         what is published: data, release.json, STATEMENT.md
scores.json     what was kept and lost; for the owner only
report.html     the same as a page with charts; for the owner only

messages.edges.gz  more private data to try: who writes to whom in an invented company
desks.toml         public knowledge: who works there, in the order of their desks
roads.csv          and the roads of an invented city, with the secret seconds that each takes
hospitals.txt      crossings between which the quickest ways must stay
"""


class DemoResult(NamedTuple):
    """The release and the scores of a demo, and its folder."""

    release: Release[Any]
    scores: list[Score]
    folder: Path


def run_demo(folder: Path, *, baskets: int = _BASKETS) -> DemoResult:
    """Publish the baskets of an invented shop, evaluate the release and write the report."""
    _require_own(folder)
    progress.tell("generating the data")
    data, domain, out = folder / "baskets.csv.gz", folder / "domain.toml", folder / "release"
    write_file(folder / _MARK, _ABOUT.encode())
    write_file(data, compress(_csv(baskets), "gz"))
    write_file(domain, _domain().encode())
    _write_networks(folder)
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
    return DemoResult(release, scores, folder)


def _require_own(folder: Path) -> None:
    """Create the folder, or use that of an earlier demo; no other files are replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        msg = f"{folder} is a file; name a folder for the demo"
        raise ParameterError(msg) from None
    if not (folder / _MARK).is_file() and any(folder.iterdir()):
        msg = f"{folder} is not empty and was not made by the demo; name another folder"
        raise ParameterError(msg)


def _csv(baskets: int) -> bytes:
    rows = shopping_baskets(baskets)
    table = pl.DataFrame({"basket": rows.basket, "customer": rows.customer, "item": rows.item})
    content = io.BytesIO()
    table.write_csv(content)
    return content.getvalue()


def _write_networks(folder: Path) -> None:
    """Write networks that the demo does not publish, for those who want to try another kind."""
    lines = "".join(f"{one} {other}\n" for one, other in messages())
    write_file(folder / "messages.edges.gz", compress(lines.encode(), "gz"))
    values = ", ".join(f'"{person}"' for person in staff())
    write_file(folder / "desks.toml", f"# who sits where\n[vertex]\nvalues = [{values}]\n".encode())
    rows = "".join(f"{one},{other},{seconds}\n" for one, other, seconds in roads())
    write_file(folder / "roads.csv", f"from,to,seconds\n{rows}".encode())
    write_file(folder / "hospitals.txt", "".join(f"{crossing}\n" for crossing in HOSPITALS).encode())


def _domain() -> str:
    """Write the domain file: the items that the shop sells are public."""
    items = [(item, shelf) for shelf, names in SHELVES.items() for item in names]
    values = ", ".join(f'"{item}"' for item, _ in items)
    paths = ", ".join(f'"{shelf}"' for _, shelf in items)
    head = "# what the shop sells, and on which shelf"
    return f"{head}\n[item]\nvalues = [{values}]\npaths = [{paths}]\n"
