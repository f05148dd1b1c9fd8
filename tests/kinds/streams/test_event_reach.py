"""Moving forward in a stream without decoding events, and finding its end."""

from __future__ import annotations

import gzip
import io
import os
import threading

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow import PureDP, StreamMean
from hedgerow.errors import ReadError
from hedgerow.kinds.streams.data import Stream

BITS = "0110" * 25


def opened(kind, folder):
    """A stream of a hundred bits, from one of the sources."""
    if kind == "memory":
        return Stream.from_values([int(bit) for bit in BITS])
    if kind == "iterator":
        return Stream.from_values(iter([int(bit) for bit in BITS]))
    if kind == "lines":
        path = folder / "events.txt"
        path.write_text("".join(f"{bit}\n" for bit in BITS))
        return hedgerow.read(str(path), kind="streams", format="lines")
    path = folder / ("events.bits" if kind == "bits" else "events.bits.gz")
    path.write_bytes(BITS.encode() if kind == "bits" else gzip.compress(BITS.encode()))
    if kind != "pipe":
        return hedgerow.read(str(path), kind="streams", format="bits")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(BITS.encode(),), daemon=True).start()
    return hedgerow.read(str(pipe), kind="streams", format="bits")


KINDS = ("memory", "iterator", "lines", "bits", "gzip", "pipe")


@pytest.mark.parametrize("kind", KINDS)
def test_a_position_or_the_end_is_reached(kind, tmp_path):
    events = opened(kind, tmp_path).events
    assert events.reach(0) == 0
    assert events.reach(7) == 7
    assert events.take(np.array([7, 9, 30])).tolist() == [0, 1, 1]
    assert events.reach(99) == 99
    assert events.reach(100) == 100
    assert events.reach(101) == 100
    assert events.reach(10**12) == 100


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_ends_where_it_ends_whatever_it_comes_from(kind, tmp_path):
    """With a small sample few events are looked at; no estimate is for a time that is not reached."""
    release = StreamMean(sample=2, every=3).publish(opened(kind, tmp_path), PureDP(epsilon=1, unit="event"), seed=4)
    assert release.data.all_rows().times.tolist() == list(range(3, 100, 3))
    assert dict(release.evidence.notes)["events read"] < 30


@pytest.mark.parametrize("kind", ["iterator", "lines", "bits", "gzip", "parquet"])
def test_an_event_between_those_that_are_read_is_not_checked(kind, tmp_path):
    """It is in no sample; read itself, it is refused with its number."""
    text = "01x10"
    events = {
        "iterator": lambda: Stream.from_values(iter([0, 1, "x", 1, 0])),
        "lines": lambda: _written(tmp_path / "a.txt", "\n".join(text).encode(), "lines"),
        "bits": lambda: _written(tmp_path / "a.bits", text.encode(), "bits"),
        "gzip": lambda: _written(tmp_path / "a.bits.gz", gzip.compress(text.encode()), "bits"),
        "parquet": lambda: _written(tmp_path / "a.parquet", _parquet(text), "parquet"),
    }[kind]
    assert events().events.take(np.array([1, 3, 4])).tolist() == [1, 1, 0]
    assert events().events.take(np.array([1, 3, 4, 5, 9])).tolist() == [1, 1, 0]
    with pytest.raises(ReadError, match="event 3 "):
        events().events.take(np.array([1, 2, 4]))


def _written(path, content, form):
    path.write_bytes(content)
    return hedgerow.read(str(path), kind="streams", format=form)


def _parquet(text):
    file = io.BytesIO()
    pl.DataFrame({"value": list(text)}).write_parquet(file)
    return file.getvalue()


def test_an_iterator_is_picked_from_in_order():
    events = opened("iterator", None).events
    assert events.take(np.array([5, 6])).tolist() == [1, 1]
    with pytest.raises(ReadError, match="can be read once"):
        events.take(np.array([6]))
    assert events.take(np.array([], np.int64)).tolist() == []
    assert events.take(np.array([98, 99, 100, 120])).tolist() == [1, 0]
    assert events.reach(200) == 100
