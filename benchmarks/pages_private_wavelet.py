"""The result page of private-wavelet."""

from __future__ import annotations

from typing import Any

from tables import table

HEAD = """# Results: private-wavelet

Made by `benchmarks/pages.py` from `private-wavelet.json`; do not edit.

A sum over a range of one eighth of an axis, wherever it is, is what the method chooses its noise for (`range_share`).
No constant was chosen on data: block sizes and shares come from the formula below. That cells are fitted to what is
known of each axis was decided with the two-dimensional data of this page in view. The rivals:

- *every cell*: Laplace noise on every cell; the method itself with `range_share=0`.
- *Privelet*: Laplace noise on the Haar coefficients, the same for all levels (Xiao, Wang and Gehrke, 2010). *Best
  shares*: levels get the shares that are best for an eighth of an axis.
- *all alike*: the control. It knows the total and spreads it evenly (rows), or has every number in the middle of its
  bounds (cells).

Rivals with noise become whole numbers within bounds by the same steps as the method."""
FORMULA = """## By formula: one axis, epsilon 1

The standard deviation of the noise of a sum over an eighth of the axis, before rounding; at another epsilon divide by
it. Up to 64 cells nothing is better than noise on every cell, and that is what is used. *Single cell*: what this costs
where a single cell is asked for; *block sizes* with their shares."""
MEASURED = """## Measured: root mean squared errors

Over all positions of each kind of query, on releases as they are published; means over 10 runs, with the standard
deviation over runs in brackets. *Eighth of an axis*: ranges along one axis, all of the others. *Eighth of every axis*:
boxes. *Bins of one axis*: single bins, all of the other axes. *All*: the number of rows, or the sum of the column.
Errors of unit `cell` are in steps of the lattice. The bounds of real columns are what anybody would declare; none was
taken from the data."""
TIMES = """## Times

1,000,000 made-up rows, epsilon 1, on two shared cores; the floor counts the bins of each column and sorts it, without
our code. The search for block sizes is included."""
LOSSES = """## Where a rival is better

- *Single cells*: noise on every cell has up to half the error. Take `range_share=0` if single cells are what is asked
  for.
- *Boxes* of an eighth of every axis, on grids of up to about a hundred bins per axis: noise on every cell is better,
  since half of the budget goes into sums along the axes. From about 200 bins per axis on it is not.
- *All alike* is better where noise is larger than what there is to know: a few hundred rows on thousands of cells, or
  1,484 numbers whose ranges all have about the same mean. Take fewer bins, or a larger epsilon.
- A single published number of unit `cell` says hardly anything: at epsilon 1 its noise is as large as its bounds.

The cases, by more than the standard deviations of both:"""
QUERIES = ("eighth of an axis", "eighth of every axis", "bins of one axis", "single cells", "all")
RIVALS = ("private-wavelet", "every cell", "Privelet", "all alike")


def private_wavelet_page(results: dict[str, Any]) -> str:
    """Write the page."""
    measured = results["measured"]
    parts = [HEAD, f"{FORMULA}\n\n{formula_table(results['formula'])}", MEASURED]
    parts += [measured_table(name, run) for name, run in measured.items()]
    parts += [f"{TIMES}\n\n{times_table(results['times'])}", f"{LOSSES}\n\n{list_losses(measured)}"]
    return "\n\n".join(parts) + "\n"


def formula_table(rows: dict[str, Any]) -> str:
    """Write the standard deviations of each number of cells."""
    names = ("every cell", "Privelet", "Privelet, best shares", "private-wavelet")
    lines = []
    for length, row in rows.items():
        sizes = ", ".join(f"{size:,} ({share:.0%})" for size, share in row["sizes"])
        cells = " / ".join(f"{row['cell'][name]:.1f}" for name in ("every cell", "private-wavelet"))
        lines.append([f"{int(length):,}", *(f"{row['eighth'][name]:.1f}" for name in names), cells, sizes])
    head = ["cells", *names, "single cell: every cell / private-wavelet", "block sizes"]
    return table(head, lines)


def measured_table(name: str, run: dict[str, Any]) -> str:
    """Write the errors on one data set."""
    queries = [query for query in QUERIES if query in run["methods"]["every cell"]]
    rows = [[rival, *(show(*run["methods"][rival][query]) for query in queries)] for rival in RIVALS]
    shape = " x ".join(f"{length:,}" for length in run["shape"])
    title = f"### {name}\n\n{run['rows']:,} rows, unit {run['unit']}, {shape} cells"
    return f"{title}\n\n{table(['method', *queries], rows)}"


def show(mean: float, deviation: float) -> str:
    """Write a mean and its standard deviation with few digits."""
    digits = 0 if mean >= 100 else 1 if mean >= 10 else 2
    return f"{mean:,.{digits}f}" + (f" ({deviation:,.{digits}f})" if deviation > 0 else "")


def times_table(rows: dict[str, Any]) -> str:
    """Write seconds, and how many times the floor they are."""
    lines = [
        [str(row["columns"]), row["unit"], f"{row['seconds']:.1f}", f"{row['seconds'] / row['floor']:.0f}"]
        for row in rows.values()
    ]
    return table(["columns", "unit", "seconds", "times the floor"], lines)


def list_losses(measured: dict[str, Any]) -> str:
    """Name every query and data set on which a rival has the smaller error."""
    lines: dict[str, dict[str, list[str]]] = {}
    for name, run in measured.items():
        mean = run["methods"]["private-wavelet"]
        for rival in RIVALS[1:]:
            other = run["methods"][rival]
            better = [query for query in mean if sum(other[query]) < mean[query][0] - mean[query][1]]
            # the control knows the total
            better = [query for query in better if (rival, query) != ("all alike", "all")]
            data, _, epsilon = name.rpartition(", epsilon ")
            for query in better:
                lines.setdefault(f"{rival}, {query}", {}).setdefault(data, []).append(epsilon)
    return "\n".join(f"- {what}: {_name_cases(cases)}" for what, cases in sorted(lines.items()))


def _name_cases(cases: dict[str, list[str]]) -> str:
    return "; ".join(f"{data} (epsilon {' and '.join(epsilons)})" for data, epsilons in cases.items())
