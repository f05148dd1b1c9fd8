"""hedgerow answer: several queries at once, one column of several, and documents for programs."""

from __future__ import annotations

import json

import pytest
from terminal import run

PUBLISH = (
    "publish {0}.csv --kind matrices --method private-retrieval --epsilon {2} --unit {1} --domain {0}.toml --out {3}"
)


@pytest.fixture
def desk(tmp_path):
    files = {
        "x": ("men,women", ["30,40", "20,10", "70,50", "10,60"], (0, 1000)),
        "y": ("young,old,all", ["1,0,1", "1,0,1", "0,1,1", "0,1,1"], (0, 1)),
        "signs": ("contrast", ["1", "1", "-1", "-1"], (-1, 1)),
    }
    for name, (head, rows, (low, high)) in files.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
        axes = (f"[{column}]\nnumbers = true\nlow = {low}\nhigh = {high}\nstep = 1\n" for column in head.split(","))
        (tmp_path / f"{name}.toml").write_text("".join(axes))
    for name, unit, epsilon in (("x", "count", 1000), ("y", "cell", 40), ("signs", "cell", 80)):
        assert run(PUBLISH.format(name, unit, epsilon, name.upper()), tmp_path).code == 0
    return tmp_path


def answers(line, desk):
    done = run(f"answer X {line} --json", desk)
    assert (done.code, done.err) == (0, ""), done.err
    return json.loads(done.out)


def test_every_column_of_a_query_is_answered(desk):
    local = answers("--mode local --exact y.csv --column men", desk)
    assert (local["mode"], local["confidence"]) == ("local", 0.95)
    assert {name: each["estimate"] for name, each in local["answers"].items()} == {"young": 50, "old": 80, "all": 130}
    assert all(each["sent"] == 0 for each in local["answers"].values())
    naive = answers("--mode naive --query Y --column women", desk)["answers"]
    assert {name: each["estimate"] for name, each in naive.items()} == {"young": 50, "old": 110, "all": 160}
    assert naive["all"]["sent"] == 1 + 4  # one byte per number


@pytest.mark.parametrize("given", ["", "--exact signs.csv"])
def test_queries_of_both_signs(given, desk):
    """With so much epsilon there is no noise; who asks adds the mean times the sum, which is 0 here."""
    centred = answers(f"--mode centred --query SIGNS --column women {given}", desk)["answers"]["contrast"]
    assert centred["estimate"] == pytest.approx(-60)
    assert centred["to_add"] == (0 if given else 40)
    sparse = answers(f"--mode sparse --query SIGNS --column women {given}", desk)["answers"]["contrast"]
    assert sparse["kept"] == 1  # its one coefficient
    assert sparse["estimate"] == pytest.approx(-60)


def test_a_column_has_to_be_chosen(desk):
    for line, message in {
        "answer X --mode local --exact y.csv": "X has several columns; choose one with --column: men, women",
        "answer X --mode local --exact y.csv --column all": "X has no column 'all'; it has: men, women",
        "answer X --mode naive --query X --column men --read rows": "--read takes name=value; got 'rows'",
    }.items():
        done = run(line, desk)
        assert (done.code, done.err) == (2, f"hedgerow: {message}\n")


def test_the_exact_query_is_moved_into_the_bounds_of_its_release(desk):
    """As it was when it was published; the sum of the moved numbers is what the noisy query is about."""
    (desk / "signs.csv").write_text("contrast\n1\n5\n-1\n-1\n")
    centred = answers("--mode centred --query SIGNS --exact signs.csv --column women", desk)["answers"]["contrast"]
    assert centred["estimate"] == pytest.approx(-60)


def test_repeated_and_different_queries_add_up(desk):
    """A folder can be sent again for nothing; new noise, for this query or another one, costs epsilon again."""
    assert run("account spent.toml --total 2 --unit cell", desk).code == 0
    query = f"{PUBLISH.format('y', 'cell', 1, 'Q')} --set mode=randomised-response --account spent.toml"
    assert run(query, desk).code == 0
    for _ in range(3):
        assert answers("--mode naive --query Q --column men", desk)["answers"]["all"]["sent"] == 1
    assert json.loads(run("account spent.toml --json", desk).out)["left"] == "1"
    assert run(query.replace("--out Q", "--out AGAIN"), desk).code == 0
    third = run(query.replace("--out Q", "--out THIRD"), desk)
    assert third.code == 3
    assert not (desk / "THIRD").exists()


def test_files_are_read_with_options_and_never_changed(desk):
    before = {path.name: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    (desk / "named.csv").write_text("1\n1\n0\n0\n")
    line = "answer X --mode local --exact named.csv --column men --read names=first"
    done = run(line, desk)
    assert done.out.splitlines()[1].split() == ["first", "50", "0", "0", "0"]
    (desk / "named.csv").unlink()
    assert {path.name: path.read_bytes() for path in desk.rglob("*") if path.is_file()} == before
