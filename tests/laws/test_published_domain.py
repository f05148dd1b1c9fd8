"""What is published of a domain: under differential privacy only the axes of the kind."""

from __future__ import annotations

import pytest
from terminal import run

from hedgerow import Domain, PureDP, find_method, read
from hedgerow.errors import ReadError
from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.trajectories.data import Trajectories

NAMES = ["Ada", "Bob", "Cyd"]


def journeys():
    visits = [[("home", 8)], [("work", 9)], [("home", 8), ("work", 9)]]
    domain = Domain.declare(place=["home", "work"], time=[8, 9], name=NAMES, ill=["flu", "well"])
    sensitive = {"name": NAMES, "ill": ["flu", "well", None]}
    return Trajectories.from_records(visits, sensitive=sensitive, domain=domain)


def test_what_stands_beside_the_records_is_not_in_the_domain():
    promise = PureDP(epsilon=1, unit="trajectory")
    release = find_method("continued-prefix-tree")().publish(journeys(), promise, seed=1)
    assert {name for name, _ in release.domain.axes} == {"time", "place"}
    for name in (*NAMES, "flu"):
        assert name.encode() not in release.to_json() + release.data.to_bytes()


def test_axes_that_the_kind_does_not_have_are_left_out():
    domain = Domain.declare(customer=NAMES, item=["a", "b"])
    data = Sets.from_records([["a"]] * 9, domain=domain)
    release = find_method("noisy-singletons")().publish(data, PureDP(epsilon=1, unit="record"))
    assert [name for name, _ in release.domain.axes] == ["item"]
    assert b"Ada" not in release.to_json()


def test_a_column_cannot_be_carried_along_under_differential_privacy(tmp_path):
    lines = [f"{n},{8 + n % 2},home,{NAMES[n % 3]}" for n in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["unit,time,place,name", *lines, ""]))
    publish = (
        "publish t.csv --kind trajectories --method continued-prefix-tree --epsilon 1 --unit trajectory "
        "--assert-public-domain --out R"
    )
    ran = run(f"{publish} --carry name", tmp_path)
    assert (ran.code, "omit --carry" in ran.err) == (3, True)
    assert not (tmp_path / "R").exists()
    assert run(f"{publish} --read sensitive=name", tmp_path).code == 0
    published = b"".join(path.read_bytes() for path in (tmp_path / "R").iterdir())
    assert not any(name.encode() in published for name in NAMES)


def test_a_draft_is_refused_until_its_owner_edits_it(tmp_path):
    (tmp_path / "a.dat").write_text("a b\na\n" * 40)
    assert run("describe a.dat --kind sets --draft-domain d.toml", tmp_path).code == 0
    publish = "publish a.dat --kind sets --method diffpart --epsilon 1 --unit record --domain d.toml"
    ran = run(f"{publish} --out R", tmp_path)
    assert (ran.code, "is a draft that was read from private data" in ran.err) == (3, True)
    draft = (tmp_path / "d.toml").read_text()
    (tmp_path / "d.toml").write_text(draft.replace("read_from_private_data = true", ""))
    assert run(f"{publish} --out R", tmp_path).code == 0


def test_the_owner_sees_how_many_records_were_dropped(tmp_path):
    (tmp_path / "a.csv").write_text("unit,item\n1,a\n2,\n3,a\n,a\n4,a,b\n")
    ran = run("describe a.csv --kind sets --read on_bad=drop", tmp_path)
    shown = dict(line.rsplit(maxsplit=1) for line in ran.out.splitlines()[2:] if line)
    assert shown["records dropped"] == "1"
    assert shown["lines without a record or an owner"] == "1"
    assert shown["lines that cannot be read"] == "1"
    with pytest.raises(ReadError, match=":6: the line has more or fewer cells"):
        read(tmp_path / "a.csv", kind="sets")
