"""Public sequences at everyday sizes, and the measures by which releases of them are compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import ngram
import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import Domain, Sequences, read
from hedgerow.kinds.sequences.measures import drawn_queries
from hedgerow.kinds.sequences.patterns import SequenceIndex
from hedgerow.measures.scoring import relative_errors
from hedgerow.numerics.arrays import take_lists

Integers: TypeAlias = NDArray[np.int64]

#: the most frequent runs that are compared, and the longest of them
TOP, LONGEST_RUN = 100, 5
QUERIES = 4_000
#: a cell of a grid over a city, in degrees
CELL = 0.02


def some_of(data: Sequences, number: int) -> Sequences:
    """Take a random part of the sequences; the same every time."""
    chosen = np.sort(np.random.default_rng(17).permutation(len(data.weights))[:number])
    starts, items = take_lists(data.starts, data.items, chosen)
    return Sequences(data.domain, np.arange(number), starts, items, data.weights[chosen])


def frequent_items(data: Sequences, number: int) -> Sequences:
    """Keep the most frequent items only, as if the others were not in the domain, and sequences that have any."""
    occurs = np.bincount(data.items, minlength=data.domain.size("item"))
    top = np.sort(np.argsort(-occurs, kind="stable")[:number])
    code = np.full(len(occurs), -1)
    code[top] = np.arange(number)
    row = np.repeat(np.arange(len(data.weights)), np.diff(data.starts))
    kept = code[data.items] >= 0
    values = data.domain.values("item")
    domain = Domain.declare(item=[values[item] for item in top.tolist()])
    return Sequences.from_columns(row=row[kept], item=code[data.items[kept]], domain=domain)


def bikes(folder: Path) -> Sequences:
    """Cells of 0.02 degrees in which the trips of a bicycle ended, one after the other."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz")
    trips = pl.read_parquet(folder / "singapore-bikes/trips.parquet").sort("bike", "start_ts")
    trips = trips.with_columns(pl.col("to_node").cast(pl.Int64))
    return _cells(trips.join(nodes, left_on="to_node", right_on="id", maintain_order="left"), "bike")


def gowalla(folder: Path) -> Sequences:
    """Cells of 0.02 degrees in which a person checked in."""
    return _cells(pl.read_csv(folder / "gowalla-nyc/checkins.csv.gz").sort("user", "time"), "user")


def _cells(table: pl.DataFrame, unit: str) -> Sequences:
    cell = [(pl.col(axis) / CELL).floor().cast(pl.Int64).cast(pl.String) for axis in ("lat", "lon")]
    table = table.with_columns(pl.concat_str(cell, separator=" ").alias("cell"))
    return read(table, kind="sequences", columns={"unit": unit, "item": "cell"}, assert_public_domain=True)


def households(folder: Path) -> Sequences:
    """Categories of the products that a household bought, one after the other."""
    products = pl.read_csv(folder / "completejourney/product_taxonomy.csv.gz", infer_schema_length=None)
    bought = pl.read_csv(folder / "completejourney/transactions_sample.csv.gz", infer_schema_length=None)
    # some numbers are written like 1e+06
    products, bought = (each.with_columns(pl.col("product_id").cast(pl.Int64)) for each in (products, bought))
    table = (
        bought.join(products, on="product_id", maintain_order="left")
        .drop_nulls("product_category")
        .sort("household_id", "ts")
    )
    names = {"unit": "household_id", "item": "product_category"}
    return read(table, kind="sequences", columns=names, assert_public_domain=True)


def customers(folder: Path) -> Sequences:
    """Categories of the products that a customer bought, day after day."""
    products = pl.read_csv(folder / "foodmart/product_taxonomy.csv.gz").select("product_id", "category")
    baskets = pl.read_csv(folder / "foodmart/baskets.csv.gz").sort("customer_id", "date", maintain_order=True)
    bought = baskets.with_columns(pl.col("product_ids").str.split(" ").cast(pl.List(pl.Int64)).alias("product_id"))
    table = bought.explode("product_id").join(products, on="product_id", maintain_order="left")
    names = {"unit": "customer_id", "item": "category"}
    return read(table, kind="sequences", columns=names, assert_public_domain=True)


def foursquare(folder: Path) -> Sequences:
    """Cells of 0.02 degrees in which a person checked in."""
    places = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz")
    visits = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").sort("user", "minute", maintain_order=True)
    return _cells(visits.join(places, on="poi", maintain_order="left"), "user")


def life_courses(folder: Path) -> Sequences:
    """The family state of a person, from age 15 to 30."""
    table = pl.read_csv(folder / "life-course/biofam.csv.gz").select(pl.selectors.starts_with("a"))
    states = table.to_numpy()
    row = np.repeat(np.arange(len(states)), states.shape[1])
    return Sequences.from_columns(row=row, item=states.ravel().astype(np.int64), domain=Domain.declare(item=range(8)))


def lines(name: str, frequent: int | None = None) -> Callable[[Path], Sequences]:
    """Sequences that are lines of a file, over all items or over the most frequent ones."""

    def load(folder: Path) -> Sequences:
        data = ngram.lines(folder, name)
        return data if frequent is None else frequent_items(data, frequent)

    return load


def msnbc(number: int, folder: Path) -> Sequences:
    """A random part of MSNBC."""
    return some_of(ngram.msnbc(folder), number)


#: data on which constants were chosen, or a rule was questioned
CHOSEN_ON: dict[str, Callable[[Path], Sequences]] = {
    "msnbc 10k": partial(msnbc, 10_000),
    "msnbc 32k": partial(msnbc, 31_790),
    "msnbc 100k": partial(msnbc, 100_000),
    "sube-smartcard": ngram.sube,
    "bms-webview-1": lines("bms-webview-1/bms-webview-1.dat.gz"),
    "kosarak, 1,000 items": lines("kosarak-subset/kosarak_first70k.seq.gz", 1_000),
    "fifa": lines("fifa/fifa.seq.gz"),
    "bible, 300 words": lines("spmf-text-sequences/bible.seq.gz", 300),
    "leviathan, 100 words": lines("spmf-text-sequences/leviathan.seq.gz", 100),
    # a first release of it showed that flows were not balanced where they should be
    "singapore-bikes": bikes,
    # a first release of it was worse than independent items; constants were then chosen on parts of the data above
    "completejourney": households,
    "msnbc": ngram.msnbc,
}
#: data on which nothing was chosen
REPORTED_ON: dict[str, Callable[[Path], Sequences]] = {
    "bms-webview-2": lines("bms-webview-2/bms-webview-2.dat.gz"),
    "gowalla-nyc": gowalla,
    "foursquare-nyc": foursquare,
    "foodmart": customers,
    "biofam": life_courses,
}


class Truth:
    """The original, its most frequent runs, and queries with their answers."""

    def __init__(self, data: Sequences) -> None:
        self.index = SequenceIndex.of(data)
        self.top, self.bigrams = _frequent_runs(self.index)
        workloads = drawn_queries(self.index, np.random.default_rng(1), QUERIES)
        self.queries = [query for queries in workloads.values() for query in queries]
        self.exact = self.index.count(self.queries)[0]

    def score(self, data: Sequences) -> dict[str, float]:
        """Compare one release with the whole original."""
        index = SequenceIndex.of(data)
        top, bigrams = _frequent_runs(index)
        sizes = [np.bincount(np.diff(each.starts), each.weights) for each in (self.index, index)]
        errors = relative_errors(self.exact, index.count(self.queries)[0], self.index.records)
        items = [float(np.diff(each.starts) @ each.weights) for each in (self.index, index)]
        return {
            "top 100": len(self.top[1] & top[1]),
            "top 100 of >= 2": len(self.top[2] & top[2]),
            "query error": float(errors.mean()),
            "length TV": _distance(dict(enumerate(sizes[0].tolist())), dict(enumerate(sizes[1].tolist()))),
            "bigram TV": _distance(self.bigrams, bigrams),
            "number": index.records / self.index.records,
            "items": items[1] / items[0],
        }


def _distance(first: dict[int, float], second: dict[int, float]) -> float:
    """The total variation distance of two distributions, given as counts; 1 if one is empty."""
    one, other = sum(first.values()), sum(second.values())
    if not one or not other:
        return float(one != other)
    return 0.5 * sum(abs(first.get(key, 0) / one - second.get(key, 0) / other) for key in first.keys() | second.keys())


def _frequent_runs(index: SequenceIndex) -> tuple[dict[int, set[int]], dict[int, float]]:
    """The most frequent runs of at least one and at least two items, as numbers, and the counts of all bigrams.

    A run is a number in base `size + 1` with digits from 1, so runs of different lengths are different numbers.
    """
    sizes = np.diff(index.starts)
    at = np.arange(len(index.items))
    left = np.repeat(index.starts[1:], sizes) - at
    weight = np.repeat(index.weights, sizes)
    code = np.zeros(len(at), np.int64)
    counted: list[dict[int, float]] = []
    for length in range(1, LONGEST_RUN + 1):
        kept = np.flatnonzero(left >= length)
        at, left, weight = at[kept], left[kept], weight[kept]
        code = code[kept] * (index.size + 1) + index.items[at + length - 1] + 1
        runs, number = np.unique(code, return_inverse=True)
        counts = np.bincount(number, weight, len(runs))
        counted.append(dict(zip(runs.tolist(), counts.tolist(), strict=True)))
        # a longer run is never more frequent, so those that are too rare now are not extended
        if length > 1:
            least = np.partition(counts, -TOP)[-TOP] if len(counts) > TOP else 0
            kept = np.flatnonzero(counts[number] >= least)
            at, left, weight, code = at[kept], left[kept], weight[kept], code[kept]
    return {least: _most_frequent(counted[least - 1 :]) for least in (1, 2)}, counted[1]


def _most_frequent(counted: list[dict[int, float]]) -> set[int]:
    every = {run: count for counts in counted for run, count in counts.items()}
    return set(sorted(every, key=lambda run: (-every[run], run))[:TOP])
