"""Accounts: an entry whose publication ended without a word is settled by the folder it left."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap

import pytest
from accounts import EMPTY, charge, states
from project import TESTS
from terminal import run

from hedgerow.releases.account import FAILED, OUT, PENDING, settle_account


@pytest.mark.parametrize("moment", ["asked", "ready", "out", "changed"])
def test_entries_of_the_dead_are_settled_by_what_lies_there(tmp_path, account, moment):
    """A process ends without a word at four moments; beside it one that is still alive."""
    code = """
        import os, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from accounts import charge
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
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), f"{TESTS}/support", moment]
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
