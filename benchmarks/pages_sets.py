"""The result pages of methods for sets."""

from __future__ import annotations

from typing import Any

from pages_pairwise import MEASURES, comparison_table, list_losses
from tables import table

SETTINGS = {"tree": "default parameters", "narrow": "fan-out 5, c1 1.5, c2 0.5, tau 1"}
FEW_ITEMS = """## The most frequent items of public data, beside rivals

The unit is one record. Figures are means over 5 runs, with the standard deviation over the noise in brackets; the
measures are those of [pairwise-marginals](pairwise-marginals.md). Records without any of the items are left out.
*independent items* draws every item of a record independently. The share of the model, the number of items from which
on there is one, the number of records from which on itemsets are counted, and the constants of its means were chosen on
the data sets marked (c), which are not shown where time was short; (v) only verifies them. The constants of up to 10
items were chosen on MSNBC."""
FEW_LOSSES = """By more than the standard deviations of both.

Of 10 items with fewer than about 10,000 / epsilon records, rivals are better: on bms-webview-1 at epsilon 0.1
`pairwise-marginals` keeps more of the frequent itemsets, and so does the plain histogram `flat-laplace`, whose items
are more exact too. Presumably too few counts reach the threshold to be raked; this was not examined.

With fewer than about 50,000 / epsilon records and more
than 10 items, whole itemsets tell little: the method then publishes records of the model of `pairwise-marginals`, for
which it has 49 of 50 parts of the budget, and differs from it by chance. Take `pairwise-marginals` there. With more
records, half of the budget is spent on itemsets: this gains triples and frequent itemsets, and loses some accuracy of
pairs, rare itemsets and sizes. On (v) it does not pay yet where the method starts to do so: of records times epsilon,
`pairwise-marginals` is better by more measures at 74,016 (retail, epsilon 1) and 100,000 (msnbc, epsilon 1, on the page
of pairwise-marginals), this method at 148,032 and 200,000 (both at epsilon 2). Hence it is recommended from 150,000 on,
and not from the 50,000 that were chosen on (c). *independent items* and *noisy-singletons* spend all on single items;
on the categories of foodmart, which are bought almost independently, nothing else is needed."""
CONTROLS = ("empty release", "noisy singletons")


def utility(method: str, scores: dict[str, dict[str, float]]) -> str:
    """Write the scores of one experiment, and those of the controls."""
    rows = [
        [
            name,
            f"{score['value']:.3f}" + (f" +- {score['standard error']:.3f}" if "standard error" in score else ""),
            *(f"{score[control]:.3f}" for control in CONTROLS),
        ]
        for name, score in scores.items()
    ]
    return table(["measure", method, *CONTROLS], rows)


def five_groups(scores: dict[str, dict[str, float]]) -> float:
    """The mean over the five groups of uniform queries."""
    values = [score["value"] for name, score in scores.items() if "uniform" in name]
    return sum(values) / len(values)


def msnbc(method: str, name: str, run: dict[str, Any]) -> str:
    """Write one setting on MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters")
    return (
        f"## MSNBC as sets, epsilon {name.split()[1]}, {kind}\n\n"
        f"{run['runs']} runs; published in {run['seconds']:.2f} s, {run['ratio']:.2f} times the "
        f"floor. Mean over the five groups of uniform queries: {five_groups(run['scores']):.3f}."
        f"\n\n{utility(method, run['scores'])}"
    )


def sample(method: str, name: str, run: dict[str, Any]) -> str:
    """Write one setting on a sample of MSNBC."""
    kind = SETTINGS.get(name.rsplit(maxsplit=1)[-1], "default parameters")
    return (
        f"## {int(name.split()[1]):,} records of MSNBC, epsilon 1, {kind}\n\n"
        f"{run['runs']} runs. Mean over the five groups of uniform queries: "
        f"{five_groups(run['scores']):.3f}.\n\n{utility(method, run['scores'])}"
    )


def large(method: str, name: str, run: dict[str, Any]) -> str:
    """Write the figures for a large item universe."""
    return (
        f"## {name.capitalize()}, epsilon 1\n\n"
        f"{run['records']:,} records, {run['items']:,} items; "
        f"published in {run['seconds']:.1f} s with {run['gigabytes']:.2f} GB. The release has "
        f"{run['released'] / run['records']:.1%} of the number of records, as {run['itemsets']:,} itemsets.\n\n"
        f"{utility(method, run['scores'])}"
    )


def growth(name: str, run: list[dict[str, Any]]) -> str:
    """Write how time grows."""
    rows = [[f"{row['records']:,}", f"{row['items']:,}", f"{row['seconds']:.2f}"] for row in run]
    return f"## Growth with {name}\n\n{table(['records', 'items', 'seconds'], rows)}"


def persons(method: str, run: dict[str, Any]) -> str:
    """Write the figures for persons."""
    head = ["baskets per person at most", "baskets used", "released", "seconds"]
    rows = [
        [
            most,
            f"{row['used']:,} of {row['records']:,}",
            f"{row['released']:,}",
            f"{row['seconds']:.2f}",
        ]
        for most, row in run.items()
    ]
    title = f"## FoodMart by category, unit person, epsilon 1\n\n{table(head, rows)}"
    tables = [f"At most {most}:\n\n{utility(method, row['scores'])}" for most, row in run.items()]
    return "\n\n".join([title, *tables])


def few_items(method: str, compared: dict[str, Any]) -> str:
    """Write the comparison on the most frequent items of several data sets; a name is data, items and epsilon."""
    parts = [FEW_ITEMS]
    for name in dict.fromkeys(name.rsplit(maxsplit=1)[0] for name in compared):
        runs = {key.rsplit(maxsplit=1)[1]: run for key, run in compared.items() if key.rsplit(maxsplit=1)[0] == name}
        first, data = next(iter(runs.values())), name.rsplit(maxsplit=1)[0]
        title = f"### {data} ({first['purpose']}), {first['items']} items: {first['records']:,} records"
        parts.append(f"{title}\n\n{comparison_table(runs, MEASURES)}")
    parts.append(f"### Where a rival is better\n\n{FEW_LOSSES}\n\n{list_losses(compared, method)}")
    return "\n\n".join(parts)


def sets_page(method: str, results: dict[str, Any]) -> str:
    """Write the page of a method for sets."""
    head = f"# Results: {method}\n\nMade by `benchmarks/pages.py` from `{method}.json`; do not edit. "
    head += "Times are those of publishing alone, without reading; the floor is the time to gunzip, parse and sort."
    parts = [head]
    few = {name.removeprefix("few "): run for name, run in results.items() if name.startswith("few ")}
    for name, run in results.items():
        if name.startswith("few "):
            continue
        if name.startswith("msnbc"):
            parts.append(msnbc(method, name, run))
        elif name.startswith("sample"):
            parts.append(sample(method, name, run))
        elif name in {"retail", "generated"}:
            parts.append(large(method, name, run))
        elif name in {"records", "items"}:
            parts.append(growth(name, run))
        else:
            parts.append(persons(method, run))
    if few:
        parts.append(few_items(method, few))
    return "\n\n".join(parts) + "\n"
