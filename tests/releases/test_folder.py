"""The release folder: all or nothing, verified before it has its name, nothing private inside."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest
from folders import seal
from project import TESTS
from terminal import run
from toys import MinimumSupport, PassOn

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.audit.verification import verify_data, verify_folder
from hedgerow.errors import (
    GuaranteeError,
    InternalError,
    ParameterError,
    ReadError,
    UnsupportedGuarantee,
    WriteError,
)
from hedgerow.formats import packing as packing_module
from hedgerow.formats.codec import explain
from hedgerow.formats.files import Ending
from hedgerow.release import OLDEST_SCHEMA, SCHEMA
from hedgerow.releases import atomic_folder as atomic_folder_module
from hedgerow.releases import writer as writer_module
from hedgerow.releases.atomic_folder import swap_folders, temporary_folder
from hedgerow.releases.owner_files import check_owners_file, read_scores
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout, write_folder

DOMAIN = Domain.declare(item=["bread", "milk", "tea"], records_per_person=4)
DATA = Sets.from_records([["tea"]] * 83 + [["bread", "milk"]] * 64, domain=DOMAIN)
LAYOUT = Layout("csv", Ending("csv", "gz"), {"unit": "basket"})


def release(**parameters):
    return FlatLaplace(**parameters).publish(DATA, PureDP(epsilon=1, unit="record"))


def test_one_data_set_under_two_names_of_a_file_is_refused(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    held = json.loads((place / "release.json").read_text())
    held["files"] *= 2
    (place / "release.json").write_text(json.dumps(held))
    with pytest.raises(ReadError, match="names one data set twice"):
        open_folder(place)


@pytest.mark.parametrize(
    "layout",
    [
        LAYOUT,
        Layout("lines", Ending("seq", "")),
        Layout("jsonl", Ending("jsonl", "zst")),
        Layout("parquet", Ending("parquet", "")),
    ],
    ids=["csv", "lines", "jsonl", "parquet"],
)
def test_a_folder_comes_back_as_the_release_it_was(tmp_path, layout):
    held = release()
    place = write_folder(held, tmp_path / "out", layout)
    names = {path.name for path in place.iterdir()}
    assert names == {layout.file_name(""), "release.json", "STATEMENT.md"}
    again, written = open_folder(place)
    assert again.data.itemsets() == held.data.itemsets()
    assert again.to_json(written.files, explain(written.files)) == (place / "release.json").read_bytes()
    assert again.statement(explain(written.files)) == (place / "STATEMENT.md").read_text()
    assert all(verify_folder(place).values())


def test_nothing_private_is_inside(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    held = json.loads((place / "release.json").read_bytes())
    assert "seed" not in json.dumps(held)
    assert str(tmp_path) not in (place / "release.json").read_text()
    content = gzip.decompress((place / "data.csv.gz").read_bytes()).decode().splitlines()
    assert content[0] == "basket,item"
    numbers = [int(line.split(",")[0]) for line in content[1:]]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, max(numbers) + 1))


def test_an_inferred_domain_does_not_leave():
    data = Sets.from_records([["tea"]] * 9 + [["rare"]])
    held = PassOn().publish(data, MinimumSupport(1))
    assert held.manifest().domain["axes"] is None


def test_what_is_there_is_not_replaced_unless_it_is_ours(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    with pytest.raises(ParameterError, match="exists already; choose another name, or pass"):
        write_folder(release(), place, LAYOUT)
    before = (place / "data.csv.gz").read_bytes()
    write_folder(release(threshold=50), place, LAYOUT, overwrite=True)
    assert (place / "data.csv.gz").read_bytes() != before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ParameterError, match="holds something other than a release of Hedgerow; it is not replaced"):
        write_folder(release(), tmp_path / "mine", LAYOUT, overwrite=True)
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(ParameterError, match="holds something other than a release"):
        write_folder(release(), tmp_path / "link", LAYOUT, overwrite=True)
    with pytest.raises(ParameterError, match=r"there is no folder .*nowhere; create it first"):
        write_folder(release(), tmp_path / "nowhere" / "out", LAYOUT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "mine", "out"]


def test_data_that_does_not_come_back_is_not_published(tmp_path, monkeypatch):
    """The guard of the guard: a writer that loses a line is caught before the folder has a name."""
    right = packing_module.compress
    monkeypatch.setattr(packing_module, "compress", lambda text, how: right(text[:-7], how))
    with pytest.raises((InternalError, ReadError)):
        write_folder(release(), tmp_path / "out", LAYOUT)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path):
    dead = tmp_path / ".hedgerow-dead.part"
    dead.mkdir()
    (dead / "data.csv").write_text("half")
    with temporary_folder(tmp_path / "other") as alive:
        write_folder(release(), tmp_path / "out", LAYOUT)
        assert alive.is_dir()
        assert not dead.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_release_whose_replacement_was_killed_comes_back(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    place.rename(tmp_path / ".hedgerow-out.old")
    with pytest.raises(ParameterError, match="exists already"):
        write_folder(release(), place, LAYOUT)
    assert all(verify_folder(place).values())


def test_of_two_at_once_one_wins(tmp_path, monkeypatch):
    """The other one finishes while this one verifies."""
    right = writer_module._verify

    def slow(*arguments):
        right(*arguments)
        monkeypatch.setattr(writer_module, "_verify", right)
        write_folder(release(threshold=9), tmp_path / "out", LAYOUT)

    monkeypatch.setattr(writer_module, "_verify", slow)
    with pytest.raises(WriteError, match="was created by another process in the meantime"):
        write_folder(release(), tmp_path / "out", LAYOUT)
    assert open_folder(tmp_path / "out")[0].recipe.parameters == (("threshold", 9.0),)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_leaves_nothing(tmp_path):
    """A process that may write files of 1,000 bytes only."""
    code = """
        import resource, signal, sys
        from pathlib import Path
        sys.path[:0] = sys.argv[2].split(":")
        from test_folder import LAYOUT, release
        from hedgerow.releases.writer import write_folder
        held = release()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        write_folder(held, Path(sys.argv[1]) / "out", LAYOUT)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), f"{TESTS}/releases:{TESTS}/support"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "could not be written (file too large); nothing was published" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_place_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(WriteError, match="permission denied"):
        write_folder(release(), tmp_path / "out", LAYOUT)


# ---- verifying


def changed(place, name, old, new):
    path = place / name
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "failing"),
    [
        ("STATEMENT.md", "e^1", "e^0.1", "the statement says what release.json says"),
        ("release.json", '"share": "1"', '"share": "2"', "the questions spend no more"),
        ("release.json", '"for_publication": true', '"for_publication": false', "it is for pub"),
    ],
)
def test_a_folder_that_was_changed_is_not_satisfied(tmp_path, name, old, new, failing):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    changed(place, name, old, new)
    failed = [check for check, passed in verify_folder(place).items() if not passed]
    assert any(check.startswith(failing) for check in failed)


def test_more_ways_to_spoil_a_folder(tmp_path):
    layout = Layout("lines", Ending("dat", ""))
    place = write_folder(release(), tmp_path / "out", layout)
    checks = verify_folder(place, PureDP(epsilon=2, unit="record"))
    assert [check for check, passed in checks.items() if not passed] == ["the promise is the one asked for"]
    (place / "scores.json").write_text("{}")
    assert not verify_folder(place)["nothing else is in the folder"]
    lines = (place / "data.dat").read_text().splitlines()
    (place / "data.dat").write_text("\n".join(reversed(lines)) + "\n")
    [(check, passed)] = verify_folder(place).items()
    assert "data.dat is not the file that was published (its SHA-256 differs)" in check
    assert not passed
    seal(place)
    assert not verify_folder(place)["the order of records says nothing"]
    (place / "data.dat").write_text("wine\n")
    seal(place)
    [(check, passed)] = verify_folder(place).items()
    assert "an item is not in the domain" in check
    assert not passed
    (place / "data.dat").unlink()
    assert not all(verify_folder(place).values())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"kind": "sets"', '"kind": 3'),
        ('"axes"', '"axs"'),
        ('"name": "PureDP"', '"name": "Sure"'),
        ('"file": "data.', '"file": "../data.'),
        ('"share": "1"', '"share": "much"'),
        ('"kind": "sets"', '"kind": "dreams"'),
        ('"share": "1"', '"share": "1e999999999"'),
        ('"epsilon": "1"', '"epsilon": "1e999999999"'),
        ('"share": "1"', '"share": "-1"'),
        ('"kind": "sets"', '"seed": 5, "kind": "sets"'),
        ('"values": [', '"low": 1, "high": 1000000000000, "valuez": ['),
        ('"notes": {}', f'"notes": {"[" * 9999}'),
    ],
)
def test_a_release_json_that_is_not_ours(tmp_path, old, new):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    changed(place, "release.json", old, new)
    with pytest.raises((ReadError, ParameterError)):
        open_folder(place)


def test_a_folder_that_is_no_release(tmp_path):
    with pytest.raises(ReadError, match=r"is not a release: there is no release\.json"):
        open_folder(tmp_path)


def test_a_criterion_is_verified_on_data_and_differential_privacy_is_not():
    with pytest.raises(UnsupportedGuarantee, match="cannot be verified from a file; verify the release"):
        verify_data(DATA, PureDP(epsilon=1, unit="record"))
    assert not any(verify_data(DATA, MinimumSupport(64)).values())
    with pytest.raises(GuaranteeError, match="MinimumSupport is not satisfied: 1 x"):
        verify_data(DATA, MinimumSupport(65))


def test_scores_stay_out_of_the_release(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    for path in (place / "scores.json", place / ".." / "out" / "x"):
        with pytest.raises(GuaranteeError, match="is inside a release folder"):
            check_owners_file(path, [], read_scores)
    check_owners_file(tmp_path / "scores.json", [], read_scores)
    with pytest.raises(ReadError, match="is not a score file"):
        read_scores(place / "release.json")


def test_a_folder_with_more_than_a_release_is_not_replaced(tmp_path):
    for number, content in enumerate((b"{}", None)):
        place = write_folder(release(), tmp_path / f"out{number}", LAYOUT)
        (place / "thesis.txt").write_text("years of work")
        if content:
            (place / "release.json").write_bytes(content)
        with pytest.raises(ParameterError, match="holds something other than a release"):
            write_folder(release(), place, LAYOUT, overwrite=True)
        assert (place / "thesis.txt").read_text() == "years of work"


def test_where_folders_cannot_be_swapped_they_are_renamed(tmp_path, monkeypatch):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    monkeypatch.setattr(atomic_folder_module, "swap_folders", lambda *_: False)
    write_folder(release(threshold=50), place, LAYOUT, overwrite=True)
    assert open_folder(place)[0].recipe.parameters == (("threshold", 50.0),)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folders_are_swapped_in_one_step(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert swap_folders(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "b").exists()
    assert not swap_folders(tmp_path / "a", tmp_path / "none")


@pytest.mark.parametrize("spoilt", [False, True])
def test_another_version_cannot_be_checked(tmp_path, spoilt):
    """Whatever it holds: the comparison that is switched off by a version is no yes."""
    held = replace(release(), version="0.0.9")
    place = write_folder(held, tmp_path / "out", LAYOUT)
    if spoilt:
        changed(place, "STATEMENT.md", "e^1", "e^0.1")
        seal(place)
    unknown = [check for check, passed in verify_folder(place).items() if passed is None]
    assert unknown == ["it was made by Hedgerow 0.0.9, and this is 0.1.0: verify it with that version"]
    ran = run("verify out", tmp_path)
    assert ran.code == 3
    assert ran.out.splitlines()[-1] == "cannot be checked"
    assert json.loads(run("verify out --json", tmp_path).out)["satisfied"] is False


def test_another_version_that_writes_otherwise_cannot_be_checked(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    whole = (place / "release.json").read_text()
    seal(place, hedgerow="7.1", schema=SCHEMA + 1, news="good")
    [(check, passed)] = verify_folder(place).items()
    assert f"out was made by Hedgerow 7.1 with version {SCHEMA + 1} of release.json" in check
    assert f"this is Hedgerow 0.1.0, which reads versions {OLDEST_SCHEMA} to {SCHEMA}" in check
    assert passed is None
    assert run("verify out", tmp_path).code == 3
    assert run("report out --html x.html", tmp_path).code == 2
    # the first version did not say which it is
    (place / "release.json").write_text(whole.replace(f'"schema": {SCHEMA},', ""))
    [(check, passed)] = verify_folder(place).items()
    assert ("with version 1 of release.json" in check, passed) == (True, None)


@pytest.mark.parametrize(
    "changes", [{"hedgerow": "7.1", "news": "good"}, {"schema": 0}, {"schema": 10**9}, {"schema": "x"}]
)
def test_what_no_version_writes_was_changed(tmp_path, changes):
    """Whoever says this schema and writes another one is not of another version."""
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    seal(place, **changes)
    [(check, passed)] = verify_folder(place).items()
    assert ("it was changed or damaged" in check, passed) == (True, False)


def test_a_link_is_not_followed_out_of_a_release(tmp_path):
    place = write_folder(release(), tmp_path / "out", LAYOUT)
    (place / "data.csv.gz").rename(tmp_path / "data.csv.gz")
    (place / "data.csv.gz").symlink_to(tmp_path / "data.csv.gz")
    with pytest.raises(ReadError, match="is a link; the files of a release must be in its folder"):
        open_folder(place)
