"""A release of nothing, or of noise, is refused unless it is wanted."""

import json

from terminal import run

from hedgerow.io import read_release

PUBLISH = "publish a.dat --kind sets --method noisy-singletons --unit record --assert-public-domain --out R"


def write_sets(folder, records):
    (folder / "a.dat").write_text("".join(f"{number % 5} {5 + number % 3}\n" for number in range(records)))


def test_a_release_of_noise_is_refused_with_what_would_help(tmp_path):
    write_sets(tmp_path, 10)
    ran = run(f"{PUBLISH} --epsilon 0.05", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert "a larger epsilon, more records, a smaller domain or another method" in ran.err
    assert "--even-if-useless" in ran.err
    assert not (tmp_path / "R").exists()


def test_a_release_of_noise_is_written_where_that_is_wanted(tmp_path):
    write_sets(tmp_path, 10)
    ran = run(f"{PUBLISH} --epsilon 0.05 --even-if-useless --json", tmp_path)
    assert ran.code == 0, ran
    assert "rests on noise" in json.loads(ran.out)["use"] or "is empty" in json.loads(ran.out)["use"]
    assert run("verify R", tmp_path).code == 0


def test_what_a_release_rests_on_is_printed_stated_and_stored(tmp_path):
    write_sets(tmp_path, 3_000)
    ran = run(f"{PUBLISH} --epsilon 1", tmp_path)
    sentence = "Above their noise: item counts 100 %."
    assert sentence in ran.out
    assert sentence in (tmp_path / "R" / "STATEMENT.md").read_text()
    assert json.loads((tmp_path / "R" / "release.json").read_text())["support"] == {"item counts": 1.0}
    assert read_release(tmp_path / "R").evidence.support[0].share == 1


def test_the_charge_for_a_refused_release_is_said(tmp_path):
    """The questions were asked, so epsilon is spent whether or not the release is written."""
    write_sets(tmp_path, 10)
    assert run("account shop.toml --total 2 --unit record", tmp_path).code == 0
    ran = run(f"{PUBLISH} --epsilon 0.05 --account shop.toml", tmp_path)
    assert ran.code == 3
    assert "0.05" in ran.err
    assert "0.05" in run("account shop.toml", tmp_path).out
