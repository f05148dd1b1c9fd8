"""Make the result pages of the documents from the JSON that the benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SETTINGS = {"tree": "fan-out 10", "narrow": "fan-out 5, c1 1.5, c2 0.5, tau 1"}
CONTROLS = ("empty release", "noisy singletons")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def utility(scores: dict[str, dict[str, float]]) -> str:
    """Write the scores of one experiment, controls beside them."""
    rows = [
        [
            name,
            f"{held['value']:.3f}"
            + (f" +- {held['standard error']:.3f}" if "standard error" in held else ""),
            *(f"{held[control]:.3f}" for control in CONTROLS),
        ]
        for name, held in scores.items()
    ]
    return table(["measure", "diffpart", *CONTROLS], rows)


def five_groups(scores: dict[str, dict[str, float]]) -> float:
    """The mean over the five groups of uniform queries."""
    held = [score["value"] for name, score in scores.items() if "uniform" in name]
    return sum(held) / len(held)


def msnbc(name: str, held: dict[str, Any]) -> str:
    """Write one setting on MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters: all itemsets at once")
    return (
        f"## MSNBC as sets, epsilon {name.split()[1]}, {kind}\n\n"
        f"{held['runs']} runs; published in {held['seconds']:.2f} s, {held['ratio']:.2f} times the "
        f"floor. Mean over the five groups of uniform queries: {five_groups(held['scores']):.3f}."
        f"\n\n{utility(held['scores'])}"
    )


def sample(name: str, held: dict[str, Any]) -> str:
    """Write one setting on a sample of MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters: all itemsets at once")
    return (
        f"## {int(name.split()[1]):,} records of MSNBC, epsilon 1, {kind}\n\n"
        f"{held['runs']} runs. Mean over the five groups of uniform queries: "
        f"{five_groups(held['scores']):.3f}.\n\n{utility(held['scores'])}"
    )


def large(name: str, held: dict[str, Any]) -> str:
    """Write a large universe."""
    return (
        f"## {name.capitalize()}, epsilon 1\n\n"
        f"{held['records']:,} records, {held['items']:,} items; "
        f"published in {held['seconds']:.1f} s with {held['gigabytes']:.2f} GB. Of the records "
        f"{held['released'] / held['records']:.1%} come out, as {held['itemsets']:,} itemsets.\n\n"
        f"{utility(held['scores'])}"
    )


def growth(name: str, held: list[dict[str, Any]]) -> str:
    """Write how time grows."""
    rows = [[f"{row['records']:,}", f"{row['items']:,}", f"{row['seconds']:.2f}"] for row in held]
    return f"## Growth with {name}\n\n{table(['records', 'items', 'seconds'], rows)}"


def persons(held: dict[str, Any]) -> str:
    """Write the figures for persons."""
    head = ["baskets a person at most", "baskets used", "released", "seconds"]
    rows = [
        [
            most,
            f"{row['used']:,} of {row['records']:,}",
            f"{row['released']:,}",
            f"{row['seconds']:.2f}",
        ]
        for most, row in held.items()
    ]
    title = f"## FoodMart by category, unit person, epsilon 1\n\n{table(head, rows)}"
    tables = [f"At most {most}:\n\n{utility(row['scores'])}" for most, row in held.items()]
    return "\n\n".join([title, *tables])


def page(results: dict[str, Any]) -> str:
    """Write the page of DiffPart."""
    head = (
        "# Results: diffpart\n\nMade by `benchmarks/pages.py` from `diffpart.json`; do not edit. "
    )
    head += "Times are of publishing alone, reading apart; the floor is to gunzip, parse and sort."
    parts = [head]
    for name, held in results.items():
        if name.startswith("msnbc"):
            parts.append(msnbc(name, held))
        elif name.startswith("sample"):
            parts.append(sample(name, held))
        elif name in {"retail", "generated"}:
            parts.append(large(name, held))
        elif name in {"records", "items"}:
            parts.append(growth(name, held))
        else:
            parts.append(persons(held))
    return "\n\n".join(parts) + "\n"


def kcl_page(made_up: dict[str, Any], real: dict[str, Any]) -> str:
    """Write the page of (K,C)_L-privacy."""
    head = (
        "# Results: kcl\n\nMade by `benchmarks/pages.py` from `kcl.json` and `kcl-real.json`; "
        "do not edit. C = 60 %, L = 3, metric instances; a visit is a pair of place and time."
    )
    return "\n\n".join([head, _schedules(made_up), _scale(made_up), *_real(real)]) + "\n"


def _schedules(held: dict[str, Any]) -> str:
    rows = [
        [
            f"{name}: {run['records']:,} walks, K = {run['k']}",
            mode,
            *(f"{run[f'{way} {mode}'][0]:.3f}" for way in ("greedy", "batch")),
            *(f"{run[f'{way} {mode}'][1]:.2f}" for way in ("greedy", "batch")),
        ]
        for name, run in held.items()
        if "k" in run
        for mode in ("local", "global")
    ]
    head = ["data", "mode", "loss, greedy", "loss, batch", "seconds, greedy", "seconds, batch"]
    return f"## One operation at a time, or many\n\n{table(head, rows)}"


def _scale(held: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{run['records']:,}",
            f"{run['pairs']:,}",
            f"{sum(run['mvs']):,}",
            f"{run['mining']:.1f}",
            f"{run['local']['seconds']:.1f}",
            f"{run['verification']:.1f}",
            f"{run['gigabytes']:.1f}",
            f"{run['local']['loss']:.3f}",
            f"{run['global']['loss']:.3f}",
        ]
        for name, run in held.items()
        if "mvs" in run
    ]
    head = ["walks", "records", "pairs", "MVS", "mining, s", "local suppression, s"]
    head += ["verification, s", "GB", "loss, local", "loss, global"]
    return (
        "## Made-up walks, K = 30, many operations at a time\n\nMean length 6, a fifth of the "
        f"records sensitive (`hedgerow.samples.walks`).\n\n{table(head, rows)}"
    )


def _real(held: dict[str, Any]) -> list[str]:
    parts = []
    for name, data in held.items():
        rows = []
        for run in data["runs"]:
            lost, beside = run["visits that were suppressed"]
            who, controls = run["identity linkage by 3 visits"]
            row = [str(run["k"]), f"{lost:.3f}", f"{beside['global suppression']:.3f}"]
            row += [f"{controls['original']:.3f}", f"{who:.4f}", f"{run['seconds']:.1f}"]
            what, theirs = run.get("attribute linkage by 3 visits", [None, {}])
            row += ["" if what is None else f"{theirs['original']:.3f}"]
            row += ["" if what is None else f"{what:.3f}"]
            rows.append(row)
        head = ["K", "loss, local", "loss, global", "identity linkage before", "after", "seconds"]
        head += ["attribute linkage before", "after"]
        facts = f"{data['records']:,} records, {data['visits']:,} visits, {data['pairs']:,} pairs"
        parts.append(f"## {name}\n\n{data['what']} {facts}.\n\n{table(head, rows)}")
    return parts


def main() -> None:
    """Write every page."""
    held = {path.stem: json.loads(path.read_text()) for path in RESULTS.glob("*.json")}
    (RESULTS / "diffpart.md").write_text(page(held["diffpart"]))
    (RESULTS / "kcl.md").write_text(kcl_page(held["kcl"], held["kcl-real"]))


if __name__ == "__main__":
    main()
