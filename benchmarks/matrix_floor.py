"""A matrix of 1,000,000 x 50 published by a method, beside what no method can avoid.

Every job runs in a process of its own, so that its peak of memory is its own. The file is made up, in a temporary
folder, and is in the cache of the system when it is read.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from hedgerow import find_method, read
from hedgerow.privacy.distortion import Distortion

__all__ = ["compare"]

ROWS, COLUMNS, FACTORS = 1_000_000, 50, 8
LEVELS = 6
TIMES = 4


def make(path: Path) -> None:
    """Write numbers with eight common factors."""
    draw = np.random.default_rng(1)
    values = draw.normal(size=(ROWS, FACTORS)) @ draw.normal(size=(FACTORS, COLUMNS))
    for begin in range(0, ROWS, 10_000):
        values[begin : begin + 10_000] += draw.normal(size=(10_000, COLUMNS))
    np.save(path, values)


def run_floor(path: Path, name: str) -> None:
    """Read the array, and do what the method cannot do without; `reused` is the same without fresh memory."""
    values = np.load(path)
    if name == "reused":
        copy = np.empty_like(values)
        for level in range(LEVELS):
            np.multiply(values, 1.0 + level, out=copy)
        return
    if name == "wavelet":
        for level in range(LEVELS):
            _ = values * (1.0 + level)
    elif name == "svd":
        gram = values.T @ values
        _ = values @ gram
    else:
        noise = np.random.default_rng(1).standard_normal(values.shape)
        _ = values + noise


def run_method(path: Path, name: str, rows: str) -> None:
    """Read the matrix, and publish it with default settings."""
    data = read(path, kind="matrices", options={"rows": rows})
    find_method(name)().publish(data, Distortion())


def compare(name: str) -> None:
    """Print times, ratios and peaks of memory of a method."""
    if "--job" in sys.argv:
        _job(sys.argv[sys.argv.index("--job") + 1 :])
        return
    size = ROWS * COLUMNS * 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npy"
        _spawn("make", path)
        jobs = {"floor": ("floor", name)}
        jobs |= {"floor, one copy": ("floor", "reused")} if name == "wavelet" else {}
        jobs |= {"rows in any order": ("method", name, "hashed")}
        jobs |= {"rows numbered": ("method", name, "numbered")}
        # in turn, since other work on the machine comes and goes
        runs = [{job: _spawn(how[0], path, *how[1:]) for job, how in jobs.items()} for _ in range(TIMES)]
    best = {job: min(run[job] for run in runs) for job in jobs}
    print(f"{name}, {ROWS:,} x {COLUMNS}, {size / 2**20:.0f} MiB; load {os.getloadavg()[0]:.1f}")
    least = best["floor"][0]
    for job, (seconds, peak) in best.items():
        print(
            f"{job:20} {seconds:6.2f} CPU s {seconds / least:5.2f} x floor  {peak / size:5.2f} x the matrix in memory"
        )


def _spawn(job: str, path: Path, *arguments: str) -> tuple[float, float]:
    command = [sys.executable, sys.argv[0], "--job", job, str(path), *arguments]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603 - ourselves
    return float(told[0]), float(told[1])


def _job(arguments: list[str]) -> None:
    job, path, *rest = arguments
    for method in ("svd", "wavelet", "additive-noise"):  # modules are imported on first use
        find_method(method)().publish(read(np.arange(16.0).reshape(4, 4) ** 2, kind="matrices"), Distortion())
    start = time.process_time()
    {"make": make, "floor": run_floor, "method": run_method}[job](Path(path), *rest)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(time.process_time() - start, peak)
