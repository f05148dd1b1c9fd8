"""The reading law for streams: one event never decides how another is read.

An event cannot be dropped, since all after it would have other numbers. So the law is: a stream is read as the list of
its events, each read alone; and it is refused exactly if one of them alone is.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from reading_units import OBJECTS, TEXTS, Pool

from hedgerow import Domain, NumberAxis
from hedgerow.errors import HedgerowError
from hedgerow.reading import read

__all__ = ["STREAM_CASES", "StreamCase", "check_events"]

NUMBERS = Domain.declare(value=NumberAxis.between(0, 5, "0.5"))
BIT_TEXTS = [b"0", b"1"]
NUMBER_TEXTS = [b"0.5", b"7", b"-3", b"1e0", b" 2 ", b"4.50", b'"2"']
WILD_TEXTS = [
    *(text.encode() for text in TEXTS),
    *(b"", b" ", b"\xff", b"1\xff", b"\0", b"1\0", b"1\r", b"1\r0", b"\r", b'"1', b'1"', b'"', b'""', b"1,0", b",", b",1"),
    *(b"0.9", b"4.75", b"0.50000000000000000001", b"1e-400", b"nan", b"inf", b"-Infinity", b"1e999", b"0x1", b"1_0", b"value", b"#1", b"%", b"\xef\xbb\xbf1", "\u0661".encode()),
]  # fmt: skip
FLOATS = Pool([0.0, 1.0, 2.5, 9.0, -4.0], [None, float("nan"), float("inf"), 1e300, -0.0, 0.75])
WHOLE = Pool([0, 1, 5, 9, -7], [None, 2**62, -(2**63)])
WORDS = Pool(["0", "1", "2.5", " 3"], [*TEXTS, None])


@dataclass(frozen=True)
class StreamCase:
    """How a source is made of events, and over which domain it is read."""

    pool: Pool
    build: Callable[[list[Any], Path], Any]
    domain: Domain | None = NUMBERS

    def read(self, events: list[Any], folder: Path) -> list[int] | None:
        """Read a source; None if it is refused."""
        try:
            data = read(self.build(events, folder), kind="streams", domain=self.domain)
            return np.concatenate([np.zeros(0, np.int64), *data.events.blocks(3)]).tolist()
        except HedgerowError:
            return None


def check_events(case: StreamCase, chance: random.Random, folder: Path) -> bool:
    """Check the law on one stream; return whether it could be read."""
    wild = 0.0 if chance.random() < 0.5 else 0.3
    pools = [case.pool.of(tame=chance.random() >= wild) for _ in range(chance.randint(1, 8))]
    events = [chance.choice(pool) for pool in pools]
    alone = [case.read([event], folder) for event in events]
    assert all(each is None or len(each) == 1 for each in alone), "one event is read as several, or as none"
    whole = case.read(events, folder)
    if any(each is None for each in alone):
        assert whole is None, "an event that is refused alone is read beside others"
        return False
    assert whole == [each[0] for each in alone if each], "an event is read otherwise beside others"
    return True


# ---- sources


def text_file(name: str, head: bytes = b"", end: bytes = b"\n") -> Callable[[list[Any], Path], Path]:
    """One event per line."""

    def build(events: list[Any], folder: Path) -> Path:
        (folder / name).write_bytes(head + b"".join(event + end for event in events))
        return folder / name

    return build


def table(kind: Any) -> Callable[[list[Any], Path], pl.DataFrame]:
    return lambda events, _: pl.DataFrame({"value": pl.Series(events, dtype=kind)})


def parquet(kind: Any) -> Callable[[list[Any], Path], Path]:
    def build(events: list[Any], folder: Path) -> Path:
        content = io.BytesIO()
        table(kind)(events, folder).write_parquet(content, row_group_size=2)
        (folder / "a.parquet").write_bytes(content.getvalue())
        return folder / "a.parquet"

    return build


def beside(build: Callable[[list[Any], Path], Path]) -> Callable[[list[Any], Path], Path]:
    """Put another column before and behind the events."""
    return lambda events, folder: build([b"x," + event + b",y" for event in events], folder)


#: a comma in such a cell starts another one
NO_COMMA = [text for text in WILD_TEXTS if b"," not in text]
BITS = Pool(BIT_TEXTS, [bytes([byte]) for byte in range(256) if byte != ord("\n")])
BIT_LINES, NUMBER_LINES = Pool(BIT_TEXTS, WILD_TEXTS), Pool([*BIT_TEXTS, *NUMBER_TEXTS], WILD_TEXTS)

STREAM_CASES: dict[str, StreamCase] = {
    "bits": StreamCase(BITS, text_file("a.bits", end=b""), None),
    "lines of bits": StreamCase(BIT_LINES, text_file("a.txt"), None),
    "lines of numbers": StreamCase(NUMBER_LINES, text_file("a.dat")),
    "lines as of Windows": StreamCase(NUMBER_LINES, text_file("a.txt", end=b"\r\n")),
    "CSV": StreamCase(NUMBER_LINES, text_file("a.csv", b"value\n")),
    "CSV of bits, with a byte order mark": StreamCase(BIT_LINES, text_file("a.csv", b"\xef\xbb\xbfvalue\n"), None),
    "CSV with other columns": StreamCase(
        Pool([*BIT_TEXTS, *NUMBER_TEXTS], NO_COMMA), beside(text_file("a.csv", b"time,value,who\n"))
    ),
    "Parquet numbers": StreamCase(FLOATS, parquet(pl.Float64)),
    "Parquet whole numbers": StreamCase(WHOLE, parquet(pl.Int64)),
    "Parquet texts": StreamCase(WORDS, parquet(pl.String)),
    "polars numbers": StreamCase(FLOATS, table(pl.Float64)),
    "polars texts": StreamCase(WORDS, table(pl.String)),
    "a list": StreamCase(Pool([0, 1, 2.5, True], [cell for cell in OBJECTS if not isinstance(cell, list)]), lambda e, _: e),
    "an iterator": StreamCase(Pool([0, 1, 2.5, True], OBJECTS), lambda events, _: iter(events)),
    "an array": StreamCase(FLOATS, lambda events, _: np.array([np.nan if e is None else e for e in events])),
}  # fmt: skip
