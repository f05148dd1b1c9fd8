"""Run the benchmark of every method that has one: benchmarks/<id with underscores>.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hedgerow import METHODS


def benchmarks() -> dict[str, Path]:
    """Where the benchmark of each method is; the file may not be there."""
    return {method: Path(__file__).with_name(f"{method.replace('-', '_')}.py") for method in METHODS}


def main() -> None:
    """Run them one after the other, with the arguments given."""
    for method, path in benchmarks().items():
        if path.exists():
            print(f"== {method}", flush=True)
            subprocess.run([sys.executable, str(path), *sys.argv[1:]], check=True)  # noqa: S603 - ourselves


if __name__ == "__main__":
    main()
