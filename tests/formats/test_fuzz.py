"""Broken input of every sort: refused in one line with the right code, and no cell is shown."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from terminal import run

from hedgerow import Domain, FlatLaplace, PureDP
from hedgerow.audit.verification import verify_folder
from hedgerow.errors import HedgerowError
from hedgerow.evaluate import evaluate
from hedgerow.formats.domains import read_domain
from hedgerow.formats.files import Ending, compress
from hedgerow.jobs.recipe import load_job
from hedgerow.reading import read
from hedgerow.releases.account import Account
from hedgerow.releases.owner_files import read_scores, write_scores
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout, write_folder
from hedgerow.report import report
from hedgerow.testing import sets_of

pytestmark = pytest.mark.slow

#: stands for what must not be shown: it is in every file, and in no message
CELL = "Zx7qSECRETq7xZ"
DOMAIN = Domain.declare(item=["a", "b", CELL])


def seeds() -> dict[str, bytes]:
    """A sound file of each format, to be broken."""
    held = io.BytesIO()
    rows = {"unit": [1, 1, 2, 3], "item": ["a", CELL, "b", CELL], "person": ["p", "p", "q", CELL]}
    pl.DataFrame(rows).write_parquet(held)
    return {
        "dat": f"a {CELL}\n% note\nb\n{CELL} b a\n".encode(),
        "csv": f'unit,item,person\n1,a,x\n1,"{CELL}",x\n2,b,{CELL}\n'.encode(),
        "jsonl": f'["a","{CELL}"]\n{{"item":["b"],"person":"{CELL}"}}\n'.encode(),
        "parquet": held.getvalue(),
        "dat.gz": compress(f"a {CELL}\nb\n".encode(), "gz"),
        "csv.zst": compress(f"unit,item\n1,{CELL}\n".encode(), "zst"),
    }


def broken(content: bytes, draw: random.Random) -> bytes:
    """Change bytes, cut, repeat, splice; now and then leave it as it is."""
    held = bytearray(content)
    for _ in range(draw.randrange(6)):
        at = draw.randrange(len(held) + 1)
        match draw.randrange(6):
            case 0:
                held[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                del held[at : at + draw.randrange(1, 9)]
            case 2:
                held[at:at] = draw.choice([b"\0", b"\n", b'"', b",", b"\xff", b"[", b"{", b"\r", b"9" * 25])
            case 3:
                del held[at:]
            case 4:
                held += held[: draw.randrange(1, 60)]
            case _:
                held[at:at] = draw.randbytes(draw.randrange(1, 9))
    return bytes(held)


def check(error: HedgerowError) -> None:
    """One line, the right code, no cell."""
    assert error.exit_code == 2
    assert "SECRET" not in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize("ending", seeds())
def test_no_file_is_too_broken(ending, tmp_path):
    """4,000 files a format; what can be read is data, what cannot is an error of ours."""
    draw, seed = random.Random(ending), seeds()[ending]
    path, outcomes = tmp_path / f"f.{ending}", {"read": 0, "refused": 0}
    for number in range(4_000):
        path.write_bytes(broken(seed, draw))
        domain = None if number % 3 == 0 else DOMAIN
        try:
            data = read(path, kind="sets", domain=domain)
        except HedgerowError as error:
            outcomes["refused"] += 1
            check(error)
        else:
            outcomes["read"] += 1
            assert data.kind == "sets"
    assert min(outcomes.values()) > 200, outcomes


TRACKS = f"unit,time,place,ill\n1,8,home,x\n1,9,{CELL},x\n2,8,home,{CELL}\n3,,,x\n".encode()
POINTS = f"unit,time,lon,lat\n1,2024-05-01 08:00,1.5,-3.25\n2,2024-05-01 09:30,{CELL},7\n".encode()


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (TRACKS, {"sensitive": "ill"}),
        (TRACKS, {"bin": "2", "collisions": "first"}),
        (POINTS, {"grid": "0.5", "bin": "1h", "fold": "1d"}),
    ],
    ids=["plain", "bins", "grid"],
)
def test_no_table_of_visits_is_too_broken(seed, options, tmp_path):
    """1,000 files each."""
    draw = random.Random(str(options))
    for _ in range(1_000):
        (tmp_path / "f.csv").write_bytes(broken(seed, draw))
        try:
            data = read(tmp_path / "f.csv", kind="trajectories", options=options)
        except HedgerowError as error:
            check(error)
        else:
            assert data.kind == "trajectories"


def test_no_domain_or_recipe_is_too_broken(tmp_path):
    draw = random.Random("toml")
    domain = b'records_per_person = 3\n[item]\nvalues = ["a", "b"]\npaths = ["x/y", "z"]\n'
    recipe = b'data = "a.dat"\nkind = "sets"\nmethod = "m"\nout = "o"\nseed = 3\n[promise]\nepsilon = "1"\n'
    path = tmp_path / "f.toml"
    for number in range(2_000):
        path.write_bytes(broken(recipe if number % 2 else domain, draw))
        try:
            load_job(path) if number % 2 else read_domain(path)
        except HedgerowError as error:
            check(error)


def test_no_release_scores_or_account_is_too_broken(tmp_path):
    """3,000 files that a stranger may have changed."""
    draw = random.Random("received")
    data = read([["a"], ["b"]] * 40, kind="sets", assert_public_domain=True)
    held = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    place = write_folder(held, tmp_path / "R", Layout("lines", Ending("dat", "")))
    write_scores(tmp_path / "s", evaluate(held, data), held.manifest())
    account = b'total = "2"\nunit = "record"\n[[releases]]\nepsilon = "1/2"\n'
    sound = {"release": (place / "release.json").read_bytes(), "s": (tmp_path / "s").read_bytes()}
    outcomes = {"read": 0, "refused": 0}
    for number in range(3_000):
        try:
            match number % 3:
                case 0:
                    (place / "release.json").write_bytes(broken(sound["release"], draw))
                    verify_folder(place)
                    report([("R", open_folder(place)[0])])
                case 1:
                    (tmp_path / "s").write_bytes(broken(sound["s"], draw))
                    report([("R", held)], [read_scores(tmp_path / "s").scores])
                case _:
                    (tmp_path / "a").write_bytes(broken(account, draw))
                    Account.read(tmp_path / "a")
        except HedgerowError as error:
            outcomes["refused"] += 1
            check(error)
        else:
            outcomes["read"] += 1
    assert min(outcomes.values()) > 200, outcomes


WORDS = [
    *("publish", "verify", "methods", "describe", "evaluate", "report", "a.dat", "R", "--kind"),
    *("sets", "--method", "flat-laplace", "diffpart", "--epsilon", "1", "-1", "nan", "--unit"),
    *("record", "person", "--out", "--domain", "d.toml", "--assert-public-domain", "--seed", "7"),
    *("--set", "threshold=2", "fanout=x", "c1=1e999", "--json", "--columns", "unit=x", "--read"),
    *("on_empty=drop", "--format", "csv", "--dry-run", "--recipe", "--scores", "--html", "x", ""),
    *("--against", "--overwrite", "--account", "--help", "\0", "ü", "--records-per-person", "0"),
]


def typed(draw: random.Random) -> list[str]:
    """Type a command of words that belong here, mostly in the wrong places."""
    if draw.random() < 0.5:
        return [draw.choice(WORDS) for _ in range(draw.randrange(9))]
    words = [
        "publish",
        "a.dat",
        "--kind",
        "sets",
        "--method",
        "flat-laplace",
        "--epsilon",
        "1",
        "--unit",
        "record",
        "--out",
        "R",
        "--domain",
        "d.toml",
    ]
    for _ in range(draw.randrange(4)):
        words[draw.randrange(len(words))] = draw.choice(WORDS)
    return words


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "a.dat").write_text(f"a {CELL}\n" * 9)
    (tmp_path / "d.toml").write_text(f'[item]\nvalues = ["a", "{CELL}"]\n')
    return tmp_path


def test_no_command_is_typed_too_wrongly(desk):
    """3,000 commands in this process."""
    draw = random.Random("typed")
    codes = {}
    for _ in range(3_000):
        words = [word for word in typed(draw) if "demo" not in word]
        code, out, err = run(words, desk)
        codes[code] = codes.get(code, 0) + 1
        assert code in {0, 2, 3, 4}, (words, err)
        assert "SECRET" not in out + err
        assert code == 0 or len(err.splitlines()) == 1 or "NOT satisfied" in out, (words, err)
    assert codes[0] > 30
    assert codes[2] > 100
    assert codes[3] > 10


def test_no_traceback_from_real_processes(desk):
    """200 processes with broken files; a refusal leaves no folder."""
    draw = random.Random("processes")
    endings = list(seeds())
    codes = {}
    waiting = []

    def finish(number, process):
        out, err = process.communicate(timeout=120)
        place = desk / f"R{number}"
        assert process.returncode in {0, 2, 3}, err
        assert b"Traceback" not in out + err
        assert b"SECRET" not in out + err
        assert place.exists() == (process.returncode == 0)
        codes[process.returncode] = codes.get(process.returncode, 0) + 1

    for number in range(200):
        ending = draw.choice(endings)
        path = desk / f"f{number}.{ending}"
        path.write_bytes(broken(seeds()[ending], draw))
        line = f"publish {path.name} --kind sets --method flat-laplace --epsilon 1 --unit record --out R{number}"
        line += " --even-if-useless"  # the files are tiny
        words = [
            *line.split(),
            *draw.choice([["--assert-public-domain"], ["--domain", "d.toml"], []]),
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "hedgerow", *words],
            cwd=desk,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        waiting.append((number, process))
        if len(waiting) == 2:
            finish(*waiting.pop(0))
    for number, process in waiting:
        finish(number, process)
    assert sum(codes.values()) == 200
    assert codes[0] > 10
    assert codes[2] > 10
    assert not [name for name in os.listdir(desk) if name.endswith(".part")]  # noqa: PTH208


def test_names_of_items_do_no_harm(tmp_path):
    """Values that look like markup, comments, numbers and paths come back as they are."""
    values = [
        "</script><img src=x onerror=alert(1)>",
        "# no comment",
        "01",
        "1e3",
        "../../etc",
        "nul,l",
    ]
    data = read([[value] for value in values for _ in range(50)], kind="sets", assert_public_domain=True)
    assert sets_of([[0]], 1).kind == data.kind
    held = FlatLaplace().publish(data, PureDP(epsilon=9, unit="record"))
    for name, ending in (("csv", "csv"), ("jsonl", "jsonl"), ("parquet", "parquet")):
        place = write_folder(held, tmp_path / name, Layout(name, Ending(ending, "")))
        assert open_folder(place)[0].data.itemsets() == held.data.itemsets()
    assert Path(tmp_path / "csv" / "data.csv").exists()
