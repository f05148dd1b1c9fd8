"""Private files that differ in one cell, count or event: units that are always there."""

from __future__ import annotations

import io
import random
import re
from codecs import BOM_UTF8
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
from hedgerow.formats.codec import codec_of

__all__ = ["changed_file", "declared_rules"]

#: what is put in the place of a cell that cannot be read
PUT = 2
X, Y = NumberAxis.between(0, 6, 1), NumberAxis.between(-8, 8, "0.5")
STEPS = (1.0, 0.5)


@cache
def takes_number(kind: str) -> bool:
    """Whether a declared number can stand for cells that cannot be read."""
    try:
        codec_of(kind).request({}, {"on_bad": str(PUT)})
    except ParameterError:
        return False
    return True


@cache
def takes_rounding(kind: str) -> bool:
    """Whether it can be declared that numbers between two steps are rounded."""
    return "round" in codec_of(kind).options


def declared_rules(kind: str, chance: random.Random) -> dict[str, str]:
    """Declare what becomes of unreadable numbers, and of those between two steps, if that can be declared."""
    put = {"on_bad": str(PUT)} if takes_number(kind) and chance.random() < 0.75 else {}
    return put | ({"round": "nearest"} if takes_rounding(kind) and chance.random() < 0.5 else {})


def changed_file(
    kind: str, unit: str, chance: random.Random, marker: str
) -> tuple[Callable[[list[Any], Path], Path], tuple[list[Any], list[Any]], Domain | None, dict[str, str]]:
    """Return what builds the file, two contents, the domain and the reading options."""
    rules = declared_rules(kind, chance)
    if kind == "streams":
        case = STREAM_CASES[chance.choice([name for name in STREAM_CASES if not name.startswith(NOT_FILES)])]
        if case.domain is None:  # bits
            rules = {"on_bad": "1"} if "on_bad" in rules else {}
        return (
            case.build,
            changed_events(case.pool, chance, declared="on_bad" in rules, marker=marker),
            case.domain,
            rules,
        )
    form = chance.choice(list(FORMS))
    domain = Domain.declare(x=X) if form == "column" else Domain.declare(x=X, y=Y)
    return FORMS[form], changed_cells(unit, chance, form, rules, marker), domain, rules


# ---- streams

NOT_FILES = ("polars", "a list", "an iterator", "an array")


def changed_events(pool: Pool, chance: random.Random, *, declared: bool, marker: str) -> tuple[list[Any], list[Any]]:
    """Change one event to any other, or to what is none."""
    wild = list(pool.wild)
    if any(len(cell) > 1 for cell in wild if isinstance(cell, bytes)):
        wild += [marker.encode(), b"\xe9" + marker.encode(), marker.encode() * 3_000]
    one = [
        chance.choice(wild if declared and chance.random() < 0.2 else pool.tame) for _ in range(chance.randint(1, 9))
    ]
    other = list(one)
    at = chance.randrange(len(one))
    one[at] = chance.choice(pool.tame)
    another = [event for event in pool.tame if event != one[at]]
    other[at] = chance.choice(wild if chance.random() < 0.3 else another)
    return (one, other) if chance.random() < 0.5 else (other, one)


# ---- matrices


def csv_file(rows: list[list[bytes]], folder: Path) -> Path:
    (folder / "a.csv").write_bytes(b"x,y\n" + b"".join(b",".join(row) + b"\n" for row in rows))
    return folder / "a.csv"


def column_file(rows: list[list[bytes]], folder: Path) -> Path:
    (folder / "a.csv").write_bytes(b"x\n" + b"".join(row[0] + b"\n" for row in rows))
    return folder / "a.csv"


def npy_file(rows: list[list[float]], folder: Path) -> Path:
    np.save(folder / "a.npy", np.array(rows, np.float64).reshape(-1, 2))
    return folder / "a.npy"


def parquet_file(rows: list[list[float | None]], folder: Path) -> Path:
    content = io.BytesIO()
    pl.DataFrame(rows, schema={"x": pl.Float64, "y": pl.Float64}, orient="row").write_parquet(content)
    (folder / "a.parquet").write_bytes(content.getvalue())
    return folder / "a.parquet"


FORMS: dict[str, Callable[[list[Any], Path], Path]] = {
    "csv": csv_file,
    "column": column_file,
    "npy": npy_file,
    "parquet": parquet_file,
}
#: a mark or a carriage return at the end of a line belongs to the line, and what is left may be a number
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NO_NUMBERS = [cell for cell in WILD_TEXTS if not NUMBER.fullmatch(cell.removeprefix(BOM_UTF8).strip(b' \t\r"'))]
UNREADABLE: dict[str, list[Any]] = {
    # commas and quotes say where other cells of the line begin: they are no content of one cell
    "csv": [cell for cell in NO_NUMBERS if not set(cell) & set(b',"\r')],
    "column": NO_NUMBERS,
    "npy": [float("nan"), float("inf"), float("-inf")],
    "parquet": [None, float("nan"), float("inf")],
}


def written(number: float, form: str, chance: random.Random) -> Any:
    """Write a number in one of many ways."""
    if form in {"npy", "parquet"}:
        return number
    plain = repr(number).removesuffix(".0")
    ways = [plain, repr(number), f" {plain} ", f'"{plain}"', f"{number:.5f}", f"{number:e}", f"{number:+.4f}"]
    return chance.choice(ways).encode()


def changed_cells(
    unit: str, chance: random.Random, form: str, rules: dict[str, str], marker: str
) -> tuple[list[Any], list[Any]]:
    """Change one cell to any other, or by one step; a count that cannot be read is the number that is put for it."""
    bad, steps = list(UNREADABLE[form]), STEPS[:1] if form == "column" else STEPS
    if form in {"csv", "column"}:
        bad += [marker.encode(), b"\xe9" + marker.encode() * 2_000]
    # between two steps: what is off by the same is one step apart as well
    between = [0.0, 0.25, 0.125, 0.4375] if takes_rounding("matrices") else [0.0]

    def number(step: float) -> float:
        return step * (chance.randint(-20, 20) + chance.choice(between) * (chance.random() < 0.2))

    def cell(step: float) -> Any:
        unreadable = "on_bad" in rules and chance.random() < 0.2
        return chance.choice(bad) if unreadable else written(number(step), form, chance)

    one = [[cell(step) for step in steps] for _ in range(chance.randint(1, 6))]
    other = [list(row) for row in one]
    row, column = chance.randrange(len(one)), chance.randrange(len(steps))
    value = chance.choice([PUT, number(steps[column])])
    near = value + chance.choice([-1, 1]) * steps[column] if unit == "count" else number(steps[column])
    spoiled = chance.random() < 0.4 and (unit != "count" or value == PUT)
    one[row][column] = chance.choice(bad) if spoiled else written(value, form, chance)
    other[row][column] = written(near, form, chance)
    return (one, other) if chance.random() < 0.5 else (other, one)
