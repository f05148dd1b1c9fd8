"""The result page of (K,C)_L-privacy."""

from __future__ import annotations

from typing import Any

from plots import growth
from tables import table


def kcl_pages(synthetic: dict[str, Any], real: dict[str, Any]) -> dict[str, str]:
    """Write the page, and its charts."""
    head = (
        "# Results: kcl and kcl-reinsertion\n\nMade by `benchmarks/pages.py` from `kcl.json` and "
        "`kcl-reinsertion.json`; do not edit. C = 60 %, L = 3, metric instances; a visit is a pair of place and "
        "time, and the loss is the share of visits that are suppressed.\n\n"
        "*Local* and *global* are the paper's operations (`kcl`; here local ones in batches, unless stated "
        "otherwise). *Re-inserted* is the loss after local suppression and re-insertion "
        "(`kcl-reinsertion`); *grown* is re-insertion that starts from no visits (its `schedule = grow`).\n\n"
        "Seconds are processor time, summed over all threads. "
        "*Identity* and *attribute* are the confidence of an attacker who knows three visits, in a record "
        "and in a sensitive value: by guessing, from the original, from the release, and from the "
        "release if the attacker also knows how many records lost each visit (*informed*)."
    )
    charts = "\n\n".join(f"![growth with {axis}](kcl-{axis}.svg)" for axis in AXES)
    parts = [head, _schedules(synthetic), _scale(synthetic), charts, *_real(real)]
    drawings = {f"kcl-{axis}.svg": _growth_chart(axis, synthetic) for axis in AXES}
    return {"kcl.md": "\n\n".join(parts) + "\n", **drawings}


AXES = ("records", "pairs")


def _growth_chart(axis: str, results: dict[str, Any]) -> str:
    """Draw how the times grow with the records, or with the pairs."""
    other = {"records": "pairs", "pairs": "records"}[axis]
    chosen = {"pairs": 3_264, "records": 120_000}[other]
    runs = sorted(
        (run for run in results.values() if "mvs" in run and run[other] == chosen),
        key=lambda run: run[axis],
    )
    series = {
        "mining": [(run[axis], run["mining"]) for run in runs],
        "local suppression": [(run[axis], run["local"]["seconds"]) for run in runs],
        "re-insertion, two orders": [(run[axis], run["reinserted"]["seconds"]) for run in runs],
        "verification": [(run[axis], run["verification"]) for run in runs],
    }
    return growth(f"kcl: growth with {axis} ({chosen:,} {other})", axis, "seconds", series)


def _schedules(results: dict[str, Any]) -> str:
    rows = [
        [
            f"{name}: {run['records']:,} walks, K = {run['k']}",
            *(f"{run[way]['loss']:.3f}" for way in ("global", "greedy", "batch")),
            *(f"{run[f'{way}, reinserted']:.3f}" for way in ("greedy", "batch")),
            *(f"{run[way]['seconds']:.2f}" for way in ("global", "greedy", "batch")),
        ]
        for name, run in results.items()
        if "k" in run
    ]
    head = ["data", "loss, global", "loss, one at a time", "loss, batch", "one at a time, re-inserted"]
    head += ["batch, re-inserted", "seconds, global", "seconds, one at a time", "seconds, batch"]
    return f"## One local operation at a time (kcl), or batches\n\n{table(head, rows)}"


def _scale(results: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{run['records']:,}",
            f"{run['pairs']:,}",
            f"{sum(run['mvs']):,}",
            f"{run['mining']:.1f}",
            f"{run['local']['seconds']:.1f}",
            f"{run['reinserted']['seconds']:.1f}",
            f"{run['verification']:.1f}",
            f"{run['grown']['seconds']:.1f}",
            f"{run['published']:.1f}",
            f"{run['gigabytes']:.1f}",
            *(f"{run[way]['loss']:.3f}" for way in ("global", "local", "reinserted", "grown")),
        ]
        for name, run in results.items()
        if "mvs" in run
    ]
    head = ["walks", "records", "pairs", "MVS", "mining, s", "local suppression, s"]
    head += ["re-insertion, s", "verification, s", "growing, s", "kcl-reinsertion, s", "GB"]
    head += ["loss, global", "loss, local", "loss, re-inserted", "loss, grown"]
    return (
        "## Synthetic walks, K = 30, operations in batches\n\nMean length 6; a fifth of the "
        "records are sensitive (`hedgerow.kinds.trajectories.generated_walks`). Re-insertion and growing are timed for "
        "two orders of the pairs, and the better result is taken. *kcl-reinsertion* is one run of "
        "`publish`, including the check of its result; if it only grows, nothing is mined."
        f"\n\n{table(head, rows)}"
    )


def _real(results: dict[str, Any]) -> list[str]:
    parts = []
    for name, data in results.items():
        facts = f"{data['records']:,} records, {data['visits']:,} visits, {data['pairs']:,} pairs"
        owners = (
            f" **These are the records of {data['persons']:,} persons.** K counts records: the "
            "guarantee here is about weeks, and is weaker for a person, who owns "
            f"{data['records'] / data['persons']:.0f} of them on average."
            if data["persons"]
            else ""
        )
        text = f"{data['what']} {facts}.{owners}"
        parts.append(f"## {name}\n\n{text}\n\n{_runs(data['runs'])}")
        if data["shares"]:
            parts.append(_shares(data["shares"]))
    return parts


INFORMED = ", aware of suppression"
#: below this more digits are shown
_SMALL = 0.01


def _runs(runs: list[dict[str, Any]]) -> str:
    rows = []
    for run in runs:
        lost, controls = run["share of visits suppressed"]
        row = [str(run["k"]), f"{controls['global suppression']:.3f}", f"{run['local']:.3f}"]
        row += [f"**{lost:.3f}**", f"{run['grown']:.3f}", f"{controls['one visit per record']:.3f}"]
        row.append(f"{run['seconds']:.1f}")
        for what in ("identity linkage, 3 known visits", "attribute linkage, 3 known visits"):
            after, controls = run.get(what, [None, {}])
            informed, _ = run.get(what + INFORMED, [None, {}])
            figures = (controls.get("guessing"), controls.get("original"), after, informed)
            row += ["" if figure is None else _small(figure) for figure in figures]
        rows.append(row)
    head = ["K", "loss, global", "loss, local", "loss, re-inserted", "loss, grown"]
    head += ["one visit per record", "seconds"]
    for what in ("identity", "attribute"):
        head += [f"{what}: guessing", "original", "release", "informed"]
    return table(head, rows)


def _small(figure: float) -> str:
    return f"{figure:.3f}" if figure >= _SMALL else f"{figure:.5f}"


def _shares(runs: list[dict[str, Any]]) -> str:
    rows = [
        [
            str(run["k"]),
            run["c"],
            f"{run['blind']['loss']:.3f}",
            f"{run['ours']['loss']:.3f}",
            *(
                f"{beyond:,} of {number:,} ({beyond / number:.1%})" if number else "none"
                for way in ("ours", "blind")
                for number, beyond in (run[way]["at the limit"], run[way]["others"])
            ),
        ]
        for run in runs
    ]
    head = ["K", "C", "loss, K alone", "loss, K and C", "at the limit, truly above C"]
    head += ["others", "K alone: at the limit", "K alone: others"]
    return (
        "### Smaller shares of a sensitive value\n\nA visit is *at the limit* if one more record "
        "with a sensitive value would be too many, and *truly above* C if its share exceeds C in the "
        "original. Some are there by chance, also if sensitive values are never read "
        "(*K alone*); more than that would disclose that records were selected by their sensitive value.\n\n"
        + table(head, rows)
    )
