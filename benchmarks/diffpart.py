"""DiffPart on real and generated sets: time against the floor, and utility beside controls.

Writes docs/results/diffpart.json, from which `pages.py` makes docs/results/diffpart.md. Each
experiment runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from floor import best, data_folder, floor, read_numbers

from hedgerow import Domain, PureDP, Sets, find_method
from hedgerow.evaluate import evaluate

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "diffpart.json"
EXPERIMENTS = [
    *("msnbc 1", "msnbc 1 tree", "msnbc 1 narrow"),
    *("msnbc 0.5", "msnbc 0.5 tree", "msnbc 0.5 narrow"),
    *("sample 100000", "sample 100000 narrow", "sample 10000", "sample 10000 narrow"),
    *("retail", "generated", "records", "items", "foodmart"),
]
#: besides the default, which counts a universe of 17 items at once
SETTINGS: dict[str, dict[str, Any]] = {
    "tree": {"fanout": 10},
    "narrow": {"fanout": 5, "c1": 1.5, "c2": 0.5, "tau_split": 1.0},
}


def publish(data: Sets, *, epsilon: str = "1", unit: str = "record", **parameters: Any) -> tuple[Any, float]:
    """Publish by DiffPart, and time it."""
    start = time.perf_counter()
    release = find_method("diffpart")(**parameters).publish(data, PureDP(epsilon=epsilon, unit=unit))
    return release, time.perf_counter() - start


def scores(release: Any, data: Sets, seed: int) -> dict[str, dict[str, float]]:
    """Evaluate; value and controls by name."""
    return {
        score.name: {"value": score.value, **dict(score.controls)}
        for score in evaluate(release, data, seed=seed)
        if "original" not in dict(score.controls)  # itemset by itemset: for a picture, not a table
    }


def mean(runs: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Average runs, with the standard error of the value."""
    joined: dict[str, dict[str, float]] = {}
    for name in runs[0]:
        held = [run[name] for run in runs if name in run]
        joined[name] = {key: float(np.mean([run[key] for run in held])) for key in held[0]}
        spread = float(np.std([run["value"] for run in held], ddof=1)) if len(held) > 1 else 0.0
        joined[name]["standard error"] = spread / len(held) ** 0.5
    return joined


#: file and number of items, numbered from 1, as the documentation of each data set says
SETS = {"msnbc": ("msnbc/msnbc990928.seq.gz", 17), "retail": ("retail/retail.dat.gz", 16_470)}


def read_sets(folder: Path, name: str) -> Sets:
    """Read lines of numbers as sets over the documented items."""
    path, items = SETS[name]
    line, number = read_numbers(folder / path)
    domain = Domain.declare(item=range(1, items + 1))
    return Sets.from_columns(row=line, item=number - 1, domain=domain)


def generate(records: int, items: int) -> Sets:
    """Make skewed sets of mean size about 4.8: items by a Zipf-like law in a fixed random order."""
    draw = np.random.default_rng(20_111)
    sizes = 1 + draw.poisson(3.9, records)
    chances = 1 / (np.arange(items) + 5.0)
    picked = np.searchsorted(np.cumsum(chances / chances.sum()), draw.random(int(sizes.sum())))
    item = draw.permutation(items)[np.minimum(picked, items - 1)].astype(np.int64)
    row = np.repeat(np.arange(records, dtype=np.int64), sizes)
    return Sets.from_columns(row=row, item=item, domain=Domain.declare(item=range(items)))


def foodmart(folder: Path, most: int) -> Sets:
    """Read the baskets of FoodMart's (fictitious) customers, by product category."""
    taxonomy = list(csv.DictReader(_text(folder / "foodmart/product_taxonomy.csv.gz")))
    category = {row["product_id"]: row["category"] for row in taxonomy}
    domain = Domain.declare(item=sorted(set(category.values())), records_per_person=most)
    rows = list(csv.DictReader(_text(folder / "foodmart/baskets.csv.gz")))
    baskets = [[category[product] for product in row["product_ids"].split()] for row in rows]
    return Sets.from_records(baskets, domain=domain, persons=[row["customer_id"] for row in rows])


def _text(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(gzip.open(path), encoding="utf-8")


def run_msnbc(folder: Path, epsilon: str, runs: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """MSNBC as sets: the figures of the paper, beside controls."""
    least, _ = best(lambda: floor(folder / SETS["msnbc"][0]), 3)
    data = read_sets(folder, "msnbc")
    seconds, held = [], []
    for seed in range(runs):
        release, taken = publish(data, epsilon=epsilon, **parameters)
        seconds.append(taken)
        held.append(scores(release, data, seed))
    return {
        "floor": least,
        "seconds": min(seconds),
        "ratio": min(seconds) / least,
        "runs": runs,
        "scores": mean(held),
    }


def sample(data: Sets, records: int) -> Sets:
    """Draw so many records of small sets, with replacement; the same ones every time."""
    masks, counts = data.histogram()
    drawn = np.random.default_rng(20_112).multinomial(records, counts / counts.sum())
    return Sets.from_masks(masks[drawn > 0], drawn[drawn > 0], data.domain)


def run_sample(folder: Path, records: int, runs: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """The same on a sample: how much of it needs a million records."""
    data = sample(read_sets(folder, "msnbc"), records)
    releases = [publish(data, **parameters)[0] for _ in range(runs)]
    held = [scores(release, data, seed) for seed, release in enumerate(releases)]
    return {"runs": runs, "scores": mean(held)}


def run_large(data: Sets) -> dict[str, Any]:
    """Time, memory and what survives of a large universe."""
    release, taken = publish(data)
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


def run_growth(grid: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Time as records or items grow."""
    rows = []
    for records, items in grid:
        _, taken = publish(generate(records, items))
        rows.append({"records": records, "items": items, "seconds": taken})
    return rows


def run_persons(folder: Path) -> dict[str, Any]:
    """FoodMart for persons, with a declared maximum of baskets."""
    rows = {}
    for most in (1, 5, 20):
        data = foodmart(folder, most)
        release, taken = publish(data, unit="person")
        rows[str(most)] = {
            "seconds": taken,
            "records": len(data),
            "used": len(data.bounded("person")),
            "released": len(release.data),
            "scores": scores(release, data, 1),
        }
    return rows


def run(name: str, folder: Path, runs: int) -> Any:
    """Run one experiment."""
    if name.startswith("msnbc"):
        _, epsilon, *setting = name.split()
        return run_msnbc(folder, epsilon, runs, SETTINGS[setting[0]] if setting else {})
    if name.startswith("sample"):
        _, records, *setting = name.split()
        return run_sample(folder, int(records), runs, SETTINGS[setting[0]] if setting else {})
    return {
        "retail": lambda: run_large(read_sets(folder, "retail")),
        "generated": lambda: run_large(generate(1_200_000, 1_012)),
        "records": lambda: run_growth([(n * 1_000, 1_012) for n in (150, 300, 600, 1_200)]),
        "items": lambda: run_growth([(300_000, n) for n in (253, 506, 1_012, 2_024, 4_048)]),
        "foodmart": lambda: run_persons(folder),
    }[name]()


def main() -> None:
    """Run all experiments, or one (--only), and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", choices=EXPERIMENTS)
    asked = parser.parse_args()
    if asked.only:
        json.dump(run(asked.only, data_folder(), asked.runs), sys.stdout)
        return
    results = {}
    for name in EXPERIMENTS:
        command = [
            sys.executable,
            __file__,
            "--only",
            name,
            "--runs",
            str(asked.runs),
            "--data",
            str(data_folder()),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
        results[name] = json.loads(done.stdout)
        print(name, "done", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
