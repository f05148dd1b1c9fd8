"""Accounts: charged before the first question, whatever happens; settled by what lies there."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import struct
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from faults import System, faulty
from jobs import job
from project import TESTS
from terminal import run
from toys import MinimumSupport

from hedgerow import Domain, PureDP, Sets
from hedgerow.errors import (
    BudgetExceeded,
    EngineError,
    ParameterError,
    UnsupportedGuarantee,
    WriteError,
)
from hedgerow.io import locks
from hedgerow.io.account import FAILED, OUT, PENDING, Account
from hedgerow.io.account_charge import Charge, settle_account
from hedgerow.io.atomic_folder import Placement
from hedgerow.jobs.publish import run_job
from hedgerow.privacy import Laplace, NoiseOff
from hedgerow.privacy.questions import Announced
from hedgerow.publishers import Publisher
from hedgerow.publishers.base import publish_with

EMPTY = 'total = "2"\nunit = "record"\n'
ONE = PureDP(epsilon=1, unit="record")


@pytest.fixture
def account(tmp_path):
    path = tmp_path / "account.toml"
    path.write_text(EMPTY)
    return path


def charge(path, guarantee=ONE, out="out"):
    return Charge(path, guarantee, method="m", placement=Placement(path.parent / out))


def entries(path):
    return Account.read(path).releases


def states(path):
    return [held["state"] for held in entries(path)]


# ---- when it is charged


@dataclass(frozen=True, kw_only=True)
class Curious(Publisher[Sets]):
    """Tosses coins, asks twice, and writes down when."""

    name: ClassVar[str] = "toy-curious"
    kinds: ClassVar = (Sets,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record",)
    events: ClassVar[list[str]] = []

    def run(self, data, ledger):
        self.events.append("coins")
        ledger.coins()
        for _ in range(2):
            self.events.append("asks")
            counts = np.zeros(1, np.int64)
            ledger.ask(counts, Laplace(l1=1), spend=ledger.budget / 2, label="counts")
        return data


DATA = Sets.from_records([["a"]], domain=Domain.declare(item=["a"]))


def test_who_waits_for_the_first_question_is_called_before_it(monkeypatch):
    monkeypatch.setattr(Curious, "events", [])
    Curious().publish(DATA, ONE, before_asking=lambda: Curious.events.append("called"))
    assert Curious.events == ["coins", "asks", "called", "asks"]


def test_if_that_fails_nothing_is_asked():
    answered = []

    class Counting(NoiseOff):
        def answer(self, question):
            answered.append(question.label)
            return super().answer(question)

    def refuse():
        raise BudgetExceeded

    with pytest.raises(BudgetExceeded):
        publish_with(Curious(), DATA, ONE, Announced(Counting(), refuse))
    assert answered == ["coins"]


def test_eight_failing_runs_cost_eight_times(tmp_path, account, monkeypatch):
    """The folder cannot be made, and by then the data was asked."""
    account.write_text('total = "4"\nunit = "record"\n')

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "")

    with monkeypatch.context() as disk:
        disk.setattr(os, "mkdir", full)
        for _ in range(8):
            with pytest.raises(WriteError, match=r"no space left on device.; nothing was published"):
                run_job(job(tmp_path, account=str(account)))
    assert states(account) == [FAILED] * 8
    with pytest.raises(BudgetExceeded, match=r"has 0 left of 4; the release needs 0.5"):
        run_job(job(tmp_path, account=str(account)))


def test_an_account_sums_up_and_refuses_beyond_its_total(tmp_path, account):
    account.write_text('total = "1.2"\nunit = "record"\n')
    for number in range(2):
        run_job(job(tmp_path, out=str(tmp_path / f"out{number}"), account=str(account)))
    assert Account.read(account).spent == Fraction(1)
    with pytest.raises(BudgetExceeded, match=r"has 0.2 left of 1.2; the release needs 0.5"):
        run_job(job(tmp_path, out=str(tmp_path / "more"), account=str(account)))
    assert not (tmp_path / "more").exists()
    assert [(held["method"], held["state"]) for held in entries(account)] == [("flat-laplace", OUT)] * 2
    assert [held["out"] for held in entries(account)] == [
        str(tmp_path / "out0"),
        str(tmp_path / "out1"),
    ]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_nothing_is_charged_if_nothing_is_asked(account):
    with pytest.raises(OSError, match="no disk"), charge(account):
        raise OSError(*("no disk",))
    assert account.read_text() == EMPTY


@pytest.mark.parametrize("call", ["fsync", "replace", "write", "flock"])
def test_if_charging_fails_it_is_taken_back(account, call):
    """At each call of that kind; the last fsync, of the folder, comes after the renaming."""
    with charge(account) as made, faulty(whole := System()):
        made.book()
        calls = list(whole.calls)
    places = [number for number, name in enumerate(calls, start=1) if name == call]
    assert places
    failed = 0
    for number in places:
        account.write_text(EMPTY)
        with charge(account) as made, faulty(System(number)):
            try:
                made.book()
            except EngineError:
                failed += 1
                assert (account.read_text(), made.describe()) == (EMPTY, "")
        assert (account.read_text() == EMPTY) == (made.describe() == "")
    assert failed  # some locks are only for tidying up


def test_two_who_charge_at_once_do_not_both_get_the_last_of_it(account):
    account.write_text('total = "1"\nunit = "record"\n')
    outcomes = []

    def pay():
        try:
            with charge(account, PureDP(epsilon="0.4", unit="record"), out='a"b\\c\x7f') as made:
                made.book()
                outcomes.append("charged")
        except BudgetExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=pay) for _ in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they wait for each other
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(outcomes) == ["charged"] * 2 + ["refused"] * 6
    assert Account.read(account).spent == Fraction(4, 5)
    assert entries(account)[0]["out"].endswith('a"b\\c\x7f')


@pytest.mark.parametrize(
    ("text", "guarantee", "message"),
    [
        (None, ONE, "there is no account .*; create it: hedgerow account .* --total 2 --unit"),
        ("total = 1", ONE, "is not an account: it needs a total greater than 0 and a unit"),
        ("x = [", ONE, "is not a TOML file"),
        ('total = 1\nunit = "record"\nreleases = []', ONE, "is not an account"),
        ('total = 1\nunit = "record"\n[[releases]]\nepsilon = -9', ONE, "epsilon greater than 0"),
        (f'{EMPTY}[[releases]]\nepsilon = 1\nstate = "lost"', ONE, "is not an account"),
        (f'{EMPTY}[[releases]]\nepsilon = 1\nstate = "pending"', ONE, "is not an account"),
        ('total = 1\nunit = "person"', ONE, "is for unit 'person'"),
        (EMPTY, MinimumSupport(2), "an account sums epsilons"),
    ],
)
def test_accounts_that_do_not_fit(tmp_path, text, guarantee, message):
    path = tmp_path / "account.toml"
    if text:
        path.write_text(text)
    with pytest.raises((ParameterError, UnsupportedGuarantee), match=message):
        with charge(path, guarantee) as made:
            made.book()


def test_a_name_that_no_account_can_hold_is_refused_before_anything_is_asked(account):
    with pytest.raises(ParameterError, match="not UTF-8; choose another"):
        with charge(account, out=os.fsdecode(b"\xff")) as made:
            made.book()
    assert account.read_text() == EMPTY


def test_a_link_to_an_account_charges_the_account(tmp_path, account):
    link = tmp_path / "link.toml"
    link.symlink_to(account)
    with charge(link) as made:
        made.book()
    assert link.is_symlink()
    assert Account.read(account).spent == 1
    (tmp_path / "second.toml").hardlink_to(account)
    with pytest.raises(ParameterError, match="has several names"):
        with charge(account) as made:
            made.book()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('releases = [{epsilon = "1"}]\n', 2),
        ('[[releases]]\nid = "a"\nstate = "pending"\nepsilon = "1"\nout = 5\nsha256 = "b"\n', 2),
        ('[[releases]]\nid="a"\nstate="pending"\nepsilon="1"\nout="/nowhere"\n', 0),
        ("", 0),
    ],
)
def test_an_account_of_ones_own_writing_is_kept_or_refused_whole(tmp_path, text, code):
    (tmp_path / "a.dat").write_text("a\n" * 50)
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["a"]\n')
    before = f'total = "9"\nunit = "record"\n{text}'
    (tmp_path / "account.toml").write_text(before)
    ran = run(
        "publish a.dat --kind sets --method diffpart --epsilon 1 --unit record --domain d.toml "
        "--account account.toml --out R",
        tmp_path,
    )
    assert ran.code == code, ran.err
    assert (tmp_path / "R").exists() == (code == 0)
    after = (tmp_path / "account.toml").read_text()
    assert (after == before) == (code != 0)
    if code == 0:
        listed = run("account account.toml --json", tmp_path)
        assert listed.code == 0
        assert '"pending"' not in listed.out


def test_nothing_goes_out_whose_entry_was_taken_out(tmp_path, account):
    (tmp_path / "part").mkdir()
    with charge(account) as made:
        made.book()
        account.write_text(EMPTY)
        with pytest.raises(WriteError, match=r"the entry of this publication .* was changed by someone else"):
            made.record_fingerprint(tmp_path / "part")


def test_what_the_owner_wrote_stays(account):
    account.write_text("# mine\r\n" + EMPTY + '\n[[releases]]  # by hand\nepsilon = "1/2"\nx = 1\n')
    before = account.read_bytes().rstrip()
    with charge(account) as made:
        made.book()
    assert account.read_bytes().startswith(before)
    assert Account.read(account).spent == Fraction(3, 2)


# ---- what became of it


@pytest.mark.parametrize("moment", ["asked", "ready", "out", "changed"])
def test_entries_of_the_dead_are_settled_by_what_lies_there(tmp_path, account, moment):
    """A process ends without a word at four moments; beside it one that is still alive."""
    code = """
        import os, sys
        from pathlib import Path
        sys.path[:0] = sys.argv[2].split(":")
        from test_account import charge
        folder, moment = Path(sys.argv[1]), sys.argv[3]
        made = charge(folder / "account.toml")
        made.book()
        (folder / "part").mkdir()
        (folder / "part" / "release.json").write_text("{}")
        if moment != "asked":
            made.record_fingerprint(folder / "part")
        if moment in {"out", "changed"}:
            (folder / "part").rename(folder / "out")
        if moment == "changed":
            (folder / "out" / "release.json").write_text("{ }")
        os._exit(0)
    """
    here = f"{TESTS}/io:{TESTS}/support"
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), here, moment]
    subprocess.run(command, check=True)
    assert states(account) == [PENDING]
    with charge(account) as alive:
        alive.book()  # whoever charges next settles
        assert states(account) == [OUT if moment == "out" else FAILED, PENDING]
        settle_account(account)
        assert states(account)[1] == PENDING
    assert states(account) == [OUT if moment == "out" else FAILED, FAILED]
    assert not list(tmp_path.glob(".account*"))


def test_what_cannot_be_read_now_is_not_settled(tmp_path, account, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "release.json").write_text("{}")
    entry = f'id = "a"\nstate = "pending"\nepsilon = "1"\nout = "{tmp_path}/out"\nsha256 = "x"\n'
    account.write_text(f"{EMPTY}[[releases]]\n{entry}")

    def refuse(*_, **__):
        raise PermissionError

    with monkeypatch.context() as system:
        system.setattr(os, "scandir", refuse)
        system.setattr(os, "listdir", refuse)
        settle_account(account)
    assert states(account) == [PENDING]
    settle_account(account)
    assert states(account) == [FAILED]


def test_the_command_creates_lists_and_settles(tmp_path):
    assert run("account a.toml --total 2 --unit record", tmp_path).out == (
        "a.toml: epsilon 0 of 2 spent per record, 2 left\n"
    )
    path = tmp_path / "a.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for line, code, said in [
        ("account a.toml --total 2 --unit record", 2, "exists already"),
        ("account b.toml --total 2", 2, "--total and --unit create an account together"),
        ("account b.toml --total 0 --unit record", 2, "total must be greater than 0"),
        ("account b.toml --total much --unit record", 2, "total must be a finite number"),
        ("account b.toml --total 2 --unit town", 2, "town"),
        ("account b.toml", 2, "there is no account b.toml; create it"),
    ]:
        ran = run(line, tmp_path)
        assert (ran.code, ran.out) == (code, "")
        assert said in ran.err
    out = "/x/\\u001b[2J\\u202e"
    entry = f'id = "a"\nstate = "pending"\nepsilon = "1/3"\nmade = "2025-01-01"\nout = "{out}"\n'
    path.write_text(f"{path.read_text()}\n[[releases]]\n{entry}")
    ran = run("account a.toml", tmp_path)
    assert ran.out.splitlines() == [
        "a.toml: epsilon 1/3 of 2 spent per record, 5/3 left",
        "",
        "epsilon  state            made        method  out",
        "1/3      failed: charged  2025-01-01  -       /x/\\x1b[2J\\u202e",
    ]
    document = json.loads(run("account a.toml --json", tmp_path).out)
    assert (document["left"], document["releases"][0]["state"]) == ("5/3", FAILED)


# ---- locks, and who may write


def test_waiting_for_an_account_is_said_and_has_a_limit(tmp_path, account, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    before = account.read_text()
    with account.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        job(tmp_path)
        line = (
            "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --out R "
            "--assert-public-domain --account account.toml"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            ran = run(line, tmp_path)
    assert ran.code == 4
    waits, ends = ran.err.splitlines()
    assert waits.startswith("hedgerow: warning: ")
    assert waits.endswith("account.toml is in use by another process; waiting for at most 0.2 seconds")
    assert ends.endswith("account.toml is still in use after 0.2 seconds; try again later")
    assert account.read_text() == before
    assert not (tmp_path / "R").exists()


def test_who_waits_gets_the_account_that_is_there_then(account):
    """It is replaced by whoever changes it: the lock of the old file is worth nothing."""
    with account.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def end():
            time.sleep(0.2)
            new = account.with_name("new")
            new.write_text(EMPTY + '\n[[releases]]\nepsilon = "2"\n')
            new.rename(account)
            other.close()

        thread = threading.Thread(target=end)
        thread.start()
        with pytest.warns(UserWarning, match="is in use"), pytest.raises(BudgetExceeded):
            with charge(account) as made:
                made.book()
        thread.join()


def test_only_what_is_open_for_writing_is_locked(tmp_path, account, monkeypatch):
    """A network file system (NFS) refuses other locks."""
    right = fcntl.flock

    def over_a_network(opened, how):
        number = opened if isinstance(opened, int) else opened.fileno()
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "")
        return right(opened, how)

    monkeypatch.setattr(fcntl, "flock", over_a_network)
    for overwrite in (False, True):
        run_job(job(tmp_path, account=str(account), overwrite=overwrite))
    assert states(account) == [OUT, OUT]


def access(path):
    held = path.stat()
    return held.st_uid, held.st_gid, stat.S_IMODE(held.st_mode)


@pytest.mark.parametrize("mode", [0o664, 0o660, 0o666, 0o600])
def test_a_shared_account_stays_shared(tmp_path, account, mode):
    account.chmod(mode)
    if os.geteuid() == 0:
        os.chown(account, 1234, 4321)
    before = access(account)
    run_job(job(tmp_path, account=str(account)))
    assert states(account) == [OUT]
    assert access(account) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator may be somebody else")
def test_another_user_of_the_group_still_writes_it(tmp_path, account):
    """Two users of one group charge in turns; a third, and an account of one alone, do not work."""
    tmp_path.chmod(0o777)
    for parent in list(tmp_path.parents)[:-2]:
        parent.chmod(parent.stat().st_mode | 0o711)
    os.chown(account, 1001, 500)
    account.chmod(0o660)
    account.write_text('total = "9"\nunit = "record"\n')
    for user in (1002, 1001, 1002):
        assert charge_as(user, 500, account) == ""
        assert access(account)[1:] == (500, 0o660)
    assert "no permission" in charge_as(1003, 501, account)
    assert states(account) == [FAILED] * 3


def charge_as(user, group, account):
    """Charge as another user, in a process of his own; return what went wrong."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            with charge(account) as made:
                made.book()
        except BaseException as error:  # noqa: BLE001 - all of it is for the other side
            said = f"{type(error).__name__}: {error}"
        os.write(send, said.encode())
        os._exit(0)
    os.close(send)
    os.waitpid(child, 0)
    with os.fdopen(receive) as pipe:
        return pipe.read()


def test_a_list_of_who_may_write_stays(tmp_path, account):
    """The access list of Linux: besides owner and group, user 1234 may write."""
    rows = [(1, 6, -1), (2, 6, 1234), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
    listed = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *row) for row in rows)
    try:
        os.setxattr(account, "system.posix_acl_access", listed)
    except (OSError, AttributeError):
        pytest.skip("no access lists on this file system")
    run_job(job(tmp_path, account=str(account)))
    assert os.getxattr(account, "system.posix_acl_access") == listed
