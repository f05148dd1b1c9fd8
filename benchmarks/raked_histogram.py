"""The raked histogram on MSNBC and samples of it, and on the most frequent items of public data, beside rivals.

Writes docs/results/raked-histogram.json, from which `pages.py` makes docs/results/raked-histogram.md.
"""

from __future__ import annotations

from functools import partial

from few_items import PURPOSES, compare
from plans import run_plans
from set_workloads import run_msnbc, run_sample

SETTINGS = {
    "msnbc": [(17, epsilon) for epsilon in ("0.1", "0.5", "1", "2")],
    "others": [(10, "0.1"), (10, "1"), *((15, epsilon) for epsilon in ("0.1", "0.5", "1", "2")), (20, "1")],
}
PLANS = {
    "msnbc 1": lambda: run_msnbc("raked-histogram", "1"),
    "msnbc 0.5": lambda: run_msnbc("raked-histogram", "0.5"),
    "sample 100000": lambda: run_sample("raked-histogram", 100_000),
    "sample 10000": lambda: run_sample("raked-histogram", 10_000),
} | {
    f"few {name} {items} {epsilon}": partial(compare, name, items, epsilon)
    for name in PURPOSES
    for items, epsilon in SETTINGS["msnbc" if name == "msnbc" else "others"]
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "raked-histogram")
