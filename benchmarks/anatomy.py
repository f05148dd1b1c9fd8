"""anatomy and anatomy-matching on synthetic students: what is kept, how fast, and how time and memory grow.

Writes docs/results/anatomy.json, from which `pages.py` makes docs/results/anatomy.md, with the public data of
`anatomy_sources.py`. The records are those of `recon.py`, seeds 1 to 5, each in a random order of its own;
rules are about all ten grades. `expected` are the figures of the specification that the methods were built from: one
data set, one order. Suppression accuracy is the mean share of the vertices of a record that are published, in percent.
Each experiment runs in a separate process, so that its peak memory can be measured; seconds are processor time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from plans import Plans, means, run_plans
from query_families import SETTINGS, measure_families
from recon import Recon, recon

from hedgerow import LDiversity, find_method
from hedgerow.kinds.records.anatomy import Grouping
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.kinds.records.methods.anatomy.publisher import GroupPlan, group_records, make_first_fit
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits
from hedgerow.kinds.records.methods.anatomy_matching import make_assignment
from hedgerow.kinds.records.methods.clustree.publisher import join_records
from hedgerow.kinds.records.rule_promise import PM
from hedgerow.kinds.records.rules import Rule
from hedgerow.privacy import All

SEEDS = (1, 2, 3, 4, 5)
MAKERS = {"anatomy": make_first_fit, "anatomy-matching": make_assignment}
#: suppression accuracy without rules, one part
EXPECTED = {
    "anatomy": {2: 86.3, 3: 77.8, 4: 71.2, 5: 64.8},
    "anatomy-matching": {2: 99.3, 3: 98.4, 4: 97.1},
}
#: l, m, p; then trees and vertices by first fit, and trees and vertices by assignments, in five parts
RULES = {
    (2, 2, "1/2"): (73.3, 46.9, 80.5, 54.8),
    (3, 2, "1/3"): (53.7, 31.7, 63.5, 39.0),
    (4, 2, "1/4"): (41.3, 23.2, 51.1, 29.4),
    (2, 3, "1/2"): (80.0, 65.4, 90.8, 75.5),
    (3, 3, "1/2"): (64.7, 57.3, 81.5, 73.9),
    (4, 3, "1/2"): (63.2, 54.5, 88.5, 77.4),
    (2, 3, "3/4"): (80.0, 72.1, 90.8, 82.6),
    (3, 3, "3/4"): (73.5, 69.3, 95.5, 88.7),
    (4, 3, "3/4"): (67.3, 64.7, 95.0, 90.6),
    (3, 1, "3/4"): (61.1, 31.7, 72.3, 39.0),
}
PARTS = (1, 2, 5, 10, 20)
#: trees, l = 3, m = 3, p = 3/4, by first fit
EXPECTED_PARTS = dict(zip(PARTS, (76.1, 75.2, 73.5, 71.5, 70.4), strict=True))
#: queries are asked of these data sets, by l
FAMILY_SEEDS = {2: (1, 2, 3), 3: (1, 2, 3), 4: (1,)}
_DECLARED = {"trees": {"relinking": "declared"}, "vertices": {}}
#: records that are made at once: plain trees take much memory
_AT_ONCE = 10_000


def kept_share(data: Records, grouping: Grouping) -> float:
    """Suppression accuracy: the mean share of the vertices of a record that are published, in percent."""
    total, kept = np.zeros(len(data)), np.zeros(len(data))
    for number, position in enumerate(grouping.position):
        record = data.records_of(number)
        total += np.bincount(record, minlength=len(data))
        kept += np.bincount(record[position >= 0], minlength=len(data))
    return float(100 * (kept / total).mean())


def run_groups(method: str, l: int, rule: tuple[int, str] | None = None, **settings: Any) -> dict[str, Any]:  # noqa: E741
    """Group the students of all seeds; the mean of each figure, and its standard error."""
    plan = GroupPlan(**settings)
    rules = [] if rule is None else [Rule("course.grade", (), rule[0], PM(rules=[as_table(rule)]).rules[0].p)]
    runs: list[dict[str, Any]] = []
    for seed in SEEDS:
        data = recon(Recon(seed=seed)).canonical().shuffled(np.random.default_rng(seed))
        limits = RuleLimits.of(rules, data.schema, data.domain, form=plan.form, l=l)
        start = time.process_time()
        grouping = group_records(data, MAKERS[method](limits), l=l, plan=plan)
        seconds = time.process_time() - start
        suppressed = int((grouping.record < 0).sum())
        runs.append({"kept": kept_share(data, grouping), "suppressed records": suppressed, "seconds": seconds})
    return {"method": method, "l": l, "rule": rule, **settings, "first": runs[0]["kept"], **means(runs)}


def as_table(rule: tuple[int, str]) -> dict[str, Any]:
    """A rule on every grade as files have it."""
    return {"attribute": "course.grade", "all": True, "m": rule[0], "p": rule[1]}


def run_families(l: int, m: int, p: str) -> dict[str, Any]:  # noqa: E741
    """Ask the ten families of queries of releases with and without rules, and of generalised ones."""
    plain, ruled = LDiversity(l=l), All(LDiversity(l=l), PM(rules=[as_table((m, p))]))
    ways = {
        f"{method}, {form}{', rules' if promise is ruled else ''}": (method, {"form": form, **_DECLARED[form]}, promise)
        for promise in (plain, ruled)
        for method in MAKERS
        for form in ("trees", "vertices")
    }
    ways |= {method: (method, {}, plain) for method in ("clustree", "clustree-packing")}
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for seed in FAMILY_SEEDS[l]:
        data = recon(Recon(seed=seed))
        releases: dict[str, Any] = {}
        for way, (method, settings, promise) in ways.items():
            outputs = find_method(method)(**settings).publish(data, promise, seed=seed).outputs
            releases[way] = outputs if len(outputs) > 1 else next(iter(outputs.values()))
        for way, accuracies in measure_families(data, releases, queries=40, seed=seed).items():
            found[way].append(accuracies)
    return {"setting": [l, m, p], "accuracy": {way: means(runs) for way, runs in found.items()}}


def run_growth(records: int, method: str, *, ruled: bool, partitions: int = 0) -> dict[str, Any]:
    """Publish more records, l = 3, and verify both parts."""
    made = [
        recon(Recon(records=min(_AT_ONCE, records - first), seed=1 + first // _AT_ONCE))
        for first in range(0, records, _AT_ONCE)
    ]
    data = join_records(made)
    del made
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    promise = All(LDiversity(l=3), PM(rules=[as_table((3, "3/4"))])) if ruled else LDiversity(l=3)
    start, clock = time.process_time(), time.perf_counter()
    release = find_method(method)(partitions=partitions).publish(data, promise)
    seconds, waited = time.process_time() - start, time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    vertices = sum(len(table) for table in release.outputs["quasi"].tables)
    kept = 100 * vertices / sum(len(table) for table in data.tables)
    size = {"grown to": records, "method": method, "ruled": ruled, "partitions": partitions}
    return {**size, "seconds": seconds, "waited": waited, "data": before, "gigabytes": peak, "vertices kept": kept}


def run_command(method: str, *words: str, records: int = 1_000) -> dict[str, Any]:
    """The whole command: read JSON lines, publish, verify, write."""
    data = recon(Recon(records=records))
    with tempfile.TemporaryDirectory() as folder:
        source, schema = Path(folder) / "students.jsonl", Path(folder) / "schema.toml"
        source.write_text("".join(json.dumps(as_document(tree)) + "\n" for tree in data.trees()))
        schema.write_text(write_schema(data))
        command = [
            sys.executable,
            "-m",
            "hedgerow",
            "publish",
            str(source),
            "--kind",
            "records",
            "--schema",
            str(schema),
        ]
        command += ["--method", method, "--l", "3", *words, "--out", f"{folder}/release"]
        clock = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
        _, status, used = os.wait4(process.pid, 0)
        waited = time.perf_counter() - clock
    if status:
        sys.exit("hedgerow publish failed")
    seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6
    return {"command": method, "records": records, "seconds": seconds, "waited": waited, "gigabytes": peak}


def as_document(tree: Tree) -> dict[str, Any]:
    """A record as JSON."""
    names = {"student": ("major", "born", "average"), "course": ("id", "grade"), "book": ("title", "price")}
    kind, labels, value, children = tree
    document: dict[str, Any] = dict(zip(names[kind], (*labels, value), strict=True))
    below = {"student": "course", "course": "book"}.get(kind)
    return document | ({below: [as_document(child) for child in children]} if below else {})


def write_schema(data: Records) -> str:
    """The schema file of the students, with all labels declared."""
    lines: list[str] = []
    for kind in data.schema.types:
        lines.append(f"[types.{kind.name}]")
        lines += ['path = ""'] if kind.parent is None else [f'path = "{kind.name}[]"', f'parent = "{kind.parent}"']
        lines.append(f"[types.{kind.name}.fields]")
        for name in kind.quasi:
            values = [str(value) for value in data.domain.values(f"{kind.name}.{name}")]
            lines.append(f"{name} = {{ values = {json.dumps(values)} }}")
        lines.append(f'{kind.sensitive} = "sensitive"')
    return "\n".join(lines) + "\n"


def plans_of(method: str) -> Plans:
    """The experiments of one method."""
    return {
        **{f"{method}, l = {size}": partial(run_groups, method, size, partitions=1) for size in (2, 3, 4, 5)},
        **{
            f"{method}, l = {size}, m = {m}, p = {p}, {form}": partial(
                run_groups, method, size, (m, p), partitions=5, form=form
            )
            for size, m, p in RULES
            for form in ("trees", "vertices")
        },
        **{
            f"{method}, {parts} parts": partial(run_groups, method, 3, (3, "3/4"), partitions=parts, form="trees")
            for parts in PARTS
        },
        **{f"{method}, {parts} parts, no rules": partial(run_groups, method, 3, partitions=parts) for parts in PARTS},
        f"{method}, relative cost": partial(run_groups, method, 3, partitions=1, cost="relative"),
        f"{method}, leftovers suppressed": partial(run_groups, method, 3, partitions=1, leftovers="suppress"),
        f"{method}, command": partial(run_command, method),
        **{
            f"{method}, growth {records}{', rules' if ruled else ''}": partial(run_growth, records, method, ruled=ruled)
            for records in (1_000, 10_000, 100_000)
            for ruled in (False, True)
        },
    }


PLANS: Plans = {"expected": lambda: {"no rules": EXPECTED, "parts": EXPECTED_PARTS, "rules": list(RULES.items())}}
PLANS = {
    **PLANS,
    **{f"families, l = {size}, m = {m}, p = {p}": partial(run_families, size, m, p) for size, m, p in SETTINGS},
}
for each in MAKERS:
    PLANS = {**PLANS, **plans_of(each)}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "anatomy")
