"""(K,C)_L-privacy on public data: the utility loss with and without re-insertion, and the success of linkage.

Writes docs/results/kcl-reinsertion.json, from which `pages.py` makes a part of docs/results/kcl.md.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from floor import data_folder

from hedgerow import KCL, Trajectories, find_method, read
from hedgerow.evaluate import evaluate
from hedgerow.kinds.trajectories.methods.kcl import Instances, SuppressionInput, mine_violations
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import suppress_in_batches
from hedgerow.kinds.trajectories.record_linkage import Visits, truly_beyond

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "kcl-reinsertion.json"
WEEK, HOUR = 7 * 24 * 60, 60
#: values of C that are tried if the data has sensitive values
SHARES = ("60%", "30%", "20%", "15%")


class Source(NamedTuple):
    """A data set, its sensitive values, and the number of persons if they own several records."""

    data: Trajectories
    sensitive: list[str]
    persons: int | None


def sube(folder: Path) -> Source:
    """Boardings of a day in Buenos Aires by hour and cell of 0.05 degrees; sensitive: two fares."""
    table = pl.read_csv(folder / "sube-smartcard/transactions.csv.gz").drop_nulls(["lat", "lon"])
    data = read(
        table.with_columns(pl.col("id_tarifa").first().over("card").cast(pl.String)),
        kind="trajectories",
        columns={"unit": "card", "time": "hour"},
        options={"grid": "0.05", "collisions": "first", "sensitive": "id_tarifa"},
    )
    common = table["id_tarifa"].drop_nulls().value_counts(sort=True)["id_tarifa"].cast(pl.String)
    return Source(data, [f"id_tarifa={value}" for value in common[1:3]], None)


def foursquare(folder: Path) -> Source:
    """Weeks of check-ins in New York by hour of the week and cell of 0.05 degrees."""
    pois = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz")
    table = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").join(pois, on="poi")
    table = table.with_columns(
        unit=pl.col("user") * 1_000 + pl.col("minute") // WEEK,
        time=pl.col("minute") % WEEK // HOUR,
    )
    options = {"grid": "0.05", "collisions": "first"}
    data = read(table, kind="trajectories", options=options)
    return Source(data, [], table["user"].n_unique())


def bikes(folder: Path) -> Source:
    """Days of shared bikes in Singapore by hour and cell of 0.02 degrees; bikes are not persons."""
    nodes = pl.read_csv(folder / "singapore-bikes/nodes.csv.gz")
    table = pl.read_parquet(folder / "singapore-bikes/trips.parquet")
    table = table.join(nodes, left_on="from_node", right_on="id").with_columns(
        unit=pl.col("bike").cast(pl.Int64) * 100 + pl.col("start_ts") // 86_400 % 100,
        time=pl.col("start_ts") // 3_600 % 24,
    )
    options = {"grid": "0.02", "collisions": "first"}
    return Source(read(table, kind="trajectories", options=options), [], None)


SOURCES: dict[str, Callable[[Path], Source]] = {
    "sube-smartcard": sube,
    "foursquare-nyc": foursquare,
    "singapore-bikes": bikes,
}


def run(data: Trajectories, sensitive: list[str], k: int) -> dict[str, Any]:
    """Publish by suppression with re-insertion; global suppression is a control of the evaluation."""
    values = {"c": "60%", "sensitive": sensitive} if sensitive else {}
    promise = KCL(k=k, l=3, **values)
    start = time.process_time()
    release = find_method("kcl-reinsertion")().publish(data, promise)
    seconds = time.process_time() - start
    scores = {score.name: score for score in evaluate(release, data, seed=1) if not score.chart}
    grown = find_method("kcl-reinsertion")(schedule="grow").publish(data, promise).data
    return {
        "k": k,
        "seconds": seconds,
        "local": _local_loss(data, promise),
        "grown": 1 - len(grown.arrays()[1]) / len(data.arrays()[1]),
        **{name: [score.value, dict(score.controls)] for name, score in scores.items()},
    }


def _local_loss(data: Trajectories, promise: KCL) -> float:
    """The utility loss of local suppression in batches, without re-insertion."""
    _, visits, _ = SuppressionInput.of(data, promise)
    mined = mine_violations(visits, promise)
    return 1 - float(suppress_in_batches(visits, mined, promise, Instances(visits)).mean())


def run_shares(data: Trajectories, sensitive: list[str], k: int) -> list[dict[str, Any]]:
    """Try several C: the utility loss, and whether a visit at the limit C discloses that its true share exceeds C.

    The comparison is a release that keeps K alone and never reads a sensitive value.
    """
    blind = find_method("kcl-reinsertion")().publish(data, KCL(k=k, l=3)).data
    runs = []
    for share in SHARES:
        promise = KCL(k=k, l=3, c=share, sensitive=sensitive)
        ours = find_method("kcl-reinsertion")().publish(data, promise).data
        figures: dict[str, Any] = {"k": k, "c": share}
        for name, released in (("ours", ours), ("blind", blind)):
            visits = Visits.of(data, data), Visits.of(released, data)
            at_limit, others = truly_beyond(*visits, promise.sensitive, promise.c)
            figures[name] = {
                "loss": 1 - visits[1].size / visits[0].size,
                "at the limit": [len(at_limit), int(at_limit.sum())],
                "others": [len(others), int(others.sum())],
            }
        runs.append(figures)
    return runs


def main() -> None:
    """Run all data sets for several K, and write the results."""
    warnings.simplefilter("ignore")
    results = {}
    for name, load in SOURCES.items():
        data, sensitive, persons = load(data_folder())
        _, pairs, _ = data.arrays()
        results[name] = {
            "what": (load.__doc__ or "").strip(),
            "records": len(data),
            "persons": persons,
            "visits": len(pairs),
            "pairs": len(set(pairs.tolist())),
            "sensitive": len(sensitive),
            "runs": [run(data, sensitive, k) for k in (2, 5, 10, 30)],
            "shares": [figures for k in (2, 10) for figures in run_shares(data, sensitive, k)] if sensitive else [],
        }
        print(name, json.dumps(results[name])[:600], flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
