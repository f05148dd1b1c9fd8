"""(K,C)_L-privacy on public data: what local and global suppression lose, and what linkage gains.

Writes docs/results/kcl-real.json, from which `pages.py` makes a part of docs/results/kcl.md.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from floor import data_folder

from hedgerow import KCL, Trajectories, find_method, read
from hedgerow.evaluate import evaluate

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "kcl-real.json"
WEEK, HOUR = 7 * 24 * 60, 60


def sube(folder: Path) -> tuple[Trajectories, list[str]]:
    """Boardings of a day in Buenos Aires by hour and cell of 0.05 degrees; sensitive: two fares."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz").drop_nulls(["lat", "lon"])
    data = read(
        table.with_columns(pl.col("id_tarifa").first().over("card").cast(pl.String)),
        kind="trajectories",
        columns={"unit": "card", "time": "hour"},
        options={"grid": "0.05", "collisions": "first", "sensitive": "id_tarifa"},
    )
    common = table["id_tarifa"].drop_nulls().value_counts(sort=True)["id_tarifa"].cast(pl.String)
    return data, [f"id_tarifa={value}" for value in common[1:3]]


def foursquare(folder: Path) -> tuple[Trajectories, list[str]]:
    """Weeks of check-ins in New York by hour of the week and cell of 0.05 degrees."""
    pois = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz")
    table = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").join(pois, on="poi")
    table = table.with_columns(
        unit=pl.col("user") * 1_000 + pl.col("minute") // WEEK,
        time=pl.col("minute") % WEEK // HOUR,
    )
    options = {"grid": "0.05", "collisions": "first"}
    return read(table, kind="trajectories", options=options), []


def bikes(folder: Path) -> tuple[Trajectories, list[str]]:
    """Days of shared bikes in Singapore by hour and cell of 0.02 degrees; bikes are not persons."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz")
    table = pl.read_parquet(folder / "singapore-bikes/trips.parquet")
    table = table.join(nodes, left_on="from_node", right_on="id").with_columns(
        unit=pl.col("bike").cast(pl.Int64) * 100 + pl.col("start_ts") // 86_400 % 100,
        time=pl.col("start_ts") // 3_600 % 24,
    )
    options = {"grid": "0.02", "collisions": "first"}
    return read(table, kind="trajectories", options=options), []


SOURCES: dict[str, Callable[[Path], tuple[Trajectories, list[str]]]] = {
    "sube-smartcard": sube,
    "foursquare-nyc": foursquare,
    "singapore-bikes": bikes,
}


def run(data: Trajectories, sensitive: list[str], k: int) -> dict[str, Any]:
    """Publish by local suppression; the evaluation does so globally beside it."""
    values = {"c": "60%", "sensitive": sensitive} if sensitive else {}
    promise = KCL(k=k, l=3, **values)
    start = time.perf_counter()
    release = find_method("kcl")().publish(data, promise)
    seconds = time.perf_counter() - start
    scores = {score.name: score for score in evaluate(release, data, seed=1) if not score.chart}
    others = {"local": {"give_back": False}, "grown": {"schedule": "grow"}}
    return {
        "k": k,
        "seconds": seconds,
        **{name: _loss(data, promise, given) for name, given in others.items()},
        **{name: [score.value, dict(score.controls)] for name, score in scores.items()},
    }


def _loss(data: Trajectories, promise: KCL, given: dict[str, Any]) -> float:
    release = find_method("kcl")(**given).publish(data, promise)
    return 1 - len(release.data.arrays()[1]) / len(data.arrays()[1])


def main() -> None:
    """Run all data sets for several K, and write the results."""
    warnings.simplefilter("ignore")
    results = {}
    for name, load in SOURCES.items():
        data, sensitive = load(data_folder())
        _, pairs, _ = data.arrays()
        results[name] = {
            "what": (load.__doc__ or "").strip(),
            "records": len(data),
            "visits": len(pairs),
            "pairs": len(set(pairs.tolist())),
            "sensitive": len(sensitive),
            "runs": [run(data, sensitive, k) for k in (2, 5, 10, 30)],
        }
        print(name, json.dumps(results[name])[:600], flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
