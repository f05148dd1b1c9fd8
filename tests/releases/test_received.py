"""Folders made by somebody else: nothing in them is believed, and nothing of them is obeyed."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import os
import shutil
import subprocess
import sys

import polars as pl
import pytest
from folders import seal
from hostile import attack
from hostile_values import ESCAPES
from mutations import sound
from terminal import run

from hedgerow import KCL, Domain, FlatLaplace, PureDP, Sets, Trajectories
from hedgerow.audit.verification import verify_folder
from hedgerow.data.axis import MOST_VALUES
from hedgerow.errors import DomainError, HedgerowError, LimitExceeded, ReadError
from hedgerow.formats.codec import explain
from hedgerow.formats.files import Ending
from hedgerow.formats.parquet_pages import unpacked_bytes
from hedgerow.kinds.trajectories.methods.kcl import LocalSuppression
from hedgerow.release import Recipe
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout, read_release, write_folder, write_release

DOMAIN = Domain.declare(item=["bread", "milk", "tea"])
DATA = Sets.from_records([["tea"]] * 83 + [["bread", "milk"]] * 64, domain=DOMAIN)


@pytest.fixture
def made(tmp_path):
    """Write a release in a layout; `X` in the test's folder."""

    def write(ending="dat", compression=""):
        forms = {"dat": "lines", "csv": "csv", "parquet": "parquet"}
        held = FlatLaplace().publish(DATA, PureDP(epsilon=1, unit="record"))
        return write_folder(held, tmp_path / "X", Layout(forms[ending], Ending(ending, compression)))

    return write


def edited(place, change) -> None:
    """Change what `release.json` says, and let its hashes fit."""
    held = json.loads((place / "release.json").read_text())
    change(held)
    (place / "release.json").write_text(json.dumps(held, indent=2) + "\n")
    seal(place)


def real(words, folder, **variables):
    """Run a real process; `bytes` in, bytes out."""
    command = [sys.executable, "-m", "hedgerow", *words]
    env = {**os.environ, **variables}
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60, env=env)


# ---- what was published


@pytest.mark.parametrize("name", ["data.dat", "STATEMENT.md"])
def test_a_file_that_was_cut_is_noticed(made, name):
    place = made()
    content = (place / name).read_bytes()
    (place / name).write_bytes(content[: content.rindex(b"\n", 0, -1) + 1])
    assert run("verify X", place.parent).code == 3
    if name == "data.dat":  # neither drawn nor measured
        with pytest.raises(ReadError, match=r"is not the file that was published \(its SHA-256"):
            read_release(place)


# ---- what may be said of how it is read


@pytest.mark.parametrize(
    "options",
    [{"most_bytes": "9" * 12}, {"on_unknown": "drop"}, {"on_empty": "drop"}, {"times": "number"}],
)
def test_reading_options_are_those_that_are_written(made, options):
    place = made()
    edited(place, lambda held: held["files"][0].update(options=options))
    with pytest.raises(ReadError, match="is not as Hedgerow writes it"):
        read_release(place)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"unit": "unit"}},
        {"columns": {"unit": "unit", "item": "item", "person": "who"}},
        {"format": "csv"},
        {"data": "x"},
        {"sha256": "0"},
        {"file": "data.dat.exe"},
    ],
)
def test_files_are_named_as_they_are_written(made, change):
    place = made()
    held = json.loads((place / "release.json").read_text())
    held["files"][0].update(change)
    (place / "release.json").write_text(json.dumps(held))
    with pytest.raises(ReadError, match="is not as Hedgerow writes it"):
        read_release(place)


def test_a_compressed_file_does_not_unfold_beyond_a_multiple_of_what_was_sent(made):
    place = made("dat", "gz")
    (place / "data.dat.gz").write_bytes(gzip.compress(b"tea\n" * 3_000_000))
    seal(place)
    with pytest.raises(LimitExceeded, match="bytes when decompressed; if you trust its maker, pass"):
        read_release(place)
    assert len(read_release(place, trusted=True).data) == 3_000_000
    ran = run("verify X", place.parent)
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "cannot be checked")


def test_a_file_of_holes_is_not_read(made):
    place = made()
    with (place / "data.dat").open("r+b") as file:
        file.truncate(10**10)
    with pytest.raises(LimitExceeded, match="10,000,000,000 bytes, but only"):
        read_release(place)


# ---- domains


def test_the_values_of_all_axes_are_bounded(made):
    span = {"low": 0, "high": MOST_VALUES - 1}
    with pytest.raises(DomainError, match="may have at most 2,000,000 values together"):
        Domain.from_plain({"source": "declared", "records_per_person": None, "axes": {"a": span, "b": span}})
    with pytest.raises(DomainError, match="may have at most 2,000,000 values together"):
        Domain.declare(a=range(MOST_VALUES), b=[1])
    place = made()
    edited(place, lambda held: held["domain"]["axes"].update(item={"low": 0, "high": 3 * MOST_VALUES}))
    with pytest.raises(ReadError, match="with at most 2,000,000 values"):
        read_release(place)


def test_axes_that_nothing_stands_on_are_refused_and_not_written(made, tmp_path):
    place = made()
    edited(place, lambda held: held["domain"]["axes"].update(name={"values": ["Ann", "Bob"]}))
    with pytest.raises(ReadError, match="has a domain with axes that the data does not use"):
        read_release(place)
    more = Domain.declare(item=["bread", "milk", "tea"], name=["Ann", "Bob"])
    data = Sets.from_records([["tea"]] * 50, domain=more)
    held = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    assert b"Ann" not in held.to_json()
    written = write_folder(held, tmp_path / "Y", Layout("lines", Ending("dat", "")))
    assert all(verify_folder(written).values())


@pytest.mark.parametrize("low", [True, "1", 1.0, None, -(10**30)])
def test_the_ends_of_an_axis_are_whole_numbers(low):
    axes = {"item": {"low": low, "high": 5}}
    with pytest.raises(DomainError, match="an axis needs either values, or low and high"):
        Domain.from_plain({"source": "declared", "records_per_person": None, "axes": axes})


# ---- promises that ask for work


def test_a_promise_may_not_ask_for_more_work_than_was_sent(tmp_path):
    visits = [[("a", hour) for hour in range(60)]] * 3
    held = LocalSuppression().publish(Trajectories.from_records(visits), KCL(k=2, l=1))
    place = write_folder(held, tmp_path / "X", Layout("csv", Ending("csv", "")))
    assert all(verify_folder(place).values())
    edited(place, lambda held: held["guarantee"].update(l="6"))
    with pytest.raises(LimitExceeded, match=r"verifying its promise would take more than .* cases; if you trust"):
        read_release(place)
    edited(place, lambda held: held["guarantee"].update(l="9" * 5_000))
    with pytest.raises(HedgerowError, match="a number or a name of the promise is too long"):
        read_release(place)


# ---- what a terminal shows


def test_a_unit_of_escape_codes_says_nothing(made):
    place = made()
    edited(place, lambda held: held["guarantee"].update(unit=ESCAPES))
    for command in ("verify X", "verify X --json", "report X --html x.html"):
        ran = run(command, place.parent)
        assert ran.code in {2, 3}
        assert "\x1b" not in ran.out + ran.err
        assert "satisfied" not in ran.out.splitlines()


def test_a_label_of_escape_codes_is_shown_as_escapes(made, tmp_path):
    place = made()
    (place / "data.dat").write_text("wine\n")
    strange = tmp_path / "\x1b[2K\u202ex\nsatisfied"
    place.rename(strange)
    ran = run(["verify", str(strange)], tmp_path)
    assert ran.code == 3
    assert "\\x1b[2K\\u202ex\\nsatisfied" in ran.out
    assert ran.out.splitlines()[-1] == "NOT satisfied"
    assert "satisfied" not in ran.out.splitlines()
    ran = run(["report", str(strange), "--html", "x.html", "--json"], tmp_path)
    assert "\x1b" not in ran.out + ran.err
    assert "\u202e" not in ran.out + ran.err
    assert json.loads(ran.out)["error"]["exit_code"] == 2


@pytest.mark.parametrize(
    "variables",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.slow), pytest.param({"PYTHONIOENCODING": "latin-1"}, marks=pytest.mark.slow)],
)  # fmt: skip
def test_any_name_in_any_locale(made, tmp_path, variables):
    """Letters of any kind, bytes that are none, a new line and an escape code."""
    place, name = made(), "Größe 日本\n\x1b[2J".encode() + b"\xff"
    os.rename(os.fsencode(place), os.fsencode(tmp_path) + b"/" + name)  # noqa: PTH104 - bytes
    for words in (
        [b"verify", name],
        [b"verify", name, b"--json"],
        [b"report", name, b"--html", name + b".html", b"--json"],
        [b"report", name, name, b"--html", name + b"2.html"],
    ):
        done = real(words, tmp_path, **variables)
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        assert b"\x1b" not in done.stdout
        if b"--json" in words:
            json.loads(done.stdout.decode())
    done = real([b"verify", name + b"?"], tmp_path, **variables)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


# ---- what is no file


@pytest.mark.parametrize("name", ["release.json", "data.dat", "STATEMENT.md"])
@pytest.mark.parametrize("what", ["itself", "/dev/zero", "/nowhere", "pipe", "folder"])
def test_links_pipes_and_folders_in_the_place_of_files(made, name, what):
    place = made()
    (place / name).unlink()
    if what == "pipe":
        os.mkfifo(place / name)
    elif what == "folder":
        (place / name).mkdir()
    else:
        (place / name).symlink_to(name if what == "itself" else what)
    ran = run("verify X", place.parent)
    assert ran.code == 3
    assert "is a link; the files of a release must be in its folder" in ran.out or "is not a regular file" in ran.out
    if name != "STATEMENT.md":
        assert run("report X --html x.html", place.parent).code == 2


def test_a_place_that_is_a_link_to_itself(made, tmp_path):
    made()
    (tmp_path / "loop").symlink_to("loop")
    for command in ("verify loop", "report loop --html x.html", "report X --html loop"):
        ran = run(command, tmp_path)
        assert ran.code in {0, 2}, ran.err
        assert "bug" not in ran.err


# ---- Parquet


def test_what_a_table_claims_bounds_what_it_takes():
    frame = pl.DataFrame({"unit": pl.int_range(0, 9_000, eager=True), "item": ["x" * 50] * 9_000})
    held = io.BytesIO()
    frame.write_parquet(held, compression="zstd")
    assert unpacked_bytes(held.getvalue()) >= frame.select("unit").estimated_size()
    long = io.BytesIO()
    pl.DataFrame({"item": ["x" * 10**7]}).write_parquet(long, compression="zstd")
    assert len(long.getvalue()) < 10**5
    assert unpacked_bytes(long.getvalue()) >= 10**7
    for broken in (b"", b"PAR1", held.getvalue()[:-1], b"PAR1" + b"\xff" * 99 + b"PAR1"):
        with pytest.raises(ValueError, match=r"^$"):
            unpacked_bytes(broken)


def test_a_table_that_unfolds_is_refused(made):
    place = made("parquet")
    for table in (
        pl.DataFrame({"unit": [1], "item": ["x" * 3 * 10**7]}),
        pl.DataFrame({"unit": pl.zeros(10**6, pl.Int64, eager=True), "item": "tea"}),
    ):
        table.write_parquet(place / "data.parquet", compression="zstd")
        seal(place)
        with pytest.raises(LimitExceeded, match=r"bytes when decompressed; if you trust"):
            read_release(place)


@pytest.mark.parametrize("places", [3, pytest.param(24, marks=pytest.mark.slow)])
def test_a_damaged_table_is_one_line(made, places):
    """The core of the library panics over some of these, and prints that past Python."""
    place = made("parquet")
    sound_table = (place / "data.parquet").read_bytes()
    end = len(sound_table)
    for at in range(4, end - 8, max(1, end // places)):
        damaged = bytearray(sound_table)
        damaged[at] ^= 0xFF
        (place / "data.parquet").write_bytes(damaged)
        seal(place)
        done = real(["report", "X", "--html", "x.html"], place.parent, RUST_BACKTRACE="1")
        assert done.returncode in {0, 2}
        assert done.stderr.count(b"\n") == (done.returncode != 0)
        assert b"panicked" not in done.stderr


def test_nobody_but_us_writes_to_standard_error():
    code = (
        "import os, sys; from hedgerow.__main__ import _keep_stderr; _keep_stderr()\n"
        "os.write(2, b'thread panicked'); print('ours', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b"ours\n"


# ---- anything


@pytest.mark.slow
def test_no_folder_is_too_hostile(tmp_path):
    """500 of the mutated folders; `python tests/support/hostile.py 20000` tries more."""
    folders = sound(tmp_path)
    outcomes = [attack(tmp_path, folders, number) for number in range(500)]
    assert [held for held in outcomes if held.wrong] == []
    assert max(held.megabytes for held in outcomes) < 1_000
    codes = {held.code for held in outcomes}
    assert codes == {0, 2, 3}


# ---- folders that contradict themselves


def rewritten(place, **changes):
    """Change a release and write everything that depends on it again, as a forger would."""
    release, held = open_folder(place)
    forged = dataclasses.replace(release, **changes)
    reading = explain(held.files)
    (place / "release.json").write_bytes(forged.to_json(held.files, reading))
    (place / "STATEMENT.md").write_bytes(forged.statement(reading).encode())


def test_a_release_that_no_method_makes_is_not_satisfied(made, tmp_path):
    whole = made()
    release, _ = open_folder(whole)
    nothing = dataclasses.replace(release.evidence, entries=())
    odd = dataclasses.replace(release.evidence, notes=(("a\n\n## Verified", 1),))
    for changes in (
        {"guarantee": PureDP(epsilon=1, unit="person")},
        {"recipe": Recipe("no-such-method", (("x", 1),))},
        {"recipe": dataclasses.replace(release.recipe, parameters=(("x", 1),))},
        {"evidence_so_far": lambda: nothing},
        {"evidence_so_far": lambda: odd},
    ):
        place = tmp_path / "forged"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        assert all(verify_folder(place).values())
        rewritten(place, **changes)
        assert not all(verify_folder(place).values()), changes


def test_what_stands_beside_the_content_of_a_file_is_noticed(tmp_path):
    data = Sets.from_records([["a"]] * 50, domain=Domain.declare(item=["a"]))
    release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    for ending, beside in (
        ("csv.gz", lambda packed: packed[:3] + b"\x08" + packed[4:10] + b"Anna\0" + packed[10:]),
        ("csv.gz", lambda packed: packed + gzip.compress(b"")),
        ("csv.zst", lambda packed: b"\x50\x2a\x4d\x18\x04\0\0\0Anna" + packed),
    ):
        place = write_release(release, tmp_path / "X", like=f"x.{ending}", overwrite=True)
        assert all(verify_folder(place).values())
        file = place / f"data.{ending}"
        file.write_bytes(beside(file.read_bytes()))
        seal(place)
        assert not all(verify_folder(place).values()), ending


def test_options_that_would_be_ignored_are_refused(made, tmp_path):
    place = str(made())
    for words in (["--format", "csv"], ["--read", "on_bad=drop"], ["--columns", "unit=x"]):
        ran = run(["verify", place, *words], tmp_path)
        assert (ran.code, "cannot be given here" in ran.err) == (2, True)
    assert run(["verify", place, "--kind", "trajectories"], tmp_path).code == 3
    assert run(["verify", place, "--kind", "sets"], tmp_path).code == 0
