"""Jobs: recipes that run again, accounts that sum up, settings as texts."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from hedgerow import PureDP, find_method
from hedgerow.cli.options import PROMISE
from hedgerow.errors import (
    BudgetExceeded,
    InputError,
    ParameterError,
    ReadError,
    UndeclaredDomain,
    UnsupportedGuarantee,
)
from hedgerow.io.account import Account, charged
from hedgerow.job import Job, load_job, plan_job, run_job, save_job
from hedgerow.publishers.settings import configure, parameters_of, promise
from toys import MinimumSupport

TEXT = "tea milk\n" * 70 + "bread\n" * 40


def job(folder, **changes):
    (folder / "a.dat").write_text(TEXT)
    held = {
        "data": str(folder / "a.dat"),
        "kind": "sets",
        "method": "flat-laplace",
        "out": str(folder / "out"),
        "promise": {"epsilon": "1/2", "unit": "record"},
        "assert_public_domain": True,
    }
    return Job(**{**held, **changes})


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_recipe_runs_again_to_the_same_bytes_with_its_seed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = job(tmp_path, data="a.dat", seed=4, set={"threshold": 0.5})
    run_job(first)
    save_job(first, tmp_path / "recipe.toml")
    again = load_job(tmp_path / "recipe.toml", out=str(tmp_path / "again"))
    run_job(again)
    assert content(tmp_path / "again") == content(tmp_path / "out")
    text = (tmp_path / "recipe.toml").read_text()
    assert 'data = "a.dat"' in text  # relative to where the recipe lies


def test_without_a_seed_it_differs(tmp_path):
    results = set()
    for number in range(4):
        run_job(job(tmp_path, out=str(tmp_path / f"out{number}")))
        results.add((tmp_path / f"out{number}" / "data.dat").read_bytes())
    assert len(results) > 1  # all four alike: less than one in a thousand


def test_a_plan_publishes_nothing(tmp_path):
    plan = plan_job(job(tmp_path))
    assert plan.guarantee == PureDP(epsilon="1/2", unit="record")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dat"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"assert_public_domain": False}, UndeclaredDomain, "the domain was inferred"),
        ({"promise": {}}, UnsupportedGuarantee, "keeps PureDP: --epsilon --unit; got nothing"),
        ({"promise": {"epsilon": "1"}}, UnsupportedGuarantee, "got --epsilon"),
        ({"promise": {"epsilon": "-1", "unit": "record"}}, ParameterError, "greater than 0"),
        ({"promise": {"epsilon": "1", "unit": "shop"}}, UnsupportedGuarantee, "unit 'shop'"),
        ({"set": {"x": "1"}}, ParameterError, "flat-laplace has no parameter 'x'; it has: thresh"),
        ({"set": {"threshold": "much"}}, ParameterError, "must be a number; got 'much'"),
        ({"method": "magic"}, InputError, "there is no method 'magic'"),
        ({"domain": "nowhere.toml"}, ReadError, "there is no file nowhere.toml"),
        ({"out": "/nowhere/out"}, ParameterError, "create it first"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        run_job(job(tmp_path, **changes))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dat"]


def test_a_domain_and_its_assertion_exclude_each_other(tmp_path):
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["tea", "milk", "bread"]\n')
    with pytest.raises(ParameterError, match="not both"):
        run_job(job(tmp_path, domain=str(tmp_path / "d.toml")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = [", "is not a TOML file"),
        ('data = "a"\n', "is not a recipe: Object missing required field 'kind'"),
        ('data = "a"\nkind = "sets"\nmethod = "m"\nout = "o"\nepsilon = 1\n', "unknown field"),
    ],
)
def test_bad_recipes(tmp_path, text, message):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        load_job(tmp_path / "r.toml")


# ---- accounts


def test_an_account_sums_up_and_refuses_beyond_its_total(tmp_path):
    account = tmp_path / "account.toml"
    account.write_text('total = "1.2"\nunit = "record"\n')
    for number in range(2):
        run_job(job(tmp_path, out=str(tmp_path / f"out{number}"), account=str(account)))
    assert Account.read(account).spent == Fraction(1)
    with pytest.raises(BudgetExceeded, match=r"has 0.2 left of 1.2; the release needs 0.5"):
        run_job(job(tmp_path, out=str(tmp_path / "more"), account=str(account)))
    assert not (tmp_path / "more").exists()
    assert [held["method"] for held in Account.read(account).releases] == ["flat-laplace"] * 2


def test_a_release_that_does_not_go_out_is_not_charged(tmp_path):
    account = tmp_path / "account.toml"
    account.write_text('total = "1"\nunit = "record"\n')
    before = account.read_bytes()
    with pytest.raises(OSError, match="no disk"):
        with charged(account, PureDP(epsilon=1, unit="record"), {"out": "x"}):
            assert Account.read(account).spent == 1
            raise OSError(*("no disk",))
    assert account.read_bytes() == before


def test_two_who_charge_at_once_do_not_both_get_the_last_of_it(tmp_path):
    account = tmp_path / "account.toml"
    account.write_text('total = "1"\nunit = "record"\n')
    outcomes = []

    def charge():
        try:
            with charged(account, PureDP(epsilon="0.4", unit="record"), {"out": 'a"b\\c'}):
                outcomes.append("charged")
        except BudgetExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=charge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["charged"] * 2 + ["refused"] * 6
    assert Account.read(account).spent == Fraction(4, 5)


@pytest.mark.parametrize(
    ("text", "guarantee", "message"),
    [
        (
            None,
            PureDP(epsilon=1, unit="record"),
            "there is no account .*; write one with two lines",
        ),
        ("total = 1", PureDP(epsilon=1, unit="record"), "is not an account: it needs total, unit"),
        ("x = [", PureDP(epsilon=1, unit="record"), "is not an account"),
        ('total = 1\nunit = "person"', PureDP(epsilon=1, unit="record"), "is for unit 'person'"),
        ('total = 1\nunit = "record"', MinimumSupport(2), "an account sums epsilons"),
    ],
)
def test_accounts_that_do_not_fit(tmp_path, text, guarantee, message):
    path = tmp_path / "account.toml"
    if text:
        path.write_text(text)
    with pytest.raises((ParameterError, UnsupportedGuarantee), match=message):
        with charged(path, guarantee, {}):
            pass


# ---- settings


def test_parameters_are_read_by_their_type():
    method = configure(
        find_method("diffpart"),
        {"fanout": "4", "c1": "1", "consistent": "no", "leaf_mode": "two-stage"},
    )
    assert (method.fanout, method.c1, method.consistent) == (4, 1.0, False)
    for texts in ({"fanout": "4.5"}, {"consistent": "maybe"}, {"c1": "nan"}, {"fanout": "9" * 30}):
        with pytest.raises(ParameterError):
            configure(find_method("diffpart"), texts)


def test_ranges_are_said_in_words():
    ranges = {held.name: held.range for held in parameters_of(find_method("diffpart"))}
    assert ranges["tau_split"] == "a number, at least 0, at most 1"
    assert ranges["leaf_mode"] == "merged or two-stage"
    assert ranges["force"] == "yes or no"


def test_the_options_of_the_command_line_are_those_of_the_guarantees():
    assert dict(PureDP.options) == PROMISE
    kept = promise(find_method("diffpart"), {"epsilon": "60%", "unit": "person"})
    assert kept == PureDP(epsilon="0.6", unit="person")
