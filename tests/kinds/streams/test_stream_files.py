"""Files of events that are not as they should be are refused with a place and a remedy, and no cell is shown."""

from __future__ import annotations

import gzip
import os
import re

import numpy as np
import polars as pl
import pytest
from backports import zstd
from terminal import run

from hedgerow import Domain, NumberAxis, read
from hedgerow.errors import EngineError, ParameterError, ReadError
from hedgerow.formats import files
from hedgerow.kinds.streams import event_files

NUMBERS = Domain.declare(value=NumberAxis.between(0, 9, 1))
PUBLISH = "publish {} --kind streams --method stream-count --epsilon 1 --unit event --set horizon=9 --out R {}"

BAD = {
    "a.bits": [
        (b"0120", "a.bits: event 3 is neither 0 nor 1; a file of bits has one sign per event and nothing else"),
        (b"0 1", "event 2 is neither"),
        (b"01\n01\n", "event 3 is neither"),
        (b"01\r\n", "event 3 is neither"),
        (b"01\n\n", "event 3 is neither"),
        (b"0\x001", "event 2 is neither"),
        (b"\xef\xbb\xbf01", "event 1 is neither"),
        (b"01SECRET", "event 3 is neither"),
    ],
    "a.txt": [
        (b"0\n1\nSECRET\n", "a.txt: event 3 is neither 0 nor 1; declare other values with --domain"),
        (b"0\n\n1\n", "a.txt: event 2 is neither"),
        (b"0\n1\n\n", "a.txt: event 3 is neither"),
        (b"0\n \n1\n", "a.txt"),
        (b"0\n1\xff\n", "a.txt:2"),
        (b"0\n1\0\n", "a.txt:2"),
        (b"0,1\n", "a.txt:1"),
        (b'"0\n1\n"\n', "a.txt:1"),
        (b"0\n2\n", "event 2 is neither"),
        (b"0\nnan\n", "event 2 is neither"),
    ],
    "a.csv": [
        (b"", "a.csv is empty: its first line must name the columns"),
        (b"val\n1\n", "a.csv has no column 'value'; name the column of the values with --columns value=NAME"),
        (b"0\n1\n", "a.csv has no column 'value'"),
        (b"time,value\n1,0\n2\n", "a.csv:3"),
        (b"time,value\n1,0\n2,1,SECRET\n", "a.csv:3"),
        (b"time,value\n1,0\n2,SECRET\n", "event 2 is neither"),
        (b"time,value\n1,0\n2,\n", "event 2 is neither"),
        (b"value\n1\n\n0\n", "a.csv: event 2 is neither"),
        (b"time,value\n1,0\n\n2,1\n", "a.csv:3"),
        (b"time,value\n1,0\n\n", "a.csv:3"),
        (b"value,value\n1,0\n", "a.csv"),
        (b"\xff\n1\n", "a.csv"),
        (b"va\0lue\n1\n", "a.csv"),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "message"), [(name, *case) for name, cases in BAD.items() for case in cases]
)
@pytest.mark.parametrize("chunk", [1, 1 << 22])
def test_a_bad_file_is_refused_with_its_place(tmp_path, monkeypatch, name, content, message, chunk):
    monkeypatch.setattr(files, "_CHUNK", chunk)
    (tmp_path / name).write_bytes(content)
    for line in (f"describe {name} --kind streams", PUBLISH.format(name, "")):
        ran = run(line, tmp_path)
        assert (ran.code, message in ran.err) == (2, True), ran
        assert "SECRET" not in ran.err
        assert ran.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_stream_without_line_breaks_is_not_collected(tmp_path, monkeypatch):
    monkeypatch.setattr(event_files, "_LONGEST", 1_000)
    monkeypatch.setattr(files, "_CHUNK", 100)
    (tmp_path / "a.txt").write_bytes(b"1" * 5_000)
    ran = run("describe a.txt --kind streams", tmp_path)
    assert (ran.code, "has a line of over 1,000 bytes; for one sign per event, give --format bits" in ran.err) == (
        2,
        True,
    )
    (tmp_path / "a.txt").write_bytes(b"1\n" * 5_000)
    assert run("describe a.txt --kind streams", tmp_path).code == 0


def test_an_event_cannot_be_dropped(tmp_path):
    (tmp_path / "a.txt").write_text("0\nx\n")
    for command in ("describe a.txt --kind streams --read on_bad=drop", PUBLISH.format("a.txt", "--read on_bad=drop")):
        ran = run(command, tmp_path)
        assert (
            ran.code,
            "and all after it would have other numbers; put a number in its place with on_bad=NUMBER" in ran.err,
        ) == (2, True)


def test_lines_before_the_first_event_can_be_skipped(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"made \xff by\n\nvalue\n1\n0\n")
    (tmp_path / "a.txt").write_bytes(b"# SECRET\n1\n0\n")
    for name, lines in (("a.csv", "2"), ("a.txt", "1")):
        data = read(tmp_path / name, kind="streams", options={"skip_lines": lines})
        assert data.events.read(0, 9).tolist() == [1, 0]
    (tmp_path / "b.txt").write_bytes(b"# SECRET\n1\nx\n")
    with pytest.raises(ReadError, match="event 2 is neither"):
        read(tmp_path / "b.txt", kind="streams", options={"skip_lines": "1"}).events.read(0, 9)
    with pytest.raises(ReadError, match=r"b\.csv:4"):
        (tmp_path / "b.csv").write_bytes(b"made by\ntime,value\n1,1\n2\n")
        read(tmp_path / "b.csv", kind="streams", options={"skip_lines": "1"}).events.read(0, 9)


@pytest.mark.parametrize("name", ["a.bits", "a.txt", "a.dat.gz", "a.bits.zst"])
def test_a_file_of_no_events(tmp_path, name):
    pack = {"gz": gzip.compress, "zst": zstd.compress}.get(name.rpartition(".")[2], bytes)
    (tmp_path / name).write_bytes(pack(b""))
    data = read(tmp_path / name, kind="streams")
    assert (data.events.read(0, 5).tolist(), data.events.count()) == ([], 0)
    ran = run(f"describe {name} --kind streams", tmp_path)
    assert (ran.code, "events             0" in ran.out) == (0, True), ran


def test_the_column_of_values_has_any_name(tmp_path):
    (tmp_path / "a.csv").write_text("when,the bit\n1,0\n2,1\n")
    data = read(tmp_path / "a.csv", kind="streams", columns={"value": "the bit"})
    assert data.events.read(0, 9).tolist() == [0, 1]
    with pytest.raises(ParameterError, match="there is no column role 'item'; choose one of: value"):
        read(tmp_path / "a.csv", kind="streams", columns={"item": "x"})


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_packed_file_that_is_cut_off_or_unpacks_to_too_much(tmp_path, ending):
    bits = np.random.default_rng(1).integers(48, 50, 100_000, np.uint8).tobytes()
    packed = gzip.compress(bits) if ending == "gz" else zstd.compress(bits)
    path = tmp_path / f"a.bits.{ending}"
    for content in (packed[: len(packed) // 2], b"", b"0101"):
        path.write_bytes(content)
        ran = run(f"describe {path.name} --kind streams", tmp_path)
        assert (ran.code, "is cut off or damaged; it cannot be decompressed" in ran.err) == (2, True), ran
        ran = run(PUBLISH.format(path.name, ""), tmp_path)
        assert (ran.code, (tmp_path / "R").exists()) == (2, False), ran
    path.write_bytes(packed)
    ran = run(f"describe {path.name} --kind streams --read most_bytes=99999", tmp_path)
    assert (ran.code, "allow more with the reading option most_bytes" in ran.err) == (2, True), ran
    assert run(f"describe {path.name} --kind streams --read most_bytes=100000", tmp_path).code == 0


def test_a_parquet_file_that_cannot_be_read(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"value": [0.0, 1.0, None, 3.0], "name": ["SECRET"] * 4}).write_parquet(path)
    for columns, message in (
        ("value=value", "event 3 is neither 0 nor 1"),
        ("value=name", "event 1 is neither 0 nor 1"),
        ("value=x", "has no column 'x'; name the column of the values with --columns value=NAME"),
    ):
        ran = run(f"describe a.parquet --kind streams --columns {columns}", tmp_path)
        assert (ran.code, message in ran.err, "SECRET" in ran.err) == (2, True, False), ran
    content = path.read_bytes()
    for changed in (content[:-20], b"", b"PAR1", content[:40] + bytes(80) + content[120:]):
        path.write_bytes(changed)
        ran = run("describe a.parquet --kind streams", tmp_path)
        assert (ran.code, "cannot be read; it is damaged, or it is not a Parquet table" in ran.err) == (2, True), ran


def test_a_parquet_file_is_one_file(tmp_path):
    """The library behind it would also read an address, all files of a pattern or a folder, and wait for a pipe."""
    pl.DataFrame({"value": [0, 1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "d.parquet").mkdir()
    pl.DataFrame({"value": [0, 1]}).write_parquet(tmp_path / "d.parquet" / "a.parquet")
    os.mkfifo(tmp_path / "p.parquet")
    for name, message in (
        ("none.parquet", "there is no file none.parquet"),
        ("*.parquet", "there is no file *.parquet"),
        ("http://127.0.0.1:9/a.parquet", "there is no file http:"),
        ("d.parquet", "is a folder; name a file in it"),
        ("-", "standard input: a Parquet table cannot be read from a pipe"),
        ("p.parquet", "a Parquet table cannot be read from a pipe; write it to a file first"),
    ):
        ran = run(["describe", name, "--kind", "streams", "--format", "parquet"], tmp_path)
        assert (ran.code, message in ran.err) == (2, True), ran
    (tmp_path / "[a].parquet").write_bytes((tmp_path / "a.parquet").read_bytes())
    assert read(tmp_path / "[a].parquet", kind="streams").events.read(0, 9).tolist() == [0, 1]


def test_no_error_advises_to_drop_an_event(tmp_path):
    """It is refused, so it is no remedy."""
    for content in (b"value\n1\n0,1\n", b"value\n1\n\xff\n", b"value\n1\n\0\n", b'value\n1\n"0\n'):
        (tmp_path / "a.csv").write_bytes(content)
        ran = run("describe a.csv --kind streams", tmp_path)
        assert (ran.code, "a.csv:3: " in ran.err, "drop" in ran.err) == (2, True, False), ran


def test_lines_are_skipped_however_many(tmp_path):
    """Also more than there are, and across blocks."""
    (tmp_path / "a.csv").write_bytes(b"# made\n# by\nvalue\n1\n0\n")
    ran = run("describe a.csv --kind streams --read skip_lines=2", tmp_path)
    assert (ran.code, "0.5" in ran.out) == (0, True), ran
    ran = run("describe a.csv --kind streams --read skip_lines=1000000000", tmp_path)
    assert (ran.code, "a.csv is empty: its first line must name the columns" in ran.err) == (2, True), ran


def test_events_that_are_skipped_are_not_decoded(tmp_path):
    """A bad event is noticed when it is read, and not if it is skipped."""
    bits = b"0" * 50_000 + b"x" + b"1" * 50_000
    (tmp_path / "a.bits").write_bytes(bits)
    (tmp_path / "a.bits.gz").write_bytes(gzip.compress(bits))
    for name in ("a.bits", "a.bits.gz"):
        events = read(tmp_path / name, kind="streams").events
        assert events.take(np.array([3, 60_000])).tolist() == [0, 1]
        with pytest.raises(ReadError, match="event 50,001 is neither"):
            events.read(49_990, 50_010)


def test_few_events_of_a_file_of_bits_are_read_one_by_one(tmp_path, monkeypatch):
    (tmp_path / "a.bits").write_bytes(b"0" * 999_999 + b"1")
    read_bytes = []
    pread = os.pread

    def counting(opened, size, start):
        read_bytes.append(size)
        return pread(opened, size, start)

    events = read(tmp_path / "a.bits", kind="streams").events
    monkeypatch.setattr(event_files.os, "pread", counting)
    assert events.take(np.array([5, 500_000, 999_999])).tolist() == [0, 0, 1]
    assert sum(read_bytes) == 3
    assert (events.length, events.count()) == (10**6, 10**6)


@pytest.mark.parametrize("name", ["a.bits", "a.csv", "a.parquet"])
def test_there_is_no_such_file_or_it_is_a_folder(tmp_path, name):
    ran = run(f"describe {name} --kind streams", tmp_path)
    assert (ran.code, "there is no" in ran.err) == (2, True), ran
    (tmp_path / name).mkdir()
    ran = run(f"describe {name} --kind streams", tmp_path)
    assert ran.code == 2, ran
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, ""), "no permission to read "),
        (OSError(5, ""), "a.bits cannot be read (input/output error)"),
    ],
)
@pytest.mark.parametrize("call", ["open", "pread"])
def test_a_file_that_the_system_does_not_read(tmp_path, monkeypatch, error, message, call):
    def failing(*_):
        raise error

    (tmp_path / "a.bits").write_text("01")
    monkeypatch.setattr(event_files.os, call, failing)
    with pytest.raises(EngineError, match=re.escape(message)):
        read(tmp_path / "a.bits", kind="streams").events.read(0, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2,0.5,-0.1", "has a half-width below 0; it was changed or damaged"),
        ("2,nan,0.1", "has a cell that is not a number"),
        ("2,0.5,nan", "has a cell that is not a number"),
        ("0,0.5,0.1", "times must be whole numbers from 1 on, in order"),
    ],
)
def test_estimates_that_nobody_published(tmp_path, row, message):
    (tmp_path / "a.csv").write_text(f"time,value,half_width\n{row}\n")
    with pytest.raises(ReadError, match=message):
        read(tmp_path / "a.csv", kind="streams", options={"rows": "means"})


def test_whether_rows_rest_on_noise_is_known_from_the_reading_that_checks_them(tmp_path):
    """A large file is not read once more for it."""
    path = tmp_path / "a.csv"
    for half_width, useless in ((0.5, True), (0.1, False)):
        path.write_text(f"time,value,half_width\n1,0.5,0.7\n9,0.5,{half_width}\n")
        estimates = read(path, kind="streams", options={"rows": "means"})
        path.unlink()
        assert (len(estimates), estimates.rests_on_noise()) == (2, useless)


@pytest.mark.parametrize("method", ["stream-count", "binary-mechanism", "stream-mean"])
def test_a_list_of_times_is_read_before_the_data(tmp_path, method):
    """Also if nothing is to be published."""
    (tmp_path / "a.bits").write_bytes(b"0110")
    line = f"publish a.bits --kind streams --method {method} --epsilon 1 --unit event --out R --dry-run --set times="
    for times, code in (("1,2", 0), ("2,1", 2), ("1,x", 2), ("0", 2)):
        ran = run(line + times, tmp_path)
        assert (ran.code, "times must be" in ran.err) == (code, code == 2), ran
