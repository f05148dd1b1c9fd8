"""flat-laplace against its vectors: a printed table, and the closed form of its law."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from project import ROOT, VECTORS
from scipy import stats

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.audit import Recorder, output_distribution
from hedgerow.errors import DomainError, ParameterError
from hedgerow.frontiers.sharded import ShardedEngine
from hedgerow.privacy import ExactAnswers
from hedgerow.publisher import publish_with
from hedgerow.testing import sets_of
from laws import FALSE_ALARM

VECTOR = json.loads((VECTORS / "flat-laplace.json").read_text())
RECORD = PureDP(epsilon=1, unit="record")


def test_all_itemsets_of_the_printed_table_are_asked_for():
    held = VECTOR["noise off"]
    data = Sets.from_records(held["records"], domain=Domain.declare(item=held["items"]))
    recorder = Recorder(ExactAnswers())
    publish_with(FlatLaplace(threshold=0), data, RECORD, recorder)
    (question, _), *rest = recorder.transcript
    assert not rest
    assert question.families.candidates.tolist() == [VECTOR["candidates"]]


@pytest.mark.parametrize("row", VECTOR["law"]["rows"], ids=lambda row: f"count {row['count']}")
def test_the_closed_form_of_the_law(row):
    """The law of one itemset's published count, the other itemsets summed out."""
    data = sets_of([[0]] * row["count"], 2)
    law = output_distribution(FlatLaplace(threshold=VECTOR["law"]["threshold"]), data, RECORD, low=-3, high=9)
    published = Counter()
    for output, chance in law.items():
        rows = json.loads(output.splitlines()[-1])[3]
        published[next((weight for items, weight, _ in rows if items == [0]), None)] += chance
    assert published[None] == pytest.approx(row["absent"], abs=1e-6)
    for count, chance in row["published"].items():
        assert published[int(count)] == pytest.approx(chance, abs=1e-6)


def test_the_number_of_spurious_itemsets_is_as_computed():
    """Nine items, no record: 511 empty itemsets reach the cutoff with a known chance each."""
    data = sets_of([], 9)
    sizes = [len(FlatLaplace(threshold=1).publish(data, RECORD, seed=seed).data.itemsets()) for seed in range(300)]
    chance = np.exp(-2) / (1 + np.exp(-1))
    total = stats.binomtest(sum(sizes), 511 * 300, chance)
    assert total.pvalue > FALSE_ALARM
    assert stats.binomtest(sum(sizes), 511 * 300, chance * 1.1).pvalue < FALSE_ALARM


def test_counts_come_out_right_when_the_noise_is_small():
    data = sets_of([[0]] * 70 + [[1, 2]] * 50, 3)
    release = FlatLaplace().publish(data, PureDP(epsilon=60, unit="record"), seed=1)
    assert release.data.itemsets() == [((0,), 70), ((1, 2), 50)]


def test_universes_that_are_too_large_are_refused_with_what_to_do():
    with pytest.raises(ParameterError, match="raise the threshold, or take a method for larger domains"):
        FlatLaplace().publish(sets_of([[0]], 40), RECORD)
    with pytest.raises(DomainError, match="a mask holds 62 items"):
        FlatLaplace().publish(sets_of([[0]], 63), RECORD)


# ---- real data


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_order_and_engine_do_not_matter_on_real_data(msnbc):
    shuffled = msnbc.shuffled(np.random.default_rng(1)).on(ShardedEngine(2))
    for ours, theirs in zip(msnbc.histogram(), shuffled.histogram(), strict=True):
        assert np.array_equal(ours, theirs)
