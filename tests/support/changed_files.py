"""Private files that differ in one cell, count or event: units that are always there."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from reading_streams import STREAM_CASES, WILD_TEXTS
from reading_units import Pool

from hedgerow import Domain, NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.io.codec import codec_of

__all__ = ["changed_file", "takes_number"]

#: what is put in the place of a cell that cannot be read
PUT = 2
TABLE = Domain.declare(x=NumberAxis.between(0, 6, 1), y=NumberAxis.between(-8, 8, "0.5"))
STEPS = {"x": 1.0, "y": 0.5}


@cache
def takes_number(kind: str) -> bool:
    """Whether a declared number can stand for cells that cannot be read."""
    try:
        codec_of(kind).request({}, {"on_bad": str(PUT)})
    except ParameterError:
        return False
    return True


def changed_file(unit: str, chance: random.Random, *, declared: bool, marker: str) -> tuple[Any, Any, Any, Any]:
    """Return what builds the file, two contents, the domain and the reading options."""
    options = {"on_bad": str(PUT)} if declared else {}
    if unit == "event":
        case = STREAM_CASES[chance.choice([name for name in STREAM_CASES if not name.startswith(NOT_FILES)])]
        if case.domain is None and declared:
            options = {"on_bad": "0"}
        return case.build, changed_events(case.pool, chance, declared=declared, marker=marker), case.domain, options
    form = chance.choice(list(FORMS))
    contents = changed_cells(unit, chance, form, declared=declared, marker=marker)
    return FORMS[form], contents, TABLE, options


# ---- streams

NOT_FILES = ("polars", "a list", "an iterator", "an array")


def changed_events(
    pool: Pool, chance: random.Random, *, declared: bool, marker: str
) -> tuple[list[Any], list[Any]]:
    """Change one event to any other, or to what is none."""
    wild = list(pool.wild)
    if any(len(cell) > 1 for cell in wild if isinstance(cell, bytes)):
        wild += [marker.encode(), b"\xe9" + marker.encode(), marker.encode() * 3_000]
    one = [chance.choice(wild if declared and chance.random() < 0.2 else pool.tame) for _ in range(chance.randint(1, 9))]
    other = list(one)
    at = chance.randrange(len(one))
    one[at] = chance.choice(pool.tame)
    other[at] = chance.choice(wild if chance.random() < 0.35 else pool.tame)
    return (one, other) if chance.random() < 0.5 else (other, one)


# ---- matrices


def csv_file(rows: list[list[bytes]], folder: Path) -> Path:
    (folder / "a.csv").write_bytes(b"x,y\n" + b"".join(b",".join(row) + b"\n" for row in rows))
    return folder / "a.csv"


def npy_file(rows: list[list[float]], folder: Path) -> Path:
    np.save(folder / "a.npy", np.array(rows, np.float64).reshape(-1, 2))
    return folder / "a.npy"


def parquet_file(rows: list[list[float | None]], folder: Path) -> Path:
    content = io.BytesIO()
    pl.DataFrame(rows, schema={"x": pl.Float64, "y": pl.Float64}, orient="row").write_parquet(content)
    (folder / "a.parquet").write_bytes(content.getvalue())
    return folder / "a.parquet"


FORMS: dict[str, Callable[[list[Any], Path], Path]] = {"csv": csv_file, "npy": npy_file, "parquet": parquet_file}
UNREADABLE: dict[str, list[Any]] = {
    "csv": [cell for cell in WILD_TEXTS if b"," not in cell and b'"' not in cell],
    "npy": [float("nan"), float("inf"), float("-inf")],
    "parquet": [None, float("nan"), float("inf")],
}


def written(number: float, form: str, chance: random.Random) -> Any:
    """Write a number in one of many ways."""
    if form != "csv":
        return number
    plain = repr(number).removesuffix(".0")
    ways = [plain, repr(number), f" {plain} ", f'"{plain}"', f"{number:.3f}", f"{number:e}", f"{number:+.1f}"]
    return chance.choice(ways).encode()


def changed_cells(
    unit: str, chance: random.Random, form: str, *, declared: bool, marker: str
) -> tuple[list[Any], list[Any]]:
    """Change one cell to any other, or by one step; what cannot be read stands for the number that is put for it."""
    bad = [*UNREADABLE[form], *([marker.encode(), b"\xe9" + marker.encode() * 2_000] if form == "csv" else [])]

    def cell(step: float) -> Any:
        if declared and chance.random() < 0.2:
            return chance.choice(bad)
        return written(step * chance.randint(-20, 20), form, chance)

    one = [[cell(step) for step in STEPS.values()] for _ in range(chance.randint(1, 6))]
    other = [list(row) for row in one]
    row, (column, step) = chance.randrange(len(one)), chance.choice(list(enumerate(STEPS.values())))
    low, high = TABLE.axis("x" if column == 0 else "y").low, TABLE.axis("x" if column == 0 else "y").high
    number = chance.choice([PUT, float(low), float(high), step * chance.randint(-20, 20)])
    if unit == "count":
        near = number + chance.choice([-step, step])
        spoiled = number == PUT and chance.random() < 0.6
    else:
        near, spoiled = step * chance.randint(-20, 20), chance.random() < 0.35
    one[row][column] = chance.choice(bad) if spoiled else written(float(number), form, chance)
    other[row][column] = written(float(near), form, chance)
    return (one, other) if chance.random() < 0.5 else (other, one)
