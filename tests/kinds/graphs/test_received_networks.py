"""Networks made by somebody else: their vertices may be a long range of numbers, in a short folder."""

from __future__ import annotations

import numpy as np
import pytest
from folders import seal
from terminal import run

from hedgerow import Domain, Graph, PureDP, RandomGraph, read_release, write_release
from hedgerow.errors import LimitExceeded

PROMISE = PureDP(epsilon=1, unit="edge")


def test_a_range_of_values_may_be_long_only_if_the_files_are(tmp_path):
    """A short folder cannot make its receiver expand a range to gigabytes, and a large network needs no --trusted."""
    declared = Domain.declare(vertex=range(210_000))
    at = np.arange(60_000)
    for name, edges in {"few": 10, "many": len(at)}.items():
        data = Graph.from_columns(source=at[:edges], target=210_000 - 1 - at[:edges], domain=declared)
        write_release(RandomGraph().publish(data, PROMISE), tmp_path / name, like="a.edges")
    with pytest.raises(LimitExceeded, match="declares 210,000 values, more than 200,000 for files of this size; if"):
        read_release(tmp_path / "few")
    assert run("verify few", tmp_path).code == 3
    assert run("verify few --trusted", tmp_path).code == 0
    assert len(read_release(tmp_path / "few", trusted=True).data) < 100
    assert run("verify many", tmp_path).code == 0


def test_holes_of_a_file_do_not_allow_a_longer_range(tmp_path):
    data = Graph.from_edges([(0, 1)], domain=Domain.declare(vertex=range(210_000)))
    write_release(RandomGraph().publish(data, PROMISE), tmp_path / "X", like="a.edges")
    with (tmp_path / "X" / "data.edges").open("r+b") as file:
        file.truncate(10**6)
    seal(tmp_path / "X")
    with pytest.raises(LimitExceeded, match="declares 210,000 values, more than 200,000"):
        read_release(tmp_path / "X")
