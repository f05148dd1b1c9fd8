"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

import hedgerow

SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTED = sorted((ROOT / "tests").rglob("*.py"))
DOORS = {"ask", "survivors", "paths", "each", "note"}


def everything():
    """The files of the project, tracked or about to be; not what tools leave behind."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if name != "LICENSE" and (ROOT / name).exists()]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_small(path):
    text = path.read_text()
    assert text.count("\n") <= 700
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            start = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
            assert node.end_lineno - start <= 50, node.name


def test_files_of_tests_are_small_too():
    """Their functions may be long: a table of cases is."""
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in TESTED}
    assert {name: number for name, number in lines.items() if number > 700} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_randomness_comes_from_the_samplers_only(path):
    """Annotations aside, `numpy.random` stands in the samplers, in test data and in the engine for tests."""
    allowed = {
        "privacy/samplers.py",
        "testing/sets.py",
        "testing/conformance.py",
        "frontiers/sharded.py",
        "evaluate.py",  # draws workloads, which are no noise
        "samples/messages.py",  # makes data up
        "samples/shopping.py",
        "samples/walks.py",
    }
    if str(path.relative_to(ROOT / "src" / "hedgerow")) in allowed:
        return
    code = re.sub(r"np\.random\.Generator", "", path.read_text())
    assert not re.search(r"np\.random|numpy\.random|^import random|import secrets|urandom", code, re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_labels_are_literals_in_methods(path):
    """The type checker refuses data in labels; this shows it without one."""
    if "publishers" not in path.parts:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DOORS:
            labels = [keyword.value for keyword in node.keywords if keyword.arg == "label"]
            labels += node.args[:1] if node.func.attr == "note" else []
            assert all(isinstance(label, ast.Constant) for label in labels)


def test_the_type_checker_keeps_data_out_of_labels(tmp_path):
    """`label=f"count of {item}"` does not pass, a literal does."""
    pytest.importorskip("basedpyright", reason="the checker is installed by make setup, not by make test")
    code = (
        "from fractions import Fraction\nimport numpy as np\nfrom hedgerow.privacy import Laplace, Ledger\n"
        "def ask(ledger: Ledger, item: str) -> None:\n"
        "    ledger.ask(np.zeros(1, np.int64), Laplace(l1=1), spend=Fraction(1), label={})\n"
    )
    exits = []
    for label in ('"counts"', 'f"count of {item}"'):
        path = tmp_path / "labels.py"
        path.write_text(code.format(label))
        (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
        command = [
            sys.executable,
            "-m",
            "basedpyright",
            "--project",
            str(tmp_path),
            "--pythonpath",
            sys.executable,
        ]
        exits.append(subprocess.run(command, capture_output=True, check=False).returncode)
    assert exits == [0, 1]


def test_the_project_speaks_of_itself_alone():
    """No path of a machine, and no address of a package registry; only .ci/run knows a neighbour."""
    forbidden = re.compile(r"/(?:work|root|farm|home)/|index-" + r"url *=|pypi\." + r"org|\.\./" + r"shared")
    for path in everything():
        if path.relative_to(ROOT) in {Path(".ci/run"), Path("tests/house/test_house.py")}:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        assert not forbidden.search(text), path
    assert not list(ROOT.glob("uv.lock"))


def test_every_public_name_is_there_and_in_the_documents():
    documents = "\n".join(path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
    for name in hedgerow.__all__:
        assert getattr(hedgerow, name) is not None
        assert re.search(rf"\b{name}\b", documents), f"{name} is in no document"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = hedgerow.nonsense


def test_importing_hedgerow_imports_nothing_heavy():
    code = "import sys, hedgerow; print(sorted({'numpy', 'scipy', 'polars', 'msgspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
