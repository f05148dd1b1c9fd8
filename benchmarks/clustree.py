"""clustree and clustree-packing on synthetic students: what is lost, what queries still answer, and how time grows.

Writes docs/results/clustree.json, from which `pages.py` makes docs/results/clustree.md. The records are those of
`recon.py`, seeds 1 to 5; the constants of `clustree-packing` were chosen on seed 11. Each experiment runs in a separate
process, so that its peak memory can be measured. Seconds are processor time of `publish`, verification included.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from plans import Plans, means, run_plans
from recon import Recon, recon

from hedgerow import KAnonymity, LDiversity, find_method
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.loss import SUPPRESSION, add_losses, find_label_losses, measure_divergence
from hedgerow.kinds.records.measures import keep_roots
from hedgerow.kinds.records.methods.clustree.clustering import (
    ClassSearch,
    Clustering,
    build_classes,
    class_size,
    multipliers,
)
from hedgerow.kinds.records.methods.clustree.representative import Forest, losses_of
from hedgerow.kinds.records.methods.clustree_packing import expected_share, pack_greedily
from hedgerow.kinds.records.queries import ACCURACY, measure_queries

SEEDS = (1, 2, 3, 4, 5)
VALUES = (2, 3, 4, 5)
#: the method of each line of the tables, and its settings
WAYS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "single pass": ("clustree", {"passes": "single"}),
    "packing": ("clustree-packing", {}),
    "all passes": ("clustree", {}),
    "greedy mapping, single pass": ("clustree", {"passes": "single", "mapping": "greedy"}),
    "greedy mapping, all passes": ("clustree", {"mapping": "greedy"}),
    "thesis, single pass": ("clustree", {"passes": "single", "cost": "paper", "leftovers": "suppress"}),
    "thesis, all passes": ("clustree", {"cost": "paper", "threshold": "absolute", "leftovers": "suppress"}),
}
#: of these the queries are measured, too
MAIN = ("single pass", "packing", "all passes")


def run_losses(kind: str, values: int, way: str, *, anonymous: bool = False) -> dict[str, Any]:
    """Publish the students of all seeds; the mean of each figure, and its standard error."""
    method, settings = WAYS[way]
    promise = KAnonymity(k=values) if anonymous else LDiversity(l=values)
    runs: list[dict[str, Any]] = []
    for seed in SEEDS:
        data = recon(Recon(kind=kind, seed=seed))
        start = time.process_time()
        released = find_method(method)(**settings).publish(data, promise, seed=seed).data
        run = {"seconds": time.process_time() - start, **figures(data, released)}
        runs.append({**run, **(query_figures(data, released, seed) if way in MAIN and not anonymous else {})})
    return {"kind": kind, "l": values, "way": way, "first": runs[0]["loss"], **means(runs)}


def run_orders(values: int) -> dict[str, Any]:
    """The loss of all passes on the students of seed 1, in five random orders."""
    data = recon(Recon())
    promise = LDiversity(l=values)
    released = [find_method("clustree")().publish(data, promise, seed=order).data for order in SEEDS]
    return {"l": values, "losses": [figures(data, one)["loss"] for one in released]}


def figures(data: Records, released: Records) -> dict[str, float]:
    """The loss of labels, the part of it that is suppression, and the share of records that are not published."""
    loss = add_losses(find_label_losses(data, released).values())
    divergence = measure_divergence(data, {"": released})
    return {
        "loss": loss.total,
        "suppressed": loss.part(SUPPRESSION),
        "records": 1 - len(released) / len(data),
        "divergence": divergence[0].value,
    }


def query_figures(data: Records, released: Records, seed: int) -> dict[str, float]:
    """The mean accuracy of queries on the release, and on the roots alone."""
    releases = {"": released, "roots only": keep_roots(data)}
    scores = measure_queries(data, releases, np.random.default_rng(seed), queries=100)
    mean = next(score for score in scores if score.name == f"mean {ACCURACY}")
    return {"accuracy": mean.value, "accuracy, roots only": dict(mean.controls)["roots only"]}


def run_controls(kind: str) -> dict[str, Any]:
    """What is lost if only roots are published, with hidden labels."""
    return means([figures(data, keep_roots(data)) for data in (recon(Recon(kind, seed=seed)) for seed in SEEDS)])


def run_search(kind: str, values: int) -> dict[str, Any]:
    """How many pairs of a representative and a record the bound leaves, and how fast they are evaluated; seed 1."""
    data = recon(Recon(kind)).canonical().shuffled(np.random.default_rng(1))
    results: dict[str, Any] = {"kind": kind, "l": values}
    ways: dict[str, Callable[[ClassSearch], Clustering]] = {
        "single pass": lambda search: build_classes(search, [math.inf]),
        "all passes": lambda search: build_classes(search, multipliers(4, 0.5)),
        "greedy packing": lambda search: pack_greedily(replace(search, price=expected_share(search))),
    }
    for name, build in ways.items():
        search = ClassSearch(Forest.of(data, losses_of(data)), *class_size(1, values))
        start = time.process_time()
        build(search)
        counts = search.counts
        results[name] = [time.process_time() - start, counts.considered, counts.evaluated]
    return results


def run_growth(records: int, way: str, block: int) -> dict[str, Any]:
    """Publish more records, l = 3, in blocks of some size."""
    method, settings = WAYS[way]
    data = recon(Recon(records=records))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start, clock = time.process_time(), time.perf_counter()
    released = find_method(method)(**{**settings, "block": block}).publish(data, LDiversity(l=3), seed=1).data
    seconds, waited = time.process_time() - start, time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    size = {"grown to": records, "way": way, "block": block}
    return {**size, "seconds": seconds, "waited": waited, "data": before, "gigabytes": peak, **figures(data, released)}


#: where all values of l take too long
FEW = (2, 3)


def plans_of(kind: str, way: str, chosen: tuple[int, ...]) -> Plans:
    """One experiment per l."""
    return {f"{kind}, l = {values}, {way}": partial(run_losses, kind, values, way) for values in chosen}


PLANS: Plans = {
    **{f"controls {kind}": partial(run_controls, kind) for kind in "ST"},
    **plans_of("S", "single pass", VALUES),
    **plans_of("S", "packing", VALUES),
    **plans_of("S", "all passes", VALUES),
    **plans_of("T", "single pass", VALUES),
    **plans_of("T", "packing", VALUES),
    **plans_of("T", "all passes", FEW),
    **{f"orders, l = {values}": partial(run_orders, values) for values in FEW},
    **{f"search S, l = {values}": partial(run_search, "S", values) for values in FEW},
    **{
        f"growth {records} {way}, block {block}": partial(run_growth, records, way, block)
        for records, block in ((250, 8_000), (1_000, 8_000), (4_000, 8_000), (4_000, 1_000), (10_000, 1_000))
        for way in ("single pass", "packing")
    },
    "growth 8000 single pass, block 8000": partial(run_growth, 8_000, "single pass", 8_000),
    **{
        f"S, k = {k}, {way}": partial(run_losses, "S", k, way, anonymous=True)
        for k in VALUES
        for way in ("single pass", "packing")
    },
    **plans_of("S", "greedy mapping, single pass", VALUES),
    **plans_of("S", "greedy mapping, all passes", FEW),
    **plans_of("S", "thesis, single pass", VALUES),
    **plans_of("S", "thesis, all passes", FEW),
    **plans_of("T", "greedy mapping, single pass", VALUES),
    **{
        f"growth 100000 {way}, block 1000": partial(run_growth, 100_000, way, 1_000)
        for way in ("single pass", "packing")
    },
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "clustree")
