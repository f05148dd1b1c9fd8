"""stream-mean: errors, coverage and reads, against a constant, noise on every bit, and a running count."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from floor import best, data_folder, read_numbers
from numpy.typing import NDArray
from plans import RESULTS

import hedgerow
from hedgerow import Laplace, PureDP, StreamMean
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.events import BATCH
from hedgerow.kinds.streams.methods.stream_mean.draw import Reservoir, expected_reads
from hedgerow.kinds.streams.methods.stream_mean.publisher import FlippedBits, NoisySums, NoisyValues, SampleMean
from hedgerow.privacy import Ledger
from hedgerow.privacy.questions import NoisyAnswers
from hedgerow.privacy.samplers import bits, coins

EPSILONS = ("0.1", "0.5", "1", "2")
MEANS: dict[str, type[SampleMean]] = {
    "laplace-bits": NoisyValues,
    "randomised-response": FlippedBits,
    "central": NoisySums,
}
#: root mean squared errors for a sample of 775 of a stream with three ones in ten (specification, 5.5)
SPECIFIED = {
    "laplace-bits": (0.508, 0.103, 0.053, 0.030),
    "randomised-response": (0.359, 0.073, 0.038, 0.022),
    "central": (0.025, 0.017, 0.017, 0.016),
}
SAMPLE, HALF_WIDTH, PUBLICATIONS, RUNS = 775, 0.05, 10, 20
PAGE = 4096
Numbers = NDArray[Any]


# ---- one estimate from a sample, many times


def sample_errors(mechanism: str, epsilon: str, size: int, runs: int) -> Numbers:
    """Errors of estimates, before they are cut to the bounds, of a million events of which three in ten are 1."""
    shares = runs if mechanism == "central" else 1
    ledger = Ledger(Fraction(epsilon) * shares, NoisyAnswers(1))
    mean = MEANS[mechanism](ledger, steps=1, publications=shares, confidence=0.95)
    errors: list[Numbers] = []
    draw = np.random.default_rng(1)
    for part in np.array_split(np.arange(runs), max(1, runs * size // 4_000_000)):
        ones = draw.hypergeometric(300_000, 700_000, size, len(part))
        sampled = (np.arange(size) < ones[:, None]).astype(np.int64)
        sums = mean.keep(sampled.ravel()).reshape(sampled.shape).sum(axis=1)
        errors.append(mean.estimate(sums, np.full(len(part), size)) - 0.3)
    return np.concatenate(errors)


def size_for(mechanism: str, epsilon: str, half_width: float) -> int:
    """How large the sample is for one estimate."""
    ledger = Ledger(Fraction(epsilon), NoisyAnswers(1))
    return MEANS[mechanism](ledger, steps=1, publications=1, confidence=0.95).sample_size(half_width)


def one_estimate() -> dict[str, Any]:
    """Errors with a sample of 775, and coverage of a half-width of 0.1 with the sample that it needs."""
    rows: dict[str, Any] = {}
    for mechanism in MEANS:
        for place, epsilon in enumerate(EPSILONS):
            errors = sample_errors(mechanism, epsilon, SAMPLE, 4000)
            size = size_for(mechanism, epsilon, 0.1)
            runs = min(4000, max(200, 40_000_000 // size))
            covered = np.abs(sample_errors(mechanism, epsilon, size, runs)) <= 0.1
            rows[f"{mechanism}, epsilon {epsilon}"] = {
                "specified": SPECIFIED[mechanism][place],
                "rmse": float(np.sqrt(np.mean(errors**2))),
                "quantile": float(np.quantile(np.abs(errors), 0.95)),
                "outside": float(np.mean((errors < -0.3) | (errors > 0.7))),
                "size": size,
                "runs": runs,
                "covered": float(covered.mean()),
            }
    return rows


# ---- series of estimates on streams


def streams() -> dict[str, Numbers]:
    """Page views of a news site in the order of the file, and two made-up streams."""
    draw = np.random.default_rng(5)
    million = np.arange(10**6)
    _, pages = read_numbers(data_folder() / "msnbc" / "msnbc990928.seq.gz")
    return {
        "MSNBC, front page or not": (pages == 1).astype(np.int64),
        "MSNBC, weather or not": (pages == 8).astype(np.int64),
        "made up, three in ten": (draw.random(10**6) < 0.3).astype(np.int64),
        "made up, from 0.1 to 0.7": (draw.random(10**6) < 0.1 + 0.6 * million / 10**6).astype(np.int64),
    }


def every_bit(events: Numbers, times: Numbers, epsilon: Fraction, seed: int) -> Numbers:
    """Laplace noise on every bit, and prefix sums: the first reference of the thesis, which reads everything."""
    noisy = Laplace(l1=1).draw(events, epsilon, bits(seed=seed))
    return np.clip(np.cumsum(noisy)[times - 1] / times, 0, 1)


def running_count(events: Numbers, times: Numbers, epsilon: Fraction, seed: int) -> Numbers:
    """An exact running count with Laplace noise at each time, an equal share each: the simplest that reads all."""
    exact = np.cumsum(events)[times - 1]
    noisy = Laplace(l1=1).draw(exact, epsilon / len(times), bits(seed=seed))
    return np.clip(noisy / times, 0, 1)


def compare(events: Numbers, epsilon: str) -> dict[str, Any]:
    """Publish ten estimates with every method, and measure."""
    data = Stream.from_values(events)
    times = len(events) // PUBLICATIONS * np.arange(1, PUBLICATIONS + 1)
    truth = np.cumsum(events)[times - 1] / times
    promise = PureDP(epsilon=epsilon, unit="event")
    listed = ",".join(map(str, times))
    rows: dict[str, Any] = {}
    for mechanism in ("randomised-response", "laplace-bits", "central", "tree"):
        method = StreamMean(mechanism=mechanism, times=listed, half_width=HALF_WIDTH)
        releases = [method.publish(data, promise, seed=seed) for seed in range(RUNS)]
        estimates = [release.data.all_rows() for release in releases]
        errors = np.array([rows_.values - truth for rows_ in estimates])
        widths = np.array([rows_.half_widths for rows_ in estimates])
        read = float(np.mean([dict(release.evidence.notes)["events read"] for release in releases]))
        covered = float(np.mean(np.abs(errors) <= widths + 1e-9))
        rows[mechanism] = describe(errors) | {
            "read": read,
            "covered": covered,
            "half_width": float(widths[:, -1].mean()),
        }
    rivals: dict[str, Callable[[int], Numbers]] = {
        "running count": lambda seed: running_count(events, times, Fraction(epsilon), seed),
        "every bit": lambda seed: every_bit(events, times, Fraction(epsilon), seed),
    }
    for name, rival in rivals.items():
        rows[name] = describe(np.array([rival(seed) - truth for seed in range(RUNS)])) | {"read": int(times[-1])}
    rows["one half"] = describe(np.full((1, len(times)), 0.5) - truth) | {"read": 0}
    return {"events": len(events), "mean": float(truth[-1]), "methods": rows}


def describe(errors: Numbers) -> dict[str, float]:
    """Errors over all times and runs."""
    return {"rmse": float(np.sqrt(np.mean(errors**2))), "quantile": float(np.quantile(np.abs(errors), 0.95))}


# ---- reads


def count_reads() -> dict[str, Any]:
    """Events and pages that are read with a sample of 775, against the formula."""
    rows: dict[str, Any] = {}
    for power in range(4, 9):
        length = 10**power
        for name, every in (("every event", 1), ("ten times", length // 10), ("once", length)):
            counts = [count_once(length, every, seed) for seed in range(RUNS)]
            read, pages = np.array(counts, float).T
            expected = sum(expected_part(length, every, start) for start in range(0, length // every, BATCH))
            rows[f"{length}, {name}"] = {
                "events": length,
                "published": name,
                "expected": expected,
                "read": float(read.mean()),
                "deviation": float(read.std(ddof=1)),
                "pages": float(pages.mean()),
                "all_pages": -(-length // PAGE),
                "runs": RUNS,
            }
    return rows


def batch_of_times(length: int, every: int, start: int) -> Numbers:
    """Some of the times."""
    return every * np.arange(start + 1, min(start + BATCH, length // every) + 1)


def expected_part(length: int, every: int, start: int) -> float:
    """The expected reads for a batch of times, after those before."""
    times = batch_of_times(length, every, start)
    before = every * start
    if not before:
        return expected_reads(SAMPLE, times)
    return expected_reads(SAMPLE, np.append(before, times)) - min(SAMPLE, before)


def count_once(length: int, every: int, seed: int) -> tuple[int, int]:
    """Count events, and pages of a file with one byte per event."""
    reservoir, read, pages = Reservoir(SAMPLE, coins((seed, 0))), 0, set[int]()
    for start in range(0, length // every, BATCH):
        for entries in reservoir.reads(batch_of_times(length, every, start)):
            read += len(entries.positions)
            pages.update((entries.positions // PAGE).tolist())
    return read, len(pages)


# ---- times


def times(length: int = 10**8) -> dict[str, Any]:
    """Seconds for a file of bits, one byte each; the floor reads it and adds it up."""
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.bits"
        path.write_bytes((np.random.default_rng(1).random(length) < 0.3).astype(np.uint8).tobytes().translate(_SIGNS))
        least, _ = best(lambda: int(np.frombuffer(path.read_bytes(), np.uint8).sum()), 3)
        for mechanism in ("randomised-response", "central", "tree"):
            for every in (length, length // 100):
                method = StreamMean(mechanism=mechanism, every=every, half_width=HALF_WIDTH)

                def publish(method: StreamMean = method) -> None:
                    data = hedgerow.read(str(path), kind="streams", format="bits")
                    method.publish(data, PureDP(epsilon=1, unit="event"))

                seconds, _ = best(publish, 3)
                rows[f"{mechanism}, {length // every}"] = {"seconds": seconds, "floor": least, "events": length}
    return rows


_SIGNS = b"01" + bytes(254)


def main() -> None:
    """Run everything, or one part (--only), and write the results."""
    store = RESULTS / "stream-mean.json"
    results: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    if only in ("", "one"):
        results["one estimate"] = one_estimate()
    if only in ("", "reads"):
        results["reads"] = count_reads()
    if only in ("", "series"):
        results["series"] = {
            f"{name}, epsilon {epsilon}": compare(events, epsilon)
            for name, events in streams().items()
            for epsilon in EPSILONS
        }
    if only in ("", "times"):
        results["times"] = times()
        for name, row in results["times"].items():
            print(f"{name} estimates of {row['events']:,} events: {row['seconds']:.3f} s", end="")
            print(f"  {row['seconds'] / row['floor']:.2f} x floor ({row['floor']:.2f} s)")
    store.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
