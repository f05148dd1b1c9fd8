"""Run experiments, each in a separate process, and store their results."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hedgerow import PureDP, Sequences, find_method

RESULTS = Path(__file__).parents[1] / "docs" / "results"

Plans = Mapping[str, Callable[[], dict[str, Any]]]


def run_plans(file: str, plans: Plans, name: str) -> None:
    """Run all experiments of a benchmark, or some again (--again), or one (--only), and write the results."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=list(plans), help="run one experiment here, and print its results")
    parser.add_argument("--again", help="run this experiment, or those whose names start so, and keep the others")
    parser.add_argument("--data")
    options = parser.parse_args()
    if options.only:
        json.dump(plans[options.only](), sys.stdout)
        return
    store = RESULTS / f"{name}.json"
    results: dict[str, Any] = json.loads(store.read_text()) if options.again else {}
    folder = ["--data", options.data] if options.data else []
    chosen = (
        [options.again] if options.again in plans else [plan for plan in plans if plan.startswith(options.again or "")]
    )
    for plan in chosen:
        command = [sys.executable, file, "--only", plan, *folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own script
        results[plan] = json.loads(done.stdout)
        print(plan, done.stdout[:300], flush=True)
        store.write_text(json.dumps(results, indent=1) + "\n")


def means(runs: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The mean of each figure of several runs, and its standard error."""
    return {
        name: [
            statistics.mean(values := [run[name] for run in runs]),
            statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0,
        ]
        for name in runs[0]
    }


def growth_plans(method: str, make: Callable[[int, int], Sequences]) -> Plans:
    """How time and memory grow with records and with items, on synthetic sequences."""
    sizes = {f"records {n}": (n, 1_000) for n in (100_000, 1_000_000, 10_000_000)}
    sizes |= {f"items {n}": (1_000_000, n) for n in (10, 100)}
    return {name: lambda size=size: _time_publishing(method, make(*size)) for name, size in sizes.items()}


def _time_publishing(method: str, data: Sequences) -> dict[str, Any]:
    """Publish synthetic sequences, and measure time and memory."""
    start = time.perf_counter()
    release = find_method(method)().publish(data, PureDP(epsilon=1, unit="sequence"))
    seconds = time.perf_counter() - start
    return {
        "records": len(data),
        "items": data.domain.size("item"),
        "seconds": seconds,
        "number": len(release.data) / len(data),
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }
