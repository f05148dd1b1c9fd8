"""Public trajectories with places that have coordinates, for trajectories at coarser places and times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from hedgerow import Domain, Trajectories

QUARTER = 15


class Source(NamedTuple):
    """A data set, the finest cells of its grid and their doublings, its sensitive values, and what it is."""

    data: Trajectories
    grid: str
    doublings: int
    sensitive: tuple[str, ...]
    #: the level at which places and flows are compared
    compared: str
    what: str


def _make(
    table: pl.DataFrame,
    times: range,
    *,
    sensitive: dict[str, list[str]] | None = None,
    traits: dict[str, pl.Series] | None = None,
    persons: bool = False,
) -> Trajectories:
    """Make trajectories of a table of unit, time, lon and lat, and person; places are the pairs of coordinates."""
    table = table.with_columns(place=pl.format("{} {}", "lon", "lat"))
    places = table.unique("place").sort("place")
    domain = Domain.declare(
        place=places["place"].to_list(), time=times, records_per_person=400 if persons else 1, **(sensitive or {})
    ).with_coordinates("place", zip(places["lon"], places["lat"], strict=True))
    units = table.unique("unit").sort("unit")
    row = units["unit"].search_sorted(table["unit"]).to_numpy().astype(np.int64)
    place = places["place"].search_sorted(table["place"]).to_numpy().astype(np.int64)
    owners = None
    if persons:
        owners = units["person"].rank("dense").to_numpy().astype(np.int64) - 1
    codes = {}
    for name, values in (sensitive or {}).items():
        column = (traits or {})[name]
        known = pl.DataFrame({"value": values, "code": np.arange(len(values))})
        looked_up = pl.DataFrame({"value": column}).join(known, on="value", how="left", maintain_order="left")
        codes[name] = looked_up["code"].fill_null(-1).to_numpy().astype(np.int64)
    time = ((table["time"] - times.start) // times.step).to_numpy().astype(np.int64)
    return Trajectories.from_columns(
        records=len(units),
        row=row,
        time=time,
        place=place,
        sensitive=codes,
        domain=domain,
        persons=owners,
        several=True,
    )


def sube(folder: Path) -> Source:
    """Boardings of a day in Buenos Aires, one record per card, by hour; two fares are sensitive."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz").drop_nulls(["lat", "lon"])
    table = table.rename({"card": "unit", "hour": "time"})
    fares = table.group_by("unit").agg(pl.col("id_tarifa").drop_nulls().first().cast(pl.String)).sort("unit")
    common = table["id_tarifa"].drop_nulls().value_counts(sort=True)["id_tarifa"].cast(pl.String).to_list()
    data = _make(table, range(24), sensitive={"fare": sorted(common)}, traits={"fare": fares["id_tarifa"]})
    return Source(data, "0.005", 6, tuple(f"fare={value}" for value in common[1:3]), "0.08", sube.__doc__ or "")


def foursquare(folder: Path) -> Source:
    """Check-ins in New York, one record per person and day, by quarter of an hour; K counts persons."""
    pois = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz")
    table = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").join(pois, on="poi")
    table = table.with_columns(
        unit=pl.col("user") * 1_000 + pl.col("minute") // 1_440,
        time=pl.col("minute") % 1_440 // QUARTER * QUARTER,
        person=pl.col("user"),
    )
    data = _make(table, range(0, 1_440, QUARTER), persons=True)
    return Source(data, "0.005", 5, (), "0.02", foursquare.__doc__ or "")


def bikes(folder: Path) -> Source:
    """Start and end of the trips of shared bikes in Singapore, one record per bike and day; K counts bikes."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz").with_columns(pl.col("id").cast(pl.Int32))
    trips = pl.read_parquet(folder / "singapore-bikes/trips.parquet")
    ends = [
        trips.select("bike", ts=pl.col(f"{end}_ts") + 8 * 3_600, id=pl.col(node))
        for end, node in (("start", "from_node"), ("end", "to_node"))
    ]
    table = pl.concat(ends).join(nodes, on="id")
    table = table.with_columns(
        unit=pl.col("bike").cast(pl.Int64) * 100_000 + pl.col("ts") // 86_400,
        time=pl.col("ts") % 86_400 // 60 // QUARTER * QUARTER,
        person=pl.col("bike").cast(pl.Int64),
    )
    data = _make(table, range(0, 1_440, QUARTER), persons=True)
    return Source(data, "0.005", 5, (), "0.02", bikes.__doc__ or "")


def oldenburg(folder: Path) -> Source:
    """Simulated trips in Oldenburg: the cell of 250 map units at every 20th step; 1,000 units count as a degree."""
    table = pl.read_parquet(folder / "oldenburg/simulated_trajectories.parquet").filter(pl.col("t") % 20 == 0)
    table = table.with_columns(
        unit=pl.col("obj"),
        time=pl.col("t") // 20,
        lon=(pl.col("x") // 250 * 250 + 125) / 1_000,
        lat=(pl.col("y") // 250 * 250 + 125) / 1_000,
    )
    return Source(_make(table, range(64)), "0.5", 4, (), "1", oldenburg.__doc__ or "")


def geolife(folder: Path) -> Source:
    """Days of persons in Beijing: the cell of 0.005 degrees at the start of every hour; K counts persons (179)."""
    table = pl.read_parquet(folder / "geolife/geolife_beijing_15s.parquet").with_columns(
        local=pl.col("ts") + 8 * 3_600, person=pl.col("user").cast(pl.Int64)
    )
    table = table.with_columns(
        unit=pl.col("person") * 100_000 + pl.col("local") // 86_400, time=pl.col("local") // 3_600
    )
    table = table.sort("local").group_by("unit", "time", maintain_order=True).first()
    table = table.with_columns(
        time=pl.col("time") % 24,
        lon=((pl.col("lon_e6") // 5_000) * 5_000 + 2_500) / 1_000_000,
        lat=((pl.col("lat_e6") // 5_000) * 5_000 + 2_500) / 1_000_000,
    )
    return Source(_make(table, range(24), persons=True), "0.01", 5, (), "0.04", geolife.__doc__ or "")


SOURCES: dict[str, Callable[[Path], Source]] = {
    "sube-smartcard": sube,
    "foursquare-nyc": foursquare,
    "singapore-bikes": bikes,
    "oldenburg": oldenburg,
    "geolife": geolife,
}
