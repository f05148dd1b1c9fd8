"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from project import ROOT

import hedgerow
from hedgerow.promises import PROMISES

SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTED = sorted((ROOT / "tests").rglob("*.py"))
DOORS = {"ask", "survivors", "paths", "each", "note"}


def everything():
    """The files of the project, tracked or about to be; not what tools leave behind."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if name != "LICENSE" and (ROOT / name).exists()]


def named(path):
    """A file as messages name it."""
    return str(path.relative_to(ROOT))


def test_files_and_functions_are_small():
    """Files have at most 700 lines, functions 50 without their docstring; all that are longer are listed."""
    large = [named(path) for path in SOURCES if path.read_text().count("\n") > 700]
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                start = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
                if node.end_lineno - start > 50:
                    large.append(f"{named(path)}: {node.name}")
    assert large == []


def test_files_of_tests_are_small_too():
    """Their functions may be long: a table of cases is."""
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in TESTED}
    assert {name: number for name, number in lines.items() if number > 700} == {}


#: annotations aside, `numpy.random` stands in the samplers, in test data and in the engine for tests
RANDOM = {
    "src/hedgerow/privacy/samplers.py",
    "src/hedgerow/kinds/sets/cases.py",
    "src/hedgerow/testing/conformance.py",
    "src/hedgerow/frontiers/sharded.py",
    "src/hedgerow/evaluate.py",  # draws workloads, which are no noise
    "src/hedgerow/querying.py",  # draws worlds for intervals
    "src/hedgerow/samples/messages.py",
    "src/hedgerow/samples/roads.py",  # makes data up
    "src/hedgerow/samples/shopping.py",
    "src/hedgerow/kinds/trajectories/generated_walks.py",
}


def test_randomness_comes_from_the_samplers_only():
    source = re.compile(r"np\.random|numpy\.random|^import random|import secrets|urandom", re.MULTILINE)
    texts = {named(path): path.read_text().replace("np.random.Generator", "") for path in SOURCES}
    assert {name for name, text in texts.items() if source.search(text)} <= RANDOM


#: modules that check a promise, with code of their own
CHECKERS = {"criterion", "label_criterion", "equivalence_classes"}
METHOD_FILES = sorted((ROOT / "src" / "hedgerow" / "kinds").glob("*/methods/**/*.py"))


def checking_imports(text):
    """What a module imports from a checker, or the checker itself, but for classes of promises."""
    classes = {row.place for row in PROMISES.values()}
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.rpartition(".")[2] in CHECKERS]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += [
                f"{module}:{alias.name}"
                for alias in node.names
                if alias.name in CHECKERS
                or (module.rpartition(".")[2] in CHECKERS and f"{module}:{alias.name}" not in classes)
            ]
    return found


def test_methods_use_no_code_of_the_checkers_of_their_promises():
    """A method knows the class of its promise, with its numbers, and never how the promise is checked."""
    assert {named(path): found for path in METHOD_FILES if (found := checking_imports(path.read_text()))} == {}
    assert sum("criterion import" in path.read_text() for path in METHOD_FILES) > 3
    assert {path.stem for path in SOURCES} >= CHECKERS


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "from hedgerow.kinds.trajectories.criterion import KCL, count_violations",
            ["hedgerow.kinds.trajectories.criterion:count_violations"],
        ),
        ("from hedgerow.kinds.trajectories import label_criterion", ["hedgerow.kinds.trajectories:label_criterion"]),
        ("import hedgerow.kinds.records.equivalence_classes as e", ["hedgerow.kinds.records.equivalence_classes"]),
        ("def run():\n    from .criterion import KAnonymity", ["criterion:KAnonymity"]),
        ("from hedgerow.kinds.records.criterion import KAnonymity, LDiversity", []),
    ],
)
def test_a_checker_that_a_method_imports_is_found(line, found):
    assert checking_imports(f"{METHOD_FILES[0].read_text()}\n{line}\n") == found


def test_labels_are_literals_in_methods():
    """The type checker refuses data in labels; this shows it without one."""
    computed, seen = [], 0
    for path in (path for path in SOURCES if "methods" in path.parts):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DOORS:
                labels = [keyword.value for keyword in node.keywords if keyword.arg == "label"]
                labels += node.args[:1] if node.func.attr == "note" else []
                seen += len(labels)
                computed += [f"{named(path)}:{label.lineno}" for label in labels if not isinstance(label, ast.Constant)]
    assert computed == []
    assert seen > 50


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


# ---- names say what a value is: no name of the source is one that fits anything

#: what every value is; say which value it is
EMPTY = {"found", "held"}


def given_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module gives, with its line: variables, attributes, parameters, functions, classes, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node.lineno, alias.asname or alias.name) for alias in names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def empty_words(text: str) -> list[str]:
    """The lines of a module that give something a name without a meaning."""
    return [f"{line}: {name}" for line, name in given_names(ast.parse(text)) if name.strip("_").lower() in EMPTY]


def test_names_say_what_a_value_is():
    words = {named(path): empty_words(path.read_text()) for path in SOURCES}
    assert {path: lines for path, lines in words.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "held = 1",
        "for at, found in rows: pass",
        "[found for found in rows]",
        "def of(found): pass",
        "def held(): pass",
        "row.held = 1",
        "class Row:\n    held: int",
        "if (found := rows): pass",
        "with rows as _held: pass",
        "import rows as found",
    ],
)
def test_such_a_name_is_noticed_wherever_it_is_given(code):
    assert empty_words(code)


def test_words_in_texts_and_other_names_are_left_alone():
    assert empty_words('"""Held and found."""\nthreshold = find(withheld)  # what is held\n') == []


# ---- benchmarks: `make bench` runs that of every method in the registry that has one

#: measured by the benchmark of another method: controls, and those that share the tree or the n-grams of their paper
CONTROLS = {"noisy-singletons", "random-graph", "laplace-graph", "noisy-degrees", "tmf"}
WITHOUT = {
    *CONTROLS,
    "anatomy-matching",
    "binary-mechanism",
    "clustree-packing",
    "continued-prefix-tree",
    "ngram-markov",
}


def test_every_method_has_a_benchmark_but_for_these():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from methods import benchmarks

    assert {method for method, path in benchmarks().items() if not path.exists()} == WITHOUT


def test_make_bench_takes_its_list_from_the_registry():
    command = ["make", "--dry-run", "--no-print-directory", "bench"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    scripts = [line.rsplit("/", 1)[1] for line in said.splitlines() if "benchmarks/" in line]
    assert scripts == ["noise.py", "end_to_end.py", "methods.py", "pages.py"]


# ---- the wheel: installed in an empty environment, does the main job


def call(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **more)


@pytest.mark.slow
def test_a_wheel_works_where_nothing_else_is(tmp_path):
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    [wheel] = tmp_path.glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert "hedgerow/report/vendor/vega.min.js" in names
    assert "hedgerow/report/vendor/vega.LICENSE" in names
    assert "hedgerow/report/page.html" in names
    assert not [name for name in names if name.startswith("tests")]
    call(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    call(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        ROOT / "constraints.txt",
        wheel,
    )
    bare = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    done = call(tmp_path / "env" / "bin" / "hedgerow", "demo", cwd=tmp_path, env=bare)
    assert "Next:" in done.stdout
    assert (tmp_path / "hedgerow-demo" / "report.html").stat().st_size > 500_000
    check = "import hedgerow.testing.edge_cases, hedgerow.releases.reader, hedgerow.report"
    call(python, "-c", check, cwd=tmp_path, env=bare)
