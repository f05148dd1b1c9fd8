"""Streams from pipes and to pipes, in processes of their own: what comes when, and how it ends."""

from __future__ import annotations

import io
import json
import os
import random
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from accounts import entries
from terminal import hear_interrupts, run

from hedgerow import PureDP
from hedgerow.errors import HedgerowError, InternalError
from hedgerow.jobs.pipes import Pipe, PipePlacement, write_to_pipe
from hedgerow.kinds.streams.data import Rows, Stream
from hedgerow.privacy import Flip
from hedgerow.publisher import Publisher
from hedgerow.releases.writer import Layout

COUNT = "--kind streams --method stream-count --epsilon 1 --unit event --set every=100"
MEAN = "--kind streams --method stream-mean --epsilon 1 --unit event --set every=100"
BITS = "".join(random.Random(8).choices("01", k=2_000)).encode()
HEADER = "time,value,half_width"


def start(line, folder, **pipes):
    return subprocess.Popen(
        [sys.executable, "-m", "hedgerow", *shlex.split(line)],
        cwd=folder,
        preexec_fn=hear_interrupts,  # noqa: PLW1509 - it only sets a signal
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes},
    )


def finish(process, content=None):
    out, err = process.communicate(content, timeout=60)
    return process.returncode, out.decode(), (err or b"").decode()


def rows_of(out):
    head, *rows = out.splitlines()
    assert head == HEADER
    return [[float(cell) for cell in row.split(",")] for row in rows]


@pytest.mark.parametrize("source", ["a.bits", "-"])
def test_rows_go_to_standard_output_and_the_statement_before_them_to_standard_error(tmp_path, source):
    (tmp_path / "a.bits").write_bytes(BITS)
    line = f"publish {source} --format bits {COUNT} --set horizon=2000 --out -"
    code, out, err = finish(start(line, tmp_path), BITS)
    assert code == 0, err
    assert [row[0] for row in rows_of(out)] == list(range(100, 2_001, 100))
    assert "# Privacy statement" in err
    assert "standard output" in err
    code, both, _ = finish(start(line, tmp_path, stderr=subprocess.STDOUT), BITS)
    assert code == 0
    assert both.index("# Privacy statement") < both.index("How it was made") < both.index(HEADER)
    assert {path.name for path in tmp_path.iterdir()} == {"a.bits"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.bits", BITS),
        ("a.txt", b"".join(b"%c\n" % bit for bit in BITS)),
        ("a.csv", b"value\r\n" + b"".join(b"%c\r\n" % bit for bit in BITS)),
    ],
)
def test_a_named_pipe_is_published_into_a_folder(tmp_path, name, content):
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=lambda: (tmp_path / name).write_bytes(content))
    writer.start()
    code, out, err = finish(start(f"publish {name} {COUNT} --set horizon=2000 --out R", tmp_path))
    writer.join()
    assert (code, "Published in R" in out) == (0, True), err
    assert run("verify R --epsilon 1 --unit event", tmp_path).code == 0
    rows = rows_of((tmp_path / "R" / "data.csv").read_text())
    assert [row[0] for row in rows] == list(range(100, 2_001, 100))
    assert all(abs(row[1] - BITS[: int(row[0])].count(b"1")) < 500 for row in rows)


def test_a_pipe_is_described_and_compared_once(tmp_path):
    (tmp_path / "a.bits").write_bytes(BITS)
    code, out, _ = finish(start("describe - --format bits --kind streams", tmp_path), BITS)
    assert (code, "only once" in out) == (0, True)
    assert run(f"publish a.bits {COUNT} --out R", tmp_path).code == 0
    line = "evaluate R --against {} --format bits --scores s.json"
    code, out, err = finish(start(line.format("-"), tmp_path), BITS)
    assert code == 0, err
    from_pipe = json.loads((tmp_path / "s.json").read_text())["scores"]
    assert run(line.format("a.bits"), tmp_path).code == 0
    from_file = json.loads((tmp_path / "s.json").read_text())["scores"]
    assert [score["value"] for score in from_pipe] == [score["value"] for score in from_file]
    assert "binary mechanism" not in out


def test_a_method_that_must_know_the_length_says_so(tmp_path):
    code, out, err = finish(start(f"publish - --format bits {COUNT} --out -", tmp_path), BITS)
    assert (code, out, "give it with --set horizon=N" in err) == (2, "", True)


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("--out - --json", 2, "--json prints one document, and --out - prints rows"),
        ("--out - --sign k.pem", 2, "a pipe has no folder to sign or to overwrite"),
        ("--out - --overwrite", 2, "a pipe has no folder to sign or to overwrite"),
        ("--out - --epsilon 0", 2, "epsilon"),
    ],
)
def test_options_that_need_a_folder_are_refused(tmp_path, more, code, message):
    (tmp_path / "a.bits").write_bytes(BITS)
    returned, out, err = finish(start(f"publish a.bits {COUNT} {more}", tmp_path))
    assert (returned, HEADER in out, message in err) == (code, False, True), err


def test_only_streams_go_to_a_pipe(tmp_path):
    (tmp_path / "a.dat").write_text("a b\n")
    line = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --assert-public-domain --out -"
    code, out, err = finish(start(line, tmp_path))
    assert (code, out, "only streams are published to a pipe" in err) == (2, "", True)


@pytest.mark.parametrize("at", [50, 1_550])
def test_a_bad_event_ends_the_publication(tmp_path, at):
    """What was due before it may be out already; a folder is not written at all."""
    bad = BITS[:at] + b"x" + BITS[at + 1 :]
    line = f"publish - --format bits {COUNT} --set horizon=2000 --out {{}}"
    code, out, err = finish(start(line.format("-"), tmp_path), bad)
    assert (code, f"standard input: event {at + 1:,} is neither 0 nor 1" in err) == (2, True)
    assert all(row[0] <= at for row in rows_of(out)) if out else True
    code, _, err = finish(start(line.format("R"), tmp_path), bad)
    assert (code, "is neither 0 nor 1" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_stream_that_ends_early_is_published_as_far_as_it_goes(tmp_path):
    line = f"publish - --format bits {COUNT} --out - --set {{}}"
    code, out, _ = finish(start(line.format("horizon=9999"), tmp_path), BITS[:450])
    assert (code, [row[0] for row in rows_of(out)]) == (0, [100, 200, 300, 400])
    code, out, err = finish(start(line.format("times=100,300,500"), tmp_path), BITS[:450])
    assert (code, "ended before the last of the listed times" in err) == (2, True)
    assert [row[0] for row in rows_of(out)] == [100, 300]


def test_a_reader_may_have_enough(tmp_path):
    """Closing the pipe is no error: head, for example, does it."""
    (tmp_path / "a.bits").write_bytes(BITS * 500)
    process = start(f"publish a.bits {COUNT} --set every=1 --out -", tmp_path)
    assert process.stdout.readline().decode().strip() == HEADER
    process.stdout.close()
    assert "# Privacy statement" in process.stderr.read().decode()
    assert process.wait(timeout=60) == 0
    process.stdin.close()
    process.stderr.close()


def test_the_account_is_charged_before_the_first_row(tmp_path):
    (tmp_path / "account.toml").write_text('total = "2"\nunit = "event"\n')
    line = f"publish - --format bits {COUNT} --set horizon=2000 --account account.toml --out -"
    process = start(line, tmp_path)
    process.stdin.write(BITS[:150])
    process.stdin.flush()
    assert process.stdout.readline().decode().strip() == HEADER
    [charged] = entries(tmp_path / "account.toml")
    assert charged["method"] == "stream-count"
    code, _, err = finish(process, BITS[150:])
    assert code == 0, err


def next_rows(process, seconds=20.0):
    """Wait for some more bytes of rows."""
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    assert ready, "no row has come"
    return os.read(process.stdout.fileno(), 1 << 16).decode()


@pytest.mark.parametrize("form", ["bits", "lines"])
@pytest.mark.parametrize("method", [f"{COUNT} --set horizon=2000", MEAN])
def test_a_row_comes_when_it_is_due_although_the_stream_pauses(tmp_path, method, form):
    """Also after a quick start: no row waits for an event after the one after which it is due."""
    process = start(f"publish - --format {form} {method} --out -", tmp_path, stderr=subprocess.DEVNULL)
    out, sent = "", 0
    for size in (100, 1, 99, 1_099, 1, 300):
        part = BITS[sent : sent + size]
        process.stdin.write(part if form == "bits" else b"".join(b"%c\n" % bit for bit in part))
        process.stdin.flush()
        sent += size
        while out.count("\n") < 1 + sent // 100:
            out += next_rows(process)
        assert [row[0] for row in rows_of(out)] == list(range(100, sent + 1, 100))
    code, rest, _ = finish(process)
    assert (code, rest) == (0, "")


def test_an_iterator_that_pauses_does_not_keep_its_rows():
    from hedgerow import find_method

    asked = []

    def events():
        for number in range(1_000):
            asked.append(number)
            if number > 600:
                time.sleep(0.02)
            yield number % 2

    method = find_method("stream-count")(every=1, horizon=1_000)
    release = method.publish(Stream.from_values(events()), PureDP(epsilon=1, unit="event"), in_slices=True)
    for rows in release.data.rows():
        if rows.times[-1] > 700:
            assert len(asked) - int(rows.times[0]) <= 256
        if rows.times[-1] > 900:
            break


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_an_interrupted_pipe_says_what_is_out(tmp_path, number, pause):
    """Also if a thread of a library is the one that hears the signal, while the stream is waited for."""
    process = start(f"publish - --format bits {MEAN} --out -", tmp_path)
    process.stdin.write(BITS[:500])
    process.stdin.flush()
    out = next_rows(process)
    assert out.startswith(HEADER)
    time.sleep(pause)
    process.send_signal(number)
    process.wait(timeout=60)
    code, _, err = finish(process)
    assert (code, err.splitlines()[-1]) == (130, "hedgerow: interrupted; published to standard output")


@dataclass(frozen=True, kw_only=True)
class Late(Publisher):
    """Has a row before it has charged everything, or anything."""

    name: ClassVar[str] = "late"
    kinds: ClassVar = ("streams",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("event",)
    early: ClassVar = None

    def run(self, data, ledger):
        def late():
            row = Rows(np.array([1]), np.zeros(1), np.zeros(1))
            if self.early:
                ledger.ask(data.events.read(0, 1), Flip(), spend=self.early, label="one")
            yield row
            ledger.ask(data.events.read(1, 2), Flip(), spend=ledger.left, label="two")
            yield row

        return data.publishing(late(), of="means")


@pytest.mark.parametrize(("early", "refused"), [(None, True), (Fraction(1, 2), True), (Fraction(1), False)])
def test_a_method_that_charges_after_its_first_row_is_not_written(early, refused, monkeypatch):
    """Whoever reads the statement of a pipe must read of the whole budget."""
    monkeypatch.setattr(Late, "early", early)
    release = Late().publish(Stream.from_values([0, 1]), PureDP(epsilon=1, unit="event"), seed=1, in_slices=True)
    out, told = io.BytesIO(), []
    with pytest.raises(InternalError if refused else HedgerowError):
        write_to_pipe(release, Layout.plain("streams"), PipePlacement(), Pipe(out, told.append))
    assert (out.getvalue() == b"", told == []) == (refused, refused)


#: a writer of random bits, in a process of its own; and what the peak of memory of its reader was
WRITER = """
import os, sys
import numpy as np
size, rng = int(sys.argv[1]), np.random.default_rng(1)
block = (rng.integers(0, 2, 1 << 20, np.uint8) + 48).tobytes()
while size:
    size -= os.write(1, block[:size])
"""
PEAK = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "events", "every"),
    [(f"{COUNT} --set horizon=1000000000", 10**9, 10_000), (MEAN, 10**9, 10_000), (MEAN, 10**7, 10)],
)
@pytest.mark.parametrize("out", ["-", "R"])
def test_memory_does_not_grow_with_a_stream(tmp_path, method, events, every, out):
    """A thousand million bits from a pipe, or a million rows: less than 200 MB at the peak."""
    line = f"publish - --format bits {method} --out {out}"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(events)], stdout=subprocess.PIPE)
    command = [sys.executable, "-m", "hedgerow", *shlex.split(f"{line} --set every={every}")]
    started = time.monotonic()
    with (tmp_path / "out.txt").open("wb") as rows:
        measured = subprocess.run(
            [sys.executable, "-c", PEAK, *command],
            cwd=tmp_path,
            stdin=writer.stdout,
            stdout=rows,
            stderr=subprocess.PIPE,
            check=True,
            timeout=280,
        )
    seconds = time.monotonic() - started
    writer.stdout.close()
    assert writer.wait() == 0
    code, peak = map(int, measured.stderr.decode().splitlines()[-1].split())
    print(f"{events:,} events, peak {peak / 1024:.0f} MB, {events / seconds:,.0f} events per second")
    assert code == 0
    assert peak < 200 * 1024  # the system counts in kilobytes
    rows = tmp_path / ("out.txt" if out == "-" else "R/data.csv")
    assert rows.read_bytes().count(b"\n") == 1 + events // every


def test_what_a_statement_on_standard_error_names_is_there(tmp_path):
    """There is no release.json beside a pipe, and an account calls it by its name."""
    (tmp_path / "a.bits").write_bytes(BITS)
    assert run("account A --total 2 --unit event", tmp_path).code == 0
    code, _, err = finish(start(f"publish a.bits {COUNT} --account A --out -", tmp_path))
    assert (code, "release.json" in err, "Rows are in the order of time." in err) == (0, False, True), err
    assert [(entry["state"], entry["out"]) for entry in entries(tmp_path / "A")] == [("out", "-")]


def test_a_stream_that_ends_before_anything_is_due(tmp_path):
    (tmp_path / "a.bits").write_bytes(BITS[:99])
    ran = run(f"publish a.bits {COUNT} --out R", tmp_path)
    assert (ran.code, "the stream ended before anything was due" in ran.err) == (3, True), ran
    assert ("publications after fewer events" in ran.err, "larger epsilon" in ran.err) == (True, False)
    code, out, err = finish(start(f"publish a.bits {COUNT} --out -", tmp_path))
    assert (code, rows_of(out)) == (0, [])
    assert err.strip().endswith("the stream ended before anything was due."), err


def test_standard_output_that_is_closed(tmp_path):
    (tmp_path / "a.bits").write_bytes(BITS)
    line = f"exec {shlex.quote(sys.executable)} -m hedgerow publish a.bits {COUNT} --out - >&-"
    ran = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "hedgerow: standard output is closed; name a folder with --out\n")
