"""A command imports what it runs, and `import hedgerow` nothing; the front door lists and types what is behind it.

Walls and layers stand: imports that are planted across them fail the linter.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from project import ROOT

import hedgerow

HEAVY = ("numpy", "scipy", "polars", "msgspec", "rich", "jinja2")
PUBLISH = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --domain d.toml --out R"
#: what only evaluations, reports and other methods need
OTHERS = (
    *("scipy", "rich", "jinja2", "hedgerow.evaluate", "hedgerow.measures", "hedgerow.report", "hedgerow.testing"),
    *("hedgerow.audit", "hedgerow.demo", "hedgerow.samples", "hedgerow.kinds.trajectories.criterion"),
    *("hedgerow.kinds.sequences", "hedgerow.kinds.trajectories", "hedgerow.kinds.sets.methods.diffpart"),
    *("hedgerow.kinds.sets.measures", "hedgerow.kinds.sets.charts", "hedgerow.kinds.sets.cases", "hedgerow.charts"),
)
#: what each command does without
BUDGET = {
    "--help": (*HEAVY, "hedgerow.data", "hedgerow.privacy", "hedgerow.kinds", "hedgerow.methods", "hedgerow.formats"),
    "--version": (
        *HEAVY,
        "hedgerow.data",
        "hedgerow.privacy",
        "hedgerow.kinds",
        "hedgerow.methods",
        "hedgerow.formats",
    ),
    "publish --help": (
        *HEAVY,
        "hedgerow.data",
        "hedgerow.privacy",
        "hedgerow.kinds",
        "hedgerow.methods",
        "hedgerow.formats",
    ),
    "verify --help": (
        *HEAVY,
        "hedgerow.data",
        "hedgerow.privacy",
        "hedgerow.kinds",
        "hedgerow.methods",
        "hedgerow.formats",
    ),
    "methods": ("scipy", "rich", "jinja2", "hedgerow.formats", "hedgerow.measures", "hedgerow.report", "hedgerow.jobs"),
    "methods flat-laplace": ("hedgerow.formats", "hedgerow.jobs", *OTHERS),
    PUBLISH: OTHERS,
    "verify R": tuple(name for name in OTHERS if name != "hedgerow.audit"),
    "report R --html p.html": tuple(
        name
        for name in OTHERS
        if name not in {"jinja2", "hedgerow.report", "hedgerow.measures", "hedgerow.charts"}
        and not name.startswith("hedgerow.kinds.sets")
    ),
}
CODE = """
import sys
sys.argv = ["hedgerow", *sys.argv[1:]]
from hedgerow.cli.app import main
try: main()
except SystemExit as end: print(end.code or 0, *sys.modules, file=sys.stderr)
"""


def test_a_command_imports_what_it_runs(tmp_path):
    (tmp_path / "a.dat").write_text("tea milk\n" * 70)
    (tmp_path / "d.toml").write_text('[item]\nvalues = ["bread", "milk", "tea"]\n')
    for command, without in BUDGET.items():
        words = [sys.executable, "-c", CODE, *command.split()]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        code, *modules = done.stderr.split()
        assert code == "0", done.stderr
        assert [name for name in without if name in modules] == [], command


# ---- the front door


def places():
    """The methods by the name of their class."""
    return {place.partition(":")[2]: place.partition(":")[0] for place in hedgerow.METHODS.values()}


def test_the_front_door_lists_every_method():
    assert {*hedgerow.__all__, *places()} == set(dir(hedgerow))
    assert hedgerow.__version__ == metadata.version("hedgerow")


def test_methods_are_exported_with_their_types():
    """What a type checker reads in `hedgerow/__init__.py` is what the registry says."""
    text = (ROOT / "src" / "hedgerow" / "__init__.py").read_text()
    typed = {
        alias.name: node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert set(hedgerow.__all__) <= set(typed)
    methods = {place.partition(":")[2]: method for method, place in hedgerow.METHODS.items()}
    for name in set(methods) & set(hedgerow.__all__):
        assert typed[name] == hedgerow.find_method(methods[name]).__module__
    assert (ROOT / "src" / "hedgerow" / "py.typed").is_file()


TYPES = {
    "FlatLaplace().publish(Sets.from_records([]), promise)": "Release[Sets]",
    "FlatLaplace().publish(Sets.from_records([]), promise).data": "Sets",
    "NGram().publish(Sequences.from_records([]), promise).data": "Sequences",
    "DiffPart": "type[DiffPart]",
}


def test_a_type_checker_knows_what_is_published(tmp_path):
    pytest.importorskip("basedpyright", reason="the checker is installed by make setup, not by make test")
    names = "DiffPart, FlatLaplace, NGram, PureDP, Sequences, Sets"
    code = f'from hedgerow import {names}\npromise = PureDP(epsilon=1, unit="record")\n'
    (tmp_path / "typed.py").write_text(code + "".join(f"reveal_type({expression})\n" for expression in TYPES))
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    words = [sys.executable, "-m", "basedpyright", "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    told = re.findall(r':(\d+):\d+ - information: Type of ".*" is "(.*)"', done.stdout)
    assert told == [(str(line), kind) for line, kind in enumerate(TYPES.values(), start=3)], done.stdout


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: hedgerow.PureDP(epsilon=1, unit="record"), "PureDP(epsilon=1, unit='record')"),
        (lambda: hedgerow.PureDP(epsilon="10%", unit="person"), "PureDP(epsilon=0.1, unit='person')"),
        (lambda: hedgerow.PureDP(epsilon="1/3", unit="record"), "PureDP(epsilon='1/3', unit='record')"),
        (lambda: hedgerow.KCL(k=1_000_000, l=2), "KCL(k=1000000, l=2)"),
        (
            lambda: hedgerow.All(hedgerow.KCL(k=5, l=2, c="60%", sensitive=["ill=flu"])),
            "All(KCL(k=5, l=2, c=0.6, sensitive=[['ill', 'flu']]))",
        ),
        (lambda: hedgerow.Domain.declare(item=range(9)), "<Domain: 9 values of item, declared>"),
        (
            lambda: hedgerow.Domain.declare(item=["a"], place=["xy"], records_per_person=2),
            "<Domain: 1 values of item, 1 values of place, declared, 2 records per person>",
        ),
    ],
)
def test_what_is_shown_is_short(made, text):
    assert repr(made()) == text
    if "Domain" not in text:
        assert eval(text, {name: getattr(hedgerow, name) for name in ("All", "KCL", "PureDP")}) == made()  # noqa: S307


def test_a_release_is_shown_in_a_line():
    domain = hedgerow.Domain.declare(item=["tea"])
    data = hedgerow.Sets.from_records([["tea"]] * 9, domain=domain)
    release = hedgerow.FlatLaplace().publish(data, hedgerow.PureDP(epsilon=1, unit="record"))
    assert repr(release) == "<Release of sets by flat-laplace: PureDP(epsilon=1, unit='record')>"


# ---- walls and layers: planted imports fail the linter

MODEL = "kinds/sequences/methods/ngram/model.py"
DRAW = "kinds/sequences/methods/ngram/draw.py"
THIRD = "numerics/sampling.py"
#: where an import is planted, the line, and what the linter says
PLANTED = {
    "a data set, from its module": (MODEL, "from hedgerow.kinds.sets.data import Sets", "must not reach hedgerow.kinds.sets.data"),
    "a ledger, from its module": (DRAW, "from hedgerow.privacy.ledger import Ledger", "must not reach hedgerow.privacy.ledger"),
    "a ledger, from the room": (MODEL, "from hedgerow.privacy import Ledger", "must not reach hedgerow.privacy"),
    "a data set, from the front door": (MODEL, "from hedgerow import Sets", "must not reach hedgerow:"),
    "a ledger, from the front door": (DRAW, "from hedgerow import Ledger", "must not reach hedgerow:"),
    "a data set, from the room of data": (DRAW, "from hedgerow.data import Dataset", "must not reach hedgerow.data:"),
    "the method's own publisher": (
        MODEL,
        "from hedgerow.kinds.sequences.methods.ngram.publisher import NGram",
        "must not reach hedgerow.kinds.sequences.methods.ngram.publisher",
    ),
    "a data set, by a third module": (THIRD, "from hedgerow.data.lists import Lists", "must not reach hedgerow.data.lists"),
    "a frontier": (DRAW, "from hedgerow.frontiers import LOCAL", "must not reach hedgerow.frontiers"),
    "a name that no graph shows": (MODEL, "from importlib import import_module", "must not reach importlib"),
    "inside a function": (MODEL, "def look():\n    from hedgerow.data.dataset import Dataset", "must not reach hedgerow.data.dataset"),
    "one kind in another": ("kinds/sets/measures.py", "from hedgerow.kinds.graphs.data import Graph", "kinds.sets is not allowed to import hedgerow.kinds.graphs"),
    "sequences know no trajectories": (
        "kinds/sequences/measures.py",
        "from hedgerow.kinds.trajectories.data import Trajectories",
        "kinds.sequences is not allowed to import hedgerow.kinds.trajectories",
    ),
    "a format in numerics": (THIRD, "from hedgerow.formats.parquet import read", "hedgerow.numerics is not allowed to import hedgerow.formats"),
    "a kind in a shared room": ("formats/blank_separated.py", "from hedgerow.kinds.sets.data import Sets", "hedgerow.formats is not allowed to import hedgerow.kinds"),
    "a method in a checker": (
        "kinds/records/criterion.py",
        "from hedgerow.kinds.records.methods.clustree.representative import Forest",
        "criterion is not allowed to import",
    ),
}  # fmt: skip


def linted(tree: Path) -> str:
    """What the linter prints of the copy of a tree; nothing if all contracts are kept."""
    shutil.copy(ROOT / "pyproject.toml", tree)
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    paths = f"{tree / 'src'}:{ROOT / 'tests' / 'support'}"
    words = [sys.executable, "-c", code, "--no-logo", "--no-cache"]
    done = subprocess.run(words, cwd=tree, env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "COLUMNS": "400"}, capture_output=True, text=True, check=False)  # fmt: skip
    return "" if done.returncode == 0 else " ".join((done.stdout + done.stderr).split())


def test_planted_imports_fail_the_linter(tmp_path):
    pytest.importorskip("importlinter", reason="the linter is installed by make setup, not by make test")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert linted(tmp_path) == ""
    for name, (place, line, message) in PLANTED.items():
        path = tmp_path / "src" / "hedgerow" / place
        kept = path.read_text()
        path.write_text(f"{kept}\n{line}\n")
        assert message in linted(tmp_path), name
        path.write_text(kept)
    assert linted(tmp_path) == ""
