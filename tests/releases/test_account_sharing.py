"""Accounts that several people and processes use: locks, and who may write."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import threading
import time
import warnings

import pytest
from accounts import EMPTY, charge, states
from jobs import job
from terminal import run

from hedgerow.errors import (
    BudgetExceeded,
)
from hedgerow.formats import locks
from hedgerow.jobs.publish import run_job
from hedgerow.releases.account import FAILED, OUT


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
