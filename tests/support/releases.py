"""The golden releases: every method, on made-up data, with seeds, in every format it is written in.

A case is a publication by folder; what is kept is the SHA-256 of each data file in it. `release.json` and the
statement are not: they have golden files of their own, for people to read. A case keeps its name when the method or
a parameter gets another one, so that the map from old to new is this file's history.

A registered method without a case here has one by default: with default settings, on the largest of the awkward
data of its kind. `make golden` writes its hashes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
from printed import TwoStageDiffPart

from hedgerow import Domain, Graph, Matrix, NumberAxis, Sequences, Sets, Trajectories, write_release
from hedgerow.data import Dataset, Source
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import read_bytes
from hedgerow.formats.parquet import read_table
from hedgerow.kind_registry import KINDS, find_kind
from hedgerow.kinds.graphs.cases import equip
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.methods import METHODS, find_method
from hedgerow.privacy import Guarantee, PureDP
from hedgerow.privacy.parsing import build
from hedgerow.promises import PROMISES
from hedgerow.publisher import Publisher
from hedgerow.samples import messages, shopping_baskets
from hedgerow.samples.messages import staff
from hedgerow.testing import build_edge_cases

__all__ = ["CASES", "Case", "digest"]

SEEDS = (1, 20_260)
WORDS = ("dat", "csv", "jsonl", "parquet")
LISTS = (*WORDS, "spmf")
TABLES = ("csv", "parquet", "csv.gz", "parquet.zst")
EDGES = ("edges", "csv", "parquet", "graphml")


@dataclass(frozen=True)
class Case:
    """One publication: of which data, by which method and settings, under which promise."""

    data: str
    method: str
    settings: dict = field(default_factory=dict)
    unit: str = ""
    epsilon: str = "1"
    promise: dict = field(default_factory=dict)
    promised: str = "KCL"
    formats: tuple[str, ...] = ("csv",)
    #: whether it takes long enough for the slow set
    slow: bool = False
    #: a step as the paper prints it, which is in tests only
    printed: type[Publisher] | None = None

    def publisher(self) -> Publisher:
        """The method with its settings."""
        return (self.printed or find_method(self.method))(**self.settings)

    def guarantee(self) -> Guarantee:
        """The promise: differential privacy, unless another is named."""
        if self.promise or not self.unit:
            return build([self.promised], self.promise)
        return PureDP(epsilon=self.epsilon, unit=self.unit)


@cache
def shop() -> Sets:
    """Baskets of eighteen items, with their owners."""
    made = shopping_baskets(4_000)
    names = sorted(set(made.item))
    domain = Domain.declare(item=names, records_per_person=3)
    baskets = {}
    for basket, customer, item in zip(made.basket, made.customer, made.item, strict=True):
        baskets.setdefault((basket, customer), []).append(item)
    return Sets.from_records(list(baskets.values()), domain=domain, persons=[who for _, who in baskets])


@cache
def catalogue() -> Sets:
    """Sets over ninety items, a few of them frequent together."""
    draw = np.random.default_rng(7)
    groups = [draw.choice(90, 4, replace=False).tolist() for _ in range(12)]
    records = [groups[draw.integers(12)][: draw.integers(1, 5)] for _ in range(3_000)]
    return Sets.from_records(records, domain=Domain.declare(item=range(90)))


@cache
def clicks() -> Sequences:
    """Click paths over twelve pages, some of them long."""
    draw = np.random.default_rng(11)
    step = np.cumsum(draw.dirichlet(np.full(12, 0.3), 12), axis=1)
    records = []
    for _ in range(5_000):
        path = [int(draw.integers(12))]
        while draw.random() < 0.75 and len(path) < 40:
            path.append(min(11, int(np.searchsorted(step[path[-1]], draw.random()))))
        records.append(path)
    domain = Domain.declare(item=range(12), records_per_person=2)
    return Sequences.from_records(records, domain=domain, persons=[number // 2 for number in range(5_000)])


@cache
def rides() -> Trajectories:
    """Walks through a city of ten places in twelve hours, with a diagnosis."""
    return walks(Walks(1_500, 10, 12, 4.0))


@cache
def regional_rides() -> Trajectories:
    """The rides among places that lie in regions."""
    data = rides()
    paths = [("city", f"district {n // 4}", f"block {n // 2}") for n in range(data.domain.size("place"))]
    domain = data.domain.with_paths("place", paths).with_source(Source.DECLARED)
    return replace(data, domain=domain, several=True)


@cache
def short_rides() -> Trajectories:
    """Fewer walks through a smaller city."""
    return walks(Walks(300, 8, 10, 4.0))


@cache
def repeated() -> Trajectories:
    """Visits of which several may be at one time."""
    draw = np.random.default_rng(3)
    records = [
        [(f"p{draw.integers(5)}", int(hour)) for hour in np.sort(draw.integers(0, 8, draw.integers(1, 6)))]
        for _ in range(1_200)
    ]
    domain = Domain.declare(place=[f"p{n}" for n in range(5)], time=range(8))
    return Trajectories.from_records(records, domain=domain, several=True)


@cache
def company() -> Graph:
    """Who writes to whom in a company, in the order of their desks."""
    return Graph.from_edges(messages(), domain=Domain.declare(vertex=staff()))


@cache
def weighted_company() -> Graph:
    """Who writes to whom in a company, with made-up weights, some of which are equal."""
    return equip(company(), ("weights",))


@cache
def measurements() -> Matrix:
    """Weight and height of people in order of their names, with bounds that everybody knows."""
    draw = np.random.default_rng(5)
    height = draw.normal(170, 10, 1_500)
    axes = {"weight": NumberAxis.between(30, 180, "0.5"), "height": NumberAxis.between(120, 220, 1)}
    rows = np.column_stack((0.9 * height - 80 + draw.normal(0, 9, 1_500), height))
    return Matrix.from_rows(rows, domain=Domain.declare(**axes)).rounded()


def largest(kind: str, features: tuple[str, ...] = ()) -> Dataset:
    """Of the awkward data of a kind, the set with the most units."""
    row = find_kind(kind)
    return max(build_edge_cases(row.name, features).values(), key=lambda data: data.count_units(row.type.units[0]))


DATA = {
    "shop": shop,
    "catalogue": catalogue,
    "clicks": clicks,
    "rides": rides,
    "regional rides": regional_rides,
    "short rides": short_rides,
    "repeated": repeated,
    "company": company,
    "weighted company": weighted_company,
    "measurements": measurements,
    **{f"awkward {kind}": partial(largest, kind) for kind in KINDS},
    "awkward graphs with weights": partial(largest, "graphs", ("weights",)),
}
KCL_PROMISES = {
    "plain": {"k": 5, "l": 2},
    "with a sensitive value": {"k": 5, "l": 2, "c": "40%", "sensitive": [("diagnosis", "HIV")]},
    "three visits": {"k": 3, "l": 3, "c": "50%", "sensitive": [("diagnosis", "flu")]},
}


def _cases() -> dict[str, Case]:
    cases = {
        "flat-laplace": Case("shop", "flat-laplace", unit="record", formats=WORDS),
        "flat-laplace, persons": Case("shop", "flat-laplace", unit="person"),
        "noisy-singletons": Case("catalogue", "noisy-singletons", unit="record", formats=LISTS),
        "diffpart": Case("catalogue", "diffpart", unit="record", formats=LISTS),
        "diffpart, epsilon 1/2": Case("catalogue", "diffpart", unit="record", epsilon="0.5"),
        "diffpart, few items": Case("shop", "raked-histogram", unit="record", formats=("csv", "dat")),
        "diffpart, few items, persons": Case("shop", "raked-histogram", unit="person"),
        "diffpart, few items, fan-out 3": Case("shop", "diffpart", {"fanout": 3}, unit="record"),
        "diffpart, as printed": Case(
            "catalogue",
            "diffpart",
            {"fanout": 3, "consistent": False, "tau_split": 0.0, "c2": 1.0},
            unit="record",
            printed=TwoStageDiffPart,
        ),
        "diffpart, as printed, few items": Case(
            "shop",
            "diffpart",
            {"fanout": 3, "consistent": False, "tau_split": 0.0, "c2": 1.0},
            unit="record",
            printed=TwoStageDiffPart,
        ),
        "diffpart, consistent, two stages": Case("catalogue", "diffpart", unit="record", printed=TwoStageDiffPart),
        "pairwise-marginals": Case("catalogue", "pairwise-marginals", {"steps": 20}, unit="record", formats=WORDS),
        "pairwise-marginals, persons": Case("shop", "pairwise-marginals", {"steps": 20}, unit="person"),
        "pairwise-marginals, items again": Case(
            "catalogue", "pairwise-marginals", {"steps": 20}, unit="record", epsilon="0.05"
        ),
        "pairwise-marginals, without pairs": Case("catalogue", "pairwise-marginals", {"pairs": "off"}, unit="record"),
        "ngram": Case("clicks", "ngram-markov", unit="sequence", formats=LISTS),
        "ngram, persons": Case("clicks", "ngram-markov", unit="person"),
        "ngram, markov": Case("clicks", "ngram-markov", {"balance": False}, unit="sequence"),
        "variable-order-markov": Case("clicks", "variable-order-markov", unit="sequence", formats=LISTS),
        "variable-order-markov, persons": Case("clicks", "variable-order-markov", unit="person"),
        "ngram, as printed": Case("clicks", "ngram", {"leaf_threshold": False}, unit="sequence"),
        "ngram, joined": Case("clicks", "ngram", {"fill": "backoff"}, unit="sequence"),
        "ngram, even shares": Case("clicks", "ngram-markov", {"budget": "uniform", "n_max": 3}, unit="sequence"),
        "prefix-tree": Case("clicks", "continued-prefix-tree", unit="sequence", formats=LISTS),
        "prefix-tree, persons": Case("clicks", "continued-prefix-tree", unit="person"),
        "prefix-tree, hybrid": Case("clicks", "continued-prefix-tree", {"groups": "fan-out"}, unit="sequence"),
        "prefix-tree, exact": Case("clicks", "continued-prefix-tree", {"inference": "exact"}, unit="sequence"),
        "prefix-tree, cut": Case("clicks", "prefix-tree", {"budget": "adaptive"}, unit="sequence"),
        "prefix-tree, cut, hybrid": Case(
            "clicks", "prefix-tree", {"budget": "adaptive", "groups": "fan-out"}, unit="sequence"
        ),
        "prefix-tree, cut, even, exact": Case("clicks", "prefix-tree", {"inference": "exact"}, unit="sequence"),
        "prefix-tree, rides": Case("rides", "continued-prefix-tree", unit="trajectory", formats=TABLES),
        "prefix-tree, rides, hybrid": Case("rides", "continued-prefix-tree", {"groups": "fan-out"}, unit="trajectory"),
        "prefix-tree, rides, cut": Case("rides", "prefix-tree", {"budget": "adaptive"}, unit="trajectory"),
        "der": Case("company", "der", unit="edge", formats=EDGES),
        "der, noisy degrees": Case("company", "der", {"order": "noisy degrees"}, unit="edge", epsilon="3"),
        "der, clipped": Case("company", "der", {"fitted": False, "midpoints": True}, unit="edge"),
        "degree-corrected-blocks": Case("company", "degree-corrected-blocks", unit="edge", formats=EDGES),
        "tmf": Case("company", "tmf", unit="edge", epsilon="6"),
        "laplace-graph": Case("company", "laplace-graph", unit="edge", epsilon="6"),
        "greedy-weights": Case("weighted company", "greedy-weights", {"pairs": 0.002}, promised="Distortion"),
        "greedy-weights, two-sided": Case(
            "weighted company", "greedy-weights", {"pairs": 0.001, "two_sided": True}, promised="Distortion"
        ),
        "private-retrieval": Case("measurements", "private-retrieval", unit="count", formats=("csv", "npy", "parquet")),
        "private-retrieval, cells": Case("measurements", "private-retrieval", unit="cell"),
        "private-wavelet": Case("measurements", "private-wavelet", unit="row", formats=("csv", "npy", "parquet")),
        "private-wavelet, cells": Case("measurements", "private-wavelet", unit="cell"),
        "private-wavelet, single cells": Case("measurements", "private-wavelet", {"range_share": 0.0}, unit="row"),
        "trip-synthesis": Case("rides", "trip-synthesis", unit="trajectory", formats=TABLES),
        "trip-synthesis, several at one time": Case("repeated", "trip-synthesis", {"l_max": 5}, unit="trajectory"),
        "prefix-tree, several at one time": Case("repeated", "continued-prefix-tree", {"height": 5}, unit="trajectory"),
    }
    for name, promise in KCL_PROMISES.items():
        formats = TABLES if name == "with a sensitive value" else ("csv",)
        cases[f"kcl, {name}"] = Case("rides", "kcl-reinsertion", promise=promise, formats=formats)
        cases[f"kcl, {name}, greedy alone"] = Case("rides", "kcl", promise=promise, slow=True)
        cases[f"kcl, {name}, greedy alone, short"] = Case("short rides", "kcl", promise=promise)
    together = {"epsilon": "4", "k": "3", "unit": "edge"}
    for method in ("der", "degree-corrected-blocks"):
        cases[f"{method}, three edges"] = Case(
            "company", method, unit="edge", promise=together, promised="CorrelatedDP"
        )
    promise = KCL_PROMISES["with a sensitive value"]
    ours = "kcl-reinsertion"
    regions = "kcl-generalisation"
    cases |= {
        "labels": Case("regional rides", regions, promise=promise, formats=TABLES),
        "labels, grown": Case("regional rides", regions, {"suppress": "grow", "levels": "1,1"}, promise=promise),
        "labels, one level": Case("regional rides", regions, {"mixed": "no"}, promise=promise),
        "labels, one place": Case("regional rides", regions, {"one_place": True}, promise=promise),
        "kcl, frequent sequences": Case("rides", ours, {"metric": "mfs", "k_prime": 20}, promise=promise),
        "kcl, global": Case("rides", "kcl", {"mode": "global"}, promise=promise),
        "kcl, in batches": Case("rides", ours, {"schedule": "batch"}, promise=promise),
        "kcl, from nothing": Case("rides", ours, {"schedule": "grow"}, promise=promise),
    }
    return cases


def _default(name: str) -> Case:
    """A method with its default settings, in the first format of its kind."""
    method = find_method(name)
    kind = method.kinds[0]
    ending = next(iter(codec_of(kind).formats.values())).endings[0]
    data, kept = " with ".join((f"awkward {kind}", *method.needs)), method.keeps[0]
    if method.units:
        return Case(data, name, unit=method.units[0], formats=(ending,))
    return Case(data, name, promise=dict(PROMISES[kept.name].example), promised=kept.name, formats=(ending,))


def _all_cases() -> dict[str, Case]:
    cases = _cases()
    chosen = {case.method for case in cases.values()}
    return cases | {f"{name}, by default": _default(name) for name in METHODS if name not in chosen}


CASES = _all_cases()


def digest(case: Case, folder: Path) -> dict[str, str]:
    """Publish a case with every seed, in every format; what each data file comes to."""
    data = DATA[case.data]()
    guarantee = case.guarantee()
    hashes = {}
    for seed in SEEDS[:1] if case.promise else SEEDS:
        release = case.publisher().publish(data, guarantee, seed=seed)
        for ending in case.formats:
            out = folder / f"{seed}-{ending}"
            write_release(release, out, like=f"in.{ending}")
            for path in sorted(out.glob("data.*")):
                hashes[f"{seed}/{path.name}"] = _hash(path)
    return hashes


def _hash(path: Path) -> str:
    """What a file comes to; a Parquet file by the table in it, whatever bytes the library packs that into."""
    content = read_bytes(path, most=2**40)
    if ".parquet" in path.name:
        table = read_table(content)
        nested = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
        table = table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in nested)
        content = table.write_csv().encode()
    return hashlib.sha256(content).hexdigest()[:24]
