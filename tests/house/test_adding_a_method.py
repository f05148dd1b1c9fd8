"""The page on adding a method is true: its files, put into a copy of the tree, pass all checks."""

from __future__ import annotations

import pytest
from adding import carried_out, run, run_tests


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the method of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("tree")
    return copy, carried_out("adding-a-method.md", copy)


def test_six_files_are_touched_and_two_of_them_by_one_line(tree):
    _, touched = tree
    assert sorted(touched) == [
        "src/hedgerow/publishers/registry.py",
        "src/hedgerow/publishers/sets/first_items/__init__.py",
        "src/hedgerow/publishers/sets/first_items/publisher.py",
        "tests/methods/first_items/test_first_items.py",
        "tests/support/releases.py",
        "tests/vectors/first-items.json",
    ]
    assert touched["src/hedgerow/publishers/registry.py"] == touched["tests/support/releases.py"] == 1


def test_the_new_method_conforms_keeps_its_vector_and_its_mutants_are_caught(tree):
    copy, _ = tree
    tests = ("spine/test_conformance.py", "spine/test_vectors.py", "methods/first_items/test_first_items.py")
    assert "7 passed" in run_tests(copy, "first", *tests)  # two units, one vector, three mutants
    names = run(copy, "-c", "import hedgerow as h; print(h.FirstItems.name)")
    assert names.stdout.strip() == "first-items"


def test_the_golden_release_of_the_new_method_is_recorded(tree, monkeypatch):
    copy, _ = tree
    monkeypatch.setenv("HEDGEROW_GOLDEN", "1")
    run_tests(copy, "first", "spine/test_golden_releases.py")
    monkeypatch.delenv("HEDGEROW_GOLDEN")
    assert "2 passed" in run_tests(copy, "first or every_method", "spine/test_golden_releases.py")
