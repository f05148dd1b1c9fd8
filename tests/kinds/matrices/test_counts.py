"""The unit `count` of matrices: one number changes by one step, as when a person is added to a histogram."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import METHODS, Domain, NumberAxis, PureDP, find_method
from hedgerow.errors import UnsupportedGuarantee
from hedgerow.kind_registry import KINDS, differs_by_change, differs_by_step
from hedgerow.kinds.matrices.cases import matrix_of
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_retrieval import PrivateRetrieval
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import write_release

COUNT = PureDP(epsilon=1, unit="count")


def test_neighbours_differ_by_one_step_up_or_down():
    data = matrix_of([[1, -8], [8, 0]], 2)
    others = list(data.neighbours("count"))
    assert len(others) == data.count_neighbours("count") == 8
    assert [float(other.values[0, 0]) for other in others[:2]] == [1.5, 0.5]
    # at a bound there is one way only
    assert {float(other.values[0, 1]) for other in others} == {-8, -7.5}
    assert {float(other.values[1, 0]) for other in others} == {8, 7.5}


@given(
    rows=st.lists(st.lists(st.integers(-300, 300), min_size=2, max_size=2), min_size=1, max_size=5),
    step=st.sampled_from(["0.1", "0.5", "1", "2"]),
    index=st.integers(0, 99),
)
def test_a_neighbour_is_one_step_away_on_the_lattice(rows, step, index):
    """Also where numbers are beyond the bounds: they are moved first."""
    axis = NumberAxis.between("-4", "4", step)
    values = axis.lattice.numbers(np.array(rows))
    data = Matrix.from_rows(values, domain=Domain.declare(a=axis, b=axis))
    other = data.neighbour(index % data.count_neighbours("count"), unit="count")
    moved = np.abs(other.lattice() - data.lattice())
    assert moved.sum() == moved.max() == 1
    assert np.array_equal(other.bounded("count").lattice(), other.lattice())


def test_without_bounds_a_count_changes_by_one():
    free = Matrix.from_rows([[0.0, 4.0]])
    assert [other.values.tolist() for other in free.neighbours("count")] == [[[1, 4]], [[-1, 4]], [[0, 5]], [[0, 3]]]


def test_the_promise_says_by_how_much():
    assert differs_by_change("count")
    assert differs_by_step("count")
    assert not differs_by_step("cell")
    assert {unit for row in KINDS.values() for unit in row.stepped} <= {
        unit for row in KINDS.values() for unit in row.changed
    }
    assert "if any one count had been changed by one step: no outcome" in COUNT.sentence()
    assert "(1-differential privacy for one count, change by one step)" in COUNT.sentence()
    limits = COUNT.limits(matrix_of([], 1).domain)
    assert limits[0] == "A count that changes by several steps: m steps are protected with m times epsilon only."
    assert "had been changed: no outcome" in PureDP(epsilon=1, unit="cell").sentence()


def test_methods_that_do_not_know_counts_refuse_them():
    data = matrix_of([[1, 2]], 2)
    kept = {name for name in METHODS if "count" in find_method(name).units}
    assert kept == {"private-retrieval"}
    with pytest.raises(UnsupportedGuarantee, match="private-wavelet protects row, cell; got unit 'count'"):
        find_method("private-wavelet")().publish(data, COUNT)


@pytest.mark.parametrize("form", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("mode", ["laplace", "randomised-response"])
def test_numbers_beyond_the_bounds_come_back_from_every_format(form, mode, tmp_path):
    axes = {name: NumberAxis.between(0, 1, 1) for name in "ab"}
    data = Matrix.from_rows(np.arange(400).reshape(-1, 2) % 3 == 0, domain=Domain.declare(**axes))
    release = PrivateRetrieval(mode=mode).publish(data, PureDP(epsilon="0.5", unit="cell"), seed=4)
    assert (release.data.values.min() < -2) == (mode == "laplace")
    write_release(release, tmp_path / "R", like=f"x.{form}")
    back, manifest = open_folder(tmp_path / "R")
    assert np.array_equal(back.data.values, release.data.values)
    assert back.data.numbered
    assert dict(manifest.parameters) == {"mode": mode}
