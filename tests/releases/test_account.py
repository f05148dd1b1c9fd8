"""Accounts: charged before the first question, whatever happens."""

from __future__ import annotations

import errno
import os
import threading
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from accounts import EMPTY, ONE, charge, entries, states
from faults import System, faulty
from jobs import job
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
from hedgerow.jobs.publish import run_job
from hedgerow.privacy import ExactAnswers, Laplace
from hedgerow.privacy.questions import FirstQuestionHook
from hedgerow.publisher import Publisher, publish_with
from hedgerow.releases.account import FAILED, OUT, Account


@dataclass(frozen=True, kw_only=True)
class Curious(Publisher[Sets]):
    """Tosses coins, asks twice, and writes down when."""

    name: ClassVar[str] = "toy-curious"
    kinds: ClassVar = ("sets",)
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

    class Counting(ExactAnswers):
        def answer(self, question):
            answered.append(question.label)
            return super().answer(question)

    def refuse():
        raise BudgetExceeded

    with pytest.raises(BudgetExceeded):
        publish_with(Curious(), DATA, ONE, FirstQuestionHook(Counting(), refuse))
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
