"""continued-prefix-tree on visits with hours: start times, end times and durations of journeys.

Writes docs/results/prefix-tree-times.json, from which `pages.py` makes
docs/results/prefix-tree-times.md. Constants were chosen on `sube-smartcard` and on synthetic metro
journeys, with the seeds 0 to 4; the seeds here are different. Nothing was chosen on `gowalla-nyc` and
`foursquare-nyc`; on `singapore-bikes` a bug (journeys cut short) was discovered and fixed. The method is compared
with a uniform distribution of hours, and with the simplest rival: a noisy histogram of first hours that gets the
whole budget.

`--before NAME` measures the installed version and stores its results under that name, next to the others.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import transit
from floor import data_folder
from numpy.typing import NDArray
from plans import RESULTS

from hedgerow import Domain, PureDP, Trajectories, find_method

Integers: TypeAlias = NDArray[np.int64]

HOURS = 24
EPSILONS = ("0.1", "1", "10")
SEEDS = range(100, 110)
#: longer records are counted as this long
LONG = 100
#: a cell of a grid over a city, in degrees
CELL = 0.02
OUTPUT = RESULTS / "prefix-tree-times.json"


def journeys(table: pl.DataFrame) -> Trajectories:
    """Encode a table of `record`, `hour` and `place`, whose rows are in order of time."""
    places = table["place"].unique().sort()
    codes = {name: code for code, name in enumerate(places.to_list())}
    record = table["record"].rank("dense").to_numpy().astype(np.int64) - 1
    return Trajectories.from_columns(
        records=int(record.max()) + 1,
        row=record,
        time=table["hour"].to_numpy().astype(np.int64),
        place=table["place"].replace_strict(codes).to_numpy().astype(np.int64),
        sensitive={},
        domain=Domain.declare(place=places.to_list(), time=range(HOURS)),
        several=True,
    )


def cell() -> pl.Expr:
    """The cell of the grid that a point is in."""
    north, east = ((pl.col(name) / CELL).floor().cast(pl.Int64).cast(pl.String) for name in ("lat", "lon"))
    return (north + " " + east).alias("place")


def sube(folder: Path) -> Trajectories:
    """Boardings of a smart card on a day, by line."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz")
    return journeys(
        table.select(pl.col("card").alias("record"), "hour", pl.col("id_linea").alias("place")).sort(
            "record", "hour", maintain_order=True
        )
    )


def metro(_: Path) -> Trajectories:
    """Synthetic journeys, as many as there are smart cards."""
    return transit.trajectories(transit.METRO, 20_000)


def gowalla(folder: Path) -> Trajectories:
    """Check-ins of a person on a day, by cell."""
    table = pl.read_csv(folder / "gowalla-nyc/checkins.csv.gz", schema_overrides={"time": pl.String})
    time = pl.col("time").str.slice(0, 19).str.to_datetime("%Y-%m-%dT%H:%M:%S")
    return by_day(table.with_columns(time.alias("time"), cell()))


def foursquare(folder: Path) -> Trajectories:
    """Check-ins of a person on a day of the collection, by cell."""
    places = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz").with_columns(cell())
    table = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").join(places, on="poi")
    time = pl.from_epoch(pl.col("minute") * 60).alias("time")
    return by_day(table.with_columns(time))


def by_day(table: pl.DataFrame) -> Trajectories:
    """Make one record per person and day."""
    day = pl.struct("user", pl.col("time").dt.date()).rank("dense").alias("record")
    table = table.sort("user", "time", maintain_order=True)
    return journeys(table.select(day, pl.col("time").dt.hour().alias("hour"), "place"))


def bikes(folder: Path) -> Trajectories:
    """The two ends of a trip by bicycle, by cell; a trip over midnight is left out."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz").with_columns(cell())
    trips = pl.read_parquet(folder / "singapore-bikes/trips.parquet").with_row_index("record")
    named = nodes.select(pl.col("id").cast(pl.Int64), "place")
    ends = [
        trips.select(
            "record",
            pl.from_epoch(pl.col(f"{when}_ts")).alias("time"),
            pl.col(f"{which}_node").cast(pl.Int64).alias("id"),
        ).join(named, on="id", maintain_order="left")
        for when, which in (("start", "from"), ("end", "to"))
    ]
    table = pl.concat(ends).sort("record", "time", maintain_order=True)
    one_day = pl.col("time").dt.date().n_unique().over("record") == 1
    table = table.filter(one_day)
    return journeys(table.select("record", pl.col("time").dt.hour().alias("hour"), "place"))


#: how a data set is read, how many visits per record are used, and its role
SOURCES: dict[str, tuple[Callable[[Path], Trajectories], int, str]] = {
    "sube-smartcard": (sube, 8, "constants were chosen on it"),
    "metro, made up": (metro, 8, "constants were chosen on it"),
    "gowalla-nyc, days": (gowalla, 8, "held out"),
    "foursquare-nyc, days": (foursquare, 8, "held out"),
    "singapore-bikes, trips": (bikes, 2, "one bug was discovered on it and fixed"),
}


def profiles(data: Trajectories) -> dict[str, Integers]:
    """Histograms of the compared properties of records and visits."""
    starts, pairs, _ = data.arrays()
    hour, place = np.divmod(pairs, data.domain.size("place"))
    filled = np.flatnonzero(np.diff(starts))
    first, last = hour[starts[filled]], hour[starts[filled + 1] - 1]
    return {
        "start hour": np.bincount(first, minlength=HOURS),
        "end hour": np.bincount(last, minlength=HOURS),
        "hour of visits": np.bincount(hour, minlength=HOURS),
        "duration": np.bincount(last - first, minlength=HOURS),
        "number of visits": np.bincount(np.minimum(np.diff(starts)[filled], LONG), minlength=LONG + 1),
        "place of visits": np.bincount(place, minlength=data.domain.size("place")),
    }


def total_variation(one: Integers, other: Integers) -> float:
    """The total variation distance between two histograms; 1 if one of them is empty."""
    if not one.sum() or not other.sum():
        return 1.0
    return 0.5 * float(np.abs(one / one.sum() - other / other.sum()).sum())


def rival(first: Integers, epsilon: str, seed: int) -> Integers:
    """The rival: a noisy histogram of first hours with the whole budget, clipped at 0."""
    chance = -np.expm1(-float(epsilon))
    rng = np.random.default_rng(seed)
    noise = rng.geometric(chance, len(first)) - rng.geometric(chance, len(first))
    return np.maximum(0, first + noise)


def measure(name: str) -> dict[str, Any]:
    """Publish a data set with every epsilon, several times."""
    load, height, used = SOURCES[name]
    data = load(data_folder())
    truth = profiles(data)
    method = find_method("continued-prefix-tree")(height=height)
    scores: dict[str, Any] = {}
    for epsilon in EPSILONS:
        runs = []
        for seed in SEEDS:
            promise = PureDP(epsilon=epsilon, unit="trajectory")
            released = profiles(method.publish(data, promise, seed=seed).data)
            runs.append({what: total_variation(truth[what], released[what]) for what in truth})
        hours = [total_variation(truth["start hour"], rival(truth["start hour"], epsilon, s)) for s in SEEDS]
        scores[epsilon] = {
            **{what: spread([run[what] for run in runs]) for what in truth},
            "rival": spread(hours),
        }
    return {
        "records": len(data),
        "visits": int(truth["hour of visits"].sum()),
        "places": data.domain.size("place"),
        "height": height,
        "used": used,
        "runs": len(SEEDS),
        "even hours": total_variation(truth["start hour"], np.ones(HOURS, np.int64)),
        "scores": scores,
    }


def spread(values: list[float]) -> list[float]:
    """The mean and the standard deviation over runs."""
    return [statistics.mean(values), statistics.stdev(values)]


def main() -> None:
    """Measure all data sets, and add the results to the stored ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--before")
    parser.add_argument("--data")
    parser.add_argument("--only", choices=list(SOURCES))
    options = parser.parse_args()
    results = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}
    for name in [options.only] if options.only else SOURCES:
        results.setdefault(name, {})[options.before or "now"] = measure(name)
        print(name, json.dumps(results[name][options.before or "now"]["scores"]), flush=True)
        OUTPUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
