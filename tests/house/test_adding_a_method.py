"""The page on adding a method is true: its files, put into a copy of the tree, pass all checks."""

from __future__ import annotations

import pytest
from adding import carried_out, run, run_tests, write_golden


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the method of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("tree")
    return copy, carried_out("adding-a-method.md", copy)


def test_four_files_are_touched_and_one_of_them_by_one_line(tree):
    _, touched = tree
    assert sorted(touched) == [
        "src/hedgerow/kinds/sets/methods/first_items.py",
        "src/hedgerow/methods.py",
        "tests/kinds/sets/methods/first_items/test_first_items.py",
        "tests/vectors/first-items.json",
    ]
    assert touched["src/hedgerow/methods.py"] == 1


@pytest.mark.slow
def test_the_new_method_conforms_keeps_its_vector_and_its_mutants_are_caught(tree):
    copy, _ = tree
    assert set(write_golden(copy, "first-items")) == {"1/data.dat", "20260/data.dat"}
    passed = {
        "laws/test_conformance.py": 2,  # one per unit
        "laws/test_vectors.py": 2,
        "laws/test_golden_releases.py": 2,  # its releases, and that no method is without
        "kinds/sets/methods/first_items/test_first_items.py": 3,
    }
    assert run_tests(copy, "first or among_them", *passed) == passed
    names = run(copy, "-c", "import hedgerow as h; print(h.FirstItems.name)")
    assert names.stdout.strip() == "first-items"
