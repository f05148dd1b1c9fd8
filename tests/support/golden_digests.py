"""Digests of the golden releases, from a process of its own: the processor's features are chosen when it starts.

    python golden_digests.py SEEDS FORMATS

Prints one JSON object: for each case, the digest of each file of the first so many seeds and formats.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import releases


def main(seeds: int, formats: int) -> None:
    """Publish all cases that are not slow."""
    releases.SEEDS = releases.SEEDS[:seeds]
    digests = {}
    for name, case in releases.CASES.items():
        if not case.slow:
            with tempfile.TemporaryDirectory() as folder:
                digests[name] = releases.digest(replace(case, formats=case.formats[:formats]), Path(folder))
    print(json.dumps(digests))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
