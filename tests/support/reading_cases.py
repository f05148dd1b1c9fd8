"""The cases of the reading law: every format and source, with the options that decide how it is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import polars as pl
from reading_graphs import GRAPH_CASES
from reading_law import Case
from reading_matrices import MATRIX_CASES
from reading_records import RECORD_CASES
from reading_units import (
    DATES,
    ITEMS,
    NUMBERS,
    OBJECTS,
    PLACES,
    TEXTS,
    TIMES,
    Pool,
    csv_unit,
    list_unit,
    one_line,
    pandas_table,
    parquet_file,
    polars_table,
    row_unit,
    text_file,
)
from reading_weights import WEIGHT_CASES

from hedgerow import Domain

__all__ = ["CASES", "OWNED_CASES"]

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
    **GRAPH_CASES,
    **WEIGHT_CASES,
    **MATRIX_CASES,
    **RECORD_CASES,
}

#: where rows name their owners
OWNED_CASES = [
    *("CSV of sets", "CSV of sequences", "polars texts", "polars visits", "polars visits at dates"),
    *("visits by hour", "visits by hour of the day"),
]
