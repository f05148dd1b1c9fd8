"""(K,C)_L-privacy at scale: mining, suppression and verification timed apart, and what is lost.

Writes docs/results/kcl.json, from which `pages.py` makes docs/results/kcl.md. The walks are made
up (`hedgerow.samples.walks`): the data of the paper is not public. Each experiment runs in a
process of its own, so that its memory is its own. Times are of the processor, all threads
together: what else the machine does is not in them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.privacy.kcl import KCL, count_violations
from hedgerow.publishers.trajectories.batch import suppress_in_batches
from hedgerow.publishers.trajectories.giving_back import give_back
from hedgerow.publishers.trajectories.greedy import Board, suppress_greedily
from hedgerow.publishers.trajectories.kcl import LocalSuppression, records_of
from hedgerow.publishers.trajectories.metrics import Instances
from hedgerow.samples.walks import CITY, TRANSIT, Walks, walks
from hedgerow.steps.mining import Records, mine

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "kcl.json"
SENSITIVE = ["diagnosis=HIV"]
PLANS = {
    "city": CITY,
    "transit": TRANSIT,
    "million": Walks(1_000_000, 167, 48),
    **{f"records {n}": Walks(n, 68, 48) for n in (60_000, 120_000, 240_000)},
    **{f"places {n}": Walks(120_000, n, 48) for n in (17, 34, 136)},
}
#: both schedules run on these
SMALL = {"tiny": (Walks(1_000, 6, 8), 5), "small": (Walks(1_500, 8, 10), 5)}


def given_back(records: Records, alive: np.ndarray, promise: KCL) -> dict[str, Any]:
    """Give back, frequent pairs first and rare ones first; time both, keep the better."""
    frequent = np.argsort(-np.bincount(records.pairs, minlength=records.size), kind="stable")
    start = time.process_time()
    kept = [give_back(records, alive, promise, order) for order in (frequent, frequent[::-1])]
    seconds = time.process_time() - start
    return {"seconds": seconds, "kept": max(kept, key=np.count_nonzero)}


def run_plan(plan: Walks, k: int = 30) -> dict[str, Any]:
    """Make private by many operations at a time, locally and everywhere; time each step."""
    promise = KCL(k=k, c="60%", l=3, sensitive=SENSITIVE)
    data = walks(plan)
    held: dict[str, Any] = {"records": plan.records, "pairs": plan.places * plan.hours}
    start = time.process_time()
    records, _ = records_of(data, promise)
    mined = mine(records, k, promise.c, 3)
    held["mining"] = time.process_time() - start
    held["mvs"] = [len(level.codes) for level in mined.violating]
    none = np.zeros(len(records.pairs), np.bool_)
    for mode in ("local", "global"):
        start = time.process_time()
        metric = Instances(records)
        kept = suppress_in_batches(records, mined, promise, metric, local=mode == "local")
        held[mode] = {"seconds": time.process_time() - start, "loss": 1 - float(kept.mean())}
        for name, alive in (("given back", kept), ("grown", none)) if mode == "local" else ():
            back = given_back(records, alive, promise)
            start = time.process_time()
            left = count_violations(data.keep_visits(back["kept"]), promise)
            held["verification"] = time.process_time() - start
            held[name] = {
                "seconds": back["seconds"],
                "loss": 1 - float(back["kept"].mean()),
                "violations": sum(map(sum, left.values())),
            }
    start = time.process_time()
    LocalSuppression().publish(data, promise)
    held["published"] = time.process_time() - start
    held["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return held


def run_schedules(plan: Walks, k: int) -> dict[str, Any]:
    """The reference, one operation at a time, beside many at a time; nothing is given back."""
    promise = KCL(k=k, c="60%", l=3, sensitive=SENSITIVE)
    records, _ = records_of(walks(plan), promise)
    mined = mine(records, k, Fraction(3, 5), 3)
    held: dict[str, Any] = {"records": plan.records, "k": k}
    for mode in ("local", "global"):
        start = time.process_time()
        metric = Instances(records)
        kept = suppress_in_batches(records, mined, promise, metric, local=mode == "local")
        held[f"batch {mode}"] = [1 - float(kept.mean()), time.process_time() - start]
        start = time.process_time()
        board = Board(records, mined, promise)
        suppress_greedily(board, Instances(records), local=mode == "local")
        held[f"greedy {mode}"] = [1 - float(board.alive().mean()), time.process_time() - start]
        for name, alive in (("batch", kept), ("greedy", board.alive())) if mode == "local" else ():
            back = given_back(records, alive, promise)["kept"]
            held[f"{name} {mode} given back"] = 1 - float(back.mean())
    return held


def main() -> None:
    """Run all experiments, or one (--only), and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=[*PLANS, *SMALL])
    asked = parser.parse_args()
    if asked.only:
        name = asked.only
        plan = PLANS.get(name)
        held = run_plan(plan) if plan else run_schedules(*SMALL[name])
        json.dump(held, sys.stdout)
        return
    results = {}
    for name in (*SMALL, *PLANS):
        command = [sys.executable, __file__, "--only", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
        results[name] = json.loads(done.stdout)
        print(name, results[name], flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
