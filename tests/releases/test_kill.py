"""Killed at any moment, a publication leaves a whole folder under its name, or none."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from terminal import hear_interrupts

from hedgerow.audit.verification import verify_folder
from hedgerow.releases.account import FAILED, OUT, PENDING, Account, settle_account
from hedgerow.samples import shopping_baskets

pytestmark = pytest.mark.slow

MOMENTS = 50
ALIVE = 40
SIGNALS = int(os.environ.get("HEDGEROW_SIGNALS", "36"))


def start(folder, out, stderr=subprocess.DEVNULL, more=""):
    line = (
        f"publish a.csv --kind sets --method flat-laplace --epsilon 1 --unit record --out {out} --assert-public-domain"
    )
    return subprocess.Popen(
        [sys.executable, "-m", "hedgerow", *line.split(), *more.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        preexec_fn=hear_interrupts,  # noqa: PLW1509 - it only sets a signal
    )


@pytest.fixture
def desk(tmp_path):
    held = shopping_baskets(30_000)
    lines = [f"{basket},{item}" for basket, item in zip(held.basket, held.item, strict=True)]
    (tmp_path / "a.csv").write_text("unit,item\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_a_kill_leaves_no_part_under_the_name(desk):
    """Moments spread over the measured time of a run, until 40 have hit it alive."""
    times = []
    for number in range(3):
        begin = time.monotonic()
        assert start(desk, f"whole{number}").wait() == 0
        times.append(time.monotonic() - begin)
    # the shortest of three: a kill after the end would show nothing
    length = min(times)
    alive, whole, left = 0, 0, 0
    for moment in range(4 * MOMENTS):
        if alive == ALIVE:
            break
        out = desk / f"R{moment}"
        process = start(desk, out.name)
        time.sleep(length * (moment % MOMENTS + 0.5) / MOMENTS)
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            alive += 1
        else:  # the machine has become faster: what was measured is too long
            length *= 0.97
        left += bool(list(desk.glob(".hedgerow-*.part")))
        if out.exists():
            whole += 1
            assert all(verify_folder(out).values())
    print(f"{alive} hit a live process, {whole} had finished, {left} left parts")
    assert alive == ALIVE
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


def test_signals_at_random_moments(desk):
    """KILL, TERM and INT: no part of a release, no undercharge, and every message is true.

    Half of the moments are anywhere in a run, half in its last part, which asks and writes; each
    fourth run replaces the same release. HEDGEROW_SIGNALS sets their number.
    """
    account = desk / "account.toml"
    account.write_text('total = "9999"\nunit = "record"\n')
    more = "--account account.toml"
    length = min(timed(desk, f"whole{number}", more) for number in range(3))
    draw = random.Random(13)
    seen = Counter()
    for number in range(SIGNALS):
        kind = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3]
        replaces = number % 4 == 3
        out = desk / ("R" if replaces else f"R{number}")
        before = out.stat().st_ino if out.exists() else None
        charged = len(entries(account, out))
        process = start(desk, out.name, subprocess.PIPE, f"{more} {'--overwrite' * replaces}")
        time.sleep(draw.uniform(length * draw.choice([0, 0.6]), length * 1.1))
        process.send_signal(kind)
        said = process.communicate()[1].decode()
        new = out.exists() and out.stat().st_ino != before
        if out.exists():
            assert all(verify_folder(out).values()), "half a release"
        charged = len(entries(account, out)) - charged
        assert charged >= new, "undercharged"
        end = check_message(process.returncode, said, kind, new=new, charged=bool(charged))
        if replaces and charged:  # the next one takes the place of what went out
            settle_account(account)
            assert entries(account, out)[-1]["state"] == (OUT if new else FAILED)
        seen[kind.name, end, "out" if new else "charged" if charged else "nothing"] += 1
    pending = sum(held["state"] == PENDING for held in Account.read(account).releases)
    states = Counter(held["state"] for held in settle_account(account).releases)
    for number in range(SIGNALS):
        out = desk / f"R{number}"
        assert [held["state"] for held in entries(account, out)] in ([[OUT]] if out.exists() else [[FAILED], []])
    for what, times in sorted(seen.items()):
        print(f"{times:4} x {', '.join(what)}")
    print(f"{pending} pending before they were settled, then {dict(states)}")
    assert set(states) <= {OUT, FAILED}
    assert sum(seen.values()) == SIGNALS
    assert start(desk, "last", more=more).wait() == 0
    assert not [path for path in desk.iterdir() if path.name.startswith(".")]


def timed(desk, out, more):
    begin = time.monotonic()
    assert start(desk, out, more=more).wait() == 0
    return time.monotonic() - begin


def entries(account, out):
    return [held for held in Account.read(account).releases if held["out"] == str(out)]


def check_message(code, said, kind, *, new, charged):
    """Hold what a run said against what it left; return how it ended."""
    if kind == signal.SIGKILL or (code != 130 and "hedgerow:" not in said):
        if code == 0:
            assert new
            return "finished"
        # killed, or stopped while Python itself was starting: our first line was not reached
        assert kind == signal.SIGKILL or not (new or charged), (code, said)
        return "killed" if kind == signal.SIGKILL else "not started"
    assert code == 130, (code, said)
    assert len(said.splitlines()) == 1, said
    assert said.startswith("hedgerow: interrupted")
    assert ("; published in R" in said) == new, said
    assert ("; nothing was published" in said) == (not new), said
    assert (" charged to account.toml" in said) == charged, said
    return "interrupted"


def test_two_into_the_same_folder_at_once(desk):
    """One wins, the other says so; six rounds, so that they meet in different places."""
    for number in range(6):
        pair = [start(desk, f"R{number}", subprocess.PIPE) for _ in range(2)]
        errors = [process.communicate()[1].decode() for process in pair]
        codes = sorted(process.returncode for process in pair)
        assert codes[0] == 0
        assert codes[1] in {2, 4}
        said = "".join(errors)
        assert "was created by another process in the meantime" in said or "exists already" in said
        assert all(verify_folder(desk / f"R{number}").values())
    assert not list(desk.glob(".hedgerow-*"))
