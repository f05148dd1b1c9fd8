"""Attack `verify`, `report` and `evaluate` with mutated release folders, and measure.

python tests/support/hostile.py COUNT [FIRST]    # so many folders, from a number on; prints figures
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from mutations import copied, mutate, sound
from terminal import Ran, run

#: every so many folders are given to a process of its own
REAL = 40
_MOST_MEMORY = 6 * 10**9
#: what a terminal would obey, and marks of crashes
_RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CRASH = re.compile(r"Traceback|panicked|RUST_BACKTRACE|a bug in Hedgerow")


class Outcome(NamedTuple):
    number: int
    command: str
    how: str
    code: int
    seconds: float
    computing: float
    megabytes: float
    wrong: str


def attack(folder: Path, made: list[tuple[str, str]], number: int) -> Outcome:
    """Mutate one folder and run one command on it."""
    draw = random.Random(number)
    name, data = draw.choice(made)
    copied(folder / name, folder / "X")
    how = f"{name}: {mutate(folder / 'X', draw)}"
    for left in ("s.json", "p.html"):
        (folder / left).unlink(missing_ok=True)
    read = " --read sensitive=ill" if data.startswith("t.") and draw.random() < 0.3 else ""
    command = draw.choice([
        *("verify X", "verify X", "verify X --json", "verify X --epsilon 3 --unit record"),
        *("report X --html p.html", "report X X --html p.html --json"),
        f"evaluate X --against {data} --scores s.json --seed 1{read}",
    ])  # fmt: skip
    _reset_peak()
    start, computed = time.monotonic(), _computed()
    try:
        ran, peak = _in_process(command, folder) if number % REAL else _for_real(command, folder)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        ran, peak = Ran(70, "", f"Traceback {type(error).__name__} {error}"[:300]), _peak()
    seconds, computing = time.monotonic() - start, _computed() - computed
    unchanged = "sealed" not in how and _same(folder / name, folder / "X")
    wrong = _wrong(ran, command, how, unchanged=unchanged)
    return Outcome(number, command, how, ran.code, seconds, computing, peak, wrong)


def _wrong(ran: Ran, command: str, how: str, *, unchanged: bool) -> str:
    """Say what must not be: a crash, a raw escape, a cell, a false yes, a document that is none."""
    text = ran.out + ran.err
    if ran.code not in {0, 2, 3, 4} or _CRASH.search(text):
        return f"crash: {text[-300:]}"
    if _RAW.search(text):
        return f"raw: {text[:300]!r}"
    if "SECRET" in text:
        return f"cell: {text[:300]}"
    if "--json" in command:
        try:
            json.loads(ran.out)
        except ValueError:
            return f"no document: {ran.out[:300]}"
    if command.startswith("verify") and ran.code == 0 and "sealed" not in how and not unchanged:
        return "satisfied, and is not what was published"
    return ""


def _in_process(command: str, folder: Path) -> tuple[Ran, float]:
    return run(command, folder), _peak()


def _for_real(command: str, folder: Path) -> tuple[Ran, float]:
    code = "import resource, sys; from hedgerow.__main__ import main\ntry: main()\nfinally: open('peak', 'w').write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    peak = float((folder / "peak").read_text()) / 1e3
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode()), peak


def _same(one: Path, other: Path) -> bool:
    """Whether data and statement are those that were published.

    Whoever changes `release.json` so that it fits itself changes what it says of them: only a
    signature shows that.
    """
    names = {path.name for path in other.iterdir()} - {"release.json.sig"}
    return names == {path.name for path in one.iterdir()} and all(
        (other / name).is_file()
        and (other / name).stat().st_size == (one / name).stat().st_size
        and (other / name).read_bytes() == (one / name).read_bytes()
        for name in names - {"release.json"}
    )


def _computed() -> float:
    """Seconds that this process and its children computed: others may be at work on the machine."""
    held = os.times()
    return held.user + held.system + held.children_user + held.children_system


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(kilobytes) / 1e3


def main() -> None:
    """Print what happened to a number of folders."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    # whoever finds a way to take all memory takes this process with him, not the machine
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    with tempfile.TemporaryDirectory() as place:
        made = sound(Path(place))
        outcomes = []
        for number in range(first, first + count):
            print(number, file=sys.stderr, flush=True)
            outcomes.append(attack(Path(place), made, number))
            if outcomes[-1].wrong or outcomes[-1].computing > 4 or outcomes[-1].megabytes > 1_000:
                print(json.dumps(outcomes[-1]._asdict()), flush=True)
    codes = Counter(f"{held.command.split()[0]} {held.code}" for held in outcomes)
    figures = {
        "folders": len(outcomes),
        "wrong": sum(bool(held.wrong) for held in outcomes),
        "codes": dict(sorted(codes.items())),
        "seconds": round(max(held.seconds for held in outcomes), 2),
        "computing seconds": round(max(held.computing for held in outcomes), 2),
        "megabytes": round(max(held.megabytes for held in outcomes)),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
