"""What the reading law is tried on: hostile cells, units made of them, and sources built of units."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

__all__ = [
    "DATES",
    "ITEMS",
    "NUMBERS",
    "OBJECTS",
    "PLACES",
    "TEXTS",
    "TIMES",
    "Pool",
    "csv_unit",
    "list_unit",
    "one_line",
    "pandas_table",
    "parquet_file",
    "polars_table",
    "row_unit",
    "text_file",
]

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
