"""The result page of nested records on synthetic students."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plots import growth
from tables import table

VALUES = (2, 3, 4, 5)
KINDS = {"S": "courses below the student", "T": "courses below college years"}
#: LM of the reference engine of our specification, on seed 1 with one order of the records, for packing the least
REFERENCE = {
    ("S", "packing"): (0.2229, 0.3369, 0.4326, 0.5276),
    ("T", "packing"): (0.3365, 0.5010, 0.6011, 0.6832),
    ("S", "single pass"): (0.2297, 0.3514, 0.4475, 0.5443),
    ("S", "all passes"): (0.2229, 0.3369, 0.4326, 0.5276),
    ("S", "greedy mapping, single pass"): (0.2706, 0.3992, 0.5006, 0.5894),
    ("S", "thesis, single pass"): (0.2297, 0.3601, 0.4712, 0.5684),
    ("S", "thesis, all passes"): (0.2250, 0.3449, 0.4469, 0.5408),
    ("T", "single pass"): (0.3461, 0.5010, 0.6011, 0.6832),
    ("T", "all passes"): (0.3365, None, None, None),
    ("T", "greedy mapping, single pass"): (0.3753, 0.5473, 0.6665, 0.7577),
}


def clustree_pages(results: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its chart."""
    head = (
        "# Results: clustree and clustree-packing\n\nMade by `benchmarks/pages.py` from `clustree.json`; do not edit. "
        "1,000 synthetic students with about 20 courses and 20 books each (`benchmarks/recon.py`), five data sets "
        "(seeds 1 to 5): mean +- standard error. The loss is LM: the share of labels that is lost, by generalisation "
        "or suppression. *Single pass* and *all passes* are `clustree` with `passes` single and many, *packing* is "
        "`clustree-packing`, whose constants were chosen on another data set (seed 11). *Thesis* counts a class as one "
        "record, compares absolute costs and suppresses what is left over. Publishing roots alone, with hidden labels, "
        "loses everything (1.000), as does publishing nothing. Empty cells have not been run.\n\n"
        "Seconds are processor time of `publish`, "
        "verification included, on a machine that was shared with other work."
    )
    parts = [head, *(_losses(kind, results) for kind in KINDS), _orders(results), _anonymous(results)]
    parts += [_queries(results), _times(results), _pairs(results), _growth(results)]
    chart = {"clustree-records.svg": _chart(results)}
    return {"clustree.md": "\n\n".join(part for part in parts if part) + "\n", **chart}


def _runs(kind: str, results: dict[str, Any]) -> dict[str, dict[int, dict[str, Any]]]:
    """The runs of a kind by way and l; the guarantee is l-diversity."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for name, run in results.items():
        if name.startswith(f"{kind}, l"):
            runs.setdefault(run["way"], {})[run["l"]] = run
    return runs


def _figure(run: dict[str, Any] | None, name: str, digits: int = 4) -> str:
    if run is None or name not in run:
        return ""
    mean, error = run[name]
    return f"{mean:.{digits}f} +- {error:.{digits}f}"


def _rows(runs: dict[str, dict[int, dict[str, Any]]], cell: Callable[[dict[str, Any] | None], str]) -> list[list[str]]:
    return [[way, *(cell(by_l.get(values)) for values in VALUES)] for way, by_l in runs.items()]


def _losses(kind: str, results: dict[str, Any]) -> str:
    runs = _runs(kind, results)
    head = ["LM", *(f"l = {values}" for values in VALUES)]
    rows = _rows(runs, lambda run: _figure(run, "loss"))
    beside = [
        [way, *(_beside(runs[way].get(values), figure) for values, figure in zip(VALUES, figures, strict=True))]
        for (of, way), figures in REFERENCE.items()
        if of == kind and way in runs
    ]
    return (
        f"## Kind {kind}: {KINDS[kind]}\n\n{table(head, rows)}\n\nSeed 1 alone, beside the reference figures of our "
        "specification, which are one data set and one order of the records (in brackets; for all passes "
        "with l = 4 and 5, those of the absolute threshold; for packing, which the specification does not have, the "
        f"least of all ways).\n\n{table(head, beside)}"
    )


def _orders(results: dict[str, Any]) -> str:
    """Write what the order of the records changes."""
    runs = [run for name, run in results.items() if name.startswith("orders")]
    rows = [[str(run["l"]), *(f"{loss:.4f}" for loss in sorted(run["losses"]))] for run in runs]
    text = "The loss of all passes on seed 1 (kind S) in five random orders of the records, sorted:"
    return f"{text}\n\n{table(['l', *('least', '', '', '', 'most')], rows)}" if rows else ""


def _beside(run: dict[str, Any] | None, reference: float | None) -> str:
    ours = "" if run is None else f"{run['first']:.4f}"
    return ours if reference is None else f"{ours} ({reference:.4f})"


def _anonymous(results: dict[str, Any]) -> str:
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for name, run in results.items():
        if name.startswith("S, k"):
            runs.setdefault(run["way"], {})[run["l"]] = run
    if not runs:
        return ""
    head = ["LM", *(f"k = {values}" for values in VALUES)]
    return f"## k-anonymity only, kind S\n\n{table(head, _rows(runs, lambda run: _figure(run, 'loss')))}"


def _queries(results: dict[str, Any]) -> str:
    rows = [
        [
            *(kind, way, str(values)),
            *(_figure(run, name, 3) for name in ("accuracy", "accuracy, roots only")),
            f"{run['divergence'][0]:.1e}",
            f"{run['records'][0]:.4f}",
        ]
        for kind in KINDS
        for way, by_l in _runs(kind, results).items()
        for values, run in sorted(by_l.items())
        if "accuracy" in run
    ]
    head = ["kind", "way", "l", "accuracy of queries", "roots only", "mean KL, nats", "records suppressed"]
    return (
        "## Queries\n\nHow many students have a label, a sensitive value, or both on one path: random queries that at "
        f"least one in a hundred students satisfies, as `hedgerow evaluate` asks them.\n\n{table(head, rows)}"
    )


def _times(results: dict[str, Any]) -> str:
    rows = [
        [f"{kind}, {row[0]}", *row[1:]]
        for kind in KINDS
        for row in _rows(_runs(kind, results), lambda run: _figure(run, "seconds", 1))
    ]
    return f"## Seconds\n\n{table(['1,000 records', *(f'l = {values}' for values in VALUES)], rows)}"


def _pairs(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for name, run in results.items():
        if not name.startswith("search"):
            continue
        single = run["single pass"][0]
        for way in (key for key in run if key not in ("kind", "l")):
            seconds, considered, evaluated = run[way]
            row = [run["kind"], str(run["l"]), way, f"{considered:,}", f"{evaluated / considered:.1%}"]
            rows.append([*row, f"{evaluated / seconds:,.0f}", f"{seconds:.1f}", f"{seconds / single:.1f}"])
    head = ["kind", "l", "way", "pairs", "evaluated", "evaluated per second", "seconds", "times the single pass"]
    return (
        "## Pairs of a class and a record\n\nHow many the bound on histograms does not exclude; the search alone, "
        "seed 1. *Greedy packing* is what `clustree-packing` does for l > 2. The thesis "
        f"reports minutes, and 10 to 15 times the single pass for all passes.\n\n{table(head, rows)}"
    )


def _growth(results: dict[str, Any]) -> str:
    runs = sorted(_grown(results), key=lambda run: (run["way"], run["block"], run["grown to"]))
    rows = [
        [
            *(run["way"], f"{run['grown to']:,}", f"{run['block']:,}"),
            *(f"{run['seconds']:.1f}", f"{run['waited']:.0f}", f"{run['gigabytes']:.2f}", f"{run['loss']:.4f}"),
        ]
        for run in runs
    ]
    head = ["way", "records", "block", "seconds", "wall clock, s", "GB", "LM"]
    return (
        "## Growth, kind S, l = 3, one data set\n\nBlocks of 8,000 hold all records of up "
        f"to 8,000.\n\n{table(head, rows)}\n\n![growth with records](clustree-records.svg)"
    )


def _grown(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [run for run in results.values() if "grown to" in run]


def _chart(results: dict[str, Any]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for run in sorted(_grown(results), key=lambda run: run["grown to"]):
        name = f"{run['way']}, blocks of {run['block']:,}"
        series.setdefault(name, []).append((run["grown to"], run["seconds"]))
    return growth("clustree: growth with records", "records", "seconds", series)
