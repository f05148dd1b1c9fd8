"""private-retrieval: inner products in every mode, beside trivial answers; error laws, messages, leakage, times."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from floor import best
from matrix_workloads import read_trips
from numpy.typing import NDArray
from plans import RESULTS

from hedgerow import Domain, PureDP
from hedgerow.data import NumberAxis
from hedgerow.kinds.matrices.answers import answer, centred_variance, local_variance, naive_variance
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_retrieval import PrivateRetrieval
from hedgerow.kinds.matrices.methods.private_wavelet.publisher import PrivateWavelet
from hedgerow.kinds.matrices.retrieval.vectors import NoisyVector, vectors_of
from hedgerow.numerics.haar import orthonormal

RUNS, SEED, HIGH = 1000, 2015, 1_000_000
RESPONSE = "randomised-response"
SEEDS = {("count", "laplace"): 0, ("cell", "laplace"): 1, ("cell", RESPONSE): 2}
#: coordinates, epsilon of both sides, keywords: those of the table of the specification first, then beyond it
POISSON = ((1024, "1", 20), (1024, "0.1", 20), (4096, "1", 50), (1024, "3", 20), (1024, "5", 20), (1024, "3", 200))
Numbers = NDArray[Any]


# ---- vectors: one run per column


def poisson_vectors(length: int, keywords: int) -> tuple[Numbers, Numbers]:
    """Draw counts with mean 150, and queries of random keywords, one column per run."""
    draw = np.random.default_rng(SEED)
    queries = np.zeros((length, RUNS))
    for run in range(RUNS):
        queries[draw.choice(length, keywords, replace=False), run] = 1
    return draw.poisson(150, (length, RUNS)).astype(float), queries


def bike_vectors(keywords: int) -> tuple[Numbers, Numbers]:
    """Count the trips that start in each cell of a grid; queries are of cells drawn in proportion to their trips."""
    trips, draw = read_trips(), np.random.default_rng(SEED)
    cells, _, _ = np.histogram2d(trips[:, 1], trips[:, 2], bins=32, range=((103.6, 104.1), (1.15, 1.5)))
    counts = cells.ravel()
    queries = np.zeros((counts.size, RUNS))
    for run in range(RUNS):
        queries[draw.choice(counts.size, keywords, replace=False, p=counts / counts.sum()), run] = 1
    return np.repeat(counts[:, None], RUNS, 1), queries


def publish(values: Numbers, epsilon: str, unit: str, high: int, mode: str = "laplace") -> list[NoisyVector]:
    """Publish every column, and return them as vectors; with one seed for all, both sides would have the same noise."""
    axes = {f"c{number}": NumberAxis.between(0, high, 1) for number in range(values.shape[1])}
    data = Matrix.from_rows(values, domain=Domain.declare(**axes))
    release = PrivateRetrieval(mode=mode).publish(
        data, PureDP(epsilon=epsilon, unit=unit), seed=SEED + SEEDS[unit, mode]
    )
    return list(vectors_of(release).values())


# ---- answers of every mode, and of rivals that need no noisy query


def signed_mean(x: NoisyVector, query: NoisyVector) -> tuple[float, float]:
    """Keep the coefficients that reach their signed mean, as printed: the answer, and the share that is kept."""
    left, right = orthonormal(x.values), orthonormal(query.values)
    kept = np.abs(right) >= right.mean()
    return float(left[kept] @ right[kept]), float(kept.mean())


def top_numbers(x: NoisyVector, query: NoisyVector, share: float = 0.4) -> float:
    """Keep the largest numbers of the noisy query."""
    kept = np.argsort(-np.abs(query.values), kind="stable")[: round(share * len(x))]
    return float(x.values[kept] @ query.values[kept])


def compare(x: Numbers, y: Numbers, epsilon: str) -> dict[str, Any]:
    """Answer every run in every mode, and compare with the exact answer and with the law of its error."""
    noisy_x = publish(x, epsilon, "count", HIGH)
    laplace, response = publish(y, epsilon, "cell", 1), publish(y, epsilon, "cell", 1, RESPONSE)
    rows: dict[str, list[tuple[float, float, float]]] = {}
    covered: dict[str, list[bool]] = {}
    for run in range(RUNS):
        vector, query, bits, asked = noisy_x[run], laplace[run], response[run], y[:, run]
        exact = float(x[:, run] @ asked)
        modes = {
            "local": answer("local", vector, None, asked),
            "naive": answer("naive", vector, query, asked),
            "centred": answer("centred", vector, query, asked),
            "naive, randomised response": answer("naive", vector, bits, asked),
            "centred, randomised response": answer("centred", vector, bits, asked),
            "sparse, 1 mean": answer("sparse", vector, query, asked),
            "sparse, 2 means": answer("sparse", vector, query, asked, threshold=2),
        }
        for name, given in modes.items():
            rows.setdefault(name, []).append((given.estimate - exact, given.sent, given.kept / len(asked)))
            covered.setdefault(name, []).append(abs(given.estimate - exact) <= given.half_width)
        signed, kept = signed_mean(vector, query)
        others = {
            "signed mean, as printed": (signed, kept),
            "largest 40 % of the noisy query": (top_numbers(vector, query), 0.4),
            "mean of the vector times keywords": (float(vector.values.mean() * asked.sum()), 0.0),
            "answer 0": (0.0, 0.0),
        }
        for name, (estimate, share) in others.items():
            rows.setdefault(name, []).append((estimate - exact, math.nan, share))
    exact = (x * y).sum(0)
    return {
        name: {
            "median": float(np.median(np.abs(errors) / exact)),
            "ninth decile": float(np.quantile(np.abs(errors) / exact, 0.9)),
            "rmse": float(np.sqrt(np.mean(errors**2))),
            "bytes": None if math.isnan(sent[0]) else float(sent.mean()),
            "kept": float(kept.mean()),
            "covered": float(np.mean(covered[name])) if name in covered else None,
        }
        for name, (errors, sent, kept) in ((name, np.array(row).T) for name, row in rows.items())
    } | {"laws": laws(x, y, noisy_x[0], laplace[0], response[0])}


def laws(x: Numbers, y: Numbers, vector: NoisyVector, query: NoisyVector, bits: NoisyVector) -> dict[str, list[float]]:
    """Return deviations by formula, the mean over runs: with discrete noise, and with continuous noise."""
    rate = float(vector.noise.rate)  # type: ignore[attr-defined]
    discrete, continuous = (vector.noise.variance, query.noise.variance), (2 / rate**2, 2 / rate**2)
    runs = range(x.shape[1])

    def mean(variance: Callable[[int], float]) -> float:
        return math.sqrt(float(np.mean([variance(run) for run in runs])))

    both: dict[str, list[float]] = {}
    for data, asked in (discrete, continuous):
        both.setdefault("local", []).append(mean(lambda run, data=data: local_variance(y[:, run], data)))
        for name, law in (("naive", naive_variance), ("centred", centred_variance)):
            both.setdefault(name, []).append(
                mean(lambda run, law=law, data=data, asked=asked: law(x[:, run], y[:, run], data, asked))
            )
    for name, law in (("naive", naive_variance), ("centred", centred_variance)):
        spread = vector.noise.variance, bits.noise.variance
        both[f"{name}, {RESPONSE.replace('-', ' ')}"] = [
            mean(lambda run, law=law, spread=spread: law(x[:, run], y[:, run], *spread))
        ]
    return both


def continuous(x: Numbers, y: Numbers, epsilon: str) -> dict[str, dict[str, float]]:
    """Answer the same queries with continuous noise, as the thesis has it, without our releases."""
    draw, scale = np.random.default_rng(SEED + 3), 1 / float(epsilon)
    noisy_x, noisy_y = x + draw.laplace(0, scale, x.shape), y + draw.laplace(0, scale, y.shape)
    rows: dict[str, list[tuple[float, float]]] = {}
    for run in range(RUNS):
        exact, left, right = float(x[:, run] @ y[:, run]), orthonormal(noisy_x[:, run]), orthonormal(noisy_y[:, run])
        sizes, products = np.abs(right), left * right
        thresholds = {
            "naive": 0.0,
            "sparse, 1 mean": sizes.mean(),
            "sparse, 2 means": 2 * sizes.mean(),
            "signed mean, as printed": right.mean(),
        }
        for name, threshold in thresholds.items():
            kept = sizes >= threshold
            rows.setdefault(name, []).append((abs(products[kept].sum() - exact) / exact, kept.mean()))
        top = np.argsort(-np.abs(noisy_y[:, run]))[: round(0.4 * len(x))]
        best_ones = float(noisy_x[top, run] @ noisy_y[top, run])
        rows.setdefault("largest 40 % of the noisy query", []).append((abs(best_ones - exact) / exact, 0.4))
        local = float(noisy_x[:, run] @ y[:, run])
        rows.setdefault("local", []).append((abs(local - exact) / exact, 0.0))
    return {
        name: {"median": float(np.median(errors)), "kept": float(kept.mean()), "of 200": median_range(errors, draw)}
        for name, (errors, kept) in ((name, np.array(row).T) for name, row in rows.items())
    }


def median_range(errors: Numbers, draw: np.random.Generator) -> list[float]:
    """Return between which numbers 95 % of the medians of 200 runs are."""
    medians = np.median(draw.choice(errors, (2000, 200)), axis=1)
    return np.quantile(medians, [0.025, 0.975]).tolist()


# ---- what the message tells, and ranges


def leakage() -> dict[str, Any]:
    """Guess keywords from noisy queries: the area under the curve, beside the limit of the promise."""
    areas: dict[str, Any] = {}
    for epsilon in ("0.1", "1", "3"):
        _, y = poisson_vectors(1024, 20)
        row = {"limit": 1 / (1 + math.exp(-float(epsilon)))}
        for name, mode in (("laplace", "laplace"), ("randomised response", RESPONSE)):
            noisy = publish(y, epsilon, "cell", 1, mode)
            row[name] = float(np.mean([area(each.values, y[:, run]) for run, each in enumerate(noisy)]))
        areas[epsilon] = row
    return areas


def area(scores: Numbers, keywords: Numbers) -> float:
    """Return the chance that a keyword has a higher score than another coordinate; ties count half."""
    ones, others = np.sort(scores[keywords > 0]), scores[keywords == 0]
    below = np.searchsorted(ones, others, "left") + np.searchsorted(ones, others, "right")
    return float(1 - below.mean() / (2 * len(ones)))


def ranges() -> dict[str, dict[str, float]]:
    """Sum 700 of 1,024 counts in a row, and single counts: private-retrieval, and private-wavelet for rows."""
    counts = np.random.default_rng(SEED).poisson(150, 1024)
    rows = np.repeat(np.arange(1024.0), counts)[:, None]
    data = Matrix.from_rows(rows, domain=Domain.declare(a=NumberAxis.between(0, 1023, 1)))
    noisy = {
        "private-retrieval": [
            each.values - counts
            for each in publish(np.repeat(counts[:, None], 40, 1).astype(float), "1", "count", HIGH)
        ],
        "private-wavelet": [
            PrivateWavelet(bins=1024, range_share=0.7)
            .publish(data, PureDP(epsilon=1, unit="row"), seed=seed)
            .data.count_bins([1])
            - counts
            for seed in range(40)
        ],
    }
    return {name: {"range": range_error(errors), "single": rms(np.array(errors))} for name, errors in noisy.items()}


def range_error(errors: list[Numbers]) -> float:
    """Return the root mean squared error of sums over 700 in a row, over all positions."""
    running = np.insert(np.cumsum(errors, 1), 0, 0, axis=1)
    return rms(running[:, 700:] - running[:, :-700])


def rms(numbers: Numbers) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.asarray(numbers, float) ** 2)))


# ---- times


def times() -> dict[str, Any]:
    """Time a vector of 2^20 counts; the floor is its product with a query, and one sort."""
    length = 1 << 20
    draw = np.random.default_rng(SEED)
    counts, asked = draw.poisson(150, (length, 1)).astype(float), (draw.random((length, 1)) < 0.01).astype(float)
    least, _ = best(lambda: (counts[:, 0] @ asked[:, 0], np.sort(counts[:, 0])), 5)
    rows: dict[str, Any] = {"floor": least}
    rows["publish the counts"], (x,) = best(lambda: publish(counts, "1", "count", HIGH), 3)
    rows["publish the query"], (query,) = best(lambda: publish(asked, "1", "cell", 1), 3)
    rows["publish the query, randomised response"], (bits,) = best(lambda: publish(asked, "1", "cell", 1, RESPONSE), 3)
    for mode in ("local", "naive", "centred", "sparse"):
        rows[f"answer, {mode}"], _ = best(lambda mode=mode: answer(mode, x, query, asked[:, 0]), 3)
    rows["answer, centred, randomised response"], _ = best(lambda: answer("centred", x, bits, asked[:, 0]), 3)
    return rows


def main() -> None:
    """Run everything, and write the results."""
    store = RESULTS / "private-retrieval.json"
    results: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    started = time.perf_counter()
    if only in ("", "poisson"):
        results["poisson"] = {
            f"{length:,} counts, epsilon {epsilon}, {keywords} keywords": compare(
                *poisson_vectors(length, keywords), epsilon
            )
            for length, epsilon, keywords in POISSON
        }
    if only in ("", "continuous"):
        results["continuous"] = {
            f"{length:,} counts, epsilon {epsilon}, {keywords} keywords": continuous(
                *poisson_vectors(length, keywords), epsilon
            )
            for length, epsilon, keywords in POISSON[:3]
        }
    if only in ("", "bikes"):
        results["bikes"] = {
            f"epsilon {epsilon}, 20 keywords": compare(*bike_vectors(20), epsilon) for epsilon in ("1", "3", "5")
        }
    if only in ("", "leakage"):
        results["leakage"] = leakage()
    if only in ("", "ranges"):
        results["ranges"] = ranges()
    if only in ("", "times"):
        results["times"] = times()
    results["runs"] = RUNS
    store.write_text(json.dumps(results, indent=1) + "\n")
    for case, modes in {**results["poisson"], **results["bikes"]}.items():
        print(case, {name: round(row["median"], 4) for name, row in modes.items() if name != "laws"})
    print({name: round(seconds, 3) for name, seconds in results["times"].items()})
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
