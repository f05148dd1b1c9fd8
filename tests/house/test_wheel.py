"""The wheel, installed in an empty environment, does the main job."""

from __future__ import annotations

import os
import subprocess
import sys
from zipfile import ZipFile

import pytest
from project import ROOT

pytestmark = pytest.mark.slow


def call(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **more)


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
    check = "import hedgerow.testing.edge_cases, hedgerow.io, hedgerow.report"
    call(python, "-c", check, cwd=tmp_path, env=bare)
