"""The result page of private-retrieval."""

from __future__ import annotations

from typing import Any

from tables import table

HEAD = """# Results: private-retrieval

Made by `benchmarks/pages.py` from `private-retrieval.json`; do not edit.

A vector x of counts is published under unit `count`, a query y of keywords (0 or 1) under unit `cell`, both with the
same epsilon, and x.y is estimated. Relative errors are |estimate - x.y| / x.y; medians over {runs:,} runs, each with
its own vectors and noise. *Local* multiplies the noisy vector by the exact query: the query is not sent. All other
modes send a noisy query. The rivals:

- *answer 0*: the trivial answer, whose relative error is 1.
- *mean of the vector times keywords*: the simplest honest rival. Whoever asks multiplies the mean of the published
  vector by the number of keywords; nothing is sent, and the query is not used.
- *signed mean, as printed* keeps the Haar coefficients that reach the mean of the *signed* coefficients, which is near
  0; *largest 40 %* keeps the largest numbers of the noisy query itself.

No constant was chosen on these data."""
POISSON = """## Counts with mean 150

x is drawn from a Poisson law with mean 150, keywords at random. In brackets: the share of coefficients that is kept.
*Specified* are the figures of the specification, measured with continuous noise over 200 runs; *continuous* is the same
here, without our releases, and *200 runs* is where 95 % of medians of 200 runs are.

Our noise is discrete: its variance is 8 % smaller at epsilon 1 and 0.08 % smaller at 0.1, so that deviations are 4 %
and 0.04 % smaller. Whole numbers also have Haar coefficients that are exactly 0, which no threshold above 0 keeps: that
is why the signed mean keeps fewer of them than of continuous numbers."""
SPECIFIED = {
    "1,024 counts, epsilon 1, 20 keywords": {
        "naive": "1.53",
        "local": "0.0012",
        "sparse, 1 mean": "1.14 (0.403)",
        "sparse, 2 means": "1.02 (0.119)",
        "signed mean, as printed": "1.53 (0.994)",
        "largest 40 % of the noisy query": "1.47",
        "centred": "0.125",
        "centred, randomised response": "0.085",
        "naive, randomised response": "1.04",
    },
    "1,024 counts, epsilon 0.1, 20 keywords": {
        "naive": "16.0",
        "local": "0.0127",
        "sparse, 1 mean": "3.53 (0.403)",
        "sparse, 2 means": "1.57 (0.120)",
        "signed mean, as printed": "16.0 (1.0)",
        "largest 40 % of the noisy query": "15.5",
    },
    "4,096 counts, epsilon 1, 50 keywords": {
        "naive": "1.23",
        "local": "0.0010",
        "sparse, 1 mean": "1.12 (0.402)",
        "sparse, 2 means": "1.04 (0.120)",
        "signed mean, as printed": "1.23 (1.0)",
        "largest 40 % of the noisy query": "1.12",
    },
}
READING = """**What the table says.**

- Thresholds make errors "smaller" only because answers shrink towards 0, whose error is 1.
- *Local* is a thousand times better than *naive*. Take it wherever the vector can be downloaded.
- *Centred* and randomised response help, and **the mean of the vector times the number of keywords is still better** at
  epsilon 1: counts that are alike hardly need a query. A query that is sent is better than that mean only if
  N v < k (1 - k / N), with k keywords of N coordinates and v the variance of the noise of a coordinate of the query:
  with randomised response, 20 of 1,024 from about epsilon 4 on, 200 of 1,024 from about epsilon 2 on.
- A sparse message is *longer* than the noisy query itself, which is whole numbers of one byte each: a pair of place and
  value takes five. With two means it is shorter. Bits take an eighth of a byte each."""
BIKES = """## Trips by place

Counts of bike trips that start in each of 32 x 32 cells of a grid over Singapore, a bounding box anybody could draw.
Most cells are empty and some have thousands. Keywords are drawn in proportion to the counts: places that people ask
for."""
LAWS = """## The law of the error

Root mean squared errors as measured, by the exact formula with the variance of discrete noise, and by the same with
that of continuous noise. *Covered*: the share of runs within the half-width that is stated, at 95 %. It is a bound, and
exact only in mode local with keywords."""
LEAKAGE = """## What a message tells about a keyword

The share of pairs of a keyword and another coordinate that are told apart by their noisy numbers (area under curve).
No guess can exceed the limit, e^epsilon / (1 + e^epsilon), and both modes reach it: of a bit with discrete Laplace
noise, all that tells is whether it is above 0, and that is randomised response. This is about *one* coordinate. Two
queries that differ in m coordinates are told apart with m times epsilon. Means over {runs:,} queries of 20 keywords
among 1,024; their standard error is about 0.002."""
RANGES = """## Ranges

Sums over 700 of 1,024 counts in a row, and single counts, at epsilon 1: root mean squared errors over all positions and
40 runs. Where ranges are asked for, publish the counts with `private-wavelet` (unit `row`, here with
`range_share=0.7`)."""
TIMES = """## Times

A vector of 2^20 counts on two shared cores, in seconds; the floor is its product with a query and one sort."""
ORDER = (
    "local",
    "naive",
    "centred",
    "naive, randomised response",
    "centred, randomised response",
    "sparse, 1 mean",
    "sparse, 2 means",
    "signed mean, as printed",
    "largest 40 % of the noisy query",
    "mean of the vector times keywords",
    "answer 0",
)
THINNED = {"sparse, 1 mean", "sparse, 2 means", "signed mean, as printed"}


def private_retrieval_page(results: dict[str, Any]) -> str:
    """Write the page."""
    poisson, bikes = results["poisson"], results["bikes"]
    parts = [HEAD.format(runs=results["runs"]), POISSON]
    for name, row in poisson.items():
        parts.append(f"### {name}\n\n{errors_table(row, SPECIFIED.get(name), results['continuous'].get(name))}")
    parts += [READING, BIKES]
    parts += [f"### {name}\n\n{errors_table(row, None, None)}" for name, row in bikes.items()]
    parts.append(f"{LAWS}\n\n{laws_table({**poisson, **{f'bikes, {name}': row for name, row in bikes.items()}})}")
    parts.append(f"{LEAKAGE.format(runs=results['runs'])}\n\n{leakage_table(results['leakage'])}")
    parts.append(f"{RANGES}\n\n{ranges_table(results['ranges'])}")
    parts.append(f"{TIMES}\n\n{times_table(results['times'])}")
    return "\n\n".join(parts) + "\n"


def errors_table(rows: dict[str, Any], specified: dict[str, str] | None, continuous: dict[str, Any] | None) -> str:
    """Write the relative errors of every mode and rival."""
    head = ["answer", "median", "ninth decile", "bytes sent"]
    lines = []
    for name in ORDER:
        row = rows[name]
        line = [name, shown(name, row), number(row["ninth decile"]), sent(row["bytes"])]
        if specified is not None and continuous is not None:
            other = continuous.get(name)
            between = " to ".join(map(number, other["of 200"])) if other else ""
            line += [shown(name, other) if other else "", between, specified.get(name, "")]
        lines.append(line)
    return table([*head, *(["continuous", "200 runs", "specified"] if specified else [])], lines)


def shown(name: str, row: dict[str, Any]) -> str:
    """Write a median, with the share that is kept where there is a threshold."""
    return number(row["median"]) + (f" ({row['kept']:.3f})" if name in THINNED else "")


def number(value: float) -> str:
    """Write a figure with three digits."""
    return "0" if value == 0 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def sent(size: float | None) -> str:
    """Write the bytes of a message; rivals that send nothing, or nothing of ours, have none."""
    return "" if size is None else f"{size:,.0f}"


def laws_table(cases: dict[str, Any]) -> str:
    """Write errors as measured and by formula."""
    lines = []
    for case, rows in cases.items():
        for name, laws in rows["laws"].items():
            row = rows[name]
            beyond = f"{laws[1]:,.1f}" if len(laws) > 1 else ""
            lines.append([case, name, f"{row['rmse']:,.1f}", f"{laws[0]:,.1f}", beyond, f"{row['covered']:.3f}"])
    return table(["vectors", "mode", "measured", "by formula", "continuous noise", "covered"], lines)


def leakage_table(rows: dict[str, Any]) -> str:
    """Write the areas, beside the limit."""
    lines = [[epsilon, *(f"{row[name]:.3f}" for name in row)] for epsilon, row in rows.items()]
    return table(["epsilon", *next(iter(rows.values()))], lines)


def ranges_table(rows: dict[str, Any]) -> str:
    """Write errors of ranges and of single counts."""
    lines = [[name, f"{row['range']:.1f}", f"{row['single']:.2f}"] for name, row in rows.items()]
    return table(["method", "700 in a row", "single counts"], lines)


def times_table(rows: dict[str, float]) -> str:
    """Write seconds."""
    return table(["work", "seconds"], [[name, f"{seconds:.3f}"] for name, seconds in rows.items()])
