"""Public set-valued data, read from a folder of files; all items that occur are taken as public, as documented."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
from floor import data_folder, read_numbers
from numpy.typing import NDArray

from hedgerow import Domain, Sets

#: which data the constants of pairwise-marginals were chosen on ("c"), and which only verify them ("v")
PURPOSES = {
    "groceries": "c",
    "foodmart": "c",
    "bms-webview-2": "c",
    "kosarak-subset": "c",
    "bms-webview-1": "v",
    "completejourney": "v",
    "retail": "v",
    "msnbc": "v",
}
_NUMBERS = {
    "bms-webview-1": "bms-webview-1/bms-webview-1.dat.gz",
    "bms-webview-2": "bms-webview-2/bms-webview-2.dat.gz",
    "kosarak-subset": "kosarak-subset/kosarak_first70k.seq.gz",
    "msnbc": "msnbc/msnbc990928.seq.gz",
    "retail": "retail/retail.dat.gz",
}
#: so many records are drawn, always the same: all of them take too long, and few records are the harder case
_DRAWN = {"msnbc": 100_000}


def collect(name: str) -> Sets:
    """Read a data set by name."""
    if name in _NUMBERS:
        line, number = read_numbers(data_folder() / _NUMBERS[name])
        if name in _DRAWN:
            line, number = _draw_lines(line, number, _DRAWN[name])
        values, item = np.unique(number, return_inverse=True)
        domain = Domain.declare(item=values.tolist())
        return Sets.from_columns(row=line, item=item.astype(np.int64), domain=domain)
    records = {"groceries": _groceries, "foodmart": _foodmart, "completejourney": _completejourney}[name]()
    return Sets.from_records(records, domain=Domain.declare(item=sorted({item for one in records for item in one})))


def _draw_lines(
    line: NDArray[np.int64], number: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chosen = np.zeros(int(line.max()) + 1, np.bool_)
    chosen[np.random.default_rng(20_113).choice(len(chosen), most, replace=False)] = True
    return line[chosen[line]], number[chosen[line]]


def _groceries() -> list[list[str]]:
    return list(csv.reader(_text(data_folder() / "groceries" / "groceries.csv.gz")))


def _foodmart() -> list[list[str]]:
    """Baskets of products."""
    rows = csv.DictReader(_text(data_folder() / "foodmart" / "baskets.csv.gz"))
    return [row["product_ids"].split() for row in rows]


def _completejourney() -> list[list[str]]:
    """The types of product that a household bought in a week."""
    folder = data_folder() / "completejourney"
    taxonomy = csv.DictReader(_text(folder / "product_taxonomy.csv.gz"))
    types = {row["product_id"]: row["product_type"] for row in taxonomy}
    weeks: dict[tuple[str, str], set[str]] = {}
    for row in csv.DictReader(_text(folder / "transactions_sample.csv.gz")):
        kind = types.get(row["product_id"])
        if kind:
            weeks.setdefault((row["household_id"], row["week"]), set()).add(kind)
    return [sorted(one) for one in weeks.values()]


def _text(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(gzip.open(path), encoding="utf-8")
