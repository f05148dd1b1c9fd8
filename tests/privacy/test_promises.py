"""Promises as data: one table, what options mean, and every promise written, read again and verified."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import ClassVar

import pytest
import toys
from small import small
from terminal import run
from toys import ROWS, FewItems, MinimumSupport, NoisySize, PassOn

from hedgerow import (
    KCL,
    METHODS,
    All,
    Domain,
    PrefixTree,
    PureDP,
    Trajectories,
    find_method,
    read_release,
    write_release,
)
from hedgerow.audit.verification import verify_data, verify_folder
from hedgerow.errors import NotSatisfied, ParameterError, ReadError, UnsupportedGuarantee
from hedgerow.formats.codec import codec_of
from hedgerow.kind_registry import find_kind
from hedgerow.privacy.parsing import build, example_of, from_options, from_plain, require_plain
from hedgerow.promises import PROMISES, find_promise, interpret_options, list_options
from hedgerow.releases.owner_files import write_owners
from hedgerow.settings import promise
from hedgerow.testing import build_edge_cases, check_publisher, sets_of

PRIVATE = PureDP(epsilon=50, unit="record")
ILL = KCL(k=2, l=2, c="60%", sensitive=[("diagnosis", "flu"), ("ward = a", "7")])


class TwoKs(PassOn):
    """Keeps two promises that share an option."""

    name = "toy-two-ks"
    keeps = (MinimumSupport, FewItems)


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """The table with the rows of the toys."""
    for name, row in ROWS.items():
        monkeypatch.setitem(PROMISES, name, row)


@pytest.fixture
def registered(monkeypatch):
    """The toys as methods of the command line."""
    monkeypatch.setattr(toys, "TwoKs", TwoKs, raising=False)
    monkeypatch.setitem(sys.modules, "hedgerow.kinds.toys.methods.toys", toys)
    for method in (NoisySize, TwoKs, PassOn):
        monkeypatch.setitem(METHODS, method.name, f"toys.toys:{method.__name__}")


# ---- the table


@pytest.mark.parametrize("name", [*PROMISES, *ROWS])
def test_a_row_says_what_its_class_is_made_with(name):
    row, cls = PROMISES[name], find_promise(name)
    assert cls.name == name
    wanted = inspect.signature(cls).parameters
    assert set(wanted) == set(row.options)
    assert {n for n, parameter in wanted.items() if parameter.default is parameter.empty} == set(row.required)
    assert row.fits(row.example)
    made = build([name], row.example)
    assert isinstance(made, cls)
    assert row.fits(made.fields())
    assert row.kinds == cls.kinds
    assert all(option.help and not option.help.endswith(".") for option in row.options.values())


def test_the_table_imports_nothing_heavy():
    code = "import sys, hedgerow.promises; print(sorted({'numpy', 'polars', 'msgspec', 'click'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_help_of_a_shared_option_names_each_meaning():
    assert list_options()["unit"].help == PROMISES["PureDP"].options["unit"].help
    assert list_options()["k"].help == (
        "CorrelatedDP: how many edges are protected together; KCL: how many records must match what an attacker knows, "
        "if any match; KAnonymity: how many published records must look alike; "
        "MuWeightedKAnonymity: how many arcs beside an arc, itself included, must have weights like its own; MinimumSupport: how many records have each "
        "published set; FewItems: how many items a record may have"
    )
    assert [name for name, option in list_options().items() if option.repeated] == ["sensitive"]


# ---- what options mean


@pytest.mark.parametrize(
    ("given", "kind", "meant"),
    [
        ("epsilon unit", None, [("PureDP",)]),
        ("k l", "trajectories", [("KCL",)]),
        ("k l", "records", [("KAnonymity", "LDiversity"), ("LDiversity", "MinimumSupport")]),
        ("k l c sensitive", None, [("KCL",)]),
        ("epsilon unit k l", "trajectories", [("PureDP", "KCL")]),
        ("k", "sets", [("MinimumSupport",), ("FewItems",)]),
        ("k", None, [("KAnonymity",), ("MinimumSupport",), ("FewItems",)]),
        ("epsilon unit k", "graphs", [("CorrelatedDP",), ("PureDP", "MinimumSupport")]),
        ("epsilon", None, []),
        ("l", "trajectories", []),
        ("l", None, [("LDiversity",)]),
        ("epsilon unit c", None, []),
        ("epsilon unit k wrong", None, []),
    ],
)
def test_options_mean_the_fewest_promises_that_have_them_all(given, kind, meant):
    assert interpret_options(given.split(), list(PROMISES), kind=kind) == meant


def test_the_method_decides_which_promise_an_option_belongs_to():
    assert promise(PassOn, {"k": "3"}) == MinimumSupport(3)
    assert promise(find_method("kcl"), {"k": "3", "l": "2"}) == KCL(k=3, l=2)
    assert promise(NoisySize, {"k": "3"}) == MinimumSupport(3)
    both = promise(NoisySize, {"epsilon": "1", "unit": "record", "k": "3"})
    assert both == All(PureDP(epsilon=1, unit="record"), MinimumSupport(3))
    for method, given, message in [
        (TwoKs, {"k": "3"}, "toy-two-ks keeps MinimumSupport: --k; or FewItems: --k; got --k"),
        (NoisySize, {"epsilon": "1"}, "keeps PureDP: --epsilon --unit; or MinimumSupport: --k; got --epsilon"),
        (NoisySize, {}, "MinimumSupport: --k; got nothing"),
        (PassOn, {"epsilon": "1"}, "keeps MinimumSupport: --k; got --epsilon; missing: --k"),
    ]:
        with pytest.raises(UnsupportedGuarantee, match=message):
            promise(method, given)


def test_options_alone_may_be_ambiguous():
    with pytest.raises(UnsupportedGuarantee, match="--k may be MinimumSupport, or FewItems; say which by --promise"):
        from_options({"k": "3"}, kind="sets")
    assert from_options({"k": "3"}, ["FewItems"]) == FewItems(k=3)
    assert from_options({"k": "3", "l": "2"}, kind="trajectories") == KCL(k=3, l=2)
    both = {"epsilon": "1", "unit": "record", "k": "3"}
    with pytest.raises(UnsupportedGuarantee, match="may be CorrelatedDP, or PureDP with MinimumSupport; say which"):
        from_options(both, kind="graphs")
    assert from_options(both, ["FewItems", "PureDP"]).parts() == (FewItems(k=3), PureDP(epsilon=1, unit="record"))
    with pytest.raises(UnsupportedGuarantee, match="no guarantee has exactly --k; there are PureDP: --epsilon --unit"):
        from_options({"k": "3"}, ["PureDP"])
    with pytest.raises(ParameterError, match="there is no promise 'Magic'; there are: PureDP, CorrelatedDP, KCL"):
        from_options({"k": "3"}, ["Magic"])


# ---- written, read again, verified


#: every promise of the table with every method that keeps it, for every unit it protects
KEPT = [
    (method, kept.name, unit)
    for method in METHODS
    for kept in find_method(method).keeps
    for unit in (find_method(method).units if "unit" in PROMISES[kept.name].example else [""])
]


def comes_back(release, folder, ending):
    """Write a release, read it again; the promise is equal, and verified."""
    place = write_release(release, folder / "R", like=f"x.{ending}", overwrite=True)
    again = read_release(place)
    assert again.guarantee == release.guarantee
    assert repr(again.guarantee) == repr(release.guarantee)
    assert from_plain(json.loads((place / "release.json").read_text())["guarantee"]) == release.guarantee
    owners = None
    if release.owners:  # persons are counted: only the owner of the data can check that
        owners = folder / "owners.csv"
        owners.unlink(missing_ok=True)
        write_owners(owners, release.owners)
        assert None in verify_folder(place).values()
    checks = verify_folder(place, release.guarantee, owners=owners)
    assert {passed for check, passed in checks.items() if "for publication" not in check and "method" not in check} == {
        True
    }
    return place


def test_every_promise_is_kept_by_a_method():
    assert {name for _, name, _ in KEPT} == set(PROMISES) - set(ROWS)


@pytest.mark.parametrize(("method", "name", "unit"), KEPT)
@pytest.mark.filterwarnings("ignore:a sensitive value", "ignore:no record has the sensitive value", "ignore:k = ")
@pytest.mark.filterwarnings("ignore:labels of one level", "ignore:nothing is kept", "ignore:mu is at least")
@pytest.mark.filterwarnings("ignore:moved weights show")
def test_every_promise_comes_back(method, name, unit, tmp_path):
    guarantee = example_of(name, **({"unit": unit} if unit else {}))
    for kind in find_method(method).kinds:
        if set(guarantee.units) <= set(find_kind(kind).type.units):
            cases = build_edge_cases(kind, find_method(method).needs)
            data = max(cases.values(), key=lambda data: data.count_units(data.units[0]))
            release = small(method).publish(data, guarantee)
            formats = codec_of(kind).formats
            for form in formats.keys() & {"csv", "parquet"} or formats:
                comes_back(release, tmp_path, formats[form].endings[0])


def test_all_comes_back(tmp_path):
    data = sets_of([[0]] * 40, 2)
    for guarantee in (All(PRIVATE, MinimumSupport(3)), All(MinimumSupport(2), PRIVATE), All(PRIVATE)):
        place = comes_back(NoisySize().publish(data, guarantee), tmp_path, "dat")
        assert not verify_folder(place, PRIVATE)["the promise is the one asked for"]
    assert All(PRIVATE, MinimumSupport(2)) == All(MinimumSupport(2), PRIVATE) != All(MinimumSupport(3), PRIVATE)
    assert len({All(PRIVATE, MinimumSupport(2)), All(MinimumSupport(2), All(PRIVATE))}) == 1
    assert check_publisher(NoisySize(), All(PureDP(epsilon=8, unit="record"), MinimumSupport(0))).moved >= 20


@pytest.mark.parametrize(
    "guarantee", [PRIVATE, ILL, KCL(k=1, l=1), All(PRIVATE, ILL), All(ILL, KCL(k=3, l=1))], ids=repr
)
def test_plain_data_is_all_there_is_to_a_promise(guarantee):
    plain = json.loads(json.dumps(guarantee.to_plain()))
    assert from_plain(plain) == guarantee
    assert from_plain(plain).to_plain() == guarantee.to_plain()


def test_every_part_is_counted_even_if_two_are_called_the_same():
    """The second of two promises about one column found nothing, and said so for both."""
    data = build_edge_cases(find_method("kcl").kinds[0])["all ill"]
    flu, well = (KCL(k=1, l=1, c="50%", sensitive=[("diagnosis", value)]) for value in ("flu", "well"))
    with pytest.raises(NotSatisfied, match=r"KCL is not satisfied: 2 x sequences of 1 visit with a sensitive"):
        verify_data(data, flu)
    for both in (All(flu, well), All(well, flu)):
        with warnings.catch_warnings(), pytest.raises(NotSatisfied, match="2 x KCL: sequences of 1 visit with"):
            warnings.simplefilter("ignore")
            verify_data(data, both)


# ---- a stranger's promise


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({}, "there is no guarantee '' with these fields"),
        ({"name": "All"}, "All has parts and nothing else"),
        ({"name": "All", "parts": []}, "All needs at least one guarantee"),
        ({"name": "All", "parts": "PureDP"}, "All has parts and nothing else"),
        ({"name": "All", "parts": [PRIVATE.to_plain()], "k": "2"}, "All has parts and nothing else"),
        ({"name": "All", "parts": ["PureDP"]}, "there is no guarantee ''"),
        ({"name": "All", "parts": [{"name": "All", "parts": [PRIVATE.to_plain()]}]}, "no guarantee 'All' with"),
        ({"name": "All", "parts": [PRIVATE.to_plain()] * 2}, "at most one differentially private"),
        ({"name": "All", "parts": [KCL(k=2, l=1).to_plain()] * 17}, "All takes at most 16 guarantees; got 17"),
        ({"name": ["PureDP"], "epsilon": "1", "unit": "record"}, "there is no guarantee"),
        ({"name": "PureDP", "epsilon": "1"}, "there is no guarantee 'PureDP' with these fields"),
        ({"name": "PureDP", "epsilon": "1", "unit": "record", "k": "2"}, "there is no guarantee 'PureDP' with"),
        ({"name": "PureDP", "epsilon": 1, "unit": "record"}, "consists of texts, and of lists and tables of texts"),
        ({"name": "PureDP", "epsilon": None, "unit": "record"}, "consists of texts, and of lists and tables of texts"),
        ({"name": "PureDP", "epsilon": ["1"], "unit": "record"}, "epsilon must be a number"),
        ({"name": "PureDP", "epsilon": "1", "unit": ["record"]}, "unit must be a text"),
        ({"name": "PureDP", "epsilon": "1", "unit": {"x": "y"}}, "unit must be a text"),
        ({"name": "PureDP", "epsilon": "9" * 1_001, "unit": "record"}, "a number or a name of the promise is too long"),
        ({"name": "KCL", "k": "2", "l": "2", "c": "1", "sensitive": "x=y"}, "given as COLUMN=VALUE"),
        ({"name": "KCL", "k": "2", "l": "2", "c": "1", "sensitive": [["x"]]}, "given as COLUMN=VALUE"),
        ({"name": "KCL", "k": "2", "l": "2", "c": "1", "sensitive": [["x", ["y"]]]}, "given as COLUMN=VALUE"),
        ({"name": "KCL", "k": "2", "l": "2", "c": "1", "sensitive": ["x"]}, "given as COLUMN=VALUE"),
        ({"name": "KCL", "k": "2", "l": "2", "c": "1", "sensitive": [["x", "y"]] * 6_000}, "at most 10,000 numbers"),
        ({"name": "KCL", "k": ["2"], "l": "2"}, "k must be a whole number"),
    ],
)
def test_what_a_stranger_says_of_his_promise_is_bounded(plain, message):
    with pytest.raises(ParameterError, match=message):
        from_plain(plain)


def test_lists_within_lists_end():
    deep = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ParameterError, match="nested too deeply"):
        require_plain(deep)


def test_a_promise_that_nobody_could_read_is_refused_before_anything_is():
    long = KCL(k=2, l=1, c="1", sensitive=[("diagnosis", "x" * 1_001)])
    data = build_edge_cases(find_method("kcl").kinds[0])["one record"]
    with pytest.raises(ParameterError, match="a number or a name of the promise is too long"):
        find_method("kcl")().publish(data, long)


def test_a_promise_about_another_kind_is_refused_in_one_place(tmp_path):
    data = sets_of([[0]] * 9, 2)
    promise = KCL(k=2, l=1)
    for attempt in (
        lambda: promise.open(data, None),
        lambda: promise.verify({"": data}),
        lambda: verify_data(data, All(MinimumSupport(1), promise)),
    ):
        with pytest.raises(ParameterError, match="KCL is a promise about trajectories; got sets"):
            attempt()
    place = write_release(NoisySize().publish(data, PRIVATE), tmp_path / "R", like="x.dat")
    written = json.loads((place / "release.json").read_text())
    written["guarantee"] = promise.to_plain()
    (place / "release.json").write_text(json.dumps(written))
    with pytest.raises((ParameterError, ReadError), match="KCL is a promise about trajectories; got sets"):
        read_release(place)


# ---- on the command line


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "a.dat").write_text("tea milk\n" * 70 + "tea\n" * 40)
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["milk", "tea"]\n')
    return tmp_path


@pytest.mark.usefixtures("registered")
def test_several_promises_at_once_on_the_command_line(desk):
    publish = "publish a.dat --kind sets --domain d.toml --method toy-noisy-size --out R --overwrite"
    ran = run(f"{publish} --epsilon 9 --unit record --k 3 --save-recipe r.toml", desk)
    assert (ran.code, ran.err) == (0, "")
    assert "9-differential privacy for one record" in ran.out
    assert "is the set of at least 3 records" in ran.out
    assert run("verify R", desk).code == 0
    assert run("verify R --epsilon 9 --unit record --k 3 --promise MinimumSupport --promise PureDP", desk).code == 0
    assert run("verify R --epsilon 8 --unit record --k 3 --promise MinimumSupport --promise PureDP", desk).code == 3
    assert run("verify R --epsilon 9 --unit record --k 3 --promise PureDP --promise MinimumSupport", desk).code == 0
    ran = run("verify R --epsilon 9 --unit record --k 3", desk)
    assert (ran.code, "say which by --promise" in ran.err) == (3, True)
    assert run("publish --recipe r.toml --overwrite", desk).code == 0
    assert run("report R --html p.html", desk).code == 0
    assert "PureDP + MinimumSupport" in (desk / "p.html").read_text()
    ran = run(f"{publish} --epsilon 9 --k 3", desk)
    assert ran.code == 3
    assert "toy-noisy-size keeps PureDP: --epsilon --unit; or MinimumSupport: --k; got --epsilon --k" in ran.err


@pytest.mark.usefixtures("registered")
def test_a_file_alone_may_be_ambiguous(desk):
    check = "verify a.dat --kind sets --k 50"
    ran = run(check, desk)
    assert ran.code == 3
    assert "--k may be MinimumSupport, or FewItems; say which by --promise" in ran.err
    assert run(f"{check} --promise FewItems", desk).code == 0
    ran = run(f"{check} --promise MinimumSupport", desk)
    assert (ran.code, ran.err) == (3, "hedgerow: MinimumSupport is not satisfied: 1 x rare itemsets\n")
    ran = run("publish a.dat --kind sets --method toy-two-ks --k 40 --out R", desk)
    assert (ran.code, "keeps MinimumSupport: --k; or FewItems: --k; got --k" in ran.err) == (3, True)
    assert run("publish a.dat --kind sets --method toy-pass-on --k 40 --out R", desk).code == 0
    assert run("verify R", desk).code == 0
    assert run("verify R --k 40 --promise MinimumSupport", desk).code == 0


VISITS = [[("a", 1), ("b", 2)]] * 20 + [[("a", 1)]] * 10


@dataclass(frozen=True, kw_only=True)
class NoisyFirstVisits(PrefixTree):
    """A tree that promises KCL as well; its answers are far above the noise."""

    __doc__ = PrefixTree.__doc__
    keeps: ClassVar = (PureDP, KCL)


def test_a_budget_is_never_refused_by_private_records():
    """Whether somebody owns several records decides between a release and an error: with a budget it may not."""
    domain = Domain.declare(place=["a", "b"], time=[1, 2], ill=["flu"], records_per_person=2)
    private = PureDP(epsilon=500, unit="trajectory")
    both = All(private, KCL(k=2, l=1))
    for owners in (range(30), [0, *range(29)]):
        data = Trajectories.from_records(VISITS, domain=domain, persons=owners)
        with pytest.raises(UnsupportedGuarantee, match="needs records without owners"):
            NoisyFirstVisits().publish(data, both)
    data = Trajectories.from_records(VISITS, domain=domain)
    assert NoisyFirstVisits().publish(data, both, seed=1).verdict.satisfied
    with pytest.raises(UnsupportedGuarantee, match="has no sensitive columns"):
        NoisyFirstVisits().publish(data, All(private, KCL(k=2, l=1, c="60%", sensitive=["ill=flu"])))


def test_two_promises_of_one_class_are_refused_in_either_order():
    data = Trajectories.from_records(VISITS)
    for both in (All(KCL(k=2, l=2), KCL(k=25, l=1)), All(KCL(k=25, l=1), KCL(k=2, l=2))):
        with pytest.raises(UnsupportedGuarantee, match="keeps one promise of class KCL; got 2"):
            find_method("kcl-reinsertion")().publish(data, both)


@pytest.mark.parametrize(
    "plain",
    [
        {"name": "PureDP", "epsilon": " 1 ", "unit": "record"},
        {"name": "PureDP", "epsilon": "0.5", "unit": "record"},
        {"name": "KCL", "k": "2", "c": "1/2", "l": "1", "sensitive": {"ill=flu": "z"}},
        {"name": "KCL", "k": "2", "c": "1/2", "l": "1", "sensitive": ["ill=flu"]},
    ],
)
def test_a_promise_in_another_form_than_ours_is_refused(plain):
    with pytest.raises(ParameterError, match="is not written as Hedgerow writes it"):
        from_plain(plain)
