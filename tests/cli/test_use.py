"""What a release rests on is said, and a release of nothing, or of noise, is called so."""

import json

from terminal import run

from hedgerow.io import read_release

PUBLISH = "publish a.dat --kind sets --method noisy-singletons --unit record --assert-public-domain --out R"


def write_sets(folder, records):
    (folder / "a.dat").write_text("".join(f"{number % 5} {5 + number % 3}\n" for number in range(records)))


def test_a_release_of_noise_is_called_so(tmp_path):
    write_sets(tmp_path, 10)
    ran = run(f"{PUBLISH} --epsilon 0.05 --json --seed 1", tmp_path)
    assert ran.code == 0, ran
    assert "rests on noise" in json.loads(ran.out)["use"] or "is empty" in json.loads(ran.out)["use"]


def test_what_a_release_rests_on_is_printed_stated_and_stored(tmp_path):
    write_sets(tmp_path, 3_000)
    ran = run(f"{PUBLISH} --epsilon 1", tmp_path)
    sentence = "Above their noise: item counts 100 %."
    assert sentence in ran.out
    assert sentence in (tmp_path / "R" / "STATEMENT.md").read_text()
    assert json.loads((tmp_path / "R" / "release.json").read_text())["support"] == {"item counts": 1.0}
    assert read_release(tmp_path / "R").evidence.support[0].share == 1
