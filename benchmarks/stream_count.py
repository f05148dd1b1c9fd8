"""stream-count against the binary mechanism, simpler noise and a trivial control: by formula, measured, and timed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from floor import best
from numpy.typing import NDArray
from plans import RESULTS

from hedgerow import PureDP
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.methods.binary_mechanism import BinaryMechanism
from hedgerow.kinds.streams.methods.partial_sums_model import SmoothTree
from hedgerow.kinds.streams.methods.stream_count import StreamCount

RUNS, FIRST_SEED, STEPS = 400, 1000, 2**16
PUBLICATIONS = (10, 100, 1000, 10_000, STEPS, 1_000_000)
#: steps that are shown: early and late ones, and those that are best and worst for the binary mechanism
SHOWN = (1, 100, 1000, 10_000, 32_767, 32_768, 65_535, 65_536)
PROMISE = PureDP(epsilon=1, unit="event")
METHODS: dict[str, Any] = {
    "stream-count": StreamCount(),
    "stream-count, equal_noise=False": StreamCount(equal_noise=False),
    "stream-count, balance=paper": StreamCount(balance="paper"),
    "binary-mechanism": BinaryMechanism(),
}
Numbers = NDArray[Any]


# ---- by formula: standard deviations at epsilon 1, mean (of the variance) over all steps and at the worst step


def variance(scale: float) -> float:
    """The variance of discrete Laplace noise."""
    decay = math.exp(-1 / scale)
    return 2 * decay / (1 - decay) ** 2


def deviations(steps: int) -> dict[str, Any]:
    """The standard deviations of all methods for so many publications."""
    numbers = np.arange(1, steps + 1)
    tree, balanced = SmoothTree.best(steps), SmoothTree.balanced(steps)
    used = tree.ones - next(tree.endings(iter([steps]))).empty
    levels, ones = (steps - 1).bit_length() + 1, np.bitwise_count(numbers)
    base, digits = best_base(steps)
    depth = len(digits)
    nodes = {
        "stream-count": (tree.zeros, np.array([tree.ones])),
        "stream-count, equal_noise=False": (tree.zeros, used),
        "stream-count, balance=paper": (balanced.zeros, np.array([balanced.ones])),
        "binary-mechanism": (levels, ones),
        "noise on every event": (1, numbers),
        "noise on every sum": (steps, np.array([1])),
        "k-ary tree with subtraction": (depth, np.abs(digits).sum(axis=0)),
    }
    figures = {
        name: [math.sqrt(float(each.mean()) * variance(scale)), math.sqrt(float(each.max()) * variance(scale))]
        for name, (scale, each) in nodes.items()
    }
    return {
        "deviations": figures,
        "tree": [tree.zeros, tree.ones],
        "balanced": balanced.zeros,
        "levels": levels,
        "base": [base, depth],
    }


def best_base(steps: int) -> tuple[int, Numbers]:
    """The odd base with the least mean variance, and the digits of all steps in it, from -(k - 1)/2 to (k - 1)/2."""
    candidates: dict[tuple[float, int], Numbers] = {}
    depths: set[int] = set()
    for base in range(3, 2 * steps + 2, 2):
        depth = next(depth for depth in range(1, 64) if (base**depth - 1) // 2 >= steps)
        if depth not in depths:  # the smallest base of each depth has the fewest nodes
            depths.add(depth)
            digits = signed_digits(steps, base, depth)
            candidates[depth**2 * float(np.abs(digits).sum(axis=0).mean()), base] = digits
        if depth == 1:
            break
    (_, base), digits = min(candidates.items(), key=lambda item: item[0])
    return base, digits


def signed_digits(steps: int, base: int, depth: int) -> Numbers:
    """The digits of 1, 2, ... in an odd base, with negative ones."""
    rest, digits = np.arange(1, steps + 1), []
    for _ in range(depth):
        digit = (rest + base // 2) % base - base // 2
        digits.append(digit)
        rest = (rest - digit) // base
    return np.array(digits)


# ---- measured


def laplace(size: int, scale: float, seed: int) -> Numbers:
    """Discrete Laplace noise, for rivals."""
    draw, chance = np.random.default_rng(seed), -np.expm1(-1 / scale)
    return draw.geometric(chance, size) - draw.geometric(chance, size)


def measure() -> dict[str, Any]:
    """The root mean squared error of all methods over the same stream, over all steps and at some; and coverage."""
    bits = np.random.default_rng(7).random(STEPS) < 0.3
    exact, data = np.cumsum(bits), Stream.from_values(bits)
    rivals: dict[str, Callable[[int], Numbers]] = {
        "noise on every event": lambda seed: np.cumsum(bits + laplace(STEPS, 1, seed)),
        "noise on every sum": lambda seed: exact + laplace(STEPS, STEPS, seed),
        "half of the events": lambda _: np.arange(1, STEPS + 1) / 2,
        "always 0": lambda _: np.zeros(STEPS),
    }
    results: dict[str, Any] = {}
    for name, method in METHODS.items():
        runs = (method.publish(data, PROMISE, seed=FIRST_SEED + run).data.all_rows() for run in range(RUNS))
        results[name] = summarise((rows.values - exact, rows.half_widths) for rows in runs)
    for name, rival in rivals.items():
        runs = ((rival(FIRST_SEED + run) - exact, None) for run in range(RUNS if "noise" in name else 1))
        results[name] = summarise(runs)
    return results


def summarise(runs: Any) -> dict[str, Any]:
    """Mean squared errors of all runs, and how often sums were within their half-widths."""
    totals, shown, covered = [], [], []
    for errors, widths in runs:
        totals.append(float(np.mean(errors.astype(float) ** 2)))
        shown.append(errors[np.array(SHOWN) - 1].astype(float) ** 2)
        if widths is not None:
            covered.append(float(np.mean(np.abs(errors) <= widths)))
    spread = float(np.std(totals) / math.sqrt(len(totals)))
    result: dict[str, Any] = {"all": math.sqrt(np.mean(totals)), "runs": len(totals)}
    result["standard error"] = spread / (2 * result["all"]) if len(totals) > 1 else 0.0
    result["steps"] = np.sqrt(np.mean(shown, axis=0)).tolist()
    if covered:
        result["within half width"] = float(np.mean(covered))
    return result


# ---- times


def times() -> list[dict[str, Any]]:
    """Time events in memory."""
    rows = []
    for events, every in ((1_000_000, 1), (10_000_000, 10), (100_000_000, 1000)):
        data = Stream.from_values(np.random.default_rng(1).random(events) < 0.3)
        floor = time_floor(data.events.read(0, events), events // every)
        for name in ("stream-count", "binary-mechanism"):
            method = type(METHODS[name])(every=every)
            seconds, _ = best(lambda method=method, data=data: drain(method, data), 3)
            rows.append({"method": name, "events": events, "every": every, "seconds": seconds, "floor": floor})
    return rows


def time_floor(codes: Numbers, publications: int) -> float:
    """Time the sum of all events and one floating-point noise per publication, without our code."""
    draw = np.random.default_rng(2)
    return best(lambda: (codes.sum(), draw.laplace(size=publications)), 3)[0]


def drain(method: Any, data: Stream) -> int:
    """Publish all rows, some at a time, and forget them."""
    return sum(len(rows.times) for rows in method.publish(data, PROMISE, in_slices=True).data.rows())


def main() -> None:
    """Run everything, and write the results."""
    store = RESULTS / "stream-count.json"
    results: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    if only in ("", "formula"):
        results["formula"] = {str(steps): deviations(steps) for steps in PUBLICATIONS}
        for steps, row in results["formula"].items():
            print(steps, {name: [round(each, 1) for each in pair] for name, pair in row["deviations"].items()})
    if only in ("", "measured"):
        results["measured"] = measure()
        results["shown"] = list(SHOWN)
        for name, row in results["measured"].items():
            print(name, round(row["all"], 2), "+-", round(row["standard error"], 2), row.get("within half width"))
    if only in ("", "times"):
        results["times"] = times()
        for row in results["times"]:
            rate = row["events"] / row["seconds"]
            print(f"{row['method']}, {row['events']:,} events, every {row['every']}: {row['seconds']:.2f} s", end="")
            print(f"  {rate:,.0f} events/s, {row['seconds'] / row['floor']:.1f} x floor ({row['floor']:.2f} s)")
    store.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
