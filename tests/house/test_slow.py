"""What takes minutes or real data."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from project import ROOT

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.privacy import Laplace
from hedgerow.privacy.samplers import bits
from laws import FALSE_ALARM, chi_square, two_sided_geometric

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.998, False), (1.002, False)])
@pytest.mark.parametrize("scale", [1, 10, 100])
def test_thirty_million_draws_tell_a_five_hundredth_of_the_scale(scale, factor, accepted):
    source = bits(seed=scale)
    zeros = np.zeros(1_000_000, np.int64)
    sample = np.concatenate([Laplace(l1=scale).draw(zeros, Fraction(1), source) for _ in range(30)])
    p = chi_square(sample, two_sided_geometric(scale * factor), cells=200)
    assert (p > FALSE_ALARM) == accepted


@pytest.fixture(scope="module")
def msnbc():
    """The visitors of a news site in one day: 989,818 sets of 17 page categories."""
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from floor import read_numbers

    line, number = read_numbers(Path(folder) / "msnbc" / "msnbc990928.seq.gz")
    return Sets.from_columns(row=line, item=number - 1, domain=Domain.declare(item=range(1, 18)))


def test_a_million_real_records(msnbc):
    assert len(msnbc) == 989_818
    release = FlatLaplace(threshold=4).publish(msnbc, PureDP(epsilon=1, unit="record"), seed=1)
    truth, published = dict(msnbc.itemsets()), dict(release.data.itemsets())
    errors = np.array([published[itemset] - truth.get(itemset, 0) for itemset in published])
    # what is published errs by the noise; what is not is at most noise above the cutoff of 6
    assert np.abs(errors).max() < 30
    assert max(count for itemset, count in truth.items() if itemset not in published) < 6 + 30
    # most records are of common sets; an empty release would keep none of this mass
    assert sum(published.values()) > 0.97 * len(msnbc)


def test_order_and_engine_do_not_matter_on_real_data(msnbc):
    from hedgerow.frontiers.sharded import ShardedEngine

    shuffled = msnbc.shuffled(np.random.default_rng(1)).on(ShardedEngine(2))
    for ours, theirs in zip(msnbc.histogram(), shuffled.histogram(), strict=True):
        assert np.array_equal(ours, theirs)
