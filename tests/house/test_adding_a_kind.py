"""The page on adding a kind is true: its files, put into a copy of the tree, pass all checks."""

from __future__ import annotations

import pytest
from adding import carried_out, run, run_tests, write_golden


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the kind of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("tree")
    return copy, carried_out("adding-a-kind.md", copy)


def test_one_line_of_a_shared_file_is_touched_and_one_more_for_its_method(tree):
    _, touched = tree
    shared = {"src/hedgerow/kind_registry.py": 1, "src/hedgerow/methods.py": 1}
    own = {
        *(
            f"src/hedgerow/kinds/desks/{part}.py"
            for part in ("__init__", "data", "files", "measures", "charts", "cases")
        ),
        "src/hedgerow/kinds/desks/methods/__init__.py",
        "src/hedgerow/kinds/desks/methods/randomised_response.py",
        "tests/kinds/desks/test_desks.py",
        "tests/vectors/randomised-response.json",
    }
    assert {name: touched[name] for name in shared} == shared
    assert set(touched) == {*shared, *own}


def test_the_new_kind_conforms_keeps_the_law_and_goes_all_the_way(tree):
    copy, _ = tree
    assert set(write_golden(copy, "randomised-response")) == {"1/data.plan", "20260/data.plan"}
    expected = {
        "laws/test_conformance.py": 1,
        "laws/test_vectors.py": 2,
        "laws/test_replay.py": 1,
        "laws/test_golden_releases.py": 2,  # its releases, and that no method is without
        "kinds/desks/test_desks.py": 2,
        "house/test_docs.py": 1,  # the docstrings of all modules
    }
    passed = run_tests(copy, "randomised or desks or among_them or docstrings", *expected, "kinds/test_kinds.py")
    assert passed.pop("kinds/test_kinds.py")
    assert passed == expected


def test_the_new_kind_is_listed_and_read_from_memory(tree):
    copy, _ = tree
    code = "import hedgerow as h; print(h.read(['#.', '..'], kind='desks').used.tolist(), h.Desks.units)"
    assert run(copy, "-c", code).stdout.strip() == "[[1, 0], [0, 0]] ('day',)"
    assert "which desk of an office" in run(copy, "-m", "hedgerow", "describe", "--help").stdout
