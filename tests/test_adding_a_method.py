"""The page on adding a method is true: its files, put into a copy of the tree, pass all checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()
FILES = dict(
    re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
LINES = re.findall(
    r'<!-- line: (\S+) after "(.*?)" -->\n```\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL
)

MUTANTS = """
from fractions import Fraction
import pytest
from hedgerow import PureDP, FirstItems
from hedgerow.errors import GuaranteeError
from hedgerow.testing import check_publisher, mutant

@pytest.mark.parametrize("old, new", [
    ("Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
    ("np.flatnonzero(noisy >= self.least)", "np.flatnonzero((noisy >= self.least) & (exact > 0))"),
    ("noisy[kept], data", "exact[kept], data"),
])
def test_mutants_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(FirstItems, old, new, Fraction=Fraction)(), PureDP(epsilon=1, unit="record"))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the method of the page added, and the list of what was touched."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    touched = {}
    for name, text in FILES.items():
        assert not (copy / name).exists()
        (copy / name).write_text(text)
        touched[name] = text.count("\n")
    for name, after, line in LINES:
        text = (copy / name).read_text()
        (before,) = [
            held
            for held in text.splitlines(keepends=True)
            if held.lstrip().startswith(f'"{after}"')
        ]
        (copy / name).write_text(text.replace(before, before + line))
        touched[name] = line.count("\n")
    return copy, touched


def run(copy, code):
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    return subprocess.run(
        code, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


def test_three_files_are_touched_and_one_of_them_by_one_line(tree):
    _, touched = tree
    assert sorted(touched) == [
        "src/hedgerow/publishers/registry.py",
        "src/hedgerow/publishers/sets/first_items.py",
        "tests/vectors/first-items.json",
    ]
    assert touched["src/hedgerow/publishers/registry.py"] == 1


def test_the_new_method_conforms_and_its_mutants_do_not(tree):
    copy, _ = tree
    (copy / "tests" / "test_first_items.py").write_text(MUTANTS)
    tests = ["tests/test_conformance.py", "tests/test_first_items.py"]
    done = run(copy, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
    assert done.returncode == 0, done.stdout
    assert (
        "first-items"
        in run(copy, [sys.executable, "-c", "import hedgerow; print(*hedgerow.METHODS)"]).stdout
    )


def test_the_vector_of_the_page_is_right(tree):
    copy, _ = tree
    vector = json.loads(FILES["tests/vectors/first-items.json"])
    code = (
        "import json, hedgerow as h\nfrom hedgerow.privacy import NoiseOff\n"
        "from hedgerow.publishers.base import publish_with\n"
        f"data = h.Sets.from_records({vector['records']}, domain=h.Domain.declare(item={vector['items']}))\n"
        "release = publish_with(h.FirstItems(), data, h.PureDP(epsilon=1, unit='record'), NoiseOff())\n"
        "print(json.dumps(release.data.itemsets()))"
    )
    done = run(copy, [sys.executable, "-c", code])
    assert json.loads(done.stdout) == vector["published"], done.stderr
