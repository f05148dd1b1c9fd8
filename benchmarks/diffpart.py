"""DiffPart on real and generated sets: time relative to the floor, and utility compared with controls.

Writes docs/results/diffpart.json, from which `pages.py` makes docs/results/diffpart.md. Each
experiment runs in a separate process, so that its peak memory can be measured.
"""

from __future__ import annotations

from typing import Any

from plans import run_plans
from set_workloads import generate, read_sets, run_growth, run_large, run_msnbc, run_persons, run_sample

#: lower thresholds and a smaller fan-out keep more if there are few records
NARROW: dict[str, Any] = {"fanout": 5, "c1": 1.5, "c2": 0.5, "tau_split": 1.0}
PLANS = {
    "msnbc 1 tree": lambda: run_msnbc("diffpart", "1"),
    "msnbc 1 narrow": lambda: run_msnbc("diffpart", "1", **NARROW),
    "msnbc 0.5 tree": lambda: run_msnbc("diffpart", "0.5"),
    "msnbc 0.5 narrow": lambda: run_msnbc("diffpart", "0.5", **NARROW),
    "sample 100000 narrow": lambda: run_sample("diffpart", 100_000, **NARROW),
    "sample 10000 narrow": lambda: run_sample("diffpart", 10_000, **NARROW),
    "retail": lambda: run_large("diffpart", read_sets("retail")),
    "generated": lambda: run_large("diffpart", generate(1_200_000, 1_012)),
    "records": lambda: run_growth("diffpart", [(n * 1_000, 1_012) for n in (150, 300, 600, 1_200)]),
    "items": lambda: run_growth("diffpart", [(300_000, n) for n in (253, 506, 1_012, 2_024, 4_048)]),
    "foodmart": lambda: run_persons("diffpart"),
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "diffpart")
