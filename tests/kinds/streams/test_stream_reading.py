"""Every event of a stream is read alone, whatever is beside it."""

from __future__ import annotations

import random
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from reading_streams import STREAM_CASES, check_events

from hedgerow.data.lattice import LatticeCells
from hedgerow.errors import ReadError
from hedgerow.formats import files
from hedgerow.kinds.streams import event_files

STREAMS = 60


def read_share(name, streams, folder):
    """Check so many streams; return the share that could be read."""
    chance = random.Random(name)
    return sum(check_events(STREAM_CASES[name], chance, folder) for _ in range(streams)) / streams


@pytest.mark.parametrize("name", STREAM_CASES)
def test_reading_law_of_streams(name, tmp_path):
    """Also that streams of every case are read, and refused."""
    assert 0.3 < read_share(name, STREAMS, tmp_path) < 0.95


@pytest.mark.parametrize("name", [name for name in STREAM_CASES if name.startswith(("bits", "lines", "CSV"))])
def test_the_law_holds_wherever_a_file_is_cut_into_parts(name, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_CHUNK", 2)
    assert 0.3 < read_share(name, STREAMS, tmp_path) < 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAM_CASES)
def test_reading_law_on_many_streams(name, tmp_path):
    assert 0.3 < read_share(name, 1_000, tmp_path) < 0.95


def all_numbers_or_none(where, name, column, lattice, *, rounded):
    """Take a column for numbers only if all of its cells are."""
    del where, name, rounded
    try:
        numbers = column.cast(pl.Float64).to_numpy()
    except pl.exceptions.PolarsError:
        numbers = np.ones(len(column))
    return LatticeCells.of(numbers, lattice)


def without_blank_lines(parts, split=event_files._whole_lines):
    """Skip empty lines, so that all events after them have other numbers."""
    for part in split(parts):
        yield b"".join(line + b"\n" for line in part.splitlines() if line)


def one_array(values):
    """Let the library choose a type for all values."""
    try:
        return np.asarray(values).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        msg = "no numbers"
        raise ReadError(msg) from None


PLANTED = {
    "one cell makes a column a text": (
        "lines of numbers",
        "hedgerow.kinds.streams.event_files.lattice_cells",
        all_numbers_or_none,
    ),
    "empty lines are skipped": (
        "lines of bits",
        "hedgerow.kinds.streams.event_files._whole_lines",
        without_blank_lines,
    ),
    "one value decides the type of all": ("a list", "hedgerow.kinds.streams.events._number_array", one_array),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_the_law_of_streams_catches_planted_bugs(bug, tmp_path, monkeypatch):
    name, place, wrong = PLANTED[bug]
    module, _, attribute = place.rpartition(".")
    monkeypatch.setattr(import_module(module), attribute, wrong)
    with pytest.raises((AssertionError, pl.exceptions.PolarsError)):
        read_share(name, 400, tmp_path)
