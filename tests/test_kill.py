"""Killed at any moment, a publication leaves a whole folder under its name, or none."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from hedgerow.audit.folder import verify_folder
from hedgerow.samples import shopping_baskets

pytestmark = pytest.mark.slow

MOMENTS = 50


def start(folder, out, stderr=subprocess.DEVNULL):
    line = f"publish a.csv --kind sets --method flat-laplace --epsilon 1 --unit record --out {out} --assert-public-domain"
    return subprocess.Popen(
        [sys.executable, "-m", "hedgerow", *line.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )


@pytest.fixture
def desk(tmp_path):
    held = shopping_baskets(30_000)
    lines = [f"{basket},{item}" for basket, item in zip(held.basket, held.item, strict=True)]
    (tmp_path / "a.csv").write_text("unit,item\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_a_kill_leaves_no_part_under_the_name(desk):
    """50 moments spread evenly over the measured time of a run; at least 40 must hit it alive."""
    times = []
    for number in range(3):
        begin = time.monotonic()
        assert start(desk, f"whole{number}").wait() == 0
        times.append(time.monotonic() - begin)
    # the shortest of three: a kill after the end would show nothing
    length = min(times)
    alive, whole, left = 0, 0, 0
    for moment in range(MOMENTS):
        out = desk / f"R{moment}"
        process = start(desk, out.name)
        time.sleep(length * (moment + 0.5) / MOMENTS)
        process.send_signal(signal.SIGKILL)
        alive += process.wait() == -signal.SIGKILL
        left += bool(list(desk.glob(".hedgerow-*.part")))
        if out.exists():
            whole += 1
            assert all(verify_folder(out).values())
    print(f"{alive} of {MOMENTS} hit a live process, {whole} had finished, {left} left parts")
    assert alive >= 40
    assert start(desk, "last").wait() == 0
    assert not list(desk.glob(".hedgerow-*"))


def test_two_into_the_same_folder_at_once(desk):
    """One wins, the other says so; six rounds, so that they meet in different places."""
    for number in range(6):
        pair = [start(desk, f"R{number}", subprocess.PIPE) for _ in range(2)]
        errors = [process.communicate()[1].decode() for process in pair]
        codes = sorted(process.returncode for process in pair)
        assert codes[0] == 0
        assert codes[1] in {2, 4}
        said = "".join(errors)
        assert "was made by somebody else in the meantime" in said or "is there already" in said
        assert all(verify_folder(desk / f"R{number}").values())
    assert not list(desk.glob(".hedgerow-*"))
