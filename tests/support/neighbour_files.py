"""Pairs of private files that differ in one unit, and the commands that publish them, for every private method.

Files are made as for the reading law (`reading_law`), of hostile units; the unit in which two of them differ may be
worse. The generator is seeded: a failure names method, kind and unit, and the number of the pair.
"""

from __future__ import annotations

import gzip
import io
import random
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from backports import zstd
from reading_cases import CASES, OWNED_CASES
from reading_law import Case, owned
from reading_streams import STREAM_CASES, WILD_TEXTS
from reading_units import Pool

from hedgerow import METHODS, Domain, NumberAxis, find_method
from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.domains import draft_domain
from hedgerow.kind_registry import KINDS, find_kind
from hedgerow.reading import read
from hedgerow.testing import CommandPair

# ---- Private files that differ in one cell, count or event: units that are always there

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
        case = STREAM_CASES[chance.choice([name for name in STREAM_CASES if not name.startswith(NO_STREAM_FILES)])]
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

NO_STREAM_FILES = ("polars", "a list", "an iterator", "an array")


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


# ---- private files that differ in one unit of any sort

__all__ = ["COMBINATIONS", "Combination", "pairs_of"]

#: stands in hostile cells only; no message may show it
MARKER = "zq7x"
MOST_RECORDS = 2
#: the number of the unit that only one of two files has
OWN = 1_000
BOUNDED = Domain.declare(x=NumberAxis.between(-4, 6, "0.5"), y=NumberAxis.between(-8, 8, "0.5"))
NOT_FILES = ("polars", "pandas", "plain", "networkx", "sparse", "an array")
#: settings with which a small file is published in milliseconds
SETTINGS = {
    "continued-prefix-tree": "height=4",
    "private-wavelet": "bins=2",
    "pairwise-marginals": "steps=20",
}
#: how often a command has such further options
FURTHER = [
    (0.3, ["--json"]),
    (0.3, ["--account", "account.toml"]),
    (0.8, ["--even-if-useless"]),
]


class Combination(NamedTuple):
    """A method, the kind of its data, and the unit that it protects."""

    method: str
    kind: str
    unit: str


class Source(NamedTuple):
    """Two contents of a file, and how it is read."""

    build: Callable[[list[Any], Path], Path]
    contents: tuple[list[Any], list[Any]]
    domain: Domain | None
    options: dict[str, str]
    columns: dict[str, str]


def is_private(method: str) -> bool:
    return any(kept.name == "PureDP" for kept in find_method(method).keeps)


COMBINATIONS = [
    Combination(name, kind, unit)
    for name in filter(is_private, METHODS)
    for kind in find_method(name).kinds
    for unit in find_method(name).units
    if unit in find_kind(kind).type.units
]


def pairs_of(combination: Combination, folder: Path, seed: int = 0) -> Iterator[tuple[CommandPair, int]]:
    """Yield pairs without end, each with a seed for its noise."""
    chance = random.Random(f"{combination} {seed}")
    number = 0
    while True:
        place = folder / f"{'-'.join(combination)}-{number}"
        place.mkdir()
        yield make_pair(combination, chance, place), chance.randrange(2**32)
        number += 1


def make_pair(combination: Combination, chance: random.Random, place: Path) -> CommandPair:
    """Write two folders, and return the command for them."""
    source = make_source(combination, chance, place)
    folders = (place / "one", place / "other")
    packed = chance.choice([".gz", ".zst"]) if chance.random() < 0.2 else ""
    data = ""
    for folder, content in zip(folders, source.contents, strict=True):
        folder.mkdir()
        path = source.build(content, folder)
        data = (pack(path, packed) if packed and path.suffix not in {".npy", ".parquet"} else path).name
        if source.domain is not None:
            text = draft_domain(source.domain).replace("read_from_private_data = true\n", "")
            (folder / "domain.toml").write_text(text)
        (folder / "account.toml").write_text(f'total = "100"\nunit = "{combination.unit}"\n')
    words, epsilon = make_words(combination, chance, data, source)
    refusable = "on_bad" not in source.options
    return CommandPair(words=words, folders=folders, data=data, epsilon=epsilon, refusable=refusable, markers=(MARKER,))


def pack(path: Path, ending: str) -> Path:
    packed = path.with_name(path.name + ending)
    content = path.read_bytes()
    packed.write_bytes(gzip.compress(content, mtime=0) if ending == ".gz" else zstd.compress(content))
    path.unlink()
    return packed


def make_words(
    combination: Combination, chance: random.Random, data: str, source: Source
) -> tuple[tuple[str, ...], Fraction]:
    """Return a command, and the largest loss that it promises."""
    method, kind, unit = combination
    epsilon = chance.choice(["0.1", "1", "8"])
    words = ["publish", data, "--kind", kind, "--method", method, "--epsilon", epsilon, "--unit", unit, "--out", "out"]
    k = chance.choice([1, 1, 3]) if kind == "graphs" else 1
    words += ["--k", str(k)] if k > 1 else []
    words += ["--domain", "domain.toml"] if source.domain is not None else []
    words += ["--records-per-person", str(MOST_RECORDS)] if unit == "person" else []
    for option, values in (("--read", source.options), ("--columns", source.columns)):
        words += [word for name, value in values.items() for word in (option, f"{name}={value}")]
    words += ["--set", SETTINGS[method]] if method in SETTINGS else []
    if method == "stream-mean":
        mechanisms = ["laplace-bits", "central", "tree", *(["randomised-response"] if source.domain is None else [])]
        words += ["--set", f"mechanism={chance.choice(mechanisms)}"]
    for often, more in FURTHER:
        words += more if chance.random() < often else []
    # it is saved before anything is asked, and so before a stream is read to its end
    words += ["--save-recipe", "recipe.toml"] if "on_bad" in source.options and chance.random() < 0.15 else []
    if chance.random() < 0.04:
        return (*words, "--dry-run"), Fraction(0)
    return tuple(words), Fraction(epsilon) / k


def make_source(combination: Combination, chance: random.Random, place: Path) -> Source:
    """Make two contents; in most cases what becomes of unreadable cells is declared, where it can be."""
    if combination.unit in KINDS[combination.kind].changed:
        build, contents, domain, options = changed_file(combination.kind, combination.unit, chance, MARKER)
        return Source(build, contents, domain, options, {})
    return unit_more(combination, chance, place, declared=chance.random() < 0.75)


# ---- units that are added or removed


@cache
def cases_of(kind: str, unit: str) -> list[Case]:
    """The cases of the reading law that are files, and whose domain and content a private method can use."""
    names = [name for name in (OWNED_CASES if unit == "person" else CASES) if not name.startswith(NOT_FILES)]
    cases = [replace(CASES[name], domain=usable(name)) for name in names if CASES[name].kind == kind]
    # of networks, no method with a promise of differential privacy takes weights or directions
    return [case for case in cases if not ("weight" in case.columns or "directed" in case.options)]


def usable(name: str) -> Domain:
    """The domain of a case; otherwise a command ends before anything is asked."""
    case = CASES[name]
    if case.kind == "matrices":
        return BOUNDED
    if not name.startswith(("lines", "edge list")):
        return case.domain
    # what has a blank cannot be written to such files
    ((axis, values),) = case.domain.axes
    return Domain.declare(**{axis: [value for value in values.values if " " not in str(value)]})


def unit_more(combination: Combination, chance: random.Random, place: Path, *, declared: bool) -> Source:
    """Make a file, and the same file with one unit more."""
    case = chance.choice(cases_of(combination.kind, combination.unit))
    most = 1 if combination.unit in {"edge", "row"} else None  # lines that are a unit each
    units = [case.unit(chance, number)[:most] for number in range(chance.randint(0, 6))]
    units += [list(units[0])] if units and chance.random() < 0.2 else []
    if not declared:
        units = [rows for rows in units if count_units(case, rows, combination.unit, place, strict=True) is not None]
    # in most pairs the unit is one that can be read, in whatever way it is written
    least, own = int(chance.random() < 0.6), None
    while own is None or not least <= (count_units(case, own, combination.unit, place) or 0) <= 1:
        own = spoil(chance, case.unit(chance, OWN)[:most])
        if combination.unit == "person":
            own = [owned(case, row, "v") for row in own]
    if combination.unit == "person":
        units = [[owned(case, row, chance.choice(["p", "q"])) for row in rows] for rows in units]
    rest = in_turn(chance, *units) if chance.random() < 0.5 else [row for rows in units for row in rows]
    both = in_turn(chance, rest, own)
    contents = (both, rest) if chance.random() < 0.5 else (rest, both)
    rounding = declared_rules(combination.kind, chance) if combination.kind == "matrices" else {}
    options = {**case.options, **rounding, "on_bad": "drop"} if declared else case.options
    return Source(case.build, contents, case.domain, options, case.columns)


def count_units(case: Case, rows: list[Any], unit: str, folder: Path, *, strict: bool = False) -> int | None:
    """Count the units that rows are read as; None if they are refused."""
    options = case.options if strict else {**case.options, "on_bad": "drop"}
    try:
        data = read(case.build(rows, folder), kind=case.kind, domain=case.domain, options=options, columns=case.columns)
    except HedgerowError:
        return None
    return data.count_units(unit)


def in_turn(chance: random.Random, *units: list[Any]) -> list[Any]:
    """Mix the rows of units, each unit in its own order."""
    turns = [number for number, rows in enumerate(units) for _ in rows]
    chance.shuffle(turns)
    left = [iter(rows) for rows in units]
    return [next(left[number]) for number in turns]


def spoil(chance: random.Random, rows: list[Any]) -> list[Any]:
    """Return the rows of a unit as they are, twice, or with bytes of another encoding or format in one of them."""
    style = chance.random()
    if style < 0.6 or not rows:
        return rows
    if style < 0.7:
        return [row for row in rows for _ in range(2)]
    at = chance.randrange(len(rows))
    if not isinstance(rows[at], bytes):  # a number in a binary file, or an element of XML that must be well-formed
        return rows
    row, junk = rows[at], chance.choice(JUNK)
    cut = chance.choice([0, len(row), chance.randrange(len(row) + 1)])
    worse = junk if style < 0.75 else row[:cut] + junk + row[cut:]
    return [*rows[:at], worse, *rows[at + 1 :]]


_MARK = MARKER.encode()
JUNK = [
    *(_MARK, _MARK * 3_000, b"\xe9" + _MARK, b"\xef\xbb\xbf", b"\xef\xbb\xbf" + _MARK, MARKER.encode("utf-16")),
    *(b"\0", b"\0" + _MARK, b"\r", b"\r" + _MARK, b'"', b'"' + _MARK, b'""', b"'", b"#", b"#" + _MARK, b"%" + _MARK),
    *(b",", b";", b"\t", b"\\", b"\\n", "\u2028".encode(), "\u202e".encode(), b"\x1b[2J", b"\x1a", b"-1 -2", b"<!--"),
]
