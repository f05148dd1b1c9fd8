"""The golden releases are the same on every processor: nothing is drawn by the last bits of a sum."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from project import GOLDEN, TESTS

#: what a core type of OpenBLAS needs of the processor
CORES = {"PRESCOTT": "SSE3", "HASWELL": "AVX2", "SKYLAKEX": "AVX512_SKX", "": "SSE2"}
#: features of the C library: the exponential function without fused multiplication and addition differs in its last bit
NO_FUSED = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA"
WIDE = [name for name in __cpu_dispatch__ if "512" in name or name == "X86_V4"]


def digests(core: str, disabled: list[str], *, fused: bool, seeds: int, formats: int) -> dict:
    """The digests in a process that uses some features of the processor only."""
    features = " ".join(name for name in disabled if __cpu_features__.get(name))
    chosen = {"OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": features, "PYTHONPATH": str(TESTS / "support")}
    chosen |= {"OPENBLAS_CORETYPE": core} if core else {}
    chosen |= {} if fused else {"GLIBC_TUNABLES": NO_FUSED}
    script = [sys.executable, str(TESTS / "support" / "golden_digests.py"), str(seeds), str(formats)]
    ran = subprocess.run(script, env={**os.environ, **chosen}, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def require(core: str) -> None:
    """Skip a core type that the processor does not have."""
    if not __cpu_features__.get(CORES[core]):
        pytest.skip(f"this processor cannot run as {core}")


def differing(found: dict) -> dict:
    kept = json.loads((GOLDEN / "releases.json").read_text())
    return {name: files for name, files in found.items() if not files.items() <= kept[name].items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "disabled", "fused"),
    [("PRESCOTT", list(__cpu_dispatch__), False), ("HASWELL", WIDE, True)],
    ids=["the oldest", "the usual"],
)
def test_golden_releases_are_the_same_on_other_processors(core, disabled, fused):
    require(core)
    assert not differing(digests(core, disabled, fused=fused, seeds=1, formats=1))


@pytest.mark.full
@pytest.mark.parametrize("core", list(CORES))
@pytest.mark.parametrize("disabled", [[], WIDE, list(__cpu_dispatch__)], ids=["all", "not wide", "none"])
def test_all_golden_releases_are_the_same_on_every_processor(core, disabled):
    require(core)
    assert not differing(digests(core, disabled, fused=True, seeds=2, formats=9))


def test_the_switches_reach_numpy():
    """A feature that is switched off is off; else the tests above would compare a processor with itself."""
    off = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    if not off:
        pytest.skip("this processor has nothing to switch off")
    script = "from numpy._core._multiarray_umath import __cpu_features__ as f; print(sum(map(bool, f.values())))"
    chosen = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(off)}
    ran = subprocess.run([sys.executable, "-c", script], env=chosen, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < sum(map(bool, __cpu_features__.values()))
