"""Matrices that private-wavelet is measured on: made-up ones, and public data with bounds that anybody could know."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from floor import data_folder
from numpy.typing import NDArray

from hedgerow import Domain
from hedgerow.data import NumberAxis
from hedgerow.kinds.matrices.data import Matrix

ROWS = 200_000
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A matrix, the unit, and the bins per column."""

    name: str
    data: Matrix
    unit: str
    bins: int = 0


def mixture(rows: int, top: int, seed: int) -> Numbers:
    """Draw whole numbers from 0 to `top`: two bells, a narrow one and a wide one, and some spread evenly."""
    draw = np.random.default_rng(seed)
    bells = [draw.normal(0.3 + 0.05 * seed, 0.02, rows), draw.normal(0.55, 0.12, rows), draw.random(rows)]
    chosen = draw.choice(3, rows, p=[0.3, 0.6, 0.1])
    return np.rint(np.clip(np.choose(chosen, bells), 0, 1) * top)


def matrix(columns: dict[str, tuple[Numbers, tuple[Any, Any, Any]]]) -> Matrix:
    """Make a matrix of columns with their bounds: low, high and step."""
    domain = Domain.declare(**{name: NumberAxis.between(*bounds) for name, (_, bounds) in columns.items()})
    return Matrix.from_rows(np.column_stack([values for values, _ in columns.values()]), domain=domain)


def row_cases() -> Iterator[Case]:
    """Histograms of rows."""
    for length in (256, 1024, 4096, 65_536):
        bounds = (0, length - 1, 1)
        yield Case(f"made up, {length:,}", matrix({"a": (mixture(ROWS, length - 1, 1), bounds)}), "row")
    for length in (64, 256, 1024):
        columns = {name: (mixture(ROWS, length - 1, seed), (0, length - 1, 1)) for seed, name in enumerate("ab")}
        yield Case(f"made up, {length:,} x {length:,}", matrix(columns), "row", length)
    adult = read_adult()
    age, hours = (adult[:, 0], (17, 90, 1)), (adult[:, 4], (1, 99, 1))
    yield Case("adult: final weight", matrix({"weight": (adult[:, 1], (0, 1_499_999, 1))}), "row", 1024)
    yield Case("adult: age, hours", matrix({"age": age, "hours": hours}), "row")
    three = {"age": age, "education": (adult[:, 2], (1, 16, 1)), "hours": hours}
    yield Case("adult: age, education, hours", matrix(three), "row")
    trips = read_trips()
    places = {"lon": (trips[:, 1], ("103.6", "104.1", "0.0005")), "lat": (trips[:, 2], ("1.15", "1.5", "0.0005"))}
    yield Case("bikes: start of trips", matrix(places).rounded(), "row")
    pima = np.genfromtxt(data_folder() / "uci-numeric" / "pima-diabetes.csv", delimiter=",")
    columns = {"glucose": (pima[:, 1], (0, 200, 1)), "bmi": (pima[:, 5], (0, 70, "0.1"))}
    yield Case("pima: glucose, body mass index", matrix(columns), "row")


def cell_cases() -> Iterator[Case]:
    """Columns of numbers in order, of which one cell is protected."""
    trips = read_trips()
    minutes = np.clip(trips[:, 3] / 60, 0, 120)
    whole = matrix({"minutes": (minutes, (0, 120, 1))}).rounded()
    yield Case("bikes: minutes of trips in order of start", whole, "cell")
    yeast = np.genfromtxt(data_folder() / "uci-numeric" / "yeast.csv", delimiter=",", usecols=0)
    yield Case("yeast: first column, in order of the file", matrix({"mcg": (yeast, (0, 1, "0.01"))}), "cell")


def read_adult() -> Numbers:
    """Read age, final weight, years of education, capital gain and hours per week."""
    parts = [gzip.decompress((data_folder() / "adult" / f"adult.{part}.gz").read_bytes()) for part in ("data", "test")]
    lines = [line.split(",") for part in parts for line in part.decode().splitlines() if line.count(",") > 10]
    return np.array([[float(line[at]) for at in (0, 2, 4, 10, 12)] for line in lines])


def read_trips() -> Numbers:
    """Read start, longitude, latitude and seconds of bike trips, in the order of their starts."""
    folder = data_folder() / "singapore-bikes"
    nodes = pl.read_csv(gzip.decompress((folder / "nodes.csv.gz").read_bytes())).sort("id")
    trips = pl.read_parquet(folder / "trips.parquet").sort("start_ts", "bike")
    places = nodes.select("lon", "lat").to_numpy()[trips["from_node"].to_numpy()]
    start, end = trips["start_ts"].to_numpy(), trips["end_ts"].to_numpy()
    return np.column_stack((start, places, end - start)).astype(np.float64)
