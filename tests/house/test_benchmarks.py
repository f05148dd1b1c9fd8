"""`make bench` runs the benchmark of every method in the registry that has one."""

from __future__ import annotations

import subprocess
import sys

from project import ROOT

#: measured by the benchmark of another method: controls, and those that share the tree or the n-grams of their paper
CONTROLS = {"noisy-singletons", "random-graph", "laplace-graph", "noisy-degrees", "tmf"}
WITHOUT = {*CONTROLS, "binary-mechanism", "clustree-packing", "continued-prefix-tree", "ngram-markov"}


def test_every_method_has_a_benchmark_but_for_these():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from methods import benchmarks

    assert {method for method, path in benchmarks().items() if not path.exists()} == WITHOUT


def test_make_bench_takes_its_list_from_the_registry():
    command = ["make", "--dry-run", "--no-print-directory", "bench"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    scripts = [line.rsplit("/", 1)[1] for line in said.splitlines() if "benchmarks/" in line]
    assert scripts == ["noise.py", "end_to_end.py", "methods.py", "pages.py"]
