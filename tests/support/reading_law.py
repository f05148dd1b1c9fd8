"""The reading law: one unit never decides how another is read.

`read(D) = read(D without v) + read(v)` as collections of records, for every format and source,
whatever the cells of v look like. Under `on_bad=drop` there is no refusal either.

A case makes units from a pool of hostile cells (`reading_units`); some are raw bytes, as a careless export writes
them. The generator is seeded: a failure names the case (`reading_cases`) and the number of the pair.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import add, methodcaller
from pathlib import Path
from typing import Any

from reading_units import ITEMS

from hedgerow import Domain
from hedgerow.reading import read

__all__ = ["Case", "check_pair", "check_persons", "owned"]


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
    #: lists what was read, and joins two of these collections; edges are a set, in which each is once
    listed: Callable[[Any], Iterable[Any]] = methodcaller("records")
    join: Callable[[Counter[Any], Counter[Any]], Counter[Any]] = add

    def read(self, rows: list[Any], folder: Path) -> Counter[Any]:
        data = read(
            self.build(rows, folder),
            kind=self.kind,
            domain=self.domain,
            options={"on_bad": "drop", **self.options},
            columns=self.columns,
        )
        owners = data.count_units("person") if "person" in self.columns else 0  # each unit has its own
        return Counter([*self.listed(data), *["an owner"] * owners])


def owned(case: Case, row: Any, name: str) -> Any:
    """Return a row that names its owner."""
    if isinstance(row, dict):
        return {**row, "person": name}
    cells = row.split(b",")
    return b",".join([*cells[: case.owner], name.encode(), *cells[case.owner + 1 :]])


def check_persons(case: Case, chance: random.Random, folder: Path) -> int:
    """Check the law for persons: rows of all of them may name the same records."""
    rows = [row for n in range(chance.randint(1, 3)) for row in case.unit(chance, n)]
    mine = [chance.random() < 0.4 for _ in rows]

    named = [owned(case, row, "v" if own else chance.choice(["p", "q"])) for row, own in zip(rows, mine, strict=True)]
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
    assert whole == case.join(rest, alone), f"unit {gone} changes how others are read"
    return alone.total()
