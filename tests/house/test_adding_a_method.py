"""The page on adding a method is true: its files, put into a copy of the tree, pass all checks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from project import ROOT

PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
LINES = re.findall(r'<!-- line: (\S+) after "(.*?)" -->\n```\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the method of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    touched = {}
    for name, text in FILES.items():
        assert not (copy / name).exists()
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text)
        touched[name] = text.count("\n")
    for name, after, line in LINES:
        text = (copy / name).read_text()
        (before,) = [row for row in text.splitlines(keepends=True) if row.lstrip().startswith(f'"{after}"')]
        (copy / name).write_text(text.replace(before, before + line))
        touched[name] = line.count("\n")
    return copy, touched


def run(copy, code):
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests' / 'support'}"}
    return subprocess.run(code, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def test_five_files_are_touched_and_one_of_them_by_one_line(tree):
    _, touched = tree
    assert sorted(touched) == [
        "src/hedgerow/publishers/registry.py",
        "src/hedgerow/publishers/sets/first_items/__init__.py",
        "src/hedgerow/publishers/sets/first_items/publisher.py",
        "tests/methods/first_items/test_first_items.py",
        "tests/vectors/first-items.json",
    ]
    assert touched["src/hedgerow/publishers/registry.py"] == 1


def test_the_new_method_conforms_keeps_its_vector_and_its_mutants_are_caught(tree):
    copy, _ = tree
    tests = ["spine/test_conformance.py", "spine/test_vectors.py", "methods/first_items/test_first_items.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "first"]
    done = run(copy, [*command, *(f"tests/{name}" for name in tests)])
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout  # two units, one vector, three mutants
    names = run(copy, [sys.executable, "-c", "import hedgerow as h; print(h.FirstItems.name)"])
    assert names.stdout.strip() == "first-items"
