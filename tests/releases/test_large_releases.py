"""Releases that are large and honest: they are read without trust, and long records in order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Domain, PureDP, Sequences, find_method, read_release, write_release
from hedgerow.numerics.sorting import order_of_lists


@pytest.mark.slow
def test_an_honest_release_of_a_million_records_needs_no_trust(tmp_path):
    """Short records in canonical order compress a hundredfold and more."""
    lengths = np.random.default_rng(1).geometric(0.7, 10**6)
    items = np.random.default_rng(2).zipf(1.8, lengths.sum()) % 17
    rows = {"row": np.repeat(np.arange(10**6), lengths), "item": items}
    data = Sequences.from_columns(**rows, domain=Domain.declare(item=range(17))).canonical()
    release = dataclasses.replace(_of_sequences(), outputs={"": data}, domain=data.domain)
    for ending in ("dat.gz", "spmf.gz", "jsonl.zst", "parquet.zst"):
        place = write_release(release, tmp_path / "X", like=f"x.{ending}", overwrite=True)
        assert len(read_release(place).data) == 10**6


def _of_sequences():
    data = Sequences.from_records([[1, 2]] * 90, domain=Domain.declare(item=range(17)))
    return find_method("ngram")().publish(data, PureDP(epsilon=1, unit="sequence"))


@given(st.integers(1, 6), st.integers(250, 262), st.data())
def test_long_lists_are_in_the_order_of_short_ones(rows, size, data):
    cells = data.draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    lists = np.zeros((rows, size), np.int64)
    lists[:, -1] = cells
    lists[:, size // 2] = data.draw(st.lists(st.integers(0, 300), min_size=rows, max_size=rows))
    wanted = np.lexsort(tuple(reversed(list(lists.T))))
    assert order_of_lists(lists).tolist() == wanted.tolist()
