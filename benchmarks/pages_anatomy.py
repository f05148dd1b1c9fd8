"""The result page of anatomised records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anatomy_sources import QUERIES
from tables import table

VALUES = (2, 3, 4, 5)
METHODS = ("anatomy-matching", "anatomy")
FORMS = ("trees", "vertices")
#: the columns of the specification's figures with rules
COLUMNS = tuple((method, form) for method in ("anatomy", "anatomy-matching") for form in FORMS)
GENERALISED = ("clustree", "clustree-packing")
_HEAD = """# Results: anatomy-matching and anatomy

Made by `benchmarks/pages.py` from `anatomy.json` and `anatomy-sources.json`; do not edit. Most figures are of 1,000 \
synthetic students with about 20 courses and 20 books each (`benchmarks/recon.py`), data sets of seeds 1 to 5, each in \
a random order: mean +- standard error. *Suppression accuracy* is the mean share of the vertices of a record that are \
published, in percent. In brackets are the figures of the specification that the methods were built from: one data \
set, one order. *Trees* and *vertices* are the two forms; without rules both have the same groups. Rules are on each \
of the ten grades: nobody is more than *p* sure that a student has *m* or more of one. Empty cells have not been run. \
Seconds are processor time, on a machine that was shared with other work."""


def anatomy_page(results: dict[str, Any], sources: dict[str, Any]) -> str:
    """Write the page."""
    parts = [_HEAD, _plain(results), _ruled(results), _parts(results), _families(results), _claims(results)]
    parts += [_sources(sources), _questions(sources), _speed(results, sources)]
    return "\n\n".join(parts) + "\n"


def _kept(run: dict[str, Any] | None, expected: float | None = None, digits: int = 1) -> str:
    beside = "" if expected is None else f" ({expected:.1f})"
    return f"{run['kept'][0]:.{digits}f} +- {run['kept'][1]:.{digits}f}{beside}" if run else beside.strip()


def _plain(results: dict[str, Any]) -> str:
    expected = results["expected"]["no rules"]
    rows = [
        [method, *(_kept(results.get(f"{method}, l = {size}"), expected[method].get(str(size))) for size in VALUES)]
        for method in METHODS
    ]
    head = ["suppression accuracy, %", *(f"l = {size}" for size in VALUES)]
    return f"## What is kept without rules\n\n{table(head, rows)}"


def _ruled(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for (size, m, p), expected in results["expected"]["rules"]:
        names = [f"{method}, l = {size}, m = {m}, p = {p}, {form}" for method, form in COLUMNS]
        cells = [_kept(results.get(name), figure) for name, figure in zip(names, expected, strict=True)]
        rows.append([f"l = {size}, m = {m}, p = {p}", *cells])
    head = ["suppression accuracy, %", *(f"{method}, {form}" for method, form in COLUMNS)]
    return (
        f"## What is kept with rules\n\nFive partitions.\n\n{table(head, rows)}\n\n"
        "Tree by tree keeps more wherever p is 1/l or more: one tree of l may then break a rule freely. All ten "
        "grades have a rule here, and a student has twenty courses: rules on few values cost much less, as below."
    )


def _parts(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for parts, expected in results["expected"]["parts"].items():
        runs = [results.get(f"{method}, {parts} parts") for method in ("anatomy", "anatomy-matching")]
        plain = results.get(f"anatomy, {parts} parts, no rules")
        cells = [_kept(runs[0], expected), _seconds(runs[0]), _kept(runs[1]), _seconds(runs[1])]
        rows.append([parts, *cells] if runs[0] or runs[1] or plain else [parts, "", "", "", ""])
    head = ["partitions", "anatomy, %", "seconds", "anatomy-matching, %", "seconds"]
    return f"## Partitions\n\nTrees, l = 3, m = 3, p = 3/4.\n\n{table(head, rows)}"


def _seconds(run: dict[str, Any] | None) -> str:
    return f"{run['seconds'][0]:.1f}" if run else ""


def _asked(results: dict[str, Any]) -> dict[tuple[int, int, str], dict[str, Any]]:
    """The accuracies of the families by setting."""
    runs = [run for name, run in results.items() if name.startswith("families")]
    return {tuple(run["setting"]): run["accuracy"] for run in runs}


def _families(results: dict[str, Any]) -> str:
    asked = _asked(results)
    families = [name for name in next(iter(next(iter(asked.values())).values())) if name != "all"]
    listed = "; ".join(f"*{name.split()[0]}* {name.split(maxsplit=1)[1]}" for name in families)
    text = (
        "## Queries\n\nThe mean accuracy of up to 40 count queries of each of ten families that at least one in a "
        "hundred students satisfies, seeds 1 to 3, with l = 4 seed 1 alone: 1 minus the relative error, negative ones "
        f"as 0. The thesis prints three of the families; the others are ours: {listed}. The settings are "
        "those of the thesis. *clustree* and *clustree-packing* generalise, with the same l and no rules. Standard "
        "errors of the last column are below 0.01 unless given; one data set has none."
    )
    for (size, m, p), accuracy in asked.items():
        rows = [
            [way, *(f"{found[name][0]:.2f}" for name in families), _all(found["all"])]
            for way, found in sorted(accuracy.items(), key=_order)
        ]
        head = ["accuracy of queries", *(name.split()[0] for name in families), "all"]
        text += f"\n\nl = {size}; rules with m = {m}, p = {p}.\n\n{table(head, rows)}"
    return text


def _all(found: list[float]) -> str:
    return f"{found[0]:.3f}" + (f" +- {found[1]:.3f}" if found[1] >= 0.01 else "")


def _order(item: tuple[str, Any]) -> tuple[bool, bool]:
    return item[0].endswith("rules"), item[0] in GENERALISED


def _claims(results: dict[str, Any]) -> str:
    asked = _asked(results)

    def gains(way: str, other: str) -> str:
        found = [100 * (accuracy[way]["all"][0] - accuracy[other]["all"][0]) for accuracy in asked.values()]
        return f"{', '.join(f'{gain:+.1f}' for gain in found)} points at l = {', '.join(str(key[0]) for key in asked)}"

    one, five = (results.get(f"anatomy, {parts} parts") for parts in (1, 5))
    partitions = (
        f"nearly holds: {five['seconds'][0] / one['seconds'][0]:.2f} of the time, "
        f"{five['kept'][0] - one['kept'][0]:+.1f} points of suppression accuracy with first fit"
        if one and five
        else "not measured"
    )
    claims = {
        "tree by tree answers queries 6 to 10 % better than generalisation, without rules": _more(gains, "trees"),
        "vertex by vertex 3 to 5 % better": _more(gains, "vertices"),
        "five partitions take a third of the time, and cost 3 %": partitions,
        "suppression accuracy without rules is above 80, 70 and 60 % for l = 2, 3, 4": "holds for first fit; "
        "assignments keep above 97 %",
        "with rules, vertex by vertex keeps more than tree by tree": "does not hold: tree by tree keeps more in every "
        "cell above, since it is the looser promise if p is 1/l or more",
        "without rules, tree by tree answers queries better": f"holds: {gains('anatomy, trees', 'anatomy, vertices')}",
        "with rules, vertex by vertex answers queries better": "does not hold: "
        + gains("anatomy, vertices, rules", "anatomy, trees, rules"),
        "deeper queries are answered worse": "holds: titles (F8) and prices (F9) are answered worse than courses (F4)",
    }
    rows = [[claim, found] for claim, found in claims.items()]
    return (
        f"## Which claims of the thesis hold\n\n{table(['claim', 'here'], rows)}\n\n"
        "Anatomy wins where labels are asked, which it publishes as they were; on sensitive values alone (F5) "
        "vertex by vertex is no better than generalisation. With rules on all ten grades vertex by vertex answers "
        "worse than generalisation without any, which makes no such promise."
    )


def _more(gains: Callable[[str, str], str], form: str) -> str:
    first, ours = gains(f"anatomy, {form}", "clustree"), gains(f"anatomy-matching, {form}", "clustree-packing")
    return f"holds, and more: first fit over clustree {first}; anatomy-matching over clustree-packing {ours}"


# Public data.


def _runs(sources: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [run for run in sources.values() if run["set"] == name and "way" in run]


def _sets(sources: dict[str, Any]) -> list[str]:
    return [run["set"] for run in sources.values() if "counts" in run]


def _sources(sources: dict[str, Any]) -> str:
    text = (
        "## Public data\n\nPatients as FHIR bundles (made up by Synthea) and students of the Open University (real, "
        "joined tables), by the command line: `hedgerow publish`, `verify`, `query`. The schemas and the two rules of "
        "each are in `benchmarks/schemas`: patients must not be linked with an overdose or self-harm, nor with "
        "opioids, with more than 1/2; students not with a failed course with more than 1/2, nor with two scores below "
        "40 with more than 1/3. The shares are of vertices, in percent."
    )
    for name in _sets(sources):
        original = sources[f"{name}, data"]["vertices"]
        rows: list[list[str]] = []
        for run in _runs(sources, name):
            shares = [100 * run["vertices"][kind] / number for kind, number in original.items()]
            every = 100 * sum(run["vertices"].values()) / sum(original.values())
            rows.append([run["way"], str(run["l"]), f"{every:.1f}", *(f"{share:.1f}" for share in shares)])
        heads = [f"{kind} ({number:,})" for kind, number in original.items()]
        text += f"\n\n{table([name, 'l', 'all vertices', *heads], rows)}"
    return f"{text}\n\n{_SOURCE_NOTES}"


_SOURCE_NOTES = """All patients stay, with more than nine in ten of their vertices; rules on rare values cost little, \
and first fit keeps nearly as much: there is one level, and there are a hundred values. Allergies go first: few \
patients have any, and members of a group need equally many. Students lose three in ten registrations at l = 2, and \
more than half at l = 3: the number of results tells whether somebody passed, and groups are of students with similar \
numbers of vertices, so that there are not enough with another outcome. That is also the methods' doing: a group that \
keeps little but its roots counts as well as any, and its members are not tried again with students of other sizes."""


def _questions(sources: dict[str, Any]) -> str:
    text = "### Queries on them\n\nThe true count, and the estimate with its interval."
    for name in _sets(sources):
        truth = sources[f"{name}, data"]["counts"]
        runs = [run for run in _runs(sources, name) if run["l"] == 2]
        rows = [
            [
                f"`{count}`: {' and '.join(f'`{condition}`' for condition in where)}",
                f"{truth[number]:,.0f}",
                *(_answer(run["answers"][number]) for run in runs),
            ]
            for number, (count, *where) in enumerate(QUERIES[name])
        ]
        text += f"\n\n{table([f'{name}, l = 2', 'true', *(run['way'] for run in runs)], rows)}"
    return (
        f"{text}\n\nEstimates are below the truth where vertices were suppressed, and far from it where a sensitive "
        "value follows a label, as scores follow the course: within groups all links count as equally likely. The "
        "interval is over these links only, and does not hold the truth then, as `hedgerow query` says."
    )


def _answer(found: list[float]) -> str:
    estimate, low, high = found
    return f"{estimate:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")


def _speed(results: dict[str, Any], sources: dict[str, Any]) -> str:
    rows = [
        [
            run["method"] + (", rules" if run["ruled"] else ""),
            f"{run['grown to']:,}",
            f"{run['seconds']:.1f}",
            f"{run['gigabytes']:.2f}",
            f"{run['vertices kept']:.1f}",
        ]
        for run in results.values()
        if "grown to" in run
    ]
    rows += [
        [f"{run['command']}, the whole command", f"{run['records']:,}", f"{run['seconds']:.1f}",
         f"{run['gigabytes']:.2f}", ""]
        for run in results.values()
        if "command" in run
    ]  # fmt: skip
    own = [
        [
            f"{run['set']}, l = {run['l']}, {run['way']}",
            f"{run['used']['publish'][0]:.1f}",
            f"{run['used']['publish'][1]:.2f}",
            f"{run['used']['verify'][0]:.1f}",
        ]
        for name in _sets(sources)
        for run in _runs(sources, name)
    ]
    head = ["students, l = 3", "records", "seconds", "GB", "vertices kept, %"]
    return (
        "## Time and memory\n\nSynthetic students, published and verified in one part per 1,000 records.\n\n"
        f"{table(head, rows)}\n\nThe commands on public data.\n\n"
        f"{table(['data', 'publish, seconds', 'GB', 'verify, seconds'], own)}"
    )
