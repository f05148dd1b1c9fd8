"""private-wavelet keeps its promise: exact small cases, a black-box check, and planted bugs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, PureDP
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_wavelet import publisher
from hedgerow.kinds.matrices.methods.private_wavelet.model import Grid
from hedgerow.kinds.matrices.methods.private_wavelet.publisher import PrivateWavelet
from hedgerow.testing import check_publisher, check_replay, mutant, output_distribution, worst_loss

BITS = Domain.declare(a=NumberAxis.between(0, 1, 1))
ROUNDING = 1e-9


def bits(*values):
    return Matrix.from_rows(np.array(values, float).reshape(-1, 1), domain=BITS)


@pytest.fixture
def two_sizes(monkeypatch):
    """Cells and pairs of cells, which would not be chosen for axes as short as these."""

    def choose(lengths, range_share):
        del range_share
        return (Grid((1,), 2), Grid((2,), 1)) if lengths == (2,) else (Grid((1,), 1),)

    monkeypatch.setattr(publisher, "choose_grids", choose)


def worst(method, data, unit):
    """The worst log-ratio between a data set and all its neighbours."""
    promise = PureDP(epsilon=1, unit=unit)
    here = output_distribution(method, data, promise, low=-1, high=3)
    assert math.isclose(sum(here.values()), 1, rel_tol=1e-9)
    others = {neighbour.to_bytes(): neighbour for neighbour in data.neighbours(unit)}.values()
    return max(worst_loss(here, output_distribution(method, other, promise, low=-1, high=3)) for other in others)


@pytest.mark.usefixtures("two_sizes")
@pytest.mark.parametrize(
    ("data", "unit", "least"),
    [
        (bits(1), "row", 0.999),
        pytest.param(bits(0, 1), "row", 0.8, marks=pytest.mark.slow),
        pytest.param(bits(0, 1), "cell", 0.5, marks=pytest.mark.slow),
    ],
)
def test_the_whole_law_on_two_cells(data, unit, least):
    """Every answer is enumerated. Nothing loses more than was promised; whole numbers within bounds hide some of it."""
    assert least <= worst(PrivateWavelet(), data, unit) <= 1 + ROUNDING


def test_the_whole_law_shows_too_little_noise():
    broken = mutant(PrivateWavelet, "l1=1)", "l1=Fraction(9, 10))", Fraction=Fraction)
    assert worst(PrivateWavelet(), bits(1), "row") <= 1 + ROUNDING
    assert worst(broken(), bits(1), "row") > 1.1


RUNS = 4_000
LITTLE_NOISE = mutant(PrivateWavelet, "l1=1)", "l1=Fraction(1, 3))", Fraction=Fraction)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "unit", "honest"),
    [(PrivateWavelet(), "row", True), (PrivateWavelet(), "cell", True), (LITTLE_NOISE(), "row", False)],
    ids=["row", "cell", "too little noise"],
)
def test_the_loss_seen_from_outside(method, unit, honest):
    """4,000 releases of each of two neighbours: no event becomes more than e times as likely, by five deviations."""
    promise = PureDP(epsilon=1, unit=unit)
    first, second = (bits(1, 1), bits(1)) if unit == "row" else (bits(1, 0), bits(0, 0))

    def sums(data):
        return np.array([method.publish(data, promise, seed=seed).data.values.sum() for seed in range(RUNS)])

    here, there = sums(first), sums(second)
    beyond = []
    for event in range(4):
        for happened in (np.greater_equal, np.less):
            mine, other = happened(here, event + 0.5).mean(), happened(there, event + 0.5).mean()
            if min(mine, other) >= 0.005:
                beyond.append(abs(math.log(mine / other)) - 5 * math.sqrt((1 / mine + 1 / other) / RUNS))
    assert (max(beyond) <= 1) == honest
    assert len(beyond) > 1


def test_the_whole_budget_is_lost_at_several_sizes():
    """A row, and a cell that moves from bound to bound, cost exactly what was promised."""
    axis = NumberAxis.between(0, 255, 1)
    data = Matrix.from_rows(np.arange(200.0)[:, None], domain=Domain.declare(a=axis))
    for unit, index in (("row", 7), ("cell", 1)):
        promise = PureDP(epsilon="0.3", unit=unit)
        result = check_replay(PrivateWavelet(), data, data.neighbour(index, unit=unit), promise, 5)
        assert result.questions > 1
        assert result.loss == Fraction(3, 10)


@settings(max_examples=25)
@given(
    rows=st.lists(st.tuples(st.integers(0, 140), st.integers(0, 60)), min_size=1, max_size=8),
    index=st.integers(0, 50),
    unit=st.sampled_from(["row", "cell"]),
    seed=st.integers(0, 999),
)
def test_the_replay_law_holds_at_several_sizes(rows, index, unit, seed):
    """On axes that are long enough for blocks of several sizes; the shared check has short ones."""
    axes = {"a": NumberAxis.between(0, 140, 1), "b": NumberAxis.between(0, 60, 1)}
    values = np.array(rows, float) if unit == "row" else np.resize(np.array(rows, float), (150, 2))
    data = Matrix.from_rows(values, domain=Domain.declare(**axes))
    neighbour = data.neighbour(index % data.count_neighbours(unit), unit=unit)
    result = check_replay(PrivateWavelet(bins=128), data, neighbour, PureDP(epsilon="0.7", unit=unit), seed)
    assert result.questions > 2
    assert result.moved


MUTANTS = {
    "halved sensitivity": ("row", "Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
    "a cell moves by one step": ("cell", "Laplace(l1=steps)", "Laplace(l1=1)"),
    "exact instead of noisy": ("row", "answers.append(noisy)", "answers.append(sums)"),
    "exact numbers of a column": ("cell", "answers.append(noisy)", "answers.append(sums)"),
    "every size has the whole budget": ("row", "ledger.budget * grid.weight / total", "ledger.budget"),
    "bounds from the data": ("row", "np.full(exact.shape, UNLIMITED)", "exact"),
    "the largest number is the bound": ("cell", "np.full(len(data), steps)", "data.column_in_order(number)"),
    "bins from the number of rows": ("row", "self.bins)", "len(data))"),
    "rows by their content": ("cell", "np.sort(data.ids)", "data.ids[np.argsort(data.values[:, 0], kind='stable')]"),
}


@pytest.mark.parametrize("bug", MUTANTS)
def test_mutants_of_private_wavelet_are_caught(bug):
    unit, old, new = MUTANTS[bug]
    broken = mutant(PrivateWavelet, old, new, Fraction=Fraction)
    with pytest.raises(GuaranteeError):
        check_publisher(broken(bins=2), PureDP(epsilon=1, unit=unit))
