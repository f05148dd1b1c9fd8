"""private-wavelet against noise on every cell, Privelet and a trivial control: by formula and on data."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from floor import best
from matrix_workloads import Case, cell_cases, mixture, row_cases
from numpy.typing import NDArray
from plans import RESULTS

from hedgerow import Domain, PureDP
from hedgerow.data import NumberAxis
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_wavelet.draw import choose_bins
from hedgerow.kinds.matrices.methods.private_wavelet.model import (
    UNLIMITED,
    choose_grids,
    padded,
    query_weights,
    round_counts,
    variance_ratio,
)
from hedgerow.kinds.matrices.methods.private_wavelet.publisher import PrivateWavelet
from hedgerow.numerics.haar import pad, transform, undo

RUNS, FIRST_SEED, SHARE = 10, 100, 0.125
EPSILONS = ("0.1", "1")
LENGTHS = (64, 128, 256, 512, 1024, 4096, 16_384, 65_536)
Numbers = NDArray[Any]


# ---- by formula: the standard deviation of a sum over an eighth of an axis, at epsilon 1, before rounding


def deviations(length: int) -> dict[str, Any]:
    """Noise on every cell, Privelet with equal and with the best shares of its levels, and private-wavelet."""
    weights, cell = query_weights((length,), SHARE)[0], query_weights((length,), 0.0)[0]
    grids, cells = choose_grids((length,), SHARE), length // 8
    best_shares = np.cbrt(weights) / np.cbrt(weights).sum()
    equal = np.full(len(weights), 1 / len(weights))

    def ours(which: Numbers) -> float:
        return variance_ratio(which[None], grids, (length,))

    ratios = {"every cell": 1.0, "Privelet": float((weights / equal**2).sum())}
    ratios |= {"Privelet, best shares": float((weights / best_shares**2).sum()), "private-wavelet": ours(weights)}
    return {
        "eighth": {name: float(np.sqrt(2 * cells * ratio)) for name, ratio in ratios.items()},
        "cell": {
            "every cell": float(np.sqrt(2)),
            "Privelet": float(np.sqrt(2 * (cell / equal**2).sum())),
            "private-wavelet": float(np.sqrt(2 * ours(cell))),
        },
        "sizes": [[grid.sizes[0], grid.weight / sum(other.weight for other in grids)] for grid in grids],
    }


# ---- measured on releases


def query_errors(difference: Numbers) -> dict[str, float]:
    """Return root mean squared errors of queries over all positions, of released minus original cells."""
    axes = range(difference.ndim)
    margins = [difference.sum(tuple(other for other in axes if other != axis)) for axis in axes]
    squares = {"eighth of an axis": np.mean([np.mean(window_sums(margin, 0) ** 2) for margin in margins])}
    if difference.ndim > 1:
        boxes = difference
        for axis in axes:
            boxes = window_sums(boxes, axis)
        squares["eighth of every axis"] = np.mean(boxes**2)
        squares["bins of one axis"] = np.mean([np.mean(margin**2) for margin in margins])
    squares |= {"single cells": np.mean(difference**2), "all": difference.sum() ** 2}
    return {name: float(np.sqrt(square)) for name, square in squares.items()}


def window_sums(values: Numbers, axis: int) -> Numbers:
    """Return the sums over all ranges of an eighth of an axis."""
    length = values.shape[axis]
    cells = max(1, round(length / 8))
    running = np.insert(np.cumsum(values.astype(np.float64), axis), 0, 0.0, axis)
    return np.take(running, np.arange(cells, length + 1), axis) - np.take(running, np.arange(length + 1 - cells), axis)


def privelet(exact: Numbers, epsilon: float, most: int, seed: int) -> Numbers:
    """Add noise to the Haar coefficients, all levels alike, as Privelet does; whole numbers as in private-wavelet."""
    draw = np.random.default_rng(seed)
    coefficients = transform(padded(exact))
    levels = np.prod([pad(length).bit_length() for length in exact.shape])
    scale = levels / epsilon * (most if most < UNLIMITED else 1)
    chance = -np.expm1(-1 / scale)
    coefficients += draw.geometric(chance, coefficients.shape) - draw.geometric(chance, coefficients.shape)
    numbers = round_counts(undo(coefficients), padded(np.full(exact.shape, most)))
    return numbers[tuple(map(slice, exact.shape))]


def compare(case: Case, epsilon: str) -> dict[str, Any]:
    """Publish with every method, and measure; mean and standard deviation over runs."""
    data, unit = case.data, case.unit
    promise = PureDP(epsilon=epsilon, unit=unit)
    if unit == "row":
        bins = choose_bins(data.bounds, case.bins)
        exact, most = data.count_bins(bins.widths), UNLIMITED

        def cells(released: Matrix) -> Numbers:
            return released.count_bins(bins.widths)
    else:
        exact, most = data.bounded("cell").column_in_order(0), data.bounds[0].steps

        def cells(released: Matrix) -> Numbers:
            return released.column_in_order(0)

    def published(share: float) -> Callable[[int], Numbers]:
        method = PrivateWavelet(bins=case.bins, range_share=share)
        return lambda seed: cells(method.publish(data, promise, seed=seed).data)

    methods: dict[str, Callable[[int], Numbers]] = {
        "private-wavelet": published(SHARE),
        "every cell": published(0.0),
        "Privelet": lambda seed: privelet(exact, float(promise.epsilon), most, seed),
        "all alike": lambda _: np.full(exact.shape, exact.mean() if unit == "row" else most / 2),
    }
    rows: dict[str, Any] = {}
    for name, method in methods.items():
        runs = [query_errors(method(seed) - exact) for seed in range(FIRST_SEED, FIRST_SEED + RUNS)]
        rows[name] = {key: [statistics.mean(run[key] for run in runs), _spread(runs, key)] for key in runs[0]}
    grids = [[list(grid.sizes), grid.weight] for grid in choose_grids(exact.shape, SHARE)]
    return {"shape": list(exact.shape), "rows": len(data), "unit": unit, "methods": rows, "grids": grids}


def _spread(runs: list[dict[str, float]], key: str) -> float:
    return statistics.stdev(run[key] for run in runs)


# ---- times


def times() -> dict[str, Any]:
    """Time one million rows."""
    sizes = ((1, "row", 65_535), (2, "row", 255), (3, "row", 255), (1, "cell", 100), (10, "cell", 100))
    return {f"{columns} {unit}": time_publishing(columns, unit, top) for columns, unit, top in sizes}


def time_publishing(columns: int, unit: str, top: int) -> dict[str, Any]:
    """Time a publication; the floor counts the bins of each column and sorts it, without our code."""
    values = np.column_stack([mixture(1_000_000, top, seed) for seed in range(columns)])
    axes = {f"c{number}": NumberAxis.between(0, top, 1) for number in range(columns)}
    data = Matrix.from_rows(values, domain=Domain.declare(**axes))
    promise = PureDP(epsilon=1, unit=unit)

    def publish() -> None:
        choose_grids.cache_clear()
        PrivateWavelet().publish(data, promise)

    least, _ = best(lambda: [(np.bincount(column.astype(np.int64)), np.sort(column)) for column in values.T], 3)
    seconds, _ = best(publish, 3)
    return {"columns": columns, "unit": unit, "seconds": seconds, "floor": least}


def main() -> None:
    """Run everything, and write the results."""
    store = RESULTS / "private-wavelet.json"
    results: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    if only in ("", "formula"):
        results["formula"] = {str(length): deviations(length) for length in LENGTHS}
    if only in ("", "measured"):
        measured = results["measured"] = {}
        for case in (*row_cases(), *cell_cases()):
            for epsilon in EPSILONS:
                measured[f"{case.name}, epsilon {epsilon}"] = compare(case, epsilon)
                figures = measured[f"{case.name}, epsilon {epsilon}"]["methods"]
                print(
                    case.name, epsilon, {name: round(row["eighth of an axis"][0], 1) for name, row in figures.items()}
                )
    if only in ("", "times"):
        results["times"] = times()
        for row in results["times"].values():
            print(f"1,000,000 rows, {row['columns']} columns, unit {row['unit']}: {row['seconds']:.2f} s", end="")
            print(f"  {row['seconds'] / row['floor']:.1f} x floor ({row['floor']:.2f} s)")
    store.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
