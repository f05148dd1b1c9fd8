"""What a release rests on is said, and a release of nothing, or of noise, is called so."""

import json

import pytest
from terminal import run

from hedgerow.releases.account import FAILED, Account
from hedgerow.releases.writer import read_release

PUBLISH = "publish a.dat --kind sets --method noisy-singletons --unit record --assert-public-domain --out R"


def write_sets(folder, records):
    (folder / "a.dat").write_text("".join(f"{number % 5} {5 + number % 3}\n" for number in range(records)))


def test_a_release_of_noise_is_called_so(tmp_path):
    write_sets(tmp_path, 10)
    ran = run(f"{PUBLISH} --epsilon 0.05 --json --seed 1 --even-if-useless", tmp_path)
    assert ran.code == 0, ran
    assert "rests on noise" in json.loads(ran.out)["use"] or "is empty" in json.loads(ran.out)["use"]


def test_a_release_of_noise_is_refused_but_paid_for(tmp_path):
    """Answers were drawn: publishing the first of many tries that looks well would cost more than one of them."""
    write_sets(tmp_path, 10)
    (tmp_path / "account.toml").write_text('total = "1"\nunit = "record"\n')
    ran = run(f"{PUBLISH} --epsilon 0.05 --account account.toml", tmp_path)
    assert ran.code == 3
    assert not (tmp_path / "R").exists()
    [line] = ran.err.splitlines()
    assert "What would help: a larger epsilon" in line
    assert "--even-if-useless" in line
    assert "epsilon 0.05 stays charged to account.toml" in line
    [entry] = Account.read(tmp_path / "account.toml").releases
    assert entry["state"] == FAILED


def test_a_refusal_leaves_the_release_that_was_there(tmp_path):
    write_sets(tmp_path, 3_000)
    assert run(f"{PUBLISH} --epsilon 1", tmp_path).code == 0
    before = (tmp_path / "R" / "release.json").read_bytes()
    write_sets(tmp_path, 10)
    assert run(f"{PUBLISH} --epsilon 0.05 --overwrite", tmp_path).code == 3
    assert (tmp_path / "R" / "release.json").read_bytes() == before


def test_a_recipe_remembers_that_useless_is_accepted(tmp_path):
    write_sets(tmp_path, 10)
    assert run(f"{PUBLISH} --epsilon 0.05 --save-recipe r.toml --even-if-useless", tmp_path).code == 0
    assert run("publish --recipe r.toml --overwrite", tmp_path).code == 0


def test_what_a_release_rests_on_is_printed_stated_and_stored(tmp_path):
    write_sets(tmp_path, 3_000)
    ran = run(f"{PUBLISH} --epsilon 1", tmp_path)
    sentence = "Above their noise: item counts 100 %."
    assert sentence in ran.out
    assert sentence in (tmp_path / "R" / "STATEMENT.md").read_text()
    assert json.loads((tmp_path / "R" / "release.json").read_text())["support"] == {"item counts": 1.0}
    assert read_release(tmp_path / "R").evidence.support[0].share == 1


@pytest.mark.filterwarnings("ignore:nothing is kept")
@pytest.mark.parametrize(
    "method",
    ["kcl", "kcl-generalisation --assert-public-domain --set suppress=grow --set levels=0,1 --set one_place=yes"],
)
def test_records_that_have_nothing_left_are_a_release_of_nothing(tmp_path, method):
    (tmp_path / "t.csv").write_text("unit,time,place\n" + "".join(f"{n},{n},p{n}\n" for n in range(6)))
    line = f"publish t.csv --kind trajectories --method {method} --k 6 --l 1 --out R"
    ran = run(line, tmp_path)
    assert (ran.code, "the release is empty" in ran.err) == (3, True), ran
    assert not (tmp_path / "R").exists()
    assert run(f"{line} --even-if-useless", tmp_path).code == 0
