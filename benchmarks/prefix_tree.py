"""prefix-tree and continued-prefix-tree on synthetic transit data and public sequences.

Writes docs/results/prefix-tree.json, from which `pages.py` makes docs/results/prefix-tree.md. The
transit data is synthetic (`transit.py`); only its sizes are those of the paper. Every experiment runs in a separate
process.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ngram
import numpy as np
import polars as pl
import transit
from floor import best, data_folder, floor
from plans import growth_plans, means, run_plans

from hedgerow import PureDP, Sequences, find_method, read
from hedgerow.kinds.sequences.measures import drawn_queries
from hedgerow.kinds.sequences.patterns import SequenceIndex, top_sequential_patterns
from hedgerow.kinds.sets.measures import set_errors
from hedgerow.kinds.trajectories.measures import measure_journeys
from hedgerow.measures.itemsets import ItemsetIndex
from hedgerow.measures.scoring import relative_errors

TOPS = (100, 150, 200, 250, 300)
LONGEST_QUERY = (3, 6, 9, 12)
QUERIES = 500
RUNS = 3
EPSILONS = ("0.5", "0.75", "1", "1.25", "1.5")
HEIGHTS = (6, 8, 10, 12, 14, 16, 18, 20)
NETWORKS = {"metro": transit.METRO, "bus": transit.BUS}
#: the thresholds and the split of the paper
PRINTED = {"threshold": 2.0, "group_share": 0.0, "false_nodes": 0.0}
#: the printed simple tree grows so many empty prefixes here that they do not fit in memory; so they are bounded
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "hybrid, printed": ("prefix-tree", {**PRINTED, "groups": "declared"}),
    "simple, printed, bounded": ("prefix-tree", {**PRINTED, "groups": "none", "false_nodes": 0.5}),
    "hybrid": ("continued-prefix-tree", {"groups": "declared"}),
    "simple": ("continued-prefix-tree", {"groups": "none"}),
    "ngram": ("ngram-markov", {}),
}


class Truth:
    """The original, its most frequent patterns, and queries with their answers."""

    def __init__(self, data: Sequences, height: int = 12) -> None:
        self.sequences, self.sets, self.height = SequenceIndex.of(data), ItemsetIndex.of(data), height
        self.top = list(top_sequential_patterns(self.sequences, max(TOPS)))
        self.lengths = self.sequences.lengths(height) / max(1, self.sequences.records)
        rng = np.random.default_rng(1)
        self.set_queries = {
            f"{most}": [
                tuple(sorted(rng.permutation(self.sets.size)[:length].tolist()))
                for length in rng.integers(1, min(most, self.sets.size) + 1, QUERIES).tolist()
            ]
            for most in LONGEST_QUERY
        }
        self.workloads = drawn_queries(self.sequences, rng, 4_000)
        self.queries = [query for queries in self.workloads.values() for query in queries]
        self.exact = self.sequences.count(self.queries)[0]

    def score(self, data: Sequences) -> dict[str, float]:
        """Compare one release."""
        sequences, sets = SequenceIndex.of(data), ItemsetIndex.of(data)
        top = list(top_sequential_patterns(sequences, max(TOPS)))
        lengths = sequences.lengths(self.height) / max(1, sequences.records)
        errors = relative_errors(self.exact, sequences.count(self.queries)[0], self.sequences.records)
        ends = np.cumsum([len(queries) for queries in self.workloads.values()])[:-1]
        parts = dict(zip(self.workloads, np.split(errors, ends), strict=True))
        return {
            **{f"top {most}": len({*self.top[:most]} & {*top[:most]}) for most in TOPS},
            **{
                f"sets up to {most}": float(set_errors(self.sets, sets, queries).mean())
                for most, queries in self.set_queries.items()
            },
            **{f"occurrences, {name}": float(p.mean()) for name, p in parts.items() if len(p)},
            "number": sequences.records / max(1, self.sequences.records),
            "length": float(0.5 * np.abs(lengths - self.lengths).sum()) if sequences.records else 1.0,
        }


def publish(data: Any, way: str, epsilon: str, height: int, unit: str, seed: int) -> Any:
    """Publish in one of the ways."""
    name, parameters = WAYS[way]
    parameters = {**parameters, "l_max" if name == "ngram-markov" else "height": height}
    method = find_method(name)(**parameters)
    return method.publish(data, PureDP(epsilon=epsilon, unit=unit), seed=seed).data


def score_ways(
    data: Sequences, unit: str, ways: list[str], epsilon: str, height: int, runs: int
) -> dict[str, dict[str, list[float]]]:
    """Publish several times in each way; the mean of each figure, and its standard error."""
    truth = Truth(data, height)
    scores: dict[str, list[dict[str, float]]] = {}
    for way in ways:
        for seed in range(runs):
            released = publish(data, way, epsilon, height, unit, seed)
            scores.setdefault(way, []).append(truth.score(released))
    scores["original, cut"] = [truth.score(data.truncated(height))]
    nothing = np.zeros(0, np.int64)
    empty = Sequences.from_columns(row=nothing, item=nothing, domain=data.domain)
    scores["empty release"] = [truth.score(empty)]
    single = find_method("ngram-markov")(n_max=1, l_max=height)
    promise = PureDP(epsilon=epsilon, unit=unit)
    scores["single items"] = [truth.score(single.publish(data, promise, seed=0).data)]
    return {way: means(runs) for way, runs in scores.items()}


def run_main(network: str) -> dict[str, Any]:
    """Everything at epsilon 1 and height 12."""
    data = transit.sequences(NETWORKS[network])
    scores = score_ways(data, "sequence", list(WAYS), "1", 12, RUNS)
    return {"records": len(data), "places": data.domain.size("item"), "scores": scores}


def run_sweep(network: str) -> dict[str, Any]:
    """One run for every epsilon and every height."""
    data = transit.sequences(NETWORKS[network])
    truth = Truth(data)
    ways = [way for way in WAYS if way != "ngram"]
    settings = [(eps, 12) for eps in EPSILONS] + [("1", height) for height in HEIGHTS]
    return {
        f"{epsilon} {height}": {way: truth.score(publish(data, way, epsilon, height, "sequence", 1)) for way in ways}
        for epsilon, height in dict.fromkeys(settings)
    }


def run_timed(network: str) -> dict[str, Any]:
    """Visits with their hours."""
    data = transit.trajectories(NETWORKS[network])
    controls = {
        way: publish(data, way, "1", 12, "trajectory", 1)
        for way in ("hybrid, printed", "simple, printed, bounded", "simple")
    }
    controls["first visits"] = publish(data, "simple, printed, bounded", "1", 1, "trajectory", 1)
    released = publish(data, "hybrid", "1", 12, "trajectory", 1)
    rng = np.random.default_rng(1)
    scores = measure_journeys(data, released, controls, rng, longest=12, queries=200)
    return {
        "records": len(data),
        "scores": {
            score.name: {"hybrid": score.value, **dict(score.controls)}
            for score in scores
            if not score.chart and "top" not in score.name
        },
    }


def foursquare(folder: Path) -> Sequences:
    """Cells of 0.02 degrees in which a person checked in, one sequence per person."""
    pois = pl.read_csv(folder / "foursquare-nyc/pois.csv.gz")
    cell = (
        (pl.col("lat") / 0.02).floor().cast(pl.Int64).cast(pl.String)
        + " "
        + (pl.col("lon") / 0.02).floor().cast(pl.Int64).cast(pl.String)
    ).alias("cell")
    table = pl.read_csv(folder / "foursquare-nyc/checkins.csv.gz").join(pois.with_columns(cell), on="poi")
    table = table.sort("user", "minute")
    names = {"unit": "user", "item": "cell"}
    return read(table, kind="sequences", columns=names, assert_public_domain=True)


REAL: dict[str, tuple[Callable[[Path], Sequences], int]] = {
    "msnbc": (ngram.msnbc, 20),
    "sube-smartcard": (ngram.sube, 12),
    "foursquare-nyc": (foursquare, 12),
}


def run_real(name: str) -> dict[str, Any]:
    """The same on public data, which has no declared groups of items."""
    load, height = REAL[name]
    data = load(data_folder())
    WAYS["hybrid, printed"][1]["groups"] = "fan-out"
    WAYS["hybrid"][1]["groups"] = "fan-out"
    scores = score_ways(data, "sequence", list(WAYS), "1", height, RUNS)
    return {"records": len(data), "places": data.domain.size("item"), "scores": scores}


def run_speed() -> dict[str, Any]:
    """Time publishing, and the floor on the same file in the same run."""
    seconds: dict[str, Any] = {}
    method, promise = find_method("continued-prefix-tree")(), PureDP(epsilon=1, unit="sequence")
    with tempfile.TemporaryDirectory() as name:
        files = {"msnbc": data_folder() / "msnbc/msnbc990928.seq.gz"}
        for network, size in NETWORKS.items():
            row, place, _ = transit.journeys(size, size.records, 2012)
            records = np.split(place, np.flatnonzero(np.diff(row)) + 1)
            lines = "\n".join(" ".join(map(str, record.tolist())) for record in records)
            files[network] = Path(name) / f"{network}.seq.gz"
            files[network].write_bytes(gzip.compress(lines.encode(), 6))
        for source, path in files.items():
            head = {"skip_lines": "7"} if source == "msnbc" else {}
            load = partial(read, path, kind="sequences", assert_public_domain=True, options=head)
            data = load()
            seconds[source] = {
                "floor": best(lambda path=path: floor(path), 3)[0],
                "reading": best(load, 3)[0],
                "publishing": best(lambda data=data: method.publish(data, promise), 3)[0],
            }
            printed = find_method("prefix-tree")(groups="none")
            seconds[source]["as printed"] = best(lambda data=data, printed=printed: printed.publish(data, promise), 3)[
                0
            ]
    return seconds


PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    **{f"main {name}": lambda name=name: run_main(name) for name in NETWORKS},
    **{f"sweep {name}": lambda name=name: run_sweep(name) for name in NETWORKS},
    **{f"timed {name}": lambda name=name: run_timed(name) for name in NETWORKS},
    **{f"real {name}": lambda name=name: run_real(name) for name in REAL},
    "speed": run_speed,
    **growth_plans("continued-prefix-tree", ngram.made_up),
}


if __name__ == "__main__":
    run_plans(__file__, PLANS, "prefix-tree")
