"""The result page of stream-count and binary-mechanism."""

from __future__ import annotations

from typing import Any

from tables import table

HEAD = """# Results: stream-count and binary-mechanism

Made by `benchmarks/pages.py` from `stream-count.json`; do not edit.

A sum is published after every leaf: the noise does not depend on the events, only on how many sums are published, so
all figures are about noise alone. Errors are in ones of a stream of bits; for other values multiply by the width of
their bounds. All at epsilon 1; at another epsilon divide by it. The rivals:

- *noise on every event*: each event gets noise, and the noisy events are added up. The error grows with the root of
  time.
- *noise on every sum*: each of q sums has noise of epsilon / q.
- *k-ary tree with subtraction*: by formula only (Andersson, Pagh, Steiner and Torkamani, "Count on your elders", 2024).
  Sums are made of nodes that are added or subtracted, in the odd base that is best for the number of publications.
  Nodes are subtracted before they have ended: their noise is needed in advance, apart from their answer. The
  [ledger](../ledger.md) gives noisy answers only, so this is not a method here.
- *half of the events*, *always 0*: the controls, which read nothing."""
FORMULA = """## By formula

The standard deviation of the noise of a sum, by the mean of the variance over all steps / at the worst step. *zeros,
ones*: the numbers that `stream-count` chooses, and what it has with `balance=paper`. For 65,536 publications the mean
variance of the binary mechanism is {best:.1f} times that of `stream-count`, and {worst:.1f} times at the worst step;
with `balance=paper` it is {paper:.1f} times. (The factor of about four in the paper is for Gaussian noise, for which as
many zeros as ones are best.)"""
MEASURED = """## Measured: 65,536 publications

Root mean squared errors of {runs} streams of 65,536 bits each, and their standard error; over all steps, and at some
steps. 32,767 and 65,535 are the worst of the binary mechanism, 32,768 and 65,536 its best. *Within*: the share of sums
within their half-width of confidence 0.95, over all steps; noise and half-widths are whole numbers, so it is a little
more."""
TIMES = """## Times

Bits in memory, on two shared cores, best of 3; the floor adds up all events and draws one floating-point number per
publication, without our code. Rows are made and dropped."""
LOSSES = """## Where a rival is better

- The *k-ary tree with subtraction* has a smaller mean variance for every number of publications beyond a few: for
  65,536 its standard deviation is {kary:.1f}, that of `stream-count` {ours:.1f} at every step, and {less:.1f} with
  `equal_noise=False`. At its worst step it is {kary_worst:.1f}.
- *Noise on every event* is better at the first steps: at step t it has t noises of the whole budget. With up to 24
  publications the words of `stream-count` have one zero: with `equal_noise=False` that is noise on every event itself.
- The *binary mechanism* is better than `stream-count` at steps whose number has few ones, such as 32,768.
- `equal_noise=False` is better than the default at most steps, above all at the first ones, and worse at none. The
  default is for readers who need one half-width for all steps.
- A *control* is better at the first steps: a count that is smaller than the noise is not known."""
NAMES = (
    "stream-count",
    "stream-count, equal_noise=False",
    "stream-count, balance=paper",
    "binary-mechanism",
    "k-ary tree with subtraction",
    "noise on every event",
    "noise on every sum",
)


def stream_count_page(results: dict[str, Any]) -> str:
    """Write the page."""
    measured, formula = results["measured"], results["formula"]
    at = formula["65536"]["deviations"]
    losses = LOSSES.format(
        kary=at["k-ary tree with subtraction"][0],
        kary_worst=at["k-ary tree with subtraction"][1],
        ours=at["stream-count"][0],
        less=at["stream-count, equal_noise=False"][0],
    )
    binary, ours, paper = at["binary-mechanism"], at["stream-count"], at["stream-count, balance=paper"]
    ratios = {
        "best": (binary[0] / ours[0]) ** 2,
        "paper": (binary[0] / paper[0]) ** 2,
        "worst": (binary[1] / ours[1]) ** 2,
    }
    parts = [
        HEAD,
        f"{FORMULA.format(**ratios)}\n\n{formula_table(formula)}",
        f"{MEASURED.format(runs=measured['stream-count']['runs'])}\n\n{measured_table(measured, results['shown'])}",
        f"{TIMES}\n\n{times_table(results['times'])}",
        losses,
    ]
    return "\n\n".join(parts) + "\n"


def formula_table(rows: dict[str, Any]) -> str:
    """Write the standard deviations for each number of publications."""
    lines = []
    for steps, row in rows.items():
        zeros, ones = row["tree"]
        trees = f"{zeros}, {ones}; {row['balanced']}, {row['balanced']}"
        lines.append([f"{int(steps):,}", trees, *(show_pair(row["deviations"][name]) for name in NAMES)])
    return table(["publications", "zeros, ones; balanced", *NAMES], lines)


def show_pair(pair: list[float]) -> str:
    """Write the mean and the worst, or one of them if they are equal."""
    mean, worst = (f"{each:,.1f}" for each in pair)
    return mean if mean == worst else f"{mean} / {worst}"


def measured_table(rows: dict[str, Any], shown: list[int]) -> str:
    """Write the errors over time."""
    lines = []
    for name, row in rows.items():
        error = f" ({row['standard error']:,.1f})" if row["standard error"] else ""
        within = f"{row['within half width']:.1%}" if "within half width" in row else ""
        lines.append([name, f"{row['all']:,.1f}{error}", within, *(f"{each:,.1f}" for each in row["steps"])])
    return table(["method", "all steps", "within", *(f"step {step:,}" for step in shown)], lines)


def times_table(rows: list[dict[str, Any]]) -> str:
    """Write seconds, events per second, and how many times the floor they are."""
    lines = [
        [
            row["method"],
            f"{row['events']:,}",
            f"{row['events'] // row['every']:,}",
            f"{row['seconds']:.2f}",
            f"{row['events'] / row['seconds'] / 1e6:,.1f}",
            f"{row['seconds'] / row['floor']:.0f}",
        ]
        for row in rows
    ]
    return table(["method", "events", "publications", "seconds", "million events per second", "times the floor"], lines)
