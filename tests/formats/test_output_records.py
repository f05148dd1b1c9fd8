"""Records are written in parts of bounded size, with the same result as one by one."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats import blank_separated, jsonl, long_table, spmf
from hedgerow.formats.long_table import OutputRecords
from hedgerow.reading import read

VALUES = [7, 12, 345]


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.integers(1, 9)),
        max_size=8,
    ),
    st.sampled_from([1, 2, 5, 1 << 22]),
)
@settings(max_examples=200)
def test_rows_are_written_as_one_by_one(held, chunk):
    sizes = [len(row) for row, _ in held]
    records = OutputRecords(
        "item",
        VALUES,
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.array([code for row, _ in held for code in row], np.int64),
        np.array([count for _, count in held], np.int64),
    )
    named = [[VALUES[code] for code in row] for row, count in held for _ in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_table, "_CHUNK", chunk)
        assert blank_separated.write(records, {}).decode().splitlines() == [" ".join(map(str, row)) for row in named]
        assert [msgspec.json.decode(line) for line in jsonl.write(records, {}).splitlines()] == named
        assert spmf.write(records, {}).decode().splitlines() == [
            "".join(f"{item} -1 " for item in row) + "-2" for row in named
        ]
        frame = records.to_frame({"unit": "unit", "item": "item"})
    assert frame["item"].to_list() == [item for row in named for item in row]


def test_a_row_with_a_huge_count_is_written_once(monkeypatch):
    records = OutputRecords("item", VALUES, np.array([0, 2]), np.array([0, 1]), np.array([3_000_000]))
    joined = []
    plain = long_table._TextPool.join
    monkeypatch.setattr(long_table._TextPool, "join", lambda *given: joined.append(len(given[2])) or plain(*given))
    monkeypatch.setattr(long_table, "_CHUNK", 1_000)
    assert blank_separated.write(records, {}) == b"7 12\n" * 3_000_000
    assert joined == [2]


def test_lines_that_end_by_a_carriage_return_alone_are_refused(tmp_path):
    (tmp_path / "old.dat").write_bytes(b"1 2\r1\r2 2\r")
    with pytest.raises(ReadError, match="convert the file"):
        read(tmp_path / "old.dat", kind="sequences")
    (tmp_path / "new.dat").write_bytes(b"1 2\r\n1\r\n")
    assert len(read(tmp_path / "new.dat", kind="sequences")) == 2


@pytest.mark.parametrize("value", ["a\0b", "half \ud800"])
def test_what_no_file_can_hold_is_no_value(value):
    with pytest.raises(DomainError, match="cannot be written as text"):
        Domain.declare(item=["a", value])


def test_spmf_under_another_name_is_told(tmp_path):
    (tmp_path / "s.txt").write_text("1 -1 2 -1 -2\n2 -1 -2\n")
    with pytest.raises(ReadError, match="looks like SPMF"):
        read(tmp_path / "s.txt", kind="sequences")
    assert len(read(tmp_path / "s.txt", kind="sequences", format="spmf")) == 2
    (tmp_path / "t.txt").write_text("1 -1 2 -2\n2 -1\n")
    assert len(read(tmp_path / "t.txt", kind="sequences")) == 2
