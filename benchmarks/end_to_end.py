"""The whole job on MSNBC as sets (read, publish, write, verify), relative to the floor.

The job is timed without process start, as the floor is; the commands are timed separately, with process start.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from floor import best, data_folder, floor

from hedgerow.jobs.publish import run_job
from hedgerow.jobs.recipe import Job

FILE = "msnbc/msnbc990928.seq.gz"


def job(source: Path, out: Path) -> Job:
    """The publication that is timed."""
    return Job(
        data=str(source),
        kind="sets",
        method="raked-histogram",
        promise={"epsilon": "1", "unit": "record"},
        read={"skip_lines": "7"},
        assert_public_domain=True,
        out=str(out),
        overwrite=True,
    )


def time_command(*words: str) -> float:
    """Run a command, and return its time in seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "hedgerow", *words]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - ourselves
    return time.perf_counter() - start


def main() -> None:
    """Print ratios measured in one run."""
    source = data_folder() / FILE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        least, _ = best(lambda: floor(source), 5)
        taken, _ = best(lambda: run_job(job(source, folder / "release")), 5)
        ratio = f"{taken / least:.2f} times the floor ({least:.2f} s)"
        print(f"publish end to end: {taken:.2f} s, {ratio}")
        release, scores = str(folder / "release"), str(folder / "scores.json")
        other = str(folder / "other")
        head = ["--read", "skip_lines=7"]
        options = "--kind sets --method raked-histogram --epsilon 1 --unit record --assert-public-domain"
        commands = {
            "help": ["--help"],
            "publish": ["publish", str(source), *head, *options.split(), "--out", other],
            "evaluate": ["evaluate", release, "--against", str(source), *head, "--scores", scores],
            "report": ["report", release, "--scores", scores, "--html", str(folder / "page.html")],
        }
        for command, words in commands.items():
            print(f"hedgerow {command}: {time_command(*words):.2f} s, process start included")


if __name__ == "__main__":
    main()
