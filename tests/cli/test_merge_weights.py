"""hedgerow merge-weights, and hedgerow publish --key: files of owners of weighted networks."""

from __future__ import annotations

import json

import pytest
from terminal import run

PUBLISH = "publish {data} --kind graphs --columns weight=minutes --method gaussian-weights --assert-public-domain"


@pytest.fixture
def desk(tmp_path):
    """The files of three owners, and two states of a network that grows."""
    files = {
        "ann.csv": "ann,bob,2\nann,cleo,3\n",
        "bob.csv": "bob,ann,2\n",
        "cleo.csv": "cleo,ann,3\n",
        "roads.csv": "ann,bob,2\nbob,cleo,3\ncleo,dora,4\n",
        "more.csv": "ann,bob,2\nbob,cleo,3.5\ncleo,dora,4\nann,abe,2\n",
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("source,target,minutes\n" + rows)
    return tmp_path


def weights(path):
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    return {(source, target): float(weight) for source, target, weight in lines}


def publish(desk, data, more):
    return run(f"{PUBLISH.format(data=data)} {more}", desk)


def test_owners_publish_apart_and_merge(desk):
    for name in ("ann", "bob", "cleo"):
        assert publish(desk, f"{name}.csv", f"--set owner=one --out {name}").code == 0
    ran = run("merge-weights ann bob/data.csv cleo --columns weight=minutes --out merged.csv", desk)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Merged 3 files into merged.csv: 2 edges.")
    parts = [weights(desk / name / "data.csv") for name in ("ann", "bob", "cleo")]
    for edge, weight in weights(desk / "merged.csv").items():
        drawn = [part[edge] for part in parts if edge in part]
        assert len(drawn) == 2
        assert weight == pytest.approx(sum(drawn) / 2)
    ran = run("merge-weights ann bob cleo --out other.edges --json", desk)
    assert json.loads(ran.out) == {"merged": 3, "edges": 2, "out": "other.edges"}
    assert (desk / "other.edges").read_text().startswith("ann bob ")


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            "merge-weights ann.csv bob.csv --columns weight=minutes --out m.csv",
            2,
            "1 are in fewer, and 0 in more; nothing",
        ),
        ("merge-weights ann.csv --columns weight=minutes --out m.csv", 2, "merge the files of at least two owners"),
        ("merge-weights ann.csv bob.csv --columns weight=minutes --out roads.csv", 2, "roads.csv exists already"),
        ("merge-weights ann.csv none.csv --columns weight=minutes --out m.csv", 2, "there is no file none.csv"),
    ],
)
def test_what_is_not_merged(desk, line, code, message):
    ran = run(line, desk)
    assert ran.code == code
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (desk / "m.csv").exists()


def test_a_network_grows_with_its_key(desk):
    options = "--set network=roads --key roads.key"
    ran = publish(desk, "roads.csv", f"{options} --out first --save-recipe recipe.toml")
    assert ran.code == 0
    assert "Made the key roads.key: keep it, and a copy of it, where nobody else can read it." in ran.out
    assert (desk / "roads.key").stat().st_mode & 0o777 == 0o600
    ran = publish(desk, "more.csv", f"{options} --out second")
    assert (ran.code, "Made the key" in ran.out) == (0, False)
    first, second = (weights(desk / name / "data.csv") for name in ("first", "second"))
    assert {edge for edge, weight in first.items() if second[edge] == weight} == set(first) - {("bob", "cleo")}
    assert run("publish --recipe recipe.toml --out third", desk).code == 0
    assert weights(desk / "third" / "data.csv") == first
    published = "".join(path.read_text() for path in (desk / "second").iterdir())
    assert (desk / "roads.key").read_text().split('secret = "')[1][:64] not in published


def test_a_dry_run_makes_no_key(desk):
    assert publish(desk, "roads.csv", "--set network=roads --key roads.key --out R --dry-run").code == 0
    assert not (desk / "roads.key").exists()


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("--set network=roads --set sigma=0.2 --key roads.key --out R", 2, "the key is for sigma = 0.1; got 0.2"),
        ("--set network=roads --out R", 2, "a network that grows is published with its key"),
        ("--key roads.key --out R", 2, "a key is for one network; give it a public name"),
        ("--set network=roads --key R/roads.key --out R", 3, "R/roads.key is inside R, the folder that is published"),
        ("--set network=roads --key roads.key --out R --seed 1", 2, "give --seed or --key, not both"),
        ("--set network=roads --key roads.csv --out R", 2, "roads.csv is not a TOML file"),
    ],
)
def test_what_a_key_is_not_for(desk, more, code, message):
    assert publish(desk, "roads.csv", "--set network=roads --key roads.key --out first").code == 0
    before = (desk / "roads.key").read_bytes()
    ran = publish(desk, "roads.csv", more)
    assert ran.code == code
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (desk / "R").exists()
    assert (desk / "roads.key").read_bytes() == before


def test_only_parts_of_different_owners_are_merged(desk):
    for out, more in {"part": "owner=one", "other": "owner=one sigma=0.2", "whole": "owner=both"}.items():
        sets = " ".join(f"--set {each}" for each in more.split())
        assert publish(desk, "roads.csv", f"{sets} --out {out}").code == 0
    for places, message in {
        "part part": "one place is given twice",
        "part whole": "whole is not the part of one owner",
        "part other": "other and part have another sigma, floor or calibration",
        "part part/data.csv --columns weight=minutes": "one file is given twice",
    }.items():
        ran = run(f"merge-weights {places} --out m.csv", desk)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert message in ran.err
        assert not (desk / "m.csv").exists()
