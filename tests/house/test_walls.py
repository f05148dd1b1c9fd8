"""The wall around private data stands: planted imports fail the linter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

pytest.importorskip("importlinter", reason="the linter is installed by make setup, not by make test")

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
        "from hedgerow.kinds.records.methods.clustree.forest import Forest",
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
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert linted(tmp_path) == ""
    for name, (place, line, message) in PLANTED.items():
        path = tmp_path / "src" / "hedgerow" / place
        kept = path.read_text()
        path.write_text(f"{kept}\n{line}\n")
        assert message in linted(tmp_path), name
        path.write_text(kept)
    assert linted(tmp_path) == ""
