"""Two releases of one nested data set: whom they leave alone together, although each keeps its promise.

Writes docs/results/two-releases.json. Patients (FHIR bundles made up by Synthea) are published twice by the same
command, with other coins. The attacker knows the labels and the shape of a person's record, and so its class in each
release. They compare diagnoses, medications and allergies of the records of both releases.

- *linked*: each record of the first class is linked with the records of the whole second release that are most like it;
  it is a candidate if one of them is in the second class. This intersects the two classes.
- *best pair*: the person is in both classes, so the candidates are the records of the first class that are most like
  some record of the second class.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from nested_records import load
from numpy.typing import NDArray
from plans import run_plans

from hedgerow import ClusTreePacking, KAnonymity, LDiversity
from hedgerow.data import Axis
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.equivalence_classes import find_equivalence_classes
from hedgerow.privacy import Guarantee

NAME = "fhir-synthea"
#: how many patients are published, the first of the file; and how many pairs of releases are attacked
SIZES = {100: 5, 1_461: 1}
PROMISES = {f"l = {least}": LDiversity(l=least) for least in (2, 3, 4)} | {
    f"k = {least}": KAnonymity(k=least) for least in (3, 5)
}
#: a sensitive value of roots that no two have: it tells which published record is whose, and decides about nothing
_OWNER = "owner"


def with_owners(data: Records) -> Records:
    """Add the number of each patient as a sensitive value of the root: all differ, so they exclude no class."""
    root, *others = data.schema.types
    root = replace(root, sensitive=_OWNER)
    schema = replace(data.schema, types=(root, *others))
    axes = (*data.domain.axes, (f"{root.name}.{_OWNER}", Axis(tuple(range(len(data))))))
    domain = replace(data.domain, axes=tuple(sorted(axes, key=lambda axis: schema.axes.index(axis[0]))))
    roots = VertexTable(data.tables[0].parent, data.tables[0].labels, np.arange(len(data)))
    return Records(domain, schema, (roots, *data.tables[1:]))


def owners_of(release: Records) -> NDArray[np.int64]:
    """The number of the patient of each published record."""
    values = release.domain.values(release.schema.types[0].sensitive_axis or "")
    return np.array(values)[release.tables[0].sensitive]


def count_values(data: Records, release: Records) -> NDArray[np.int64]:
    """How often each published record has each sensitive value below the root."""
    columns = []
    for number, kind in enumerate(release.schema.types[1:], start=1):
        if kind.sensitive_axis is None:
            continue
        table = release.tables[number]
        given = table.sensitive >= 0
        codes = data.domain.axis(kind.sensitive_axis).codes
        known = [
            codes.get(value, 0) for value in release.domain.values(kind.sensitive_axis)
        ]  # a placeholder is in no record
        counts = np.zeros((len(release), len(codes)), np.int64)
        np.add.at(counts, (release.records_of(number)[given], np.array(known)[table.sensitive[given]]), 1)
        columns.append(counts)
    return np.hstack(columns)


def compare(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    """How like each record of the first release is to each of the second: shared values per value of either."""
    alike = np.ones((len(first), len(second)))  # two records without values are alike
    for row, values in enumerate(first):
        shared, either = np.minimum(second, values).sum(1), np.maximum(second, values).sum(1)
        np.divide(shared, either, out=alike[row], where=either > 0)
    return alike


def could_be_one(first: Records, second: Records) -> NDArray[np.bool_]:
    """Which records of two releases have labels of roots of which one is, or is in, the other."""
    fits = np.ones((len(first), len(second)), np.bool_)
    for number, tree in enumerate(first.hierarchies(0)):
        one, other = first.tables[0].labels[:, number], second.tables[0].labels[:, number]
        labels = np.arange(len(tree.names))
        above = (tree.ancestors[:, :, None] == labels).any(1)  # of each label, the labels that it is or is in
        fits &= (above | above.T)[np.ix_(one, other)]
    return fits


def attack(data: Records, guarantee: Guarantee, seeds: tuple[int, int]) -> dict[str, int]:
    """Publish twice; of how many patients one candidate is left, and of how many it is the right one."""
    first, second = (ClusTreePacking().publish(data, guarantee, seed=seed).data for seed in seeds)
    own_first, own_second = owners_of(first), owners_of(second)
    alike_first, alike_second = find_equivalence_classes(first).record, find_equivalence_classes(second).record
    alike = compare(count_values(data, first), count_values(data, second))
    alike[~could_be_one(first, second)] = -1
    found = dict.fromkeys(("patients in both", "linked: one candidate", "linked: the right one"), 0)
    found |= dict.fromkeys(("best pair: one candidate", "best pair: the right one"), 0)
    for person in sorted(set(own_first.tolist()) & set(own_second.tolist())):
        here, there = int(np.flatnonzero(own_first == person)[0]), int(np.flatnonzero(own_second == person)[0])
        members = np.flatnonzero(alike_first == alike_first[here])
        inside = alike[np.ix_(members, np.flatnonzero(alike_second == alike_second[there]))].max(1)
        left = {"linked": members[inside == alike[members].max(1)], "best pair": members[inside == inside.max()]}
        found["patients in both"] += 1
        for way, candidates in left.items():
            found[f"{way}: one candidate"] += len(candidates) == 1
            found[f"{way}: the right one"] += candidates.tolist() == [here]
    return found


def measure(size: int, promised: str) -> dict[str, Any]:
    """Attack some pairs of releases of the first patients."""
    data = load(NAME)
    data = with_owners(data.only(np.arange(len(data)) < size))
    runs = [attack(data, PROMISES[promised], (2 * run, 2 * run + 1)) for run in range(SIZES[size])]
    return {"patients": size, "promise": promised, "runs": runs}


PLANS = {f"{size:,} patients, {promised}": partial(measure, size, promised) for size in SIZES for promised in PROMISES}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "two-releases")
