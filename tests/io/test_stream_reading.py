"""Every event of a stream is read alone, whatever is beside it."""

from __future__ import annotations

import random

import pytest
from reading_streams import STREAM_CASES, check_events

from hedgerow.io import files

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
