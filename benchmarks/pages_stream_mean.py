"""The result page of stream-mean."""

from __future__ import annotations

from typing import Any

from tables import table

HEAD = """# Results: stream-mean

Made by `benchmarks/pages.py` from `stream-mean.json`; do not edit.

In short: **if every event can be read, read it.** On the streams below, a tree is {least:.0f} to {most:,.0f} times more
accurate than the best sample for a half-width of 0.05, and a plain running count with noise {least_count:.0f} to
{most_count:,.0f} times. A sample pays only where reading is what costs: events behind a network, in compressed groups,
or to be labelled by hand. Then `central` needs the fewest reads, if exact values may stay in memory, and
`randomised-response` the fewest without that, on bits.

No constant was chosen on data: sizes of samples and half-widths come from formulas. Errors and half-widths are shares
of `high - low`."""
ONE = """## One estimate

Three in ten of a million events are 1. *Specified*: root mean squared errors of the specification, section 5.5, for
continuous noise; those of discrete noise are a little smaller for a large epsilon. Errors are those before an estimate
is cut to its bounds; *outside* is how often it was beyond them. *Covered*: how often a half-width of 0.1, promised
with probability 0.95, was kept with the sample that it needs; the bounds are for any stream and so are kept more
often."""
SERIES = """## Ten estimates of a stream

At ten equal distances; a half-width of 0.05 with probability 0.95; 20 runs. Each cell has the root mean squared error
over times and runs, with the 0.95 quantile of absolute errors in brackets; the last column the events read at each
epsilon. *Covered* is over all times, runs and epsilons. The rivals:

- *running count*: an exact count, published with Laplace noise, a tenth of the budget each time. Reads everything; the
  simplest method there is.
- *every bit*: Laplace noise on every bit, and sums of that; the first reference of the thesis. Reads everything.
- *one half*: the control. It reads nothing and publishes the middle."""
READS = """## Events that are read

A sample of 775 events, 20 runs. *Expected* is $n (1 + H_t - H_n)$ with an estimate after every event; with fewer
estimates, events that are replaced before the next one are not read. The thesis says that reads do not grow with the
stream (Theorem 8.4.3), which holds for one estimate only. *Pages*: blocks of 4,096 events that hold one that is
read. If events are in pages, a sample saves nothing before there are far more pages than events in it."""
TIMES = """## Times

100,000,000 bits in a file in the cache of the system, one byte each; epsilon 1, half-width 0.05. The floor reads the
file and adds it up. Reading a file this way is not a bottleneck: `tree`, which reads everything, takes no longer than
that."""
LOSSES = """## Where a rival is better

- *tree* and *running count* are far more accurate on every stream, at every epsilon. They read everything.
- *every bit* is more accurate than a sample of bits with noise, since it has noise on all events instead of some; but
  not with epsilon 0.1 on a million events, where `randomised-response` has less noise on nearly a third of them.
- With epsilon 0.1, bits with noise need samples of {flipped:,} (`randomised-response`) and {noisy:,} events
  (`laplace-bits`) for a half-width of 0.1: many streams are shorter. `central` needs {central:,} for one estimate.
- Many estimates by `central` share one budget: with 100 of them and epsilon 1, the sample must be as large as with
  epsilon 0.01 for one."""
METHODS = ("randomised-response", "laplace-bits", "central", "tree", "running count", "every bit", "one half")


def stream_mean_page(results: dict[str, Any]) -> str:
    """Write the page."""
    sizes = {name: row["size"] for name, row in results["one estimate"].items()}
    losses = LOSSES.format(
        flipped=sizes["randomised-response, epsilon 0.1"],
        noisy=sizes["laplace-bits, epsilon 0.1"],
        central=sizes["central, epsilon 0.1"],
    )
    tree, count = (advantages(results["series"], rival) for rival in ("tree", "running count"))
    head = HEAD.format(least=min(tree), most=max(tree), least_count=min(count), most_count=max(count))
    parts = [head, f"{ONE}\n\n{one_table(results['one estimate'])}", SERIES, *series_tables(results["series"])]
    parts += [f"{READS}\n\n{reads_table(results['reads'])}", f"{TIMES}\n\n{times_table(results['times'])}", losses]
    return "\n\n".join(parts) + "\n"


def advantages(series: dict[str, Any], rival: str) -> list[float]:
    """How many times more accurate a rival is than the best sample, for each stream and epsilon."""
    runs = [run["methods"] for run in series.values()]
    return [min(run[name]["rmse"] for name in METHODS[:3]) / run[rival]["rmse"] for run in runs]


def one_table(rows: dict[str, Any]) -> str:
    """Write errors and coverage of one estimate."""
    lines = []
    for name, row in rows.items():
        mechanism, _, epsilon = name.rpartition(", epsilon ")
        figures = [f"{row[key]:.3f}" for key in ("specified", "rmse", "quantile")]
        lines.append(
            [mechanism, epsilon, *figures, f"{row['outside']:.1%}", f"{row['size']:,}", f"{row['covered']:.3f}"]
        )
    head = ["mechanism", "epsilon", "specified", "measured, n = 775", "0.95 quantile", "outside"]
    return table([*head, "n for 0.1", "covered"], lines)


def series_tables(series: dict[str, Any]) -> list[str]:
    """Write one table per stream."""
    streams: dict[str, dict[str, Any]] = {}
    for name, run in series.items():
        stream, _, epsilon = name.rpartition(", epsilon ")
        streams.setdefault(stream, {})[epsilon] = run
    return [series_table(stream, runs) for stream, runs in streams.items()]


def series_table(stream: str, runs: dict[str, Any]) -> str:
    """Write the errors on one stream."""
    first = next(iter(runs.values()))
    lines = []
    for method in METHODS:
        rows = [run["methods"][method] for run in runs.values()]
        covered = [row["covered"] for row in rows if "covered" in row]
        lines.append([
            method,
            *(f"{show(row['rmse'])} ({show(row['quantile'])})" for row in rows),
            f"{sum(covered) / len(covered):.3f}" if covered else "",
            " / ".join(dict.fromkeys(f"{row['read']:,.0f}" for row in rows)),
        ])  # fmt: skip
    head = ["method", *(f"epsilon {epsilon}" for epsilon in runs), "covered", "events read"]
    return f"### {stream}\n\n{first['events']:,} events, mean {first['mean']:.3f}\n\n{table(head, lines)}"


def show(error: float) -> str:
    """Write an error with two digits."""
    return f"{error:.3f}" if error >= 0.01 else f"{error:.1e}"


def reads_table(rows: dict[str, Any]) -> str:
    """Write events and pages that are read."""
    lines = [
        [
            f"{row['events']:,}",
            row["published"],
            f"{row['expected']:,.0f}",
            f"{row['read']:,.0f} ({row['deviation']:.0f})",
            f"{row['pages']:,.0f} of {row['all_pages']:,}",
        ]
        for row in rows.values()
    ]
    return table(["events", "published", "expected", "read (standard deviation)", "pages"], lines)


def times_table(rows: dict[str, Any]) -> str:
    """Write seconds, and how many times the floor they are."""
    lines = []
    for name, row in rows.items():
        mechanism, _, estimates = name.rpartition(", ")
        lines.append([mechanism, estimates, f"{row['seconds']:.3f}", f"{row['seconds'] / row['floor']:.2f}"])
    return table(["mechanism", "estimates", "seconds", "times the floor"], lines)
