"""Release folders that were damaged, swapped or made to do harm, drawn at random from sound ones."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from backports import zstd
from folders import seal
from hostile_values import CELL, ESCAPES, HOSTILE, STRANGE
from terminal import run


def sound(folder: Path) -> list[tuple[str, str]]:
    """Publish one small release of every kind and format; return their names and their data."""
    warnings.simplefilter("ignore")
    draw = random.Random(5)
    items = [f"i{n}" for n in range(8)] + [CELL]
    (folder / "d.toml").write_text(f"[item]\nvalues = {json.dumps(items)}\n")
    lists = [draw.choices(items, k=draw.randrange(1, 6)) for _ in range(300)]
    (folder / "a.dat").write_text("".join(" ".join(held) + "\n" for held in lists))
    rows = [(n, item) for n, held in enumerate(lists) for item in held]
    pl.DataFrame(rows, schema=["unit", "item"], orient="row").write_csv(folder / "a.csv")
    pl.read_csv(folder / "a.csv").write_parquet(folder / "a.parquet")
    (folder / "a.jsonl").write_text("".join(json.dumps(held) + "\n" for held in lists))
    for name in ("a.dat", "a.csv"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    (folder / "a.jsonl.zst").write_bytes(zstd.compress((folder / "a.jsonl").read_bytes()))
    places = [f"p{n}" for n in range(5)]
    visits = [
        (n, hour, draw.choice(places), ["flu", CELL][n % 9 == 0])
        for n in range(200)
        for hour in sorted(draw.sample(range(6), draw.randrange(1, 5)))
    ]
    pl.DataFrame(visits, schema=["unit", "time", "place", "ill"], orient="row").write_csv(folder / "t.csv")
    pl.read_csv(folder / "t.csv").write_parquet(folder / "t.parquet")
    named = f"values = {json.dumps(places)}\npaths = {json.dumps(['a', 'a', 'b', 'b', 'b'])}\n"
    (folder / "t.toml").write_text(f"[time]\nlow = 0\nhigh = 5\n[place]\n{named}")
    people = [f"v{n}" for n in range(30)] + [CELL]
    links = draw.sample(list(combinations(people, 2)), 90)
    (folder / "g.edges").write_text("".join(f"{i} {j}\n" for i, j in links))
    pl.DataFrame(links, schema=["source", "target"], orient="row").write_parquet(folder / "g.parquet")
    xml = "".join(f'<edge source="{i}" target="{j}"/>' for i, j in links)
    nodes = "".join(f'<node id="{who}"/>' for who in people)
    xml = f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">{nodes}{xml}</graph></graphml>'
    (folder / "g.graphml.gz").write_bytes(gzip.compress(xml.encode()))
    (folder / "g.toml").write_text(f"[vertex]\nvalues = {json.dumps(people)}\n")
    numbers = pl.DataFrame({name: [draw.gauss(5, 2) for _ in range(60)] for name in ("x", "y", "z")})
    numbers.with_columns(pl.Series("who", [f"p{n}" for n in range(59)] + [CELL])).write_csv(folder / "m.csv")
    np.save(folder / "m.npy", numbers.to_numpy())
    numbers.write_parquet(folder / "m.parquet")
    epsilon = "--epsilon 3 --unit"
    jobs = [
        *(f"{name} --kind sets --method flat-laplace {epsilon} record --domain d.toml"
          for name in ("a.dat", "a.csv.gz", "a.parquet")),
        f"a.jsonl.zst --kind sets --method diffpart {epsilon} record --domain d.toml",
        f"a.dat.gz --kind sequences --method ngram-markov {epsilon} sequence --domain d.toml",
        f"t.csv --kind trajectories --method continued-prefix-tree {epsilon} trajectory --domain t.toml",
        "t.parquet --kind trajectories --method kcl --k 3 --c 60% --l 2 --sensitive ill=flu",
        "t.csv --kind trajectories --method kcl --k 2 --l 3 --carry ill",
        "t.csv --kind trajectories --method kcl-generalisation --k 3 --l 2 --domain t.toml --set levels=1,2 --read collisions=keep",
        "m.csv --kind matrices --method wavelet --columns id=who",
        "m.npy --kind matrices --method svd --read rows=numbered",
        "m.parquet --kind matrices --method additive-noise --set rotation=random",
        f"g.edges --kind graphs --method degree-corrected-blocks {epsilon} edge --domain g.toml",
        f"g.graphml.gz --kind graphs --method der --k 2 {epsilon} edge --domain g.toml",
        f"g.parquet --kind graphs --method random-graph {epsilon} edge --domain g.toml",
    ]  # fmt: skip
    made: list[tuple[str, str]] = []
    for number, job in enumerate(jobs):
        ran = run(f"publish {job} --out R{number} --even-if-useless", folder)
        assert ran.code == 0, ran.err
        made.append((f"R{number}", job.split()[0]))
    return made


def mutate(place: Path, draw: random.Random) -> str:
    """Change a sound folder in one to three ways; say how. Half of them fit their hashes again."""
    ways = _DEEP if draw.random() < 0.4 else _WAYS
    done = [draw.choice(ways)(place, draw) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    if ways is _DEEP or draw.random() < 0.6:
        try:
            seal(place)
            done.append("sealed")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # too broken for that
    return ", ".join(done)


def _some(place: Path, draw: random.Random) -> Path:
    return draw.choice(sorted(place.iterdir()) or [place / "release.json"])


def _data(place: Path, draw: random.Random) -> Path:
    found = sorted(path for path in place.iterdir() if path.name.startswith("data."))
    return draw.choice(found or [place / "data.dat"])


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 10**8


def _bytes(place: Path, draw: random.Random) -> str:
    """Change bytes, cut, repeat and splice."""
    path = _some(place, draw)
    if not _is_plain(path):
        return "nothing"
    held = bytearray(path.read_bytes())
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(held) + 1)
        match draw.randrange(6):
            case 0 if held:
                held[min(at, len(held) - 1)] ^= 1 << draw.randrange(8)
            case 1:
                del held[at : at + draw.randrange(1, 30)]
            case 2:
                held[at:at] = draw.choice([b"\0", b"\n", b'"', b"\xff\xfe", b"\x1b[2J", b"9" * 30])
            case 3:
                del held[at:]
            case 4:
                held += held[: draw.randrange(1, 99)]
            case _:
                held[at:at] = draw.randbytes(draw.randrange(1, 9))
    path.write_bytes(held)
    return f"bytes of {path.name}"


def _field(place: Path, draw: random.Random) -> str:
    """Replace, remove or double any value of `release.json`, however deep."""
    path = place / "release.json"
    if not _is_plain(path):
        return "nothing"
    try:
        held = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return "nothing"
    at, way = held, []
    while isinstance(at, (dict, list)) and at:
        way.append(draw.choice(list(at) if isinstance(at, dict) else range(len(at))))
        if draw.random() < 0.3 or not isinstance(at[way[-1]], (dict, list)) or not at[way[-1]]:
            break
        at = at[way[-1]]
    if not way:
        return "nothing"
    value = draw.choice(HOSTILE)
    match draw.randrange(8):
        case 0:
            del at[way[-1]]
        case 1 if isinstance(at, dict):
            at[draw.choice(["x", "", "most_bytes", ESCAPES, "values", "on_unknown"])] = value
        case 1:
            at.append(value)
        case _:
            at[way[-1]] = value
    text = json.dumps(held, ensure_ascii=draw.random() < 0.5)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return f"{'.'.join(map(str, way))} is {str(value)[:40]!r}"


def _strange(place: Path, draw: random.Random) -> str:
    """Values that fit where they stand, and are larger than anything honest."""
    path = place / "release.json"
    try:
        held = json.loads(path.read_text()) if _is_plain(path) else {}
    except (ValueError, RecursionError):
        return "nothing"
    done = []
    for _ in range(draw.randrange(1, 4)):
        way = draw.choice(list(STRANGE))
        *outer, last = way.split(".")
        at = held
        for name in outer:
            at = at.get(name) if isinstance(at, dict) else None
        if isinstance(at, dict) and (last in at or outer == ["parameters"]):
            at[last] = draw.choice(STRANGE[way])
            done.append(f"{way} is {str(at[last])[:30]!r}")
    path.write_text(json.dumps(held, ensure_ascii=draw.random() < 0.5))
    return ", ".join(done) or "nothing"


def _shaped(place: Path, draw: random.Random) -> str:
    """Sound data of a strange shape: one long record, very many, all alike, none."""
    path = _data(place, draw)
    if not _is_plain(path):
        return "nothing"
    size = draw.choice((0, 1, 60, 400, 3_000, 30_000))
    one = draw.random() < 0.6  # all in one record
    said = (place / "STATEMENT.md").read_text() if (place / "STATEMENT.md").is_file() else ""
    items = [f"i{n % 8}" for n in range(size)]
    unit = [1] * size if one else list(range(1, size + 1))
    table = {"unit": unit, "item": items}
    if "edge" in said:
        items = [f"v{n % 8} v{9 + n % 8}" for n in range(size)]
        table = {"source": ["v0"] * size, "target": [f"v{1 + n % 29}" for n in range(size)]}
    elif "visit" in said:
        table = {"unit": unit, "time": list(range(size)), "place": ["p1"] * size}
        table |= {"ill": ["flu"] * size} if draw.random() < 0.7 else {}
        _wide(place / "release.json", size, draw)
    frame, held = pl.DataFrame(table), io.BytesIO()
    if ".csv" in path.name:
        frame.write_csv(held)
    elif path.name.endswith(".parquet"):
        frame.write_parquet(held)
    elif ".jsonl" in path.name:
        held.write("".join(json.dumps(r) + "\n" for r in ([items] if one else [[i] for i in items])).encode())
    else:
        held.write((" " if one else "\n").join(items).encode() + b"\n")
    packed = {"gz": gzip.compress, "zst": zstd.compress}.get(path.name.rpartition(".")[2], bytes)
    path.write_bytes(packed(held.getvalue()))
    return f"{path.name} of {size} {'in one' if one else 'records'}"


def _wide(path: Path, size: int, draw: random.Random) -> None:
    """Let the domain and the promise go with such data."""
    try:
        held = json.loads(path.read_text()) if _is_plain(path) else {}
        if held["domain"]["axes"]:
            held["domain"]["axes"]["time"] = {"low": 0, "high": max(1, size)}
        if "l" in held["guarantee"]:
            held["guarantee"]["l"] = str(draw.choice((1, 2, 3, 8, 200)))
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    path.write_text(json.dumps(held))


def _syntax(place: Path, draw: random.Random) -> str:
    """JSON that is strange as a text: nested without end, keys twice, numbers that are none."""
    path = place / "release.json"
    if not _is_plain(path):
        return "nothing"
    text = path.read_bytes().decode(errors="replace")
    old, new = draw.choice([
        ('"notes": {', '"notes": {"x": 1, "x": 2,'),
        ('"notes": {}', f'"notes": {"[" * 100_000}'),
        ('"parameters": {', f'"parameters": {{"deep": {"[" * 900}{"]" * 900},'),
        ('"axes": {', f'"axes": {{"x": {{"values": {"[" * 500}1{"]" * 500}}},'),
        ('"kind"', '"kind": "sets", "kind"'),
        ('"hedgerow": "', f'"hedgerow": "{json.dumps(ESCAPES)[1:-1]}'),
        ('"hedgerow": "0', '"hedgerow": "1'),
        ('"share": "', '"share": "1e'),
        ('"share": "', '"share": "NaN'),
        ('"satisfied": true', '"satisfied": NaN'),
        ('"records_per_person": null', '"records_per_person": 1000000000000000000000'),
        ('"records_per_person": null', '"records_per_person": 1e999'),
        ('"low": 0', '"low": -999990'),
        ('"unit": "', f'"unit": "{json.dumps(ESCAPES)[1:-1]}'),
        ('"epsilon": "', '"epsilon": "0.0000000'),
        ('"epsilon": "', '"epsilon": "99999'),
        ('"l": "', '"l": "99'),
        ('"k": "', '"k": "99999999999999999999'),
        ('"c": "', '"c": "0.'),
        ('"name": "PureDP"', '"name": "KCL"'),
        ('"name": "PureDP"', f'"name": "All", "parts": {"[" * 900}{"]" * 900}'),
        ('"name": "KCL"', f'"name": {"[" * 3_000}{"]" * 3_000}'),
        ('"sensitive": [', f'"sensitive": [{"[" * 200}{"]" * 200},'),
        ('"schema": 2', '"schema": 3'),
        ('"schema": 2,', ""),
    ])  # fmt: skip
    path.write_text(text.replace(old, new, draw.choice((1, -1))))
    return f"{old} is {new[:40]!r}"


def _kind_of_file(place: Path, draw: random.Random) -> str:
    """A link, a folder, a pipe, a device or nothing in the place of a file."""
    path = _some(place, draw)
    if path.is_dir() and not path.is_symlink():
        return "nothing"
    path.unlink(missing_ok=True)
    way = draw.randrange(9)
    match way:
        case 0:
            path.symlink_to(path.name)
        case 1:
            path.symlink_to("/dev/zero")
        case 2:
            path.symlink_to("/nowhere")
        case 3:
            path.symlink_to(draw.choice(["release.json", "STATEMENT.md", ".", "..", "data.dat"]))
        case 4:
            path.mkdir()
        case 5:
            os.mkfifo(path)
        case 6:
            path.touch()
        case 7:
            with path.open("wb") as file:
                file.truncate(draw.choice((10**9, 10**11)))
    return f"{path.name} is {('itself', '/dev/zero', 'lost', 'a link', 'a folder', 'a pipe', 'empty', 'holes', 'gone')[way]}"


def _files(place: Path, draw: random.Random) -> str:
    """Swap files, add one, rename one."""
    path, other = _some(place, draw), _some(place, draw)
    match draw.randrange(4):
        case 0 if _is_plain(path) and _is_plain(other):
            first, second = path.read_bytes(), other.read_bytes()
            path.write_bytes(second)
            other.write_bytes(first)
        case 1:
            name = draw.choice([b"x\xff", b"a\nb", b"\x1b[2J", "\u202e".encode(), b".hidden"])
            Path(os.fsdecode(os.fsencode(place) + b"/" + name)).write_bytes(b"x")
        case 2:
            path.rename(path.with_suffix(draw.choice([".gz", ".zst", ".parquet", ".csv", ".x"])))
        case _:
            (place / "release.json.sig").write_bytes(draw.randbytes(draw.choice((0, 64, 99))))
    return f"{path.name} moved"


def _bomb(place: Path, draw: random.Random) -> str:
    """Short files that unfold: by compression, by repetition, by what they claim."""
    path = _data(place, draw)
    if not path.exists() or not _is_plain(path):
        return "nothing"
    size = draw.choice((10**6, 8 * 10**6, 2 * 10**7, 10**8))
    line = draw.choice([b"i1\n", b"i1 i2 ", b'["i1"]\n', b"1,i1\n", b"1,0,p1\n", b"\n", b'"', b"0"])
    head = b"unit,item\n" if path.name.startswith("data.csv") else b""
    content = head + line * (size // len(line))
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(content, 1))
    elif path.name.endswith(".zst"):
        path.write_bytes(zstd.compress(content))
    elif path.name.endswith(".parquet"):
        path.write_bytes(_table(draw, size))
    else:
        path.write_bytes(content[: 10**6])
    return f"{path.name} unfolds to {size}"


def _table(draw: random.Random, size: int) -> bytes:
    size = min(size, 2 * 10**7)
    count = size // 8
    match draw.randrange(4):
        case 0:
            frame = pl.DataFrame({"unit": pl.zeros(count, pl.Int64, eager=True), "item": "i1"})
        case 1:
            frame = pl.DataFrame({"unit": [1], "item": ["x" * size]})
        case 2:
            frame = pl.DataFrame({"item": [["i1"] * (count // 10)], "ends": [0], "count": [1]})
        case _:
            numbers = pl.int_range(0, count, eager=True)
            frame = pl.DataFrame({"unit": numbers, "time": 0, "place": "p1"})
    held = io.BytesIO()
    frame.write_parquet(held, compression="zstd")
    return held.getvalue()


def _parquet(place: Path, draw: random.Random) -> str:
    """Another table than the one that belongs there, or one with damaged pages or footer."""
    path = _data(place, draw)
    if not path.name.endswith(".parquet") or not _is_plain(path):
        return _bytes(place, draw)
    held = bytearray(path.read_bytes() or b"PAR1")
    match draw.randrange(4):
        case 0:
            frames = [
                pl.DataFrame({"unit": [1.5], "item": [None]}),
                pl.DataFrame({"unit": [[1]], "item": [["i1"]]}),
                pl.DataFrame({"unit": [1], "item": [{"a": 1}]}),
                pl.DataFrame({"unit": [b"x"], "item": [b"\xff"]}),
                pl.DataFrame({"item": [["i1", None], None], "ends": [1, 0], "count": [2**60, -1]}),
                pl.DataFrame({"unit": [1], "time": ["x"], "place": ["p9"], "ill": [None]}),
                pl.DataFrame({"unit": [], "item": []}),
                pl.DataFrame({}),
            ]
            table = io.BytesIO()
            draw.choice(frames).write_parquet(table)
            held = bytearray(table.getvalue())
        case 1:
            held[-8:-4] = draw.randbytes(4)
        case _:
            end = draw.choice((len(held), min(200, len(held))))
            for _ in range(draw.randrange(1, 6)):
                held[draw.randrange(max(1, end - 4))] = draw.randrange(256)
    path.write_bytes(held)
    return f"table {path.name}"


_WAYS = (
    *(_bytes, _bytes, _bytes, _field, _field, _field, _field, _field, _field, _syntax, _syntax),
    *(_parquet, _parquet, _parquet, _files, _kind_of_file, _bomb),
)


#: these are sealed always, so that they are read to the end
_DEEP = (_strange, _strange, _shaped)


def copied(source: Path, place: Path) -> None:
    """Put a fresh copy in the place of whatever is there."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
