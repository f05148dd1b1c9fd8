"""clustree-packing and clustree on public data, through the command line: what is kept, and what attacks recover.

Writes docs/results/nested-records.json, from which `pages.py` makes docs/results/nested-records.md. The data are JSON,
tables joined by keys, and XML, each with a schema file in `benchmarks/schemas`. Every experiment runs in a separate
process; `--again NAME` repeats those whose name starts so, and keeps the other results. Times are processor times of
the commands, and memory is the largest of their processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from floor import data_folder
from full_domain import publish_roots
from plans import run_plans

from hedgerow import LDiversity, read
from hedgerow.kinds.records import measures
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.shape_measures import count_children
from hedgerow.measures.comparison import Comparison

SCHEMAS = Path(__file__).parent / "schemas"
VALUES = (2, 3, 4)
#: all releases answer the same queries; releases have no seed, since they would not be for publication
QUERY_SEED = 7
#: scores of which there is one per number of children or size of a class are left out
LEFT_OUT = ("children of type", "size of the class", "share of labels")


class Source(NamedTuple):
    """A data set: its file, how often it is published (by rivals once), and for which k it is only k-anonymous."""

    file: str
    runs: int
    anonymous: tuple[int, ...] = VALUES

    @property
    def path(self) -> str:
        """Where the file is."""
        return str(data_folder() / self.file)


SOURCES = {
    "xmark": Source("xmark/auction.xml.gz", runs=3),
    "fhir-synthea": Source("fhir-synthea/synthea_stu3_bundles.ndjson.zst", runs=2),
    "oulad": Source("oulad/studentInfo.csv.gz", runs=1, anonymous=VALUES[:1]),
}

#: the method and options of a publication, by what the page calls it
OURS, PLAIN = "clustree-packing", "k-anonymity only"
WAYS = {
    OURS: (OURS, "--l", "{}"),
    "clustree": ("clustree", "--l", "{}"),
    "single pass, greedy": ("clustree", "--l", "{}", "--set", "passes=single", "--set", "mapping=greedy"),
    PLAIN: (OURS, "--k", "{}"),
}
ROOTS = "full-domain roots"


class Usage(NamedTuple):
    """What a command used: seconds of processor time, and gigabytes of memory."""

    seconds: float
    gigabytes: float


def run_command(*words: str) -> Usage:
    """Run a command of ours."""
    command = [sys.executable, "-m", "hedgerow", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"hedgerow {words[0]} failed")
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def reading(name: str) -> list[str]:
    """The options by which a data set is read."""
    return ["--schema", str(SCHEMAS / f"{name}.toml")]


def describe(name: str) -> dict[str, Any]:
    """Say how large a data set is."""
    words = [sys.executable, "-m", "hedgerow", "describe", SOURCES[name].path, "--kind", "records", "--json"]
    done = subprocess.run([*words, *reading(name)], check=True, capture_output=True)  # noqa: S603 - ourselves
    return {"facts": json.loads(done.stdout), "children": count_by_value(load(name))}


def load(name: str) -> Records:
    """Read a data set here."""
    options = {"schema": str(SCHEMAS / f"{name}.toml")}
    return cast("Records", read(SOURCES[name].path, kind="records", options=options))


def count_by_value(data: Records) -> dict[str, dict[str, float]]:
    """The mean number of children by sensitive value: where they differ, the shape of a record tells the value."""
    counts: dict[str, dict[str, float]] = {}
    for number, kind in enumerate(data.schema.types):
        axis, table = kind.sensitive_axis, data.tables[number]
        for child in data.schema.children(number) if axis and not data.domain.axis(axis).paths else ():
            means = [count_children(data, child)[table.sensitive == code] for code in range(data.domain.size(axis))]
            values = map(str, data.domain.values(axis))
            title = f"{data.schema.types[child].name} per {kind.name}"
            counts[title] = {value: float(mean.mean()) for value, mean in zip(values, means, strict=True) if len(mean)}
    return counts


def publish(name: str, l: int, way: str) -> dict[str, Any]:  # noqa: E741 - the name of the promise
    """Publish, verify and evaluate a data set with the command line, several times."""
    source, (method, *promise) = SOURCES[name], [word.format(l) for word in WAYS[way]]
    runs: list[dict[str, Any]] = []
    for _ in range(source.runs if way == OURS else 1):
        with tempfile.TemporaryDirectory() as folder:
            release, scores = f"{folder}/release", Path(folder) / "scores.json"
            options = ["--kind", "records", *reading(name), "--method", method, *promise]
            used = {
                "publish": run_command("publish", source.path, *options, "--out", release),
                "verify": run_command("verify", release, *promise[:2]),
                "evaluate": run_command(
                    *("evaluate", release, "--against", source.path, *reading(name)),
                    *("--scores", str(scores), "--seed", str(QUERY_SEED)),
                ),
            }
            runs.append({"used": used, "scores": select(json.loads(scores.read_text())["scores"])})
    return {"set": name, "l": l, "way": way, "runs": runs}


def publish_full_domain(name: str, l: int) -> dict[str, Any]:  # noqa: E741
    """Publish the roots alone, each attribute at one level of its hierarchy for all records."""
    data = load(name)
    released, levels = publish_roots(data, l=l)
    promise = LDiversity(l=l)
    if any(promise.violations({"": released}).values()):
        sys.exit("the roots are not diverse")
    compared = Comparison(data, released, promise, {})
    scores = measures.measure(compared, measures.controls(compared), np.random.default_rng(QUERY_SEED))
    plain = [{"name": score.name, "value": score.value, "controls": list(score.controls)} for score in scores]
    return {"set": name, "l": l, "way": ROOTS, "levels": levels, "runs": [{"scores": select(plain)}]}


def select(scores: list[dict[str, Any]]) -> dict[str, Any]:
    """The scores that the page needs, each with its controls."""
    return {
        score["name"]: [score["value"], dict(score["controls"])]
        for score in scores
        if not score["name"].startswith(LEFT_OUT)
    }


PLANS = {f"{name}, data": partial(describe, name) for name in SOURCES}
for each, source in SOURCES.items():
    for values in VALUES:
        ways = [way for way in WAYS if way != PLAIN or values in source.anonymous]
        PLANS |= {f"{each}, l = {values}, {way}": partial(publish, each, values, way) for way in ways}
        PLANS[f"{each}, l = {values}, {ROOTS}"] = partial(publish_full_domain, each, values)

if __name__ == "__main__":
    run_plans(__file__, PLANS, "nested-records")
