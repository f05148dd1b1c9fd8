"""Run the benchmark of every method that has one: benchmarks/<id with underscores>.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hedgerow import METHODS


def benchmarks() -> dict[str, Path]:
    """The file of each method's benchmark; it may not exist."""
    return {method: Path(__file__).with_name(f"{method.replace('-', '_')}.py") for method in METHODS}


def main() -> None:
    """Run the benchmarks one after the other, with the arguments of this command."""
    for method, path in benchmarks().items():
        if path.exists():
            print(f"== {method}", flush=True)
            subprocess.run([sys.executable, str(path), *sys.argv[1:]], check=True)  # noqa: S603 - our own scripts


if __name__ == "__main__":
    main()
