"""Data of the benchmark of trip synthesis: real files by HEDGEROW_DATA, and made-up transit.

Every data set is a list of records of (time, place); places of a grid and stations have public coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import transit
from numpy.typing import NDArray

from hedgerow import Domain, Trajectories
from hedgerow.data import Axis

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

DAY, HOURS = 86_400, 24
#: local time of Singapore and of Beijing, in seconds
EAST = 8 * 3600
CELLS = 16


class Source(NamedTuple):
    """How a data set is read, how many visits per record are used, and whether constants were chosen on it."""

    load: Callable[[Path], Trajectories]
    l_max: int
    used: str


class Grid(NamedTuple):
    """A public grid over an area: the smallest and largest longitude and latitude, and cells per side."""

    west: float
    east: float
    south: float
    north: float
    cells: int = CELLS

    def place(self, lon: Floats, lat: Floats) -> Integers:
        """The cell of each point, -1 outside."""
        column, row = (
            np.floor((at - low) / (high - low) * self.cells).astype(np.int64)
            for at, low, high in ((lon, self.west, self.east), (lat, self.south, self.north))
        )
        inside = (np.minimum(column, row) >= 0) & (np.maximum(column, row) < self.cells)
        return np.where(inside, row * self.cells + column, -1)

    def axis(self) -> Axis:
        """All cells, with their centres."""
        number = np.arange(self.cells**2)
        lon = self.west + (number % self.cells + 0.5) / self.cells * (self.east - self.west)
        lat = self.south + (number // self.cells + 0.5) / self.cells * (self.north - self.south)
        names = tuple(f"cell {cell}" for cell in number.tolist())
        return Axis(names, coordinates=tuple(zip(lon.tolist(), lat.tolist(), strict=True)))


def trajectories(record: Integers, time: Integers, place: Integers, places: Axis, times: int = HOURS) -> Trajectories:
    """Make records of columns whose rows are in order of record and time."""
    row = np.unique(record, return_inverse=True)[1].reshape(-1).astype(np.int64)
    domain = Domain.declare(place=places, time=range(times))
    number = int(row.max()) + 1
    return Trajectories.from_columns(
        records=number, row=row, time=time, place=place, sensitive={}, domain=domain, several=True
    )


def sube(folder: Path) -> Trajectories:
    """Boardings of a smart card on a day, by line and hour."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz")
    table = table.sort("card", "hour", maintain_order=True)
    lines = table["id_linea"].unique().sort()
    place = np.searchsorted(lines.to_numpy(), table["id_linea"].to_numpy())
    axis = Axis(tuple(str(line) for line in lines.to_list()))
    return trajectories(table["card"].to_numpy(), table["hour"].to_numpy().astype(np.int64), place, axis)


def strict_sube(folder: Path) -> Trajectories:
    """The same, with only the first boarding of each hour: times increase strictly."""
    return first_of_each_time(sube(folder))


def first_of_each_time(data: Trajectories) -> Trajectories:
    """Keep the first visit of a record at each time."""
    starts, pairs, _ = data.arrays()
    record = np.repeat(np.arange(len(data)), np.diff(starts))
    time, place = np.divmod(pairs, data.domain.size("place"))
    key = record * data.domain.size("time") + time
    kept = np.flatnonzero(np.diff(key, prepend=-1) != 0)
    return Trajectories.from_columns(
        records=len(data), row=record[kept], time=time[kept], place=place[kept], sensitive={}, domain=data.domain
    )


SINGAPORE = Grid(103.60, 104.05, 1.22, 1.47)


def bike_ends(folder: Path) -> tuple[pl.DataFrame, Integers, Integers]:
    """Trips within one day, with the cells of their ends."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz")
    cell = np.full(int(nodes["id"].max()) + 1, -1)  # type: ignore[arg-type]
    cell[nodes["id"].to_numpy()] = SINGAPORE.place(nodes["lon"].to_numpy(), nodes["lat"].to_numpy())
    local = [(pl.col(name) + EAST).alias(name) for name in ("start_ts", "end_ts")]
    trips = pl.read_parquet(folder / "singapore-bikes/trips.parquet").with_columns(local)
    start, end = (cell[trips[f"{which}_node"].to_numpy()] for which in ("from", "to"))
    one_day = trips["start_ts"].to_numpy() // DAY == trips["end_ts"].to_numpy() // DAY
    kept = one_day & (start >= 0) & (end >= 0)
    return trips.filter(pl.Series(kept)), start[kept], end[kept]


def bike_trips(folder: Path) -> Trajectories:
    """The two ends of a trip by bicycle, by cell and hour."""
    trips, start, end = bike_ends(folder)
    record = np.repeat(np.arange(len(trips)), 2)
    seconds = np.column_stack((trips["start_ts"].to_numpy(), trips["end_ts"].to_numpy())).ravel()
    place = np.column_stack((start, end)).ravel()
    return trajectories(record, seconds % DAY // 3600, place, SINGAPORE.axis())


def bike_days(folder: Path) -> Trajectories:
    """The ends of all trips of a bicycle on a day, by cell and hour."""
    trips, start, end = bike_ends(folder)
    day = trips["start_ts"].to_numpy() // DAY
    record = np.repeat(trips["bike"].to_numpy().astype(np.int64) * 100_000 + day, 2)
    seconds = np.column_stack((trips["start_ts"].to_numpy(), trips["end_ts"].to_numpy())).ravel()
    place = np.column_stack((start, end)).ravel()
    order = np.lexsort((seconds, record))
    return trajectories(record[order], seconds[order] % DAY // 3600, place[order], SINGAPORE.axis())


def geolife(folder: Path) -> Trajectories:
    """The first day of a GPS trajectory, by cell and hour; a run of points in one cell is one visit."""
    grid = Grid(116.20, 116.55, 39.80, 40.10)
    table = pl.read_parquet(folder / "geolife/geolife_beijing_15s.parquet")
    record = table["traj"].to_numpy().astype(np.int64)
    local = table["ts"].to_numpy() + EAST
    place = grid.place(table["lon_e6"].to_numpy() / 1e6, table["lat_e6"].to_numpy() / 1e6)
    inside = place >= 0
    record, local, place = record[inside], local[inside], place[inside]
    begins = np.diff(record, prepend=-1) != 0
    first_day = (local // DAY)[np.maximum.accumulate(np.where(begins, np.arange(len(record)), 0))]
    kept = np.flatnonzero((local // DAY) == first_day)
    record, local, place = record[kept], local[kept], place[kept]
    new = (np.diff(record, prepend=-1) != 0) | (np.diff(place, prepend=-1) != 0)
    return trajectories(record[new], local[new] % DAY // 3600, place[new], grid.axis())


def oldenburg(folder: Path) -> Trajectories:
    """Simulated trips on the roads of Oldenburg, by cell and block of 50 time steps; a run in one cell is one visit."""
    table = pl.read_parquet(folder / "oldenburg/simulated_trajectories.parquet").sort("obj", "t")
    # metres, as degrees on the equator; the area is that of the map
    grid = Grid(0.0, 0.24, 0.035, 0.31)
    place = grid.place(table["x"].to_numpy() / 1e5, table["y"].to_numpy() / 1e5)
    record = table["obj"].to_numpy().astype(np.int64)
    time = table["t"].to_numpy().astype(np.int64) // 50
    new = (np.diff(record, prepend=-1) != 0) | (np.diff(place, prepend=-1) != 0)
    return trajectories(record[new], time[new], place[new], grid.axis(), 25)


def made_up(network: transit.Network, records: int) -> Callable[[Path], Trajectories]:
    """Synthetic journeys of a transit agency."""
    return lambda _: transit.trajectories(network, records)


def gowalla(folder: Path) -> Trajectories:
    """Check-ins of a person on a day (UTC), by cell of New York and hour."""
    grid = Grid(-74.30, -73.70, 40.45, 40.95)
    table = pl.read_csv(folder / "gowalla-nyc/checkins.csv.gz", schema_overrides={"time": pl.String})
    moment = pl.col("time").str.slice(0, 19).str.to_datetime("%Y-%m-%dT%H:%M:%S")
    table = table.with_columns(moment.dt.epoch("s").alias("seconds")).sort("user", "seconds", maintain_order=True)
    place = grid.place(table["lon"].to_numpy(), table["lat"].to_numpy())
    seconds, user = table["seconds"].to_numpy(), table["user"].to_numpy().astype(np.int64)
    kept = np.flatnonzero(place >= 0)
    record = user[kept] * 100_000 + seconds[kept] // DAY
    return trajectories(record, seconds[kept] % DAY // 3600, place[kept], grid.axis())


def made_up_walks(records: int, visits: int, places: int, times: int, seed: int = 5) -> Trajectories:
    """Walks between nearby places at random points; times increase strictly."""
    rng = np.random.default_rng(seed)
    points = rng.random((places, 2)) * 0.4 + np.array([103.6, 1.2])
    popular = rng.dirichlet(np.full(places, 0.5))
    apart = np.hypot(*(points[:, axis][:, None] - points[:, axis] for axis in (0, 1)))
    upto = np.cumsum(popular * np.exp(-apart / 0.05), axis=1)
    # one sorted array for all rows: row r is between r and r + 1
    upto = (upto / upto[:, -1:] + np.arange(places)[:, None]).ravel()
    place = np.empty((records, visits), np.int64)
    place[:, 0] = rng.choice(places, records, p=popular)
    for visit in range(1, visits):
        here = place[:, visit - 1]
        at = np.searchsorted(upto, here + rng.random(records), side="right")
        place[:, visit] = np.clip(at - here * places, 0, places - 1)
    start = np.clip(rng.normal(times / 3, times / 12, records), 0, times * 0.6).astype(np.int64)
    gaps = rng.integers(1, max(2, int(times * 0.4 / visits)), (records, visits - 1))
    time = np.column_stack((start, start[:, None] + np.cumsum(gaps, axis=1)))
    names = tuple(f"p{number}" for number in range(places))
    axis = Axis(names, coordinates=tuple(zip(points[:, 0].tolist(), points[:, 1].tolist(), strict=True)))
    return Trajectories.from_columns(
        records=records,
        row=np.repeat(np.arange(records), visits),
        time=np.minimum(time, times - 1).ravel(),
        place=place.ravel(),
        sensitive={},
        domain=Domain.declare(place=axis, time=range(times)),
    )


SOURCES: dict[str, Source] = {
    "sube-smartcard": Source(sube, 8, "constants were chosen on it"),
    "sube-smartcard, one visit per hour": Source(strict_sube, 8, "constants were chosen on it, in another form"),
    "singapore-bikes, trips": Source(bike_trips, 2, "constants were chosen on it"),
    "singapore-bikes, days": Source(bike_days, 12, "constants were chosen on it"),
    "geolife": Source(geolife, 20, "constants were chosen on it"),
    "gowalla-nyc, days": Source(gowalla, 8, "held out"),
    "oldenburg": Source(oldenburg, 20, "held out"),
    "metro, made up": Source(made_up(transit.METRO, 50_000), 8, "held out"),
    "bus, made up": Source(made_up(transit.Network(20, 16, 0, transit.BUS.mean), 50_000), 8, "held out"),
}
