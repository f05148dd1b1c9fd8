"""Pages that show how something is added: their files and lines, put into a copy of the source tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from project import ROOT

FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r'<!-- line: (\S+) after "(.*?)" -->\n```\n(.*?)^```$', re.MULTILINE | re.DOTALL)


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
    return touched


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests' / 'support'}"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def run_tests(copy: Path, only: str, *names: str) -> str:
    """Run tests in the copy, which must pass; return what is printed."""
    tests = [f"tests/{name}" for name in names]
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", only, *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
