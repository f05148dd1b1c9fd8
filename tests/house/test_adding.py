"""The pages on adding something are true: their files, put into a copy of the source tree, pass all checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from project import ROOT

# ---- what a page says is done in a copy of the source tree

FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r'<!-- line: (\S+) after "(.*?)" -->\n```\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CHANGE = re.compile(r'<!-- change: (\S+) from "(.*?)" -->\n```\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def carried_out(page: str, copy: Path) -> dict[str, int]:
    """Do what a page says in a copy of the tree; say how many lines of which file that touched."""
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "docs" / page).read_text()
    touched = {}
    for name, content in FILE.findall(text):
        assert not (copy / name).exists()
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(content)
        touched[name] = content.count("\n")
    for name, after, line in LINE.findall(text):
        shared = (copy / name).read_text()
        (row,) = [row for row in shared.splitlines(keepends=True) if re.match(rf'\s+(\w+\()?"{after}"', row)]
        (copy / name).write_text(shared.replace(row, row + line))
        touched[name] = line.count("\n")
    for name, old, new in CHANGE.findall(text):
        shared = (copy / name).read_text()
        assert shared.count(f"{old}\n") == 1
        (copy / name).write_text(shared.replace(f"{old}\n", new))
        touched[name] = touched.get(name, 0) + new.count("\n")
    return touched


def run(copy: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests' / 'support'}", **variables}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def run_tests(copy: Path, only: str, *names: str, **variables: str) -> Counter[str]:
    """Run tests in the copy, which must pass; return how many did, by file."""
    tests = [f"tests/{name}" for name in names]
    done = run(
        copy, "-m", "pytest", "-q", "-rp", "-m", "not slow", "-p", "no:cacheprovider", "-k", only, *tests, **variables
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Counter(re.findall(r"^PASSED tests/(.*?)::", done.stdout, re.MULTILINE))


def write_golden(copy: Path, method: str) -> dict[str, str]:
    """Do as `make golden` does for a new method in the copy; return what it added to the golden releases."""
    kept = copy / "tests" / "golden" / "releases.json"
    before = json.loads(kept.read_text())
    run_tests(copy, method, "laws/test_golden_releases.py", HEDGEROW_GOLDEN="1")
    after = json.loads(kept.read_text())
    assert before.items() <= after.items()
    (added,) = set(after) - set(before)
    return after[added]


# ---- adding a kind


@pytest.fixture(scope="module")
def kind_tree(tmp_path_factory):
    """A copy of the tree with the kind of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("kind")
    return copy, carried_out("adding-a-kind.md", copy)


def test_one_line_of_a_shared_file_is_touched_and_one_more_for_its_method(kind_tree):
    _, touched = kind_tree
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


@pytest.mark.slow
def test_the_new_kind_conforms_keeps_the_law_and_goes_all_the_way(kind_tree):
    copy, _ = kind_tree
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


def test_the_new_kind_is_listed_and_read_from_memory(kind_tree):
    copy, _ = kind_tree
    code = "import hedgerow as h; print(h.read(['#.', '..'], kind='desks').used.tolist(), h.Desks.units)"
    assert run(copy, "-c", code).stdout.strip() == "[[1, 0], [0, 0]] ('day',)"
    assert "which desk of an office" in run(copy, "-m", "hedgerow", "describe", "--help").stdout


# ---- adding a method


@pytest.fixture(scope="module")
def method_tree(tmp_path_factory):
    """A copy of the tree with the method of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("method")
    return copy, carried_out("adding-a-method.md", copy)


def test_four_files_are_touched_and_one_of_them_by_one_line(method_tree):
    _, touched = method_tree
    assert sorted(touched) == [
        "src/hedgerow/kinds/sets/methods/first_items.py",
        "src/hedgerow/methods.py",
        "tests/kinds/sets/methods/first_items/test_first_items.py",
        "tests/vectors/first-items.json",
    ]
    assert touched["src/hedgerow/methods.py"] == 1


@pytest.mark.slow
def test_the_new_method_conforms_keeps_its_vector_and_its_mutants_are_caught(method_tree):
    copy, _ = method_tree
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


# ---- adding a format


@pytest.fixture(scope="module")
def format_tree(tmp_path_factory):
    """A copy of the tree with the format of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("format")
    return copy, carried_out("adding-a-format.md", copy)


def test_a_format_is_one_file_and_one_row_and_as_much_of_tests(format_tree):
    _, touched = format_tree
    shared = {"src/hedgerow/formats/list_codec.py": 8, "tests/support/reading_cases.py": 1}
    assert {name: touched[name] for name in shared} == shared
    assert set(touched) == {*shared, "src/hedgerow/formats/semicolons.py", "tests/formats/test_semicolons.py"}


def test_the_new_format_is_read_record_by_record_and_written_again(format_tree):
    copy, _ = format_tree
    passed = {
        "laws/test_reading_law.py": 1,
        "formats/test_read.py": 7,  # random records come back; one message lists all formats
        "formats/test_semicolons.py": 10,
    }
    assert run_tests(copy, "semicolons or comes_back or typed_wrongly", *passed) == passed


# ---- all pages


def test_what_pages_add_passes_the_linter(kind_tree, method_tree, format_tree):
    pytest.importorskip("ruff", reason="the linter is installed by make setup, not by make test")
    for copy, touched in (kind_tree, method_tree, format_tree):
        shutil.copy(ROOT / "pyproject.toml", copy)
        files = [name for name in touched if name.endswith(".py")]
        for words in (["check"], ["format", "--check"]):
            linted = run(copy, "-m", "ruff", *words, "--no-cache", *files)
            assert linted.returncode == 0, linted.stdout
