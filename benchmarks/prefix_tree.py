"""prefix-tree and continued-prefix-tree on made-up transit data and public sequences.

Writes docs/results/prefix-tree.json, from which `pages.py` makes docs/results/prefix-tree.md. The
transit data is made up (`transit.py`); only its sizes are those of the paper. Every experiment runs
in a process of its own.
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
from plans import growth_plans, run_plans, summed

from hedgerow import Domain, PureDP, Sequences, find_method, read
from hedgerow.io.codec import codec_of
from hedgerow.measures.containment import itemset_index_of
from hedgerow.measures.journeys import measure_journeys
from hedgerow.measures.ngram_index import SequenceIndex
from hedgerow.measures.scoring import relative_errors
from hedgerow.measures.sequences import drawn_queries
from hedgerow.measures.sequential_patterns import top_sequential_patterns
from hedgerow.measures.sets import set_errors

TOPS = (100, 150, 200, 250, 300)
LONGEST_QUERY = (3, 6, 9, 12)
QUERIES = 500
RUNS = 3
EPSILONS = ("0.5", "0.75", "1", "1.25", "1.5")
HEIGHTS = (6, 8, 10, 12, 14, 16, 18, 20)
NETWORKS = {"metro": transit.METRO, "bus": transit.BUS}
#: the thresholds and the split of the paper
PRINTED = {"threshold": 2.0, "group_share": 0.0, "false_nodes": 0.0}
#: the printed simple tree breeds empty prefixes beyond any memory here, so their number is bounded
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "hybrid, printed": ("prefix-tree", {**PRINTED, "groups": "declared"}),
    "simple, printed, bounded": ("prefix-tree", {**PRINTED, "groups": "none", "false_nodes": 0.5}),
    "hybrid": ("continued-prefix-tree", {"groups": "declared"}),
    "simple": ("continued-prefix-tree", {"groups": "none"}),
    "ngram": ("ngram-markov", {}),
}


class Truth:
    """The original, what is frequent in it, and queries with their answers."""

    def __init__(self, data: Sequences, height: int = 12) -> None:
        self.paths, self.sets, self.height = SequenceIndex.of(data), itemset_index_of(data), height
        self.top = list(top_sequential_patterns(self.paths, max(TOPS)))
        self.lengths = self.paths.lengths(height) / max(1, self.paths.records)
        rng = np.random.default_rng(1)
        self.queries = {
            f"{most}": [
                tuple(sorted(rng.permutation(self.sets.size)[:length].tolist()))
                for length in rng.integers(1, min(most, self.sets.size) + 1, QUERIES).tolist()
            ]
            for most in LONGEST_QUERY
        }
        self.parts = drawn_queries(self.paths, rng, 4_000)
        self.asked = [query for queries in self.parts.values() for query in queries]
        self.exact = self.paths.counted(self.asked)[0]

    def score(self, data: Sequences) -> dict[str, float]:
        """Compare one release."""
        held, sets = SequenceIndex.of(data), itemset_index_of(data)
        top = list(top_sequential_patterns(held, max(TOPS)))
        lengths = held.lengths(self.height) / max(1, held.records)
        errors = relative_errors(self.exact, held.counted(self.asked)[0], self.paths.records)
        ends = np.cumsum([len(queries) for queries in self.parts.values()])[:-1]
        parts = dict(zip(self.parts, np.split(errors, ends), strict=True))
        return {
            **{f"top {most}": len({*self.top[:most]} & {*top[:most]}) for most in TOPS},
            **{
                f"sets up to {most}": float(set_errors(self.sets, sets, asked).mean())
                for most, asked in self.queries.items()
            },
            **{f"occurrences, {name}": float(p.mean()) for name, p in parts.items() if len(p)},
            "number": held.records / max(1, self.paths.records),
            "length": float(0.5 * np.abs(lengths - self.lengths).sum()) if held.records else 1.0,
        }


def released(data: Any, way: str, epsilon: str, height: int, unit: str, seed: int) -> Any:
    """Publish by one of the ways."""
    name, given = WAYS[way]
    parameters = {**given, "l_max" if name == "ngram-markov" else "height": height}
    method = find_method(name)(**parameters)
    return method.publish(data, PureDP(epsilon=epsilon, unit=unit), seed=seed).data


def scored(
    data: Sequences, unit: str, ways: list[str], epsilon: str, height: int, runs: int
) -> dict[str, dict[str, list[float]]]:
    """Publish several times, each way; the mean of each figure, and its standard error."""
    truth = Truth(data, height)
    found: dict[str, list[dict[str, float]]] = {}
    for way in ways:
        for seed in range(runs):
            made = released(data, way, epsilon, height, unit, seed)
            found.setdefault(way, []).append(truth.score(made))
    found["original, cut"] = [truth.score(data.truncated(height))]
    nothing = np.zeros(0, np.int64)
    empty = Sequences.from_columns(row=nothing, item=nothing, domain=data.domain)
    found["empty release"] = [truth.score(empty)]
    single = find_method("ngram-markov")(n_max=1, l_max=height)
    promise = PureDP(epsilon=epsilon, unit=unit)
    found["single items"] = [truth.score(single.publish(data, promise, seed=0).data)]
    return {way: summed(held) for way, held in found.items()}


def run_main(network: str) -> dict[str, Any]:
    """Everything at epsilon 1 and height 12."""
    data = transit.sequences(NETWORKS[network])
    scores = scored(data, "sequence", list(WAYS), "1", 12, RUNS)
    return {"records": len(data), "places": data.domain.size("item"), "scores": scores}


def run_sweep(network: str) -> dict[str, Any]:
    """One run for every epsilon and every height."""
    data = transit.sequences(NETWORKS[network])
    truth = Truth(data)
    ways = [way for way in WAYS if way != "ngram"]
    settings = [(eps, 12) for eps in EPSILONS] + [("1", height) for height in HEIGHTS]
    return {
        f"{epsilon} {height}": {way: truth.score(released(data, way, epsilon, height, "sequence", 1)) for way in ways}
        for epsilon, height in dict.fromkeys(settings)
    }


def run_timed(network: str) -> dict[str, Any]:
    """Visits with their hours."""
    data = transit.trajectories(NETWORKS[network])
    controls = {
        way: released(data, way, "1", 12, "trajectory", 1)
        for way in ("hybrid, printed", "simple, printed, bounded", "simple")
    }
    controls["first visits"] = released(data, "simple, printed, bounded", "1", 1, "trajectory", 1)
    made = released(data, "hybrid", "1", 12, "trajectory", 1)
    rng = np.random.default_rng(1)
    scores = measure_journeys(data, made, controls, rng, longest=12, queries=200)
    return {
        "records": len(data),
        "scores": {
            score.name: {"hybrid": score.value, **dict(score.controls)}
            for score in scores
            if not score.chart and "top" not in score.name
        },
    }


def foursquare(folder: Path) -> Sequences:
    """Cells of two hundredths of a degree where somebody checked in, one sequence a person."""
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
    """The same on public data, without groups of items to declare."""
    load, height = REAL[name]
    data = load(data_folder())
    WAYS["hybrid, printed"][1]["groups"] = "fan-out"
    WAYS["hybrid"][1]["groups"] = "fan-out"
    scores = scored(data, "sequence", list(WAYS), "1", height, RUNS)
    return {"records": len(data), "places": data.domain.size("item"), "scores": scores}


def run_speed() -> dict[str, Any]:
    """Publish, and set the time against the floor on the same file, measured in the same run."""
    held: dict[str, Any] = {}
    method, promise = find_method("continued-prefix-tree")(), PureDP(epsilon=1, unit="sequence")
    with tempfile.TemporaryDirectory() as name:
        files = {"msnbc": data_folder() / "msnbc/msnbc990928.seq.gz"}
        for network, size in NETWORKS.items():
            row, place, _ = transit.journeys(size, size.records, 2012)
            domain = Domain.declare(item=range(size.places))
            data = Sequences.from_columns(row=row, item=place, domain=domain)
            files[network] = Path(name) / f"{network}.seq.gz"
            files[network].write_bytes(gzip.compress(codec_of("sequences").write(data, "lines", {}), 6))
        for source, path in files.items():
            head = {"skip_lines": "7"} if source == "msnbc" else {}
            load = partial(read, path, kind="sequences", assert_public_domain=True, options=head)
            data = load()
            held[source] = {
                "floor": best(lambda path=path: floor(path), 3)[0],
                "reading": best(load, 3)[0],
                "publishing": best(lambda data=data: method.publish(data, promise), 3)[0],
            }
            printed = find_method("prefix-tree")(groups="none")
            held[source]["as printed"] = best(lambda data=data, printed=printed: printed.publish(data, promise), 3)[0]
    return held


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
