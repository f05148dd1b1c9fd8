"""Release folders of earlier versions of `release.json` stay readable; each was written when it was the current one."""

from __future__ import annotations

import shutil

import pytest
from folders import seal
from project import TESTS
from terminal import run

from hedgerow import read_release
from hedgerow.release import OLDEST_SCHEMA, SCHEMA

FOLDERS = sorted(path.parent for path in (TESTS / "earlier").glob("schema-*/*/release.json"))
NAMES = [f"{folder.parent.name}/{folder.name}" for folder in FOLDERS]
KINDS = {"graphs", "matrices", "records", "sequences", "sets", "streams", "trajectories"}


def test_there_is_a_folder_of_every_kind_and_earlier_version():
    assert set(NAMES) >= {f"schema-{number}/{kind}" for number in range(OLDEST_SCHEMA, SCHEMA) for kind in KINDS}


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_a_folder_of_an_earlier_version_is_read_and_reported(folder, tmp_path):
    release = read_release(folder)
    assert release.kind == folder.name
    assert release.verdict.satisfied
    assert run(["report", str(folder), "--html", str(tmp_path / "x.html")], tmp_path).code == 0
    ran = run(["verify", str(folder)], tmp_path)
    number = folder.parent.name.removeprefix("schema-")
    assert f"?    it was made with version {number} of release.json" in ran.out
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "cannot be checked")


def test_what_an_earlier_version_did_not_have_is_refused_in_it(tmp_path):
    place = tmp_path / "R"
    shutil.copytree(TESTS / "earlier/schema-3/sets", place)
    seal(place, schema=4)  # which names the libraries
    assert run(["verify", str(place)], tmp_path).out.splitlines()[-1] == "NOT satisfied"
