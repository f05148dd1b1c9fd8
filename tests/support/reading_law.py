"""The reading law: one unit never decides how another is read.

`read(D) = read(D without v) + read(v)` as collections of records, for every format and source,
whatever the cells of v look like. Under `on_bad=drop` there is no refusal either.

A case makes units from a pool of hostile cells; some are raw bytes, as a careless export writes
them. The generator is seeded: a failure names the case and the number of the pair.
"""

from __future__ import annotations

import datetime as dt
import io
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hedgerow import Domain
from hedgerow.io import read

ITEMS = ["a", "b", "01", "1", "94110", "tea ", "x,y", 'q"q', "-1"]
NUMBERS = [0, 1, 2, 94110]
PLACES = ["home", "work", "1"]
DATES = [f"2024-05-{day:02}T{hour:02}:00:00" for day in (1, 2) for hour in (6, 8, 9)]

#: cells as text; many look like another format, a header, a comment or a number
TEXTS = [
    *ITEMS,
    *("", " ", "a ", " a", "1.0", "1e0", "+1", "001", "True", "null", "NaN", "None"),
    *("unit", "item", "#a", "%a", "@ITEM=1=a", "\ufeffa", "\u202ea", "é", "a\u2028b", "\x1b[0m"),
    *("2024-05-01T08:30:00", "05/01/2024 08:30:00", "-2", "1 -1 -2", "[1]", '{"item":["a"]}'),
    *('"a"', '"a', 'a"', '""', "'a'", "a;b", "a\tb", "99999999999999999999"),
]
TIMES = [
    *("2024-05-01T08:30:00", "2024-05-01 08:59", "2024-05-01", "2024-05-02T06:00:00.75"),
    *("2024-05-01T08:30:00Z", "2024-05-01T08:30+02:00", "2024-05-01T08:30:00-0500"),
    *("05/01/2024 08:30:00", "12/31/14 23:33", "05/01/24 08:10", "1.5.2024", "20240501T083000"),
    *("2024-02-30 08:30", "2024-05-01T24:00", "2024-13-01", "0", "8", "08", "65", "-3", "8.0"),
    *("noon", "", " ", "2024-05-01T08:30:00 ", "2024-W18-3", "1714545000", "99999999999999999999"),
]
#: whole lines of a file of lines, of JSON or of SPMF
LINES = [
    *(b"a b", b"a", b"b a b", b"1 94110", b"01 1", b"a  b\t", b" a", b"z", b"a z"),
    *(b"", b"  ", b"# a", b"%a", b"% Different categories found in input file:", b"% Sequences:"),
    *(b"\xef\xbb\xbfa b", b"\xef\xbb\xbf# a", b"a\r", b"a\rb", b"a\0b", b"\xff", b"a \xc3", b"\0"),
    *(b"1 -1 94110 -1 -2", b"1 -1 -2", b"-2", b"1 2 -1 -2", b"1 -1 x -1 -2", b"-1 -1 -2", b"1 -2"),
    *(b"@ITEM=1=a", b"unit,item", b"1,a", b'"a', b'"a b"', b"\xe2\x80\xa8"),
    *(b'["a"]', b'["a","b"]', b"[1,94110]", b'["a",1]', b"[]", b"[1.5]", b"[true]", b"[null]"),
    *(b'[["a"]]', b'["a"', b'{"item":["a"],"person":"p%d"}', b'{"item":["b"],"person":%d}'),
    *(b'{"item":["a"]}', b'{"item":[1,"b"],"person":null}', b'{"item":["a"],"person":true}'),
    *(b'{"item":"a"}', b'{"person":"p%d"}', b'["\\ud800"]', b'["a\\u0000"]', b'[""]', b'["a"] x'),
    *(b'{"item":["a"],"item":["b"],"person":%d.0}', b"[99999999999999999999]", b'{"a":{"a":{}}}'),
]
#: cells in memory
OBJECTS: list[Any] = [
    *("a", "01", "1", "", "\ud800", b"a", 1, 0, 94110, 1.0, 1.5, True, False, None),
    *(np.int64(1), np.float64(2.0), np.bool_(True), np.str_("a"), float("nan"), float("inf")),
    *(10**30, 10**5000, -1, "a\0", dt.date(2024, 5, 1), np.array(5), np.datetime64("2024-05-01")),
    *(dt.datetime(2024, 5, 1, 8, 30), object(), ["a"], ("a", 1)),  # noqa: DTZ001
]


#: in so many units every cell is as it should be
_TAME = 0.6


@dataclass(frozen=True)
class Pool:
    """Cells as they should be, and as they may be."""

    tame: list[Any]
    wild: list[Any]

    def of(self, *, tame: bool) -> list[Any]:
        return self.tame if tame else self.wild


@dataclass(frozen=True)
class Case:
    """How a source is made of units, and how it is read.

    `unit(random, number)` makes the rows of unit number `number`; `build(rows, folder)` makes the
    source of rows, which may be of several units in turn.
    """

    kind: str
    unit: Callable[[random.Random, int], list[Any]]
    build: Callable[[list[Any], Path], Any]
    options: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    #: which cell of a line names the owner
    owner: int = 2
    domain: Domain = field(default_factory=lambda: Domain.declare(item=ITEMS))

    def read(self, rows: list[Any], folder: Path) -> Counter[Any]:
        data = read(
            self.build(rows, folder),
            kind=self.kind,
            domain=self.domain,
            options={"on_bad": "drop", **self.options},
            columns=self.columns,
        )
        owners = data.count_units("person") if self.columns else 0  # each unit has its own
        return Counter([*data.records(), *["an owner"] * owners])


def check_persons(case: Case, chance: random.Random, folder: Path) -> int:
    """Check the law for persons: rows of all of them may name the same records."""
    rows = [row for n in range(chance.randint(1, 3)) for row in case.unit(chance, n)]
    mine = [chance.random() < 0.4 for _ in rows]

    def owned(row: Any, own: bool) -> Any:
        name = "v" if own else chance.choice(["p", "q"])
        if isinstance(row, dict):
            return {**row, "person": name}
        cells = row.split(b",")
        return b",".join([*cells[: case.owner], name.encode(), *cells[case.owner + 1 :]])

    named = [owned(row, own) for row, own in zip(rows, mine, strict=True)]
    whole = case.read(named, folder)
    rest = case.read([row for row, own in zip(named, mine, strict=True) if not own], folder)
    alone = case.read([row for row, own in zip(named, mine, strict=True) if own], folder)
    assert whole == rest + alone, "one person changes how others are read"
    return alone.total()


def check_pair(case: Case, chance: random.Random, folder: Path) -> int:
    """Check the law on one data set and one of its units; return how many records that unit has."""
    units = [case.unit(chance, number) for number in range(chance.randint(1, 5))]
    order = [(number, row) for number, unit in enumerate(units) for row in range(len(unit))]
    places = sorted(order, key=lambda _: chance.random()) if chance.random() < 0.5 else order
    taken = [0] * len(units)
    rows: list[tuple[int, Any]] = []
    for number, _ in places:  # units in turn, each in its own order
        rows.append((number, units[number][taken[number]]))
        taken[number] += 1
    gone = chance.randrange(len(units))
    whole = case.read([row for _, row in rows], folder)
    rest = case.read([row for number, row in rows if number != gone], folder)
    alone = case.read([row for number, row in rows if number == gone], folder)
    assert whole == rest + alone, f"unit {gone} changes how others are read"
    return alone.total()


# ---- sources


def text_file(name: str, head: bytes = b"") -> Callable[[list[bytes], Path], Path]:
    def build(rows: list[bytes], folder: Path) -> Path:
        path = folder / name
        path.write_bytes(head + b"".join(row + b"\n" for row in rows))
        return path

    return build


def frame_of(rows: list[dict[str, Any]], names: list[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


class Broken:
    """A collection that cannot be looked at."""

    def __iter__(self):
        yield "a"
        raise RuntimeError


def polars_table(names: list[str], **types: Any) -> Callable[[list[Any], Path], pl.DataFrame]:
    schema = {name: types.get(name, pl.String) for name in names}
    return lambda rows, _: pl.DataFrame(frame_of(rows, names), schema=schema)


def pandas_table(names: list[str]) -> Callable[[list[Any], Path], Any]:
    def build(rows: list[Any], _: Path) -> Any:
        import pandas as pd  # only this source needs it

        class Table(pd.DataFrame):  # as other libraries have theirs
            pass

        # pandas makes floats of whole numbers beside a gap, and that must not matter
        return Table(frame_of(rows, names))

    return build


def parquet_file(make: Callable[[list[Any], Path], pl.DataFrame]) -> Callable[..., Path]:
    def build(rows: list[Any], folder: Path) -> Path:
        held = io.BytesIO()
        make(rows, folder).write_parquet(held)
        (folder / "a.parquet").write_bytes(held.getvalue())
        return folder / "a.parquet"

    return build


# ---- units


def one_line(*tame: bytes) -> Callable[[random.Random, int], list[bytes]]:
    def unit(chance: random.Random, number: int) -> list[bytes]:
        style = chance.random()
        if style > 0.95:
            return [bytes(chance.choices(range(256), k=chance.randint(0, 6))).replace(b"\n", b" ")]
        line = chance.choice(tame if style < _TAME else LINES)
        return [line % number if b"%d" in line else line]

    return unit


def quoted(chance: random.Random, cell: str, tame: bool) -> str:
    """Write a cell as it should be, as it may be, or as it must not be."""
    style = chance.random()
    if style < 0.4 and not set(cell) & set('",'):
        return cell
    return '"' + cell.replace('"', '""') + '"' if tame or style < 0.85 else cell


def csv_unit(*pools: Pool) -> Callable[[random.Random, int], list[bytes]]:
    """Lines that begin with the unit's own name, and end in cells of these pools."""

    def unit(chance: random.Random, number: int) -> list[bytes]:
        tame = chance.random() < _TAME
        own = chance.choice([f"u{number}", f"u{number} ", f'"u{number}"', f"u{number}.0"])
        cells = [pool.of(tame=tame) for pool in pools]
        fixed = [chance.choice(pool) for pool in cells]
        lines: list[bytes] = []
        for _ in range(chance.randint(1, 3)):
            # of owners and sensitive values a record has mostly one
            row = [
                chance.choice(pool) if n < 2 or (chance.random() < 0.2 and not tame) else fixed[n]
                for n, pool in enumerate(cells)
            ]
            line = ",".join([own, *(quoted(chance, cell, tame) for cell in row)]).encode()
            lines.append(line if tame else strange(chance, line))
        return lines

    return unit


def strange(chance: random.Random, line: bytes) -> bytes:
    style = chance.random()
    if style < 0.06:
        return chance.choice([b"", b"  ", b",".join([b""] * 9), line + b",a", b"," + line])
    return line + chance.choice([b"\xff", b"\0", b"\r", b'"', b" "]) if style < 0.1 else line


def row_unit(key: Callable[[int], Any], **pools: Pool) -> Callable[..., list[dict[str, Any]]]:
    def unit(chance: random.Random, number: int) -> list[dict[str, Any]]:
        tame = chance.random() < _TAME
        cells = {name: pool.of(tame=tame) for name, pool in pools.items()}
        fixed = {name: chance.choice(pool) for name, pool in cells.items()}
        rows = [
            {"unit": key(number), **{name: chance.choice(pool) for name, pool in cells.items()}}
            for _ in range(chance.randint(1, 3))
        ]
        if tame or chance.random() < 0.5:
            for row in rows:
                row |= {name: fixed[name] for name in cells if name in {"person", "ill"}}
        return rows

    return unit


def list_unit(*tame: Any) -> Callable[[random.Random, int], list[Any]]:
    def unit(chance: random.Random, number: int) -> list[Any]:
        del number
        style = chance.random()
        if style > 0.9:
            return [
                chance.choice(
                    [
                        None,
                        7,
                        "ab",
                        b"ab",
                        {"a": 1},
                        {"a"},
                        (),
                        [],
                        1.5,
                        Broken(),
                        np.array(5),
                        bytearray(b"ab"),
                    ]
                )
            ]
        pool = list(tame) if style < _TAME else OBJECTS
        return [[chance.choice(pool) for _ in range(chance.randint(0, 3))]]

    return unit


VISITS = ["unit", "time", "place", "person", "ill"]
HEAD = b"unit,item,person\n"
VISIT_HEAD = ",".join(VISITS).encode() + b"\n"
OWNERS = Pool(["p", "q", "1", "01", "1.0"], ["p", "1", ""])
WORDS = Pool(ITEMS, TEXTS)
ILL = Pool(["flu", "well", ""], ["flu", "", "Flu"])
WHERE = Pool(PLACES, [*PLACES, "", "nowhere", " home"])


def visits(options: dict[str, str], times: list[Any], tame: list[str]) -> Case:
    """Trajectories from CSV, with times of this domain."""
    return Case(
        "trajectories",
        csv_unit(Pool(tame, TIMES), WHERE, OWNERS, ILL),
        text_file("a.csv", VISIT_HEAD),
        {"sensitive": "ill", **options},
        owner=3,
        domain=Domain.declare(time=times, place=PLACES, ill=["flu", "well"]),
    )


def grid() -> Case:
    wild = ["1.5", "-0.01", "90.5", "nan", "inf", "1e1", "1,5", "", "x", " 2", "2", "0"]
    degrees = Pool(["1.5", "-0.01", "2", "9.99"], wild)
    cells = [f"{lat}.0,{lon}.0" for lat in range(-1, 12) for lon in range(-1, 12)]
    return Case(
        "trajectories",
        csv_unit(Pool(["1", "8", "65"], TIMES), degrees, degrees),
        text_file("a.csv", b"unit,time,lon,lat\n"),
        {"grid": "1.0", "on_missing": "drop", "collisions": "last"},
        domain=Domain.declare(time=range(100), place=cells),
    )


def frame_visits(build: Callable[..., Any], times: Pool, **more: Any) -> Case:
    return Case(
        "trajectories",
        row_unit(
            lambda number: number,
            time=times,
            place=Pool(PLACES, [*PLACES, None, "", "nowhere"]),
            person=more.pop("person", Pool(["p", "q", "1"], ["p", None])),
            ill=Pool(["flu", "well", None], ["flu", None, "Flu"]),
        ),
        build(VISITS, **more.pop("types", {})),
        {"sensitive": "ill", "collisions": "first", "on_conflict": "last", **more.pop("options")},
        domain=Domain.declare(time=more.pop("domain", range(100)), place=PLACES, ill=["flu", "well"]),
    )


ITEM_ROWS = ["unit", "item", "person"]
MIXED = row_unit(
    lambda number: number,
    item=Pool(["a", "01", 1, "1", 94110], OBJECTS[5:] + OBJECTS[:4]),
    person=Pool(["p", 1, 1.0, "1"], ["p", 1, True, None, 2.5]),
)
WHOLE = row_unit(lambda number: number, item=Pool(NUMBERS, [*NUMBERS, None, 7]), person=Pool([1, 2], [1, None]))
FRACTIONS = row_unit(
    float,
    item=Pool([0.0, 1.0, 2.0], [0.0, 1.0, 1.5, None, float("nan"), 1e300]),
    person=Pool([1.0, 2.0], [1.0, 1.5, None]),
)
LISTS = row_unit(
    lambda number: number,
    item=Pool([["a"], ["b", "01"]], [["a"], [], None, ["z", "a"], [None], ["a", ""]]),
)
LOOSE = {"on_unknown": "drop", "on_empty": "drop"}
OWNED = {"person": "person"}
WORD_LINES = one_line(b"a b", b"a", b"b a b", b"1 94110", b"01 1", b"\xef\xbb\xbfa", b" b ")
NUMBER_LINES = one_line(b"1 94110", b"1", b"0 2 1", b"2\t0")
SPMF_LINES = one_line(b"1 -1 94110 -1 -2", b"0 -1 -2", b"2 -1 2 -1 1 -1 -2")
JSON_LINES = one_line(b'["a"]', b'["a","b"]', b"[1]", b'{"item":["b",1]}', b'["01"]')
OWNED_LINES = one_line(b'{"item":["a"],"person":"p%d"}', b'{"item":["b"],"person":%d}')
DATED = {"unit": pl.Int64, "item": pl.Int32}
WHOLE_NUMBERS = Domain.declare(item=NUMBERS)
HOURS = ["2024-05-01T08:30:00", "2024-05-01 09:59", "2024-05-02T06:00:00.75"]

CASES: dict[str, Case] = {
    "lines of sets": Case("sets", WORD_LINES, text_file("a.dat")),
    "lines of sequences": Case("sequences", WORD_LINES, text_file("a.dat"), LOOSE),
    "lines of numbers": Case("sequences", NUMBER_LINES, text_file("a.txt"), LOOSE, domain=WHOLE_NUMBERS),
    "lines after a head": Case("sets", WORD_LINES, text_file("a.seq", b"a \xff\n\0\n% b\n"), {"skip_lines": "3"}),
    "SPMF": Case("sequences", SPMF_LINES, text_file("a.spmf"), domain=WHOLE_NUMBERS),
    "JSON lines": Case("sets", JSON_LINES, text_file("a.jsonl"), LOOSE),
    "JSON lines with owners": Case("sequences", OWNED_LINES, text_file("a.jsonl"), {}, OWNED),
    "CSV of sets": Case("sets", csv_unit(WORDS, OWNERS), text_file("a.csv", HEAD)),
    "CSV of sequences": Case("sequences", csv_unit(WORDS, OWNERS), text_file("a.csv", b"\xef\xbb\xbf" + HEAD), LOOSE),
    "CSV without owners": Case("sets", csv_unit(WORDS), text_file("a.csv", b"unit,item\n")),
    "polars texts": Case(
        "sets",
        row_unit(lambda number: f"u{number}", item=WORDS, person=Pool(["p", "q"], ["p", None, ""])),
        polars_table(ITEM_ROWS),
    ),
    "polars whole numbers": Case(
        "sequences",
        WHOLE,
        polars_table(ITEM_ROWS, unit=pl.Int64, item=pl.Int64, person=pl.Int32),
        LOOSE,
        domain=WHOLE_NUMBERS,
    ),
    "polars fractions": Case(
        "sets",
        FRACTIONS,
        polars_table(ITEM_ROWS, unit=pl.Float64, item=pl.Float64, person=pl.Float32),
        domain=WHOLE_NUMBERS,
    ),
    "polars lists": Case("sequences", LISTS, polars_table(["item"], item=pl.List(pl.String)), LOOSE),
    "Parquet": Case(
        "sequences",
        WHOLE,
        parquet_file(polars_table(ITEM_ROWS, **dict.fromkeys(ITEM_ROWS, pl.Int64))),
        domain=WHOLE_NUMBERS,
    ),
    "Parquet lists": Case("sets", LISTS, parquet_file(polars_table(["item"], item=pl.List(pl.String)))),
    "pandas, anything": Case("sets", MIXED, pandas_table(ITEM_ROWS), LOOSE),
    "pandas whole numbers": Case("sequences", WHOLE, pandas_table(ITEM_ROWS), domain=WHOLE_NUMBERS),
    "plain lists of sets": Case("sets", list_unit(*ITEMS, 1, 94110), lambda rows, _: rows),
    "plain lists of sequences": Case(
        "sequences", list_unit(*NUMBERS, "1"), lambda rows, _: rows, LOOSE, domain=WHOLE_NUMBERS
    ),
    "visits by number": visits({"collisions": "last"}, list(range(100)), ["8", "65", "0", "08"]),
    "visits by bins of numbers": visits({"bin": "60", "collisions": "keep"}, [0, 60, 120], ["8", "65", "100"]),
    "visits by hour": visits({"bin": "1h", "on_missing": "drop"}, DATES, HOURS),
    "visits by hour of the day": visits({"bin": "1h", "fold": "1d", "collisions": "first"}, list(range(24)), HOURS),
    "visits by hour in a zone": visits(
        {"bin": "1h", "fold": "1d", "time_zone": "Europe/Paris", "on_unknown": "drop"},
        list(range(24)),
        [*HOURS, "2024-05-01T08:30:00Z", "2024-05-01T08:30:00-0500"],
    ),
    "visits in a declared format": visits(
        {"time_format": "%m/%d/%y %H:%M", "bin": "1h", "fold": "1d", "on_conflict": "first"},
        list(range(24)),
        ["12/31/14 23:33", "05/01/24 08:10"],
    ),
    "visits at times of text": visits({"times": "text", "on_conflict": "last"}, ["noon", "8"], ["noon", "8"]),
    "visits on a grid": grid(),
    "polars visits": frame_visits(
        polars_table,
        Pool([0, 1, 2, 3], [None, 0, 200]),
        types={"unit": pl.Int64, "time": pl.Int64},
        options={"on_missing": "drop"},
    ),
    "polars visits at dates": frame_visits(
        polars_table,
        Pool([dt.datetime(2024, 5, 1, 8, 30), dt.datetime(2024, 5, 1, 9)], [None]),  # noqa: DTZ001
        types={"unit": pl.Int64, "time": pl.Datetime},
        options={"bin": "1h", "fold": "1d"},
        domain=range(24),
    ),
    "polars items that are dates": Case(
        "sets",
        row_unit(lambda number: number, item=Pool([19_844, 19_845], [0, 2**31 - 1, -(2**31), None])),
        lambda rows, _: pl.DataFrame(rows, schema=DATED).with_columns(pl.col("item").cast(pl.Date)),
        domain=Domain.declare(item=["2024-05-01T00:00:00", "2024-05-02T00:00:00"]),
    ),
    "Parquet items that are times": Case(
        "sequences",
        row_unit(lambda number: number, item=Pool([1_714_521_600_000], [2**62, -(2**63), 2**63 - 1, 0])),
        parquet_file(
            lambda rows, _: pl.DataFrame(rows, schema={"unit": pl.Int64, "item": pl.Int64}).with_columns(
                pl.col("item").cast(pl.Datetime("ms", "UTC"))
            )
        ),
        domain=Domain.declare(item=["2024-05-01T00:00:00+0000"]),
    ),
    "pandas visits": frame_visits(
        pandas_table,
        Pool([1, 2, "3", 4.0], [*OBJECTS[5:-2], *TIMES]),
        options={"on_missing": "drop", "on_unknown": "drop"},
        person=Pool(["p", 1, 1.0], ["p", True, None]),
    ),
}

#: where rows name their owners
OWNED_CASES = [
    *("CSV of sets", "CSV of sequences", "polars texts", "polars visits", "polars visits at dates"),
    *("visits by hour", "visits by hour of the day"),
]
