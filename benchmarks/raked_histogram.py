"""The raked histogram on MSNBC and samples of it: time relative to the floor, and utility compared with controls.

Writes docs/results/raked-histogram.json, from which `pages.py` makes docs/results/raked-histogram.md.
"""

from __future__ import annotations

from plans import run_plans
from set_workloads import run_msnbc, run_sample

PLANS = {
    "msnbc 1": lambda: run_msnbc("raked-histogram", "1"),
    "msnbc 0.5": lambda: run_msnbc("raked-histogram", "0.5"),
    "sample 100000": lambda: run_sample("raked-histogram", 100_000),
    "sample 10000": lambda: run_sample("raked-histogram", 10_000),
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "raked-histogram")
