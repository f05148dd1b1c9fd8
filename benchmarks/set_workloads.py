"""Real and synthetic sets, and experiments on them: publish, time, and evaluate with controls."""

from __future__ import annotations

import csv
import gzip
import io
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from floor import best, data_folder, floor, read_numbers

from hedgerow import Domain, PureDP, Sets, find_method
from hedgerow.evaluate import evaluate

#: runs per experiment; figures are means over them
RUNS = 10
#: file and number of items, numbered from 1, as the documentation of each data set says
FILES = {"msnbc": ("msnbc/msnbc990928.seq.gz", 17), "retail": ("retail/retail.dat.gz", 16_470)}


def publish(
    method: str, data: Sets, *, epsilon: str = "1", unit: str = "record", **parameters: Any
) -> tuple[Any, float]:
    """Publish; return the release, and the time in seconds."""
    start = time.perf_counter()
    release = find_method(method)(**parameters).publish(data, PureDP(epsilon=epsilon, unit=unit))
    return release, time.perf_counter() - start


def scores(release: Any, data: Sets, seed: int) -> dict[str, dict[str, float]]:
    """Evaluate; value and controls by name."""
    return {
        score.name: {"value": score.value, **dict(score.controls)}
        for score in evaluate(release, data, seed=seed)
        if "original" not in dict(score.controls)  # one score per itemset: for a chart, not for a table
    }


def mean(runs: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Average runs, with the standard error of the value."""
    joined: dict[str, dict[str, float]] = {}
    for name in runs[0]:
        figures = [run[name] for run in runs if name in run]
        joined[name] = {key: float(np.mean([run[key] for run in figures])) for key in figures[0]}
        spread = float(np.std([run["value"] for run in figures], ddof=1)) if len(figures) > 1 else 0.0
        joined[name]["standard error"] = spread / len(figures) ** 0.5
    return joined


def read_sets(name: str) -> Sets:
    """Read lines of numbers as sets over the documented items."""
    path, items = FILES[name]
    line, number = read_numbers(data_folder() / path)
    domain = Domain.declare(item=range(1, items + 1))
    return Sets.from_columns(row=line, item=number - 1, domain=domain)


def generate(records: int, items: int) -> Sets:
    """Generate skewed sets of mean size about 4.8: items by a Zipf-like law, in a fixed random order."""
    draw = np.random.default_rng(20_111)
    sizes = 1 + draw.poisson(3.9, records)
    chances = 1 / (np.arange(items) + 5.0)
    picked = np.searchsorted(np.cumsum(chances / chances.sum()), draw.random(int(sizes.sum())))
    item = draw.permutation(items)[np.minimum(picked, items - 1)].astype(np.int64)
    row = np.repeat(np.arange(records, dtype=np.int64), sizes)
    return Sets.from_columns(row=row, item=item, domain=Domain.declare(item=range(items)))


def foodmart(most: int) -> Sets:
    """Read the baskets of FoodMart's (fictitious) customers, by product category."""
    folder = data_folder() / "foodmart"
    taxonomy = list(csv.DictReader(_text(folder / "product_taxonomy.csv.gz")))
    category = {row["product_id"]: row["category"] for row in taxonomy}
    domain = Domain.declare(item=sorted(set(category.values())), records_per_person=most)
    rows = list(csv.DictReader(_text(folder / "baskets.csv.gz")))
    baskets = [[category[product] for product in row["product_ids"].split()] for row in rows]
    return Sets.from_records(baskets, domain=domain, persons=[row["customer_id"] for row in rows])


def _text(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(gzip.open(path), encoding="utf-8")


def run_msnbc(method: str, epsilon: str, **parameters: Any) -> dict[str, Any]:
    """MSNBC as sets: the figures of the paper, with controls."""
    least, _ = best(lambda: floor(data_folder() / FILES["msnbc"][0]), 3)
    data = read_sets("msnbc")
    seconds, figures = [], []
    for seed in range(RUNS):
        release, taken = publish(method, data, epsilon=epsilon, **parameters)
        seconds.append(taken)
        figures.append(scores(release, data, seed))
    ratio = min(seconds) / least
    return {"floor": least, "seconds": min(seconds), "ratio": ratio, "runs": RUNS, "scores": mean(figures)}


def run_sample(method: str, records: int, **parameters: Any) -> dict[str, Any]:
    """The same on a sample of the records."""
    data = _sample(read_sets("msnbc"), records)
    releases = [publish(method, data, **parameters)[0] for _ in range(RUNS)]
    return {"runs": RUNS, "scores": mean([scores(release, data, seed) for seed, release in enumerate(releases)])}


def _sample(data: Sets, records: int) -> Sets:
    """Draw a number of records with replacement; always the same ones."""
    masks, counts = data.histogram()
    drawn = np.random.default_rng(20_112).multinomial(records, counts / counts.sum())
    return Sets.from_masks(masks[drawn > 0], drawn[drawn > 0], data.domain)


def run_large(method: str, data: Sets) -> dict[str, Any]:
    """Time, memory and utility on a large item universe."""
    release, taken = publish(method, data)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "records": len(data),
        "items": data.domain.size("item"),
        "seconds": taken,
        "gigabytes": memory,
        "released": len(release.data),
        "itemsets": len(release.data.itemsets()),
        "scores": scores(release, data, 1),
    }


def run_growth(method: str, grid: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Time as the number of records or items grows."""
    rows = []
    for records, items in grid:
        _, taken = publish(method, generate(records, items))
        rows.append({"records": records, "items": items, "seconds": taken})
    return rows


def run_persons(method: str) -> dict[str, Any]:
    """FoodMart for persons, with a declared maximum of baskets."""
    rows = {}
    for most in (1, 5, 20):
        data = foodmart(most)
        release, taken = publish(method, data, unit="person")
        rows[str(most)] = {
            "seconds": taken,
            "records": len(data),
            "used": len(data.bounded("person")),
            "released": len(release.data),
            "scores": scores(release, data, 1),
        }
    return rows
