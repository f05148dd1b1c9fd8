"""A stream goes through all commands: described, published, read again, verified, evaluated, drawn."""

from __future__ import annotations

import gzip
import json
import random

import numpy as np
import polars as pl
import pytest
from backports import zstd
from folders import seal
from terminal import run

from hedgerow import Domain, NumberAxis, PureDP, Stream, find_method, read, read_release, write_release
from hedgerow.data.lattice import CellRule
from hedgerow.errors import DomainError, ParameterError, ReadError, UnsupportedGuarantee
from hedgerow.kinds.streams.cases import stream_of
from hedgerow.kinds.streams.data import Estimates, Rows, value_domain
from hedgerow.kinds.streams.events import BITS, Events

BITS_TEXT = "".join(random.Random(3).choices("0001", k=3_000))
PUBLISH = "publish {} --kind streams --method stream-count --epsilon 1 --unit event --set every=100 --out {}"
PROMISE = PureDP(epsilon=1, unit="event")


def codes_of(data, size=7):
    return np.concatenate([np.zeros(0, np.int64), *data.events.blocks(size)]).tolist()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.bits").write_text(BITS_TEXT)
    return tmp_path


def publish(folder, name="a.bits", out="R", more=""):
    ran = run(f"{PUBLISH.format(name, out)} {more}", folder)
    assert ran.code == 0, ran.err
    return folder / out


def test_a_stream_goes_through_all_commands(folder):
    for line, shown in {
        "describe --kind streams --help": "what a file has: events (the default)",
        "describe a.bits --kind streams": "mean of the last tenth",
        f"{PUBLISH.format('a.bits', 'R')} --dry-run": "Nothing was published",
        PUBLISH.format("a.bits", "R"): "if any one event had been changed",
        "verify R --epsilon 1 --unit event": "satisfied",
        "evaluate R --against a.bits --scores s.json --seed 1": "share of estimates within their half-width",
        "report R --scores s.json --html r.html": "r.html",
        "report R --html p.html": "p.html (public)",
    }.items():
        ran = run(line, folder)
        assert (ran.code, shown in ran.out) == (0, True), (line, ran)
    assert {path.name for path in (folder / "R").iterdir()} == {"data.csv", "release.json", "STATEMENT.md"}
    statement = (folder / "R" / "STATEMENT.md").read_text()
    assert "`value` is the estimated sum of all events up to this one" in statement
    assert "Rows are in the order of time." in statement
    assert "Error over time, beside the half-width" in (folder / "r.html").read_text()
    table = pl.read_csv(folder / "R" / "data.csv")
    assert table["time"].to_list() == list(range(100, 3_001, 100))


def test_a_release_is_read_as_it_was_written(folder):
    release = read_release(publish(folder))
    data = release.data
    assert (type(data), data.of, len(data), release.kind) == (Estimates, "sums", 30, "streams")
    rows = data.all_rows()
    again = [json.loads(line) for line in pl.read_csv(folder / "R" / "data.csv").write_ndjson().splitlines()]
    assert rows.values.tolist() == [row["value"] for row in again]
    write_release(release, folder / "S", like="a.bits")
    assert (folder / "S" / "data.csv").read_bytes() == (folder / "R" / "data.csv").read_bytes()
    # published estimates are no events
    for line in ("describe R/data.csv --kind streams --read rows=sums", "describe R/data.csv --kind streams"):
        assert ("estimates of sums" in run(line, folder).out) == ("rows" in line)
    ran = run(
        "publish R/data.csv --kind streams --method stream-count --epsilon 1 --unit event --read rows=sums --out T",
        folder,
    )
    assert (ran.code, "published estimates, which have no event to protect" in ran.err) == (3, True)


def test_estimates_are_written_so_that_they_are_read_back_exactly(tmp_path):
    numbers = [0.1 + 0.2, 1 / 3, 5e-324, -0.0, 1e16, 123456789.123456789, 1e308]
    rows = Rows(np.arange(1, 8), np.array(numbers), np.array([np.inf, 0, 1e-9, 0.5, 3, 7, np.inf]))
    release = find_method("stream-count")().publish(stream_of([1]), PROMISE, seed=1)
    for number, of in enumerate(("means", "sums")):
        object.__setattr__(release, "outputs", {"": Estimates.from_rows(value_domain(), rows, of=of)})
        write_release(release, tmp_path / f"R{number}", like="a.csv")
        again = read_release(tmp_path / f"R{number}").data
        assert again.of == of
        assert all(np.array_equal(*pair) for pair in zip(again.all_rows(), rows, strict=True))


def change_value(text):
    lines = text.splitlines(keepends=True)
    time, value, half_width = lines[3].split(",")
    return "".join([*lines[:3], f"{time},{float(value) + 1},{half_width}", *lines[4:]])


CHANGES = {
    "a value": change_value,
    "a row less": lambda text: text[: text.rstrip().rindex("\n") + 1],
    "a row twice": lambda text: text + text.splitlines(keepends=True)[-1],
    "another order": lambda text: "".join([*(lines := text.splitlines(keepends=True))[:1], lines[2], lines[1], *lines[3:]]),
    "a cell that is no number": lambda text: text.replace("100,", "100,x", 1),
    "a time of zero": lambda text: text.replace("\n100,", "\n0,", 1),
    "a time that is no whole number": lambda text: text.replace("\n100,", "\n100.5,", 1),
    "an infinite value": lambda text: text.replace("100,", "100,inf,1\n100,", 1),
    "a half-width that is missing": lambda text: text[: text.rstrip().rindex(",") + 1] + "\n",
    "a column less": lambda text: "".join(line.rpartition(",")[0] + "\n" for line in text.splitlines()),
    "another header": lambda text: text.replace("time", "when", 1),
    "numbers written otherwise": lambda text: text.replace("100,", "1e2,", 1),
    "an empty line": lambda text: text.replace("\n", "\n\n", 1),
    "nothing": lambda _: "",
    "only a header": lambda text: text.partition("\n")[0] + "\n",
    "no line break at the end": lambda text: text.rstrip("\n"),
    "line breaks as of Windows": lambda text: text.replace("\n", "\r\n"),
}  # fmt: skip
#: rows that another run could have published
PLAUSIBLE = {"a value", "a row less", "a row twice", "only a header"}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("sealed", [False, True])
def test_a_changed_release_is_not_verified(folder, change, sealed):
    """Also if its hashes fit again, unless the rows could have been published so."""
    data = publish(folder) / "data.csv"
    changed = CHANGES[change](data.read_text())
    assert changed != data.read_text()
    data.write_text(changed)
    if sealed:
        seal(folder / "R")
    ran = run("verify R --epsilon 1 --unit event", folder)
    assert ran.code in ((0,) if sealed and change in PLAUSIBLE else (2, 3)), ran
    assert "Traceback" not in ran.err


def test_a_folder_cannot_say_that_its_rows_are_events(folder):
    path = publish(folder) / "release.json"
    text = path.read_text()
    assert '"rows": "sums"' in text
    for options in ("{}", '{"rows": "events"}', '{"rows": "x"}', '{"rows": "sums", "most_bytes": "9"}'):
        path.write_text(text.replace('{\n        "rows": "sums"\n      }', options))
        assert path.read_text() != text
        seal(folder / "R")
        ran = run("verify R --epsilon 1 --unit event", folder)
        assert ran.code in (2, 3), ran
        assert "Traceback" not in ran.err


# ---- the class


def test_values_are_put_on_the_lattice_each_by_itself():
    domain = Domain.declare(value=NumberAxis.between(-1, 1, "0.5"))
    data = Stream.from_values([-7, -1, -0.5, 0, 0.5, 1, 9e99], domain)
    assert codes_of(data) == [0, 0, 1, 2, 3, 4, 4]
    values = [-0.75, 0.2, 0.25, 1.1]
    with pytest.raises(ReadError, match="event 1 is between two steps; declare a finer step"):
        Stream.from_values(values, domain)
    assert codes_of(Stream.from_values(values, domain, rule=CellRule(rounded=True))) == [1, 2, 3, 4]
    assert data.axis.steps == 4
    assert codes_of(Stream.from_values(np.array([True, False]))) == [1, 0]
    assert codes_of(Stream.from_values(range(2))) == [0, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 2], "event 2 is neither 0 nor 1; declare other values with --domain"),
        ([0, 0.5], "event 2 is neither 0 nor 1"),
        ([1, 1, "1"], "event 3 is neither 0 nor 1"),
        ([[0], [1]], "one per event; got 2 dimensions"),
        ([0, None], "event 2 is neither"),
        ([0, [1]], "event 2 is neither"),
        ([0, 10**400], "event 2 is neither"),
        (np.array(["2024-01-01"], "M8[ns]"), "event 1 is neither"),
        (np.zeros((2, 2)), "got 2 dimensions"),
        (np.array(1), "got 0 dimensions"),
    ],
)
def test_what_is_no_bit_is_refused_by_its_number(values, message):
    with pytest.raises(ReadError, match=message):
        read(values, kind="streams")
    if isinstance(values, list):
        with pytest.raises(ReadError, match=r"event|dimensions"):
            codes_of(read(iter(values), kind="streams"))


def test_a_domain_has_one_axis_with_bounds():
    for domain, message in (
        (Domain.declare(x=range(2)), "one axis, value"),
        (Domain.declare(value=NumberAxis()), "need declared low, high and step"),
        (Domain.declare(value=["a", "b"]), "does not hold numbers"),
    ):
        with pytest.raises(DomainError, match=message):
            Stream.from_values([0], domain)
    assert Stream.from_values([0, 4], Domain.declare(value=range(0, 5, 2))).axis.steps == 2


def test_neighbours_change_one_event():
    data = stream_of([0, 1, 0])
    assert [codes_of(other) for other in data.neighbours("event")] == [[1, 1, 0], [0, 0, 0], [0, 1, 1]]
    wide = stream_of([0, 2, 3], 3)
    assert {tuple(codes_of(other)) for other in wide.neighbours("event")} == {
        (3, 2, 3), (1, 2, 3), (0, 0, 3), (0, 3, 3), (0, 2, 0), (0, 2, 2),
    }  # fmt: skip
    with pytest.raises(UnsupportedGuarantee, match="no unit 'person'"):
        data.count_units("person")


def test_an_iterator_is_read_once():
    data = Stream.from_values(iter([0, 1, 1, 0]))
    assert data.events.read(1, 3).tolist() == [1, 1]
    with pytest.raises(ReadError, match="can be read once; make a new one"):
        data.events.read(0, 1)
    assert data.events.take(np.array([3, 9])).tolist() == [0]


class Blocks(Events):
    """Events that are read in the way of the base class."""

    def __init__(self, codes):
        self.codes = np.array(codes)

    def read(self, start, stop):
        return self.codes[start:stop]


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_sums_of_gaps_are_those_of_the_events(block, monkeypatch):
    monkeypatch.setattr("hedgerow.kinds.streams.events.BLOCK", block)
    draw = random.Random(block)
    for _ in range(60):
        codes = draw.choices(range(9), k=draw.randrange(0, 25))
        ends = sorted(draw.sample(range(1, 30), draw.randrange(1, 9)))
        start = draw.randrange(ends[0])
        edges = [start, *ends]
        reached = [end for end in ends if end <= len(codes)]
        wanted = [sum(codes[a:b]) for a, b in zip(edges, reached, strict=False)]
        assert Blocks(codes).sums(start, np.array(ends)).tolist() == wanted
        positions = np.array(ends) - 1
        assert Blocks(codes).take(positions).tolist() == [codes[end - 1] for end in reached]


def test_estimates_say_what_they_are_of():
    with pytest.raises(ParameterError, match="estimates are of means or sums; got 'counts'"):
        Estimates.from_rows(value_domain(), Rows.join([]), of="counts")
    assert value_domain().axes[0][1] == BITS


# ---- files that are the same stream


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_a_stream_is_the_same_from_every_format(tmp_path, packed):
    bits = BITS_TEXT[:200]
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}[packed]
    lines = "".join(f"{bit}\n" for bit in bits).encode()
    contents = {
        "a.bits": bits.encode(),
        "b.bits": bits.encode() + b"\n",
        "a.txt": lines,
        "a.dat": lines[:-1],
        "b.txt": lines.replace(b"\n", b"\r\n"),
        "a.csv": b"value\n" + lines,
        "b.csv": b"\xef\xbb\xbftime,value\n" + b"".join(b"7," + line + b"\n" for line in lines.split()),
    }
    for name, content in contents.items():
        (tmp_path / f"{name}{packed}").write_bytes(pack(content))
        data = read(tmp_path / f"{name}{packed}", kind="streams")
        assert codes_of(data) == [int(bit) for bit in bits], name
        assert data.events.count() == 200, name
        assert codes_of(data) == [int(bit) for bit in bits], f"{name} again"
        other = data.events.reopened()
        assert (data.events.read(100, 101).tolist(), other.read(3, 4).tolist()) == ([int(bits[100])], [int(bits[3])])
        positions = np.array([0, 7, 199, 200, 500])
        assert data.events.take(positions).tolist() == [int(bits[0]), int(bits[7]), int(bits[199])], name
