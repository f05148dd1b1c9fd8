"""One publication, with a fault at every call of the system: no half release, no false message."""

from __future__ import annotations

import errno
import shutil
from collections import Counter

import pytest
from faults import System, faulty
from terminal import run

from hedgerow.audit.verification import verify_folder
from hedgerow.releases.account import FAILED, OUT, PENDING, Account

LINE = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --out R --domain d.toml"
MODES = {
    "plain": "",
    "overwrite": "--overwrite",
    "account": "--account account.toml",
    "overwrite and account": "--overwrite --account account.toml",
    "overwrite and account in two steps": "--overwrite --account account.toml",
}


class Desk:
    """A folder with data and an account, and perhaps with an older release; as often as needed."""

    def __init__(self, folder, mode):
        self.folder = folder
        self.mode = mode
        self.release = folder / "R"
        self.account = folder / "account.toml"
        (folder / "a.dat").write_text("tea milk\n" * 70 + "bread\n" * 40)
        (folder / "d.toml").write_text('[item]\nvalues = ["bread", "milk", "tea"]\n')
        assert run(LINE, folder).code == 0  # what is loaded once is loaded now
        shutil.copytree(self.release, folder / "older")
        self.clean()

    def clean(self):
        shutil.rmtree(self.release, ignore_errors=True)
        shutil.rmtree(self.folder / ".hedgerow-R.old", ignore_errors=True)
        self.account.write_text('total = "9"\nunit = "record"\n')
        if "overwrite" in self.mode:
            shutil.copytree(self.folder / "older", self.release)

    def publish(self, system):
        """Publish under faults; return what was said, and what is true."""
        before = self.release.stat().st_ino if self.release.exists() else None
        two_steps = self.mode.endswith("two steps")
        with faulty(system, without_exchange=two_steps):
            ran = run(f"{LINE} {MODES[self.mode]}", self.folder)
        new = self.release.exists() and self.release.stat().st_ino != before
        if before is not None:
            assert self.release.exists(), "the old release is gone"
        if self.release.exists():
            assert all(verify_folder(self.release).values()), "half a release"
        return ran, new

    def check(self, ran, new):
        """Hold the message against what is there."""
        said = ran.out + ran.err
        assert "Traceback" not in said
        assert ran.code in ({0, 4} if new else {2, 4}), said
        assert ("Published in R" in said or "; published in R" in said) == new, said
        assert ("nothing was published" in said) <= (not new), said
        assert (ran.code == 0) == ran.out.startswith("Published in R")
        assert len(ran.err.splitlines()) == (ran.code != 0), said
        entries = Account.read(self.account).releases
        if "account" in self.mode:
            assert len(entries) >= new, "undercharged"
            assert bool(entries) == (" charged to account.toml" in said or ran.code == 0), said
            settled = run("account account.toml", self.folder)
            assert settled.code == 0
            states = [held["state"] for held in Account.read(self.account).releases]
            assert states == [OUT if new else FAILED] * len(entries), said
            return entries[0]["state"] if entries else "not charged"
        return "out" if new else "not out"

    def leftovers(self):
        names = {path.name for path in self.folder.iterdir()}
        return names - {"a.dat", "d.toml", "R", "older", "account.toml"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "error"),
    [*((mode, errno.EIO) for mode in MODES), ("overwrite and account", errno.ENOSPC)],
)
def test_a_fault_at_every_call(tmp_path, mode, error):
    desk = Desk(tmp_path, mode)
    ran, new = desk.publish(whole := System())
    assert (ran.code, new) == (0, True), ran.err
    ends = Counter()
    for number in range(1, len(whole.calls) + 1):
        for late in (False, True):
            desk.clean()
            if late and whole.calls[number - 1] not in {"rename", "replace", "exchange"}:
                continue
            system = System(number, error, late=late)
            ran, new = desk.publish(system)
            assert len(system.calls) >= number, "the fault was not reached"
            ends[desk.check(ran, new), ran.code] += 1
    print(mode, errno.errorcode[error], len(whole.calls), "calls:", dict(ends))
    assert len(whole.calls) > 20
    assert any(code == 4 for _, code in ends)
    # one more without faults removes whatever was left behind
    desk.clean()
    ran, new = desk.publish(System())
    assert (ran.code, new) == (0, True)
    assert not desk.leftovers()


def test_the_calls_of_a_publication_are_all_seen(tmp_path):
    """A guard of the test above: whatever is written, locked and renamed can be made to fail."""
    seen = System()
    ran, _ = Desk(tmp_path, "overwrite and account").publish(seen)
    assert ran.code == 0
    counted = Counter(seen.calls)
    # data, release.json and STATEMENT.md; the account three times
    assert counted["write"] >= 3 + 3
    assert counted["fsync"] >= 3 + 2 + 3 * 2  # files, the new folder and its parent; file and parent
    assert counted["exchange"] == 1
    assert counted["replace"] == 3
    assert PENDING not in Account.read(tmp_path / "account.toml").releases[0]["state"]
