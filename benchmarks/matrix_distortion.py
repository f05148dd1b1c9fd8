"""Distorted matrices: the tables of the thesis again, the angles that are kept, and what attacks recover.

Writes docs/results/matrix-distortion.json, from which `pages.py` makes docs/results/matrix-distortion.md. Releases are
made by the methods with fixed seeds, so that every figure can be computed again; `--again NAME` repeats the experiments
whose name starts so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matrix_tables import Table, has_table, read_table
from numpy.typing import NDArray
from plans import run_plans

from hedgerow import Matrix, find_method
from hedgerow.kinds.matrices.attackers.angle_neighbours import guess_neighbours
from hedgerow.kinds.matrices.attackers.knowledge import Bounds, Knowledge
from hedgerow.kinds.matrices.attackers.known_rows import solve_inner_products, undo_rotation
from hedgerow.kinds.matrices.attackers.svd_reconstruction import guess_steps, learn_equations, solve_on_grid
from hedgerow.kinds.matrices.attacks import attack_arrays, judge
from hedgerow.kinds.matrices.row_measures import (
    classify,
    compare_angles,
    compare_ranks,
    expect_of_shuffled,
    scores_of_rank,
    value_difference,
)
from hedgerow.privacy.distortion import Distortion

Floats = NDArray[np.float64]

#: the thesis names rows by their order, so that neighbours in the file are neighbours in the transform
WAVELET: dict[str, Any] = {"order": "names"}
VP: dict[str, Any] = {**WAVELET, "wavelet": "haar,db2", "partition": "columns"}
HP: dict[str, Any] = {**WAVELET, "wavelet": "haar,db2", "partition": "rows"}
#: the runs of Tables 3.1 and 3.2
RUNS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "WBC": {
        "SVD, k = 5": ("svd", {"rank": 5}),
        "wavelet, single": ("wavelet", WAVELET),
        "wavelet, vertical": ("wavelet", VP),
        "wavelet, horizontal": ("wavelet", HP),
    },
    "WDBC": {
        "SVD, k = 15": ("svd", {"rank": 15}),
        "wavelet, single": ("wavelet", WAVELET),
        "wavelet, vertical": ("wavelet", VP),
        "wavelet, horizontal": ("wavelet", HP),
    },
}
#: the releases that are attacked; noise and ranks in proportion to the table, but for those of the thesis
ATTACKED: dict[str, tuple[str, dict[str, Any]]] = {
    "svd": ("svd", {}),
    "svd, statistics kept": ("svd", {"normalise": True}),
    "wavelet, p = 0.5": ("wavelet", WAVELET),
    "wavelet, p = 0.1": ("wavelet", {**WAVELET, "p": 0.1}),
    "wavelet, secret order": ("wavelet", {}),
    "additive noise, beta = 1": ("additive-noise", {"beta": 1.0}),
    "additive noise, beta = 2": ("additive-noise", {"beta": 2.0}),
    "additive noise, half a deviation": ("additive-noise", {"beta": 0.5, "scale": "deviations"}),
    "rotation": ("additive-noise", {"beta": 0.0, "rotation": "random"}),
    "rotation and noise, beta = 1": ("additive-noise", {"beta": 1.0, "rotation": "random"}),
}
RANKS = {"WBC": 5, "WDBC": 15, "Wine": 4, "Pima": 4}
#: scores whose bounds are public, as the description of the table gives them
SCALES = {"WBC": (1.0, 10.0)}
SEEDS = 5
#: the tolerances of angles are those of the thesis; ranks are the ones that it reports, or half of the columns
ANGLE_RANKS = {"Wine": 4, "Pima": 4, "Bupa": 6}
BETAS = (1.0, 5.0, 10.0, 20.0)


def release(values: Floats, method: str, parameters: Mapping[str, Any], seed: int = 1) -> Floats:
    """Publish numbered rows, and return the released numbers."""
    data = Matrix.from_rows(values, ids=range(1, len(values) + 1))
    return find_method(method)(**parameters).publish(data, Distortion(), seed=seed).data.values


def reproduce(name: str) -> dict[str, Any]:
    """Make the runs of Table 3.1 or 3.2: measures and accuracy."""
    table = read_table(name)
    results: dict[str, Any] = {"original": {"accuracy": classify(table.values, table.values, table.labels).released}}
    scaled = (table.values - table.values.mean(0)) / table.values.std(0)
    results["standardised"] = {"accuracy": classify(scaled, scaled, table.labels).released}
    for run, (method, parameters) in RUNS[name].items():
        start = time.perf_counter()
        after = release(table.values, method, parameters)
        seconds = time.perf_counter() - start
        ranks = compare_ranks(table.values, after)
        accuracies = classify(table.values, after, table.labels)
        results[run] = {
            "VD": value_difference(table.values, after)[0],
            "published": compare_ranks(table.values, after, argsort=True)._asdict(),
            "ranks": ranks._asdict(),
            "ties averaged": compare_ranks(table.values, after, ties="average").rp,
            "accuracy": accuracies.released,
            "transferred": accuracies.transferred,
            "seconds": seconds,
        }
    results["random"] = expect_of_shuffled(*table.values.shape)._asdict()
    return results


def reproduce_strengths() -> dict[str, Any]:
    """Make the runs of Table 3.3: distortion in the spectral norm, and accuracy, without and with statistics kept."""
    table = read_table("WBC")
    results: dict[str, Any] = {}
    runs: dict[str, tuple[str, dict[str, Any]]] = {f"k = {rank}": ("svd", {"rank": rank}) for rank in range(1, 9)}
    runs |= {f"p = {part / 10}": ("wavelet", {**WAVELET, "level": 3, "p": part / 10}) for part in range(1, 10)}
    for run, (method, parameters) in runs.items():
        results[run] = []
        for normalise in (False, True):
            after = release(table.values, method, {**parameters, "normalise": normalise})
            spectral = value_difference(table.values, after)[1]
            results[run].append([spectral, classify(table.values, after, table.labels).released])
    return results


def measure_angles(name: str) -> dict[str, Any]:
    """Measure how many angles between rows a noisy rotation keeps, in the largest directions."""
    table = read_table(name)
    # the thesis took the label as a column
    values = np.column_stack((table.values, table.labels.astype(np.float64))) if name != "Pima" else table.values
    rank = ANGLE_RANKS[name]
    results: dict[str, Any] = {"shape": values.shape, "rank": rank}
    for beta in BETAS:
        runs: list[list[float]] = []
        for seed in range(SEEDS):
            after = release(values, "additive-noise", {"beta": beta, "rotation": "random"}, seed)
            draw = np.random.default_rng(seed)
            runs.append(list(compare_angles(values, after, draw, rank=rank).shares))
        results[f"beta = {beta:g}"] = [statistics.mean(shares) for shares in zip(*runs, strict=True)]
    return results


def attack_release(name: str, way: str) -> dict[str, Any]:
    """Attack releases of a table that were made in one way, with other seeds and other known rows each time."""
    table = read_table(name)
    method, parameters = ATTACKED[way]
    if method == "svd":
        parameters = {**parameters, "rank": RANKS[name]}
    turned = parameters.get("rotation") == "random"
    runs: list[dict[str, Any]] = []
    for seed in range(SEEDS):
        after = release(table.values, method, parameters, seed)
        draw = np.random.default_rng(seed)
        knows = Knowledge.draw(
            after,
            np.arange(len(after)),
            table.values,
            undone_by=find_method(method).undone_by,
            parameters=parameters,
            same_columns=not turned,
            rng=draw,
        )
        if name in SCALES:
            low, high = SCALES[name]
            knows = replace(knows, declared=Bounds(*(np.full(table.values.shape[1], end) for end in (low, high))))
        runs.append(dict(attack_arrays(knows, draw)))
    results: dict[str, Any] = {"known": 2 * table.values.shape[1], "attacks": {}}
    for attack in runs[0]:
        outcomes = [run[attack] for run in runs if attack in run]
        baselines = [
            control for control in outcomes[0].baselines if all(control in each.baselines for each in outcomes)
        ]
        results["attacks"][attack] = {
            "attack": _mean([each.attack for each in outcomes]),
            **{control: _mean([each.baselines[control] for each in outcomes]) for control in baselines},
            "fails": statistics.mean(each.fails for each in outcomes),
        }
    return results


def _mean(successes: list[Any]) -> list[float]:
    """The means of shares within 1 % and 5 %, and the median of errors of rows."""
    rows = [(each.within_1, each.within_5) for each in successes]
    return [*(statistics.mean(values) for values in zip(*rows, strict=True)), _median(successes)]


def _median(successes: list[Any]) -> float:
    return statistics.median(each.median_error for each in successes)


def solve_digits(name: str) -> dict[str, Any]:
    """Solve releases of low rank that are rounded to fewer digits: the share of cells that are exactly right."""
    table = read_table(name)
    columns = table.values.shape[1]
    ranks = range(1, columns) if columns < 10 else (1, 2, 4, 6, 8, 10, 12) if columns < 20 else (5, 10, 15, 20, 25)
    results: dict[str, Any] = {}
    for rank in ranks:
        whole = release(table.values, "svd", {"rank": rank})
        known = np.random.default_rng(1).permutation(len(whole))[: 2 * columns]
        steps = guess_steps(table.values[known])
        results[f"k = {rank}"] = []
        for digits in (12, 8, 6, 4, 3):
            largest = np.floor(np.log10(np.abs(whole).max(0)))
            after = np.array(
                [column.round(int(digits - 1 - of)) for column, of in zip(whole.T, largest, strict=True)]
            ).T
            results[f"k = {rank}"].append(_solve(table, after, known, steps))
    return results


def _solve(table: Table, after: Floats, known: NDArray[np.int64], steps: Floats | None) -> list[float]:
    """Return the share of cells that are right, and that of rows that the attacker knows to be right."""
    others = np.setdiff1d(np.arange(len(after)), known)
    equations = learn_equations(after)
    if equations is None or steps is None:
        rounded = after if steps is None else np.rint(after / steps) * steps
        return [float((np.abs(rounded - table.values) < 1e-9)[others].mean()), 0.0]
    spread = np.sqrt(np.mean((table.values[known] - after[known]) ** 2, axis=0))
    solved = solve_on_grid(after, equations, steps, spread)
    right = np.abs(solved.values - table.values) < 1e-9
    return [float(right[others].mean()), float(solved.sure[others].mean())]


def measure_known_rows(name: str) -> dict[str, Any]:
    """Measure the error of attacks by known rows on a noisy rotation, by the number of known rows."""
    table = read_table(name)
    # the thesis took the label as a column
    values = np.column_stack((table.values, table.labels.astype(np.float64))) if name != "Pima" else table.values
    columns = values.shape[1]
    results: dict[str, Any] = {}
    for beta in (1.0, 5.0, 20.0):
        errors: dict[str, list[float]] = {}
        for seed in range(20):
            after = release(values, "additive-noise", {"beta": beta, "rotation": "random"}, seed)
            order = np.random.default_rng(seed).permutation(len(values))
            for factor in (1, 2, 4):
                known, others = order[: factor * columns], order[factor * columns :]
                guess = undo_rotation(values[known], after[known], after[others])
                errors.setdefault(f"Procrustes, {factor} m rows", []).append(_error(guess, values[others]))
            known, others = order[:columns], order[columns:]
            guess = solve_inner_products(values[known], after[known], after[others])
            errors.setdefault("inner products, m rows", []).append(_error(guess, values[others]))
            scores = scores_of_rank(after, ANGLE_RANKS[name])
            for label, scaled in (("neighbours, copied", False), ("neighbours, scaled", True)):
                near = [guess_neighbours(scores, row, values[row], scaled=scaled) for row in known.tolist()]
                guesses = np.concatenate([each.guesses for each in near])
                errors.setdefault(label, []).append(_error(guesses, values[np.concatenate([n.rows for n in near])]))
            means = np.broadcast_to(values[known].mean(0), (len(others), columns))
            errors.setdefault("guess of means", []).append(_error(means, values[others]))
        results[f"beta = {beta:g}"] = {label: statistics.median(each) for label, each in errors.items()}
    return results


def _error(guess: Floats, truth: Floats) -> float:
    return judge(guess, truth, truth.std(0)).median_error


def measure_leakage() -> dict[str, Any]:
    """Measure what a classifier learns from a wavelet release of rows that are sorted by class, or shuffled."""
    table = read_table("WBC")
    orders = {
        "sorted by class": np.argsort(table.labels, kind="stable"),
        "shuffled": np.random.default_rng(1).permutation(len(table.labels)),
    }
    results: dict[str, Any] = {}
    for title, order in orders.items():
        values, labels = table.values[order], table.labels[order]
        for part in (0.5, 1.0):
            after = release(values, "wavelet", {**WAVELET, "p": part})
            results[f"{title}, p = {part}"] = [
                classify(values, after, labels).released,
                value_difference(values, after)[0],
            ]
    return results


PLANS: dict[str, Callable[[], dict[str, Any]]] = {
    "Table 3.1, WBC": partial(reproduce, "WBC"),
    "Table 3.2, WDBC": partial(reproduce, "WDBC"),
    "Table 3.3, WBC": reproduce_strengths,
    **{f"angles, {name}": partial(measure_angles, name) for name in ("Wine", "Pima")},
    **({"angles, Bupa": partial(measure_angles, "Bupa")} if has_table("Bupa") else {}),
    **{
        f"attacks, {name}, {way}": partial(attack_release, name, way)
        for name in ("WBC", "WDBC", "Wine", "Pima")
        for way in ATTACKED
    },
    **{f"digits, {name}": partial(solve_digits, name) for name in ("WBC", "WDBC", "Wine", "Pima")},
    **{f"known rows, {name}": partial(measure_known_rows, name) for name in ("Wine", "Pima")},
    "leakage, WBC": measure_leakage,
}

if __name__ == "__main__":
    run_plans(__file__, PLANS, "matrix-distortion")
