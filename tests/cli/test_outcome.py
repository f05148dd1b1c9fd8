"""Once a release is out, whatever fails later says so; and a closed pipe changes no exit code."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from faults import System, faulty
from terminal import hear_interrupts, run

from hedgerow.audit.verification import verify_folder
from hedgerow.releases.account import FAILED, OUT, Account

PUBLISH = (
    "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --out R "
    "--domain d.toml --account account.toml"
)
SAID = "published in R; epsilon 1 is charged to account.toml"


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "a.dat").write_text("tea milk\n" * 70 + "bread\n" * 40)
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["bread", "milk", "tea"]\n')
    (tmp_path / "account.toml").write_text('total = "2"\nunit = "record"\n')
    return tmp_path


def shell(desk, line):
    """Run a line of bash; return the exit code of its first command, and the standard error."""
    command = line.replace("hedgerow", f"{sys.executable} -m hedgerow")
    done = subprocess.run(
        ["/bin/bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        cwd=desk,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def is_out(desk):
    [entry] = Account.read(desk / "account.toml").releases
    return all(verify_folder(desk / "R").values()) and entry["state"] == OUT


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")  # noqa: PTH110
@pytest.mark.parametrize("json", ["", "--json"])
def test_a_full_disk_under_the_standard_output(desk, json):
    code, said = shell(desk, f"hedgerow {PUBLISH} {json} > /dev/full")
    assert (code, said) == (
        4,
        f"hedgerow: the result could not be printed (no space left on device); {SAID}\n",
    )
    assert is_out(desk)


def test_a_closed_standard_output(desk):
    code, said = shell(desk, f"hedgerow {PUBLISH} >&-")
    assert (code, said) == (
        4,
        f"hedgerow: the result could not be printed (bad file descriptor); {SAID}\n",
    )
    assert is_out(desk)


def test_nothing_of_ours_is_written_to_where_the_standard_streams_were(desk):
    """Without care the first file we open gets their number, and whatever is printed goes there."""
    code, said = shell(desk, f"hedgerow {PUBLISH} <&- >&- 2>&-")
    assert (code, said) == (4, "")
    assert is_out(desk)


def test_a_pipe_that_closes_changes_no_exit_code(desk):
    assert shell(desk, f"hedgerow {PUBLISH} | true") == (0, f"hedgerow: {SAID}\n")
    assert is_out(desk)
    (desk / "R" / "STATEMENT.md").write_text("Nothing is promised.\n")
    for line, code in [
        ("hedgerow verify R | true", 3),
        ("hedgerow methods | true", 0),
        ("hedgerow --help | true", 0),
        ("hedgerow publish --help | true", 0),
    ]:
        assert shell(desk, line) == (code, "")
    code, said = shell(desk, "hedgerow verify none --json | true")
    assert (code, said.count("\n")) == (2, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_result_is_printed(desk, number):
    """Into a pipe that is full, so that it takes as long as we like."""
    receive, send = os.pipe()
    fcntl.fcntl(send, fcntl.F_SETFL, os.O_NONBLOCK)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(send, b"x" * 4096)
    fcntl.fcntl(send, fcntl.F_SETFL, 0)
    process = subprocess.Popen(
        [sys.executable, "-m", "hedgerow", *PUBLISH.split()],
        cwd=desk,
        stdout=send,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,  # noqa: PLW1509 - it only sets a signal
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not is_settled(desk):
        time.sleep(0.01)
    time.sleep(0.2)  # the result is about to be printed
    process.send_signal(number)
    said = process.communicate()[1]
    assert (process.returncode, said) == (130, f"hedgerow: interrupted; {SAID}\n")
    assert is_out(desk)
    os.close(send)
    os.close(receive)


def is_settled(desk):
    return any(held["state"] == OUT for held in Account.read(desk / "account.toml").releases)


def test_a_signal_that_was_ignored_stays_ignored(desk):
    """As under nohup."""
    command = f"trap '' HUP; {sys.executable} -m hedgerow {PUBLISH} & sleep 0.2; kill -HUP $!; wait $!"
    assert subprocess.run(["/bin/bash", "-c", command], cwd=desk, check=False).returncode == 0
    assert is_out(desk)


def failing(desk, pick):
    """Publish with a fault at one call, chosen among all of them by their names."""
    for whole in (System(), System()):  # at first more is loaded
        (desk / "other.toml").write_text((desk / "account.toml").read_text())
        with faulty(whole):
            assert run(PUBLISH.replace("account.toml", "other.toml"), desk).code == 0
        shutil.rmtree(desk / "R")
    with faulty(System(pick(whole.calls))):
        return run(PUBLISH, desk)


@pytest.mark.parametrize("earlier", [0, 1])
def test_a_failing_fsync(desk, earlier):
    """Of the folder that holds the release, just after it got its name; of itself, just before."""

    def pick(calls):
        renamed = calls.index("rename") + 1
        if not earlier:
            return calls.index("fsync", renamed) + 1
        # the account is written once more in between
        before = [number for number, name in enumerate(calls[:renamed], 1) if name == "fsync"]
        return before[-3]

    ran = failing(desk, pick)
    assert (ran.code, ran.out) == (4, "")
    if earlier:
        assert ran.err == (
            "hedgerow: R could not be written (input/output error); nothing was published; "
            "epsilon 1 stays charged to account.toml: asking the data is what costs\n"
        )
        assert not (desk / "R").exists()
        assert [held["state"] for held in Account.read(desk / "account.toml").releases] == [FAILED]
    else:
        assert ran.err == (f"hedgerow: R is complete, but may not survive a power cut (input/output error); {SAID}\n")
        assert is_out(desk)
