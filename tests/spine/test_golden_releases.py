"""Releases of every method are, seed by seed and format by format, what they were."""

from __future__ import annotations

import json
import os

import pytest
from project import GOLDEN
from releases import CASES, digest

from hedgerow.publishers import METHODS

KEPT = GOLDEN / "releases.json"


@pytest.mark.parametrize("name", CASES)
def test_a_release_is_what_it_was(name, tmp_path):
    found = digest(CASES[name], tmp_path)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("HEDGEROW_GOLDEN"):
        KEPT.write_text(json.dumps({**kept, name: found}, indent=1, sort_keys=True) + "\n")
        return
    assert found == kept[name], "other data goes out; if that is meant, make golden accepts it"


def test_every_method_is_among_them():
    assert {case.method for case in CASES.values()} == set(METHODS)
    assert set(json.loads(KEPT.read_text())) == set(CASES)
