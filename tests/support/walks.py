"""Publish one small file of a kind, and say which modules of Hedgerow are entered on the way.

    python walks.py FOLDER KIND

The last line that is printed is JSON: for each module whether one of its functions ran, or it was imported only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import hedgerow

SOURCE = Path(hedgerow.__file__).parent
#: a frame of a function, not of a module or a class
_OPTIMIZED = 1


class Walk(NamedTuple):
    """The files of a publication, by name, and what is typed."""

    files: dict[str, str]
    words: str


def _lines(*lines: str, times: int = 1) -> str:
    return "".join(f"{line}\n" for line in lines) * times


def _students() -> Iterator[str]:
    for number in range(60):
        visits = [{"diagnosis": "abcde"[(number + more) % 5]} for more in range(1 + number % 2)]
        yield json.dumps({"age": 20 + number % 30, "visits": visits})


_ITEMS = '[item]\nvalues = ["bread", "milk", "tea"]\n'
_VISITS = '[time]\nlow = 0\nhigh = 9\n[place]\nvalues = ["home", "shop", "work"]\n'
_SCHEMA = """[types.person]
path = ""
[types.person.fields]
age = { low = 20, high = 49, widths = [5, 10] }
[types.visit]
path = "visits[]"
[types.visit.fields]
diagnosis = "sensitive"
"""
WALKS: dict[str, Walk] = {
    "sets": Walk(
        {"a.dat": _lines("tea milk", "bread", "milk", times=500), "d.toml": _ITEMS},
        "a.dat --domain d.toml --method raked-histogram --epsilon 1 --unit record",
    ),
    "sequences": Walk(
        {"a.dat": _lines("tea milk tea", "milk bread", times=500), "d.toml": _ITEMS},
        "a.dat --domain d.toml --method variable-order-markov --epsilon 1 --unit sequence",
    ),
    "trajectories": Walk(
        {
            "a.csv": "unit,time,place,ill\n"
            + _lines(*(f"{n},{3 * t + n % 2},{p},{n % 7 == 0}" for n in range(90) for t, p in enumerate(("home", "work", "shop")[n % 3 :]))),
            "d.toml": f'{_VISITS}[ill]\nvalues = ["False", "True"]\n',
        },
        "a.csv --domain d.toml --method kcl-reinsertion --k 5 --l 2 --c 60% --sensitive ill=True",
    ),
    "graphs": Walk(
        {"a.edges": _lines(*(f"{n} {(n + 1 + more) % 40}" for n in range(40) for more in range(3))), "d.toml": "[vertex]\nlow = 0\nhigh = 39\n"},
        "a.edges --domain d.toml --method tmf --epsilon 20 --unit edge",
    ),
    "records": Walk(
        {"a.jsonl": _lines(*_students()), "schema.toml": _SCHEMA},
        "a.jsonl --schema schema.toml --method clustree-packing --l 2",
    ),
    "matrices": Walk(
        {
            "a.csv": "x,y\n" + _lines(*(f"{n % 2},{n % 7}" for n in range(900))),
            "d.toml": "[x]\nlow = 0\nhigh = 1\nstep = 1\n[y]\nlow = 0\nhigh = 6\nstep = 1\n",
        },
        "a.csv --domain d.toml --method private-wavelet --epsilon 10 --unit row",
    ),
    "streams": Walk(
        {"a.bits": "0110" * 1000},
        "a.bits --method stream-count --epsilon 1 --unit event --set every=500",
    ),
}  # fmt: skip


def main(folder: Path, kind: str) -> None:
    """Publish, and print what was entered."""
    entered: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, value: Any) -> None:
        del event, value
        entered[frame.f_code] = None

    for name, content in WALKS[kind].files.items():
        (folder / name).write_text(content)
    sys.argv = ["hedgerow", "publish", *WALKS[kind].words.split(), "--kind", kind, "--out", "release"]
    from hedgerow.cli.app import main as hedgerow_main

    sys.setprofile(note)
    try:
        hedgerow_main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.setprofile(None)
    ours = [code for code in entered if code.co_filename.startswith(f"{SOURCE}/")]
    run = {code.co_filename for code in ours if code.co_flags & _OPTIMIZED}
    names = dict.fromkeys(code.co_filename for code in ours)
    print(json.dumps({Path(name).relative_to(SOURCE).as_posix(): name in run for name in names}))
    sys.exit(code)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    main(Path(), sys.argv[2])
