"""The floor: a lower bound on the time of any method, without any of our code.

Gunzip a file of lines of small whole numbers, parse it, sort its numbers once. A benchmark prints
its time as a ratio to this, measured in the same run, because timings vary between machines and runs.
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


def data_folder() -> Path:
    """Return the folder of public data sets: HEDGEROW_DATA, or the argument after --data."""
    option = sys.argv[sys.argv.index("--data") + 1] if "--data" in sys.argv else None
    folder = option or os.environ.get("HEDGEROW_DATA")
    if not folder:
        sys.exit("the folder of the data sets is not set; give --data FOLDER, or set HEDGEROW_DATA")
    return Path(folder)


def read_numbers(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read lines of blank-separated whole numbers: the line of each number, and the numbers.

    Lines that start with anything but a digit are comments; so is the line of names in MSNBC's
    header.
    """
    text = np.frombuffer(gzip.decompress(path.read_bytes()) + b"\n", np.uint8)
    digit = (text >= ord("0")) & (text <= ord("9"))
    ends = np.flatnonzero(text == ord("\n"))
    line_starts = np.concatenate(([0], ends + 1))[: len(ends)]
    data_line = digit[np.minimum(line_starts, len(text) - 1)]
    line = np.searchsorted(ends, np.flatnonzero(digit), "left")
    kept = data_line[np.minimum(line, len(data_line) - 1)] & (line < len(data_line))
    where, line = np.flatnonzero(digit)[kept], line[kept]
    first = np.concatenate(([True], np.diff(where) > 1))
    starts = np.flatnonzero(first)
    numbers = np.zeros(len(starts), np.int64)
    owner = np.cumsum(first) - 1
    value = (text[where] - ord("0")).astype(np.int64)
    width = np.diff(np.concatenate((starts, [len(where)])))
    place = width[owner] - 1 - (np.arange(len(where)) - starts[owner])
    np.add.at(numbers, owner, value * 10**place)
    return line[starts], numbers


def floor(path: Path) -> None:
    """Do the minimum that any method has to do."""
    _, numbers = read_numbers(path)
    np.sort(numbers)


def best(job: Callable[[], Result], times: int = 5) -> tuple[float, Result]:
    """Return the best time of a job in seconds, and its last result."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        result = job()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result
