"""The result page of nested records."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from panels import panels
from tables import table

LOSS, ACCURACY = "loss of labels (LM)", "mean accuracy of queries"
OURS, PLAIN, ROOTS = "clustree-packing", "k-anonymity only", "full-domain roots"
ORIGINAL, SHUFFLED = "original as it is", "sensitive values shuffled"
HOMOGENEITY = "homogeneity attack, share of records with such a value"
SOMEWHERE = "some-vertex disclosure, share of classes with a certain value"
KNOWN = "one known sensitive value, share of values that single out a record"
GUESSES, RIGHT = "missing-vertex inference, guesses", "missing-vertex inference, share of guesses that are right"
DIVERGENCES = ("mean Kullback-Leibler divergence of sensitive attributes", "Kullback-Leibler divergence of ")

#: what each data set is, and why it is read as it is
SETS = {
    "xmark": "Persons of the XMark auction document (XML, made up by its generator), with interests and watched "
    "auctions; their income is sensitive.",
    "fhir-synthea": "Patients as FHIR bundles (JSON, made up by Synthea): one list has resources of all types. "
    "Conditions, medications and allergies are sensitive; encounters and immunizations have kinds and years.",
    "oulad": "Students of the Open University (real, four CSV tables joined by keys), with registrations and "
    "assessment results; the final result of a registration, and scores in tens, are sensitive. The university had "
    "generalised the fields of students before.",
}
_HEAD = """# Results: nested records

Made by `benchmarks/pages.py` from `nested-records.json`; do not edit. Every release was made, verified and evaluated \
with the commands `publish`, `verify` and `evaluate`. The schema files are in `benchmarks/schemas`: every field has a \
role, hierarchies are public knowledge, and nothing was chosen on these data. The methods have their \
defaults, chosen on synthetic students.

*LM* is the share of labels that is lost, by generalisation or by suppression. Queries ask how many records have a \
label, a sensitive value, or two on a path; the mean accuracy takes negative ones as 0. *Full-domain roots* is the \
simplest rival with the same promise: everything below the roots is suppressed, and every attribute of the roots is \
published at one level of its hierarchy for all records, the levels with the least loss. *Single pass, greedy* is \
`clustree` with `passes=single` and `mapping=greedy`. *k-anonymity only* is \
`clustree-packing` with k = l and without regard to sensitive values: it promises less. *Roots only* are hidden \
roots. Where a run was repeated, its range follows the mean."""
_ATTACKS = """## How to read the attacks

- **Homogeneity** is what the promise is about: records that share a sensitive value with all records that look \
alike. It is 0 where l-diversity holds; under *k-anonymity only* it is what l-diversity adds.
- **Some vertex** is not covered: classes in which all records have a value somewhere, such as the same medication. \
Many alike siblings make it likely, as the release with shuffled values shows.
- **One known value** is not covered: the share of sensitive values that single out a record among those that look \
alike. Whoever knows one of those about a person reads all others. Diversity is no help: it is what tells records apart.
- **Missing vertex** is not covered: somebody whose own vertex is missing guesses that another person's, missing as \
well, had the same value. Where there are few guesses, their share that is right says little.
- No attack here uses that values may differ but mean much the same: two names of one illness, or scores of two \
neighbouring tens."""

_TWO = """## Two releases

Patients (fhir-synthea) were published twice by `clustree-packing` with the same promise (by `two_releases.py`). \
No promise covers this. The attacker knows labels and shape of a person's record, and so its class in each release, \
and compares diagnoses, medications and allergies. *Linked*: a record of the first class stays a candidate if one of \
the records of the second release that are most like it, among all with labels of roots that fit, is in the second \
class. *Best pair*: the candidates are the records of the first class that are most like a record of the second one. \
Where one is left, a random pick from the first class would be right for 1 in l, or k. Shares are of the patients in \
both releases; of the first 100 patients of the file, five pairs of releases were attacked."""

Run = Mapping[str, Any]
Runs = Sequence[Run]


def record_pages(results: Mapping[str, Any], two_releases: Mapping[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    runs = [run for run in results.values() if "way" in run]
    parts = [_HEAD, _sizes(results), "![loss of labels](nested-records-loss.svg)"]
    parts += ["![accuracy of queries](nested-records-queries.svg)"]
    for name, what in SETS.items():
        own = [run for run in runs if run["set"] == name]
        told = [_told(title, means) for title, means in results[f"{name}, data"]["children"].items()]
        parts += [f"## {name}\n\n{what}", _kept(own), *told, _attributes(own), _attacks(own)] if own else []
    parts += [_TWO, _two(two_releases), _costs(runs), _ATTACKS]
    charts = {
        "nested-records-loss.svg": _chart("Loss of labels (LM), lower is better", runs, LOSS),
        "nested-records-queries.svg": _chart("Mean accuracy of queries, higher is better", runs, ACCURACY),
    }
    return {"nested-records.md": "\n\n".join(parts) + "\n", **charts}


def _two(results: Mapping[str, Any]) -> str:
    rows = []
    for each in results.values():
        total = sum(run["patients in both"] for run in each["runs"])
        ways = [f"{way}: {left}" for way in ("linked", "best pair") for left in ("one candidate", "the right one")]
        shares = [f"{sum(run[way] for run in each['runs']) / total:.0%}" for way in ways]
        rows.append([f"{each['patients']:,}", each["promise"], *shares])
    return table(
        ["patients", "promise", "linked: one candidate", "the right one", "best pair: one", "the right one"], rows
    )


def _sizes(results: Mapping[str, Any]) -> str:
    rows = []
    for name in SETS:
        facts = results[f"{name}, data"]["facts"]
        alone = facts["records that look like no other"] / facts["records"]
        per = facts["labels per record"]
        sizes = [f"{facts[what]:,}" for what in ("records", "vertices", "labels")]
        rows.append([name, *sizes, f"{per['median']:,.0f}", f"{per['most']:,}", f"{alone:.0%}"])
    head = ["data", "records", "vertices", "labels", "labels per record, median", "most"]
    return table([*head, "records that look like no other"], rows)


def _told(title: str, means: Mapping[str, float]) -> str:
    """Say how far the shape of records tells a sensitive value."""
    child, _, parent = title.partition(" per ")
    ordered = sorted(means.items(), key=lambda each: each[1])
    listed = ", ".join(f"{mean:.1f} where it is *{value}*" for value, mean in ordered)
    return (
        f"The number of vertices of type {child} tells the sensitive value of a {parent}: on average {listed}. A "
        "diverse class joins records of different values, so of different sizes, and the larger ones lose what they "
        "have more."
    )


def values_of(run: Run, name: str) -> list[float]:
    """The values of a score in all repetitions of a run; empty if it was not measured."""
    return [each["scores"][name][0] for each in run["runs"] if name in each["scores"]]


def control_of(run: Run, name: str, control: str) -> float | None:
    """The mean of a score of a control."""
    values = [each["scores"][name][1].get(control) for each in run["runs"] if name in each["scores"]]
    given = [value for value in values if value is not None]
    return statistics.mean(given) if given else None


def _figure(values: Sequence[float], digits: int = 3) -> str:
    """Write a mean, and the range of repetitions unless it rounds to nothing."""
    if not values:
        return ""
    low, high = (f"{end:.{digits}f}" for end in (min(values), max(values)))
    return f"{statistics.mean(values):.{digits}f}" + (f" ({low} to {high})" if low != high else "")


def _divergence(run: Run) -> list[float]:
    mean = values_of(run, DIVERGENCES[0])
    single = [name for name in run["runs"][0]["scores"] if name.startswith(DIVERGENCES[1])]
    return mean or (values_of(run, single[0]) if single else [])


def _kept(runs: Runs) -> str:
    rows = []
    for run in runs:
        row = [str(run["l"]), f"**{run['way']}**" if run["way"] == OURS else run["way"]]
        row += [_figure(values_of(run, LOSS + part)) for part in ("", ": generalisation", ": suppression")]
        row += [_figure(values_of(run, name)) for name in ("share of records suppressed", ACCURACY)]
        row += [_figure(values_of(run, f"median {ACCURACY[5:]}")), _figure(_divergence(run), 4)]
        row.append(_figure(values_of(run, "mean class size of a record"), 1))
        rows.append(row)
    first = runs[0]
    controls = [control_of(first, name, "roots only") for name in (LOSS, ACCURACY)]
    head = ["l", "way", "LM", "by generalisation", "by suppression", "records suppressed", "accuracy, mean"]
    head += ["accuracy, median", "KL of sensitive values", "class of a record"]
    after = f"Roots only: LM {controls[0]:.3f}, mean accuracy {controls[1]:.3f}; everything suppressed: 1 and 0."
    return f"{table(head, rows)}\n\n{after}"


def _attributes(runs: Runs) -> str:
    """What our method loses by type, and by attribute."""
    ours = [run for run in runs if run["way"] == OURS]
    head = [f"share lost by {OURS}", *(f"l = {run['l']}" for run in ours)]
    names: list[str] = list(ours[0]["runs"][0]["scores"])
    types = [name for name in names if name.startswith("share of vertices suppressed, type ")]
    losses = [name for name in names if name.startswith(f"{LOSS} of ") and ":" not in name and " type " not in name]
    rows = [_row(f"vertices of type {name.rpartition(' ')[2]}", ours, name) for name in types]
    rows += [_row(f"LM of {name.removeprefix(f'{LOSS} of ')}", ours, name) for name in losses]
    return table(head, rows)


def _row(title: str, runs: Runs, name: str) -> list[str]:
    return [title, *(_figure(values_of(run, name)) for run in runs)]


def _attacks(runs: Runs) -> str:
    rows = []
    for run in runs:
        guesses, right = values_of(run, GUESSES), values_of(run, RIGHT)
        prior = control_of(run, RIGHT, "prior")
        missing = f"{statistics.mean(guesses):,.0f}" if guesses else ""
        if right:
            missing += f", {statistics.mean(right):.0%} right (by chance {prior:.0%})"
        row = [str(run["l"]), run["way"]]
        row += [_figure(values_of(run, name)) for name in (HOMOGENEITY, SOMEWHERE, KNOWN)]
        rows.append([*row, missing])
    for control in (ORIGINAL, SHUFFLED):
        ours = [run for run in runs if run["way"] == OURS]
        figures = [[control_of(run, name, control) for run in ours] for name in (HOMOGENEITY, SOMEWHERE, KNOWN)]
        title = control if control == ORIGINAL else f"{OURS}, {control}"
        rows.append(["", title, *(_figure([each for each in values if each is not None]) for values in figures), ""])
    head = ["l", "attacked", "homogeneity: records", "some vertex: classes", "one known value: values"]
    return table([*head, "missing vertex: guesses"], rows)


def _costs(runs: Runs) -> str:
    rows = []
    for run in runs:
        used = [each["used"] for each in run["runs"] if "used" in each]
        if used:
            row = [run["set"], str(run["l"]), run["way"]]
            row += [_figure([each[what][0] for each in used], 1) for what in ("publish", "verify", "evaluate")]
            rows.append([*row, f"{max(each[what][1] for each in used for what in each):.2f}"])
    head = ["data", "l", "way", "publish, s", "verify, s", "evaluate, s", "GB"]
    note = "Seconds of processor time of each command, with its start and reading; memory of the largest of the three."
    return f"## Time and memory\n\n{note}\n\n{table(head, rows)}"


def _chart(title: str, runs: Runs, name: str) -> str:
    ways: list[str] = list(dict.fromkeys(run["way"] for run in runs))

    def points(own: str, way: str) -> list[tuple[float, float]]:
        drawn = [run for run in runs if run["set"] == own and run["way"] == way]
        return [(run["l"], statistics.mean(values_of(run, name))) for run in drawn]

    drawn = [own for own in SETS if len(points(own, OURS)) > 1]
    return panels(title, "l", {own: {way: points(own, way) for way in ways} for own in drawn})
