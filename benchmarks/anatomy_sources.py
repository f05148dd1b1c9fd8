"""anatomy-matching and anatomy on public data, with rules, through the command line: what is kept, and queries.

Writes docs/results/anatomy-sources.json; the page is that of `anatomy.py`. Data and schemas are those of
`nested_records.py`; the rules are in `benchmarks/schemas`. Each release is verified with the rules that it was asked
for, and asked the same queries with `hedgerow query`; the true counts are those of the original.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any

from nested_records import SCHEMAS, SOURCES, load, reading, run_command
from plans import run_plans

from hedgerow import query, read_release

VALUES = (2, 3)
FORMS = {"vertices": (), "trees": ("--set", "form=trees", "--set", "relinking=declared")}
#: the method, its options, and whether there are rules, by what the page calls it
WAYS = {
    "anatomy-matching, no rules": ("anatomy-matching", FORMS["vertices"], False),
    "anatomy-matching, vertices": ("anatomy-matching", FORMS["vertices"], True),
    "anatomy-matching, trees": ("anatomy-matching", FORMS["trees"], True),
    "anatomy, vertices": ("anatomy", FORMS["vertices"], True),
}
#: what is counted, and the conditions
QUERIES = {
    "fhir-synthea": (
        ("record", "condition.what = Diabetes"),
        ("record", "condition.what = Diabetes", "patient.gender = female"),
        ("record", "condition.what = Hypertension", "patient.born in [1940, 1960)"),
        ("record", "condition.what = Hypertension", "medication.what = 'Clopidogrel 75 MG Oral Tablet'"),
        ("encounter", "encounter.kind = hospital"),
    ),
    "oulad": (
        ("record", "registration.final_result = Pass"),
        ("record", "registration.final_result = Fail", "registration.code_module = BBB"),
        ("record", "result.score in [0, 40)", "student.gender = F"),
        ("result", "result.score in [90, 100]", "registration.code_module = AAA"),
        ("record", "registration.final_result = Pass", "result.score in [90, 100]"),
    ),
}


def count_truly(name: str) -> dict[str, Any]:
    """The number of vertices of each type, and what each query counts in the original."""
    data = load(name)
    vertices = {kind.name: len(table) for kind, table in zip(data.schema.types, data.tables, strict=True)}
    counts = [query(data, list(where), count=count).estimate for count, *where in QUERIES[name]]
    return {"set": name, "vertices": vertices, "counts": counts}


def publish(name: str, l: int, way: str) -> dict[str, Any]:  # noqa: E741 - the name of the promise
    """Publish, verify and ask with the command line."""
    method, options, ruled = WAYS[way]
    promise = ["--l", str(l), *(("--rules", str(SCHEMAS / f"{name}-rules.toml")) if ruled else ())]
    with tempfile.TemporaryDirectory() as folder:
        release = f"{folder}/release"
        words = ["--kind", "records", *reading(name), "--method", method, *promise, *options, "--out", release]
        used = {
            "publish": run_command("publish", SOURCES[name].path, *words),
            "verify": run_command("verify", release, *promise),
        }
        labels = read_release(release).outputs["quasi"]
        vertices = {kind.name: len(table) for kind, table in zip(labels.schema.types, labels.tables, strict=True)}
        answers = [ask(release, *asked) for asked in QUERIES[name]]
    return {"set": name, "l": l, "way": way, "used": used, "vertices": vertices, "answers": answers}


def ask(release: str, count: str, *where: str) -> list[float]:
    """What `hedgerow query` estimates, and the ends of its interval."""
    words = [sys.executable, "-m", "hedgerow", "query", release, "--json", "--count", count]
    words += [word for condition in where for word in ("--where", condition)]
    found = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)  # noqa: S603 - ourselves
    return [found["estimate"], found["low"], found["high"]]


PLANS = {f"{name}, data": partial(count_truly, name) for name in QUERIES}
PLANS |= {
    f"{name}, l = {values}, {way}": partial(publish, name, values, way)
    for name in QUERIES
    for values in VALUES
    for way in WAYS
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "anatomy-sources")
