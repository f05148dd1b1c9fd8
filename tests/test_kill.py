"""Killed at any moment, a publication leaves a whole folder under its name, or none."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from hedgerow.audit.folder import verify_folder
from hedgerow.io.account import Account
from hedgerow.samples import shopping_baskets

pytestmark = pytest.mark.slow

MOMENTS = 50


def start(folder, out, stderr=subprocess.DEVNULL, more=""):
    line = f"publish a.csv --kind sets --method flat-laplace --epsilon 1 --unit record --out {out} --assert-public-domain"
    return subprocess.Popen(
        [sys.executable, "-m", "hedgerow", *line.split(), *more.split()],
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
    # and one more, killed as soon as it writes: something is left that must be removed
    for number in range(20):
        process = start(desk, f"writing{number}")
        while process.poll() is None and not list(desk.glob(".hedgerow-*.part")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if list(desk.glob(".hedgerow-*.part")):
            break
    assert list(desk.glob(".hedgerow-*.part"))
    assert start(desk, "last").wait() == 0
    assert not list(desk.glob(".hedgerow-*"))


def test_killed_while_replacing_and_charging(desk):
    """A release stays under its name whatever happens, and no release goes out uncharged."""
    (desk / "account.toml").write_text('total = "1000"\nunit = "record"\n')
    more = "--overwrite --account account.toml --seed"
    begin = time.monotonic()
    assert start(desk, "R", more=f"{more} 0").wait() == 0
    length = time.monotonic() - begin
    for moment in range(20):
        process = start(desk, "R", more=f"{more} {moment + 1}")
        # the last half of a run is what writes
        time.sleep(length * (0.5 + 0.5 * (moment + 0.5) / 20))
        process.send_signal(signal.SIGKILL)
        process.wait()
        checks = verify_folder(desk / "R")
        assert [name for name, passed in checks.items() if not passed] == ["it is for publication"]
    charged = len(Account.read(desk / "account.toml").releases)
    assert 1 <= charged <= 21
    assert start(desk, "R", more=f"{more} 99").wait() == 0
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
