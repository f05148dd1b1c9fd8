"""(K,C)_L-privacy on synthetic walks: times of mining, suppression and verification, and the utility loss.

Writes docs/results/kcl.json, from which `pages.py` makes docs/results/kcl.md. The walks are
synthetic (`hedgerow.kinds.trajectories.generated_walks`), since the data of the paper is not public. Each experiment
runs in a separate process, so that its peak memory can be measured. Times are processor times, summed over all threads.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plans import run_plans

from hedgerow.kinds.trajectories.criterion import KCL, count_violations
from hedgerow.kinds.trajectories.generated_walks import CITY, TRANSIT, Walks, walks
from hedgerow.kinds.trajectories.methods.kcl import (
    Instances,
    SuppressionInput,
    mine_violations,
    suppress_globally,
    suppress_greedily,
)
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import (
    SuppressionWithReinsertion,
    insertion_orders,
    reinsert,
    suppress_in_batches,
)
from hedgerow.kinds.trajectories.sequence_mining import MinedSequences, VisitArrays

Flags = NDArray[np.bool_]


def promise_of(k: int) -> KCL:
    """The guarantee of all experiments."""
    return KCL(k=k, c="60%", l=3, sensitive=["diagnosis=HIV"])


def time_run(run: Callable[[], Flags]) -> dict[str, Any]:
    """Run, and return the processor time and which visits are kept."""
    start = time.process_time()
    kept = run()
    return {"seconds": time.process_time() - start, "kept": kept}


def figures(run: dict[str, Any]) -> dict[str, float]:
    """The time and the loss of a run."""
    return {"seconds": run["seconds"], "loss": 1 - float(run["kept"].mean())}


def suppressed_globally(visits: VisitArrays, mined: MinedSequences) -> Flags:
    """Which visits global suppression keeps."""
    return ~np.isin(visits.pairs, suppress_globally(visits, mined, Instances(visits)))


def reinserted(visits: VisitArrays, alive: Flags, promise: KCL) -> Flags:
    """Re-insert visits in two orders, frequent pairs first and rare pairs first; return the better result."""
    kept = [reinsert(visits, alive, promise, order) for order in insertion_orders(visits)]
    return max(kept, key=np.count_nonzero)


def run_scale(plan: Walks, k: int = 30) -> dict[str, Any]:
    """Suppress in batches, re-insert, and suppress globally; time each step."""
    promise, original = promise_of(k), walks(plan)
    results: dict[str, Any] = {"records": plan.records, "pairs": plan.places * plan.hours}
    start = time.process_time()
    data, visits, _ = SuppressionInput.of(original, promise)
    mined = mine_violations(visits, promise)
    results["mining"] = time.process_time() - start
    results["mvs"] = [len(level.codes) for level in mined.violating]
    local = time_run(lambda: suppress_in_batches(visits, mined, promise, Instances(visits)))
    results["local"] = figures(local)
    for name, alive in (("reinserted", local["kept"]), ("grown", np.zeros(len(visits.pairs), np.bool_))):
        run = time_run(lambda alive=alive: reinserted(visits, alive, promise))
        start = time.process_time()
        violations = count_violations(data.keep_visits(run["kept"]), promise)
        results["verification"] = time.process_time() - start
        results[name] = {**figures(run), "violations": sum(map(sum, violations.values()))}
    results["global"] = figures(time_run(lambda: suppressed_globally(visits, mined)))
    start = time.process_time()
    SuppressionWithReinsertion().publish(original, promise)
    results["published"] = time.process_time() - start
    results["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return results


def run_schedules(plan: Walks, k: int) -> dict[str, Any]:
    """Compare the paper's schedule (one operation at a time) with batches and with global suppression."""
    promise = promise_of(k)
    _, visits, _ = SuppressionInput.of(walks(plan), promise)
    mined = mine_violations(visits, promise)
    results: dict[str, Any] = {"records": plan.records, "k": k}
    for name, suppress in (("greedy", suppress_greedily), ("batch", suppress_in_batches)):
        run = time_run(lambda suppress=suppress: suppress(visits, mined, promise, Instances(visits)))
        results[name] = figures(run)
        results[f"{name}, reinserted"] = 1 - float(reinserted(visits, run["kept"], promise).mean())
    results["global"] = figures(time_run(lambda: suppressed_globally(visits, mined)))
    return results


PLANS = {
    "tiny": lambda: run_schedules(Walks(1_000, 6, 8), 5),
    "small": lambda: run_schedules(Walks(1_500, 8, 10), 5),
    "city": lambda: run_scale(CITY),
    "transit": lambda: run_scale(TRANSIT),
    "million": lambda: run_scale(Walks(1_000_000, 167, 48)),
    **{f"records {n}": lambda n=n: run_scale(Walks(n, 68, 48)) for n in (60_000, 120_000, 240_000)},
    **{f"places {n}": lambda n=n: run_scale(Walks(120_000, n, 48)) for n in (17, 34, 136)},
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "kcl")
