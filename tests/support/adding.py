"""Pages that show how something is added: their files and lines, put into a copy of the source tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
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
