"""Releases of every method are, seed by seed and format by format, what they were."""

from __future__ import annotations

import json
import os

import pytest
from project import GOLDEN

from hedgerow.methods import METHODS
from releases import CASES, digest

KEPT = GOLDEN / "releases.json"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * case.slow) for name, case in CASES.items()]
)
@pytest.mark.filterwarnings("ignore:moved weights show")
def test_a_release_is_what_it_was(name, tmp_path):
    hashes = digest(CASES[name], tmp_path)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("HEDGEROW_GOLDEN"):
        now = {case: of_it for case, of_it in {**kept, name: hashes}.items() if case in CASES}
        KEPT.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        return
    assert hashes == kept.get(name), "other data goes out, or the method is new; if that is meant, run make golden"


def test_every_method_is_among_them():
    """A method that has no case of its own has one by default; a fast one, whatever else is slow."""
    assert {case.method for case in CASES.values() if not case.slow} == set(METHODS)
    kept = set(json.loads(KEPT.read_text()))
    assert kept == set(CASES), "a method or a case is new; run make golden"
