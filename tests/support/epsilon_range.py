"""Publish a few small files by one method with budgets of any size, in a process that may use 2 GB of memory.

    python epsilon_range.py FOLDER METHOD SIZE,... UNIT,... EPSILON,...

For each unit, size and budget one JSON line is printed before, with the case, and one after, with what became of it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from terminal import run

from hedgerow import find_method

MEMORY = 2 << 30
#: per kind: the ending of the file, and its domain
FILES = {
    "sets": ("dat", "[item]\nlow = 0\nhigh = {top}\n"),
    "sequences": ("dat", "[item]\nlow = 0\nhigh = {top}\n"),
    "trajectories": ("csv", "[place]\nlow = 0\nhigh = {top}\n[time]\nlow = 0\nhigh = 23\n"),
    "graphs": ("edges", "[vertex]\nlow = 0\nhigh = 29\n"),
    "matrices": ("csv", "[x]\nlow = 0\nhigh = 1\nstep = 1\n[y]\nlow = 0\nhigh = 60\nstep = 1\n"),
    "streams": ("txt", "[value]\nlow = 0\nhigh = 1\nstep = 1\n"),
}
#: values of the domain, by the number of units: limits that grow with the domain are passed by few values only
VALUES = {3: 3, 100: 15}


def write_data(kind: str, units: int, path: Path) -> None:
    """Write so many units of a kind, made up."""
    draw = np.random.default_rng(units)
    some = [
        draw.choice(VALUES[units], draw.integers(1, min(6, VALUES[units] + 1)), replace=False).tolist()
        for _ in range(units)
    ]
    lines = {
        "sets": lambda: [" ".join(map(str, record)) for record in some],
        "sequences": lambda: [" ".join(map(str, record)) for record in some],
        "trajectories": lambda: [
            "unit,time,place", *(f"{n},{3 * at + 1},{place}" for n, record in enumerate(some) for at, place in enumerate(record))
        ],
        "graphs": lambda: [f"{n % 29} {n % 29 + 1 + n // 29}" for n in range(units) if n % 29 + 1 + n // 29 < 30],
        "matrices": lambda: ["x,y", *(f"{n % 2},{len(record) * 7 % 60}" for n, record in enumerate(some))],
        "streams": lambda: [str(len(record) % 2) for record in some],
    }[kind]()  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


def publish_all(folder: Path, name: str, sizes: list[int], units: list[str], budgets: list[str]) -> None:
    """Publish by one method, with every unit, number of records and budget."""
    method = find_method(name)
    kind = method.kinds[0]
    ending, domain = FILES[kind]
    for size in sizes:
        (folder / "domain.toml").write_text(domain.format(top=VALUES[size] - 1))
        write_data(kind, size, folder / f"data{size}.{ending}")
        for unit in units:
            for epsilon in budgets:
                case = {"method": name, "unit": unit, "records": size, "epsilon": epsilon}
                print(json.dumps(case), flush=True)
                began = time.monotonic()
                out = f"out-{size}-{unit}-{epsilon}"
                ran = run(
                    f"publish data{size}.{ending} --kind {kind} --method {name} --epsilon {epsilon} --unit {unit} "
                    f"--domain domain.toml --out {out} --seed 1 --even-if-useless",
                    folder,
                )
                took = round(time.monotonic() - began, 1)
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
                print(
                    json.dumps({**case, "code": ran.code, "said": ran.err, "seconds": took, "MB": memory}), flush=True
                )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    folder_, name_, *lists = sys.argv[1:]
    sizes_, units_, budgets_ = (text.split(",") for text in lists)
    publish_all(Path(folder_), name_, [int(size) for size in sizes_], units_, budgets_)
