"""Planted bugs of pairwise-marginals: the shipped code with one line changed, and the law that refuses it."""

from __future__ import annotations

import numpy as np
import pytest
from pairwise_cases import forced, require_item_sensitivity, require_pair_sensitivity
from pairwise_fits import arrives, keeps_its_total, long_records
from test_pairwise_laws import test_large_counts_and_little_noise_are_no_problem as large_counts
from test_pairwise_model import keeps_tokens, require_balance
from test_pairwise_vectors import test_exact_vectors as exact_vectors

from hedgerow import GuaranteeError, PairwiseMarginals, PureDP
from hedgerow.frontiers import LocalFrontier
from hedgerow.kinds.sets.methods.pairwise_marginals import draw, items_model, pairs_model, publisher
from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import SizeHistogram
from hedgerow.testing import changed, check_replay, mutant, sets_of

RECORD = PureDP(epsilon=1, unit="record")
#: enough records of two items for the branch with pairs, at an epsilon that lets it see them
PAIRED = sets_of([[0, 1]] * 6 + [[0, 2], [1, 2]] + [[0, 1, 2, 3]] * 2, 5)
LOUD = PureDP(epsilon=50, unit="record")


# ---- weights


@pytest.mark.parametrize(
    ("name", "require"), [("weigh_by_size", require_item_sensitivity), ("weigh_by_pairs", require_pair_sensitivity)]
)
def test_weights_rounded_up_are_caught(name, require):
    require(getattr(items_model, name))
    with (
        changed(items_model, name, "UNIT * most // ", "_Up(UNIT * most) // ", _Up=_Up),
        pytest.raises(AssertionError),
    ):
        require(getattr(items_model, name))


class _Up:
    """A number that is divided upwards."""

    def __init__(self, number):
        self.number = number

    def __floordiv__(self, other):
        return -(-self.number // other)


def test_pairs_weighted_by_the_size_of_the_record_are_caught():
    exact_vectors()
    with (
        changed(
            LocalFrontier,
            "weigh_pairs",
            "row_weights = weights[sizes] if",
            "row_weights = weights[np.minimum(lengths, len(weights) - 1)] if",
        ),
        pytest.raises(AssertionError),
    ):
        exact_vectors()


# ---- questions


def neighbours(method, data=PAIRED, promise=LOUD, seeds=range(3)):
    """The replay law with every record left out in turn; of neighbours with equal content, one tells all."""
    every = (data.neighbour(index, unit="record") for index in range(data.count_neighbours("record")))
    different = {tuple(neighbour.itemsets()): neighbour for neighbour in every}
    for seed in seeds:
        for neighbour in different.values():
            check_replay(method, data, neighbour, promise, seed)


def test_the_shipped_class_passes_the_calls_of_the_mutants():
    for branch in ("off", "again", "pairs"):
        with forced(branch) as method:
            neighbours(method, seeds=range(1))
    with forced("off", longest=2) as method:
        neighbours(method, sets_of([[0], list(range(7)), [6]], 7))


QUESTIONS = {
    "items without the unit": (
        "off",
        'Laplace(l1=UNIT * bands.most), spend=ledger.budget, label="item weights")',
        'Laplace(l1=bands.most), spend=ledger.budget, label="item weights")',
        "loses",
    ),
    "items again without the unit": (
        "again",
        "mechanism = Laplace(l1=UNIT * bands.most)",
        "mechanism = Laplace(l1=bands.most)",
        "loses",
    ),
    "pairs without the unit": ("pairs", "Laplace(l1=UNIT * selection.bound)", "Laplace(l1=selection.bound)", "loses"),
    "both questions": (
        "pairs",
        "pairs = self._ask_pairs(data, shares[2], selection)",
        "self._ask_items_again(data, shares[2], sizes, items); pairs = self._ask_pairs(data, shares[2], selection)",
        "would spend",
    ),
    "the head by exact counts": (
        "pairs",
        "items.weights.sum(axis=0),",
        "data.weigh_items(np.ones(6, np.int64)) + 0.0,",
        "loses|something else|differently",
    ),
    "the number of records": (
        "off",
        "sizes = SizeHistogram.estimate(noisy, edges",
        "sizes = SizeHistogram.estimate(np.append(noisy[:-1], len(data) - noisy[:-1].sum()), edges",
        "publishes something else",
    ),
    "the largest size of the data in the statement": (
        "off",
        "int(sizes.edges[-1]),",
        "int(np.diff(data.starts).max(initial=1)),",
        "publishes something else",
    ),
    "sizes up to the largest record": (
        "off",
        "edges = upper_edges(self._largest_size(data))",
        "edges = upper_edges(int(np.diff(data.starts).max(initial=1)))",
        "asked differently",
    ),
    "pairs that occur": (
        "pairs",
        "noisy = ledger.ask(exact, Laplace(l1=UNIT * selection.bound)",
        "noisy = 0 * exact; noisy[exact > 0] = ledger.ask(exact[exact > 0], Laplace(l1=UNIT * selection.bound)",
        "asked differently",
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_that_break_the_promise_are_caught(name):
    branch, old, new, message = QUESTIONS[name]
    # near ties between items, one record that is largest, and pairs that only one record has
    data = sets_of([[0, 1]] * 3 + [[2, 3]] * 3 + [[0, 2], [1, 3], [0, 1, 2, 3], [3, 4]], 5)
    broken = mutant(PairwiseMarginals, old, new)
    with forced(branch, broken) as method, pytest.raises(GuaranteeError, match=message):
        neighbours(method, data, seeds=range(6))


def test_a_weight_from_the_bounded_size_is_caught():
    data = sets_of([[0], list(range(7)), [6]], 7)
    with (
        changed(items_model, "weigh_by_size", "np.arange(items + 1)", "np.minimum(np.arange(items + 1), 2)"),
        forced("off", longest=2) as method,
        pytest.raises(GuaranteeError, match="loses"),
    ):
        neighbours(method, data)


# ---- estimates


def largest_sizes():
    """The largest record of each of ten releases: no record of the data has more than ten items."""
    draw = np.random.default_rng(3)
    records = [draw.choice(169, size, replace=False).tolist() for size in draw.integers(1, 11, 3_000)]
    data, method = sets_of(records, 169), PairwiseMarginals(pairs="off")
    releases = (method.publish(data, RECORD, seed=seed).data for seed in range(10))
    return [int(np.diff(release.starts).max()) for release in releases]


def test_noise_on_empty_sizes_is_caught():
    assert max(largest_sizes()) <= 60
    broken = mutant(
        SizeHistogram, "top = int(np.flatnonzero(counts >= threshold).max(initial=0))", "top = len(counts) - 1"
    )
    original, publisher.SizeHistogram = publisher.SizeHistogram, broken
    try:
        assert max(largest_sizes()) > 60
    finally:
        publisher.SizeHistogram = original


def test_a_likelihood_of_zero_everywhere_is_caught():
    large_counts()
    with (
        changed(items_model, "posterior_means", "exponent - exponent.max(axis=1, keepdims=True)", "exponent"),
        np.errstate(all="ignore"),
        pytest.raises(AssertionError),
    ):
        check_large_counts(items_model.posterior_means)


def check_large_counts(function):
    means, _ = function(np.geomspace(1, 400_000, 100)[None], np.array([1 / 1.25]))
    assert np.all(np.isfinite(means))


# ---- the model


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.log(np.maximum(records.sizes - size, 1)) - np.log(size + 1.0)", "-np.log(size + 1.0)"),
        (
            "np.log(np.maximum(records.sizes - size, 1)) - np.log(size + 1.0)",
            "np.log(np.maximum(records.sizes - size, 1))",
        ),
        ("_sum_of(proposals.near, cells), size)", "_sum_of(proposals.near, cells), size + (item is step.leaving))"),
        ("model.damping[size] * inner", "model.damping[size + 1] * inner"),
    ],
    ids=["places of the tail", "items that may leave", "an item counted as its own neighbour", "damping of the rest"],
)
def test_moves_out_of_balance_are_caught(old, new):
    with changed(pairs_model, "log_acceptance", old, new), pytest.raises(AssertionError):
        for items, head, size in ((5, 3, 2), (6, 5, 4)):
            require_balance(items, head, size, 0.4)


def test_resampling_across_sizes_is_caught():
    with (
        changed(pairs_model, "resample_by_size", "np.flatnonzero(np.diff(sizes, prepend=-1))", "np.zeros(1, np.int64)"),
        pytest.raises(AssertionError),
    ):
        keeps_its_total()


def test_a_population_counted_with_other_weights_is_caught():
    with (
        changed(
            pairs_model.PairFit,
            "_change_weights",
            "weigh_items(self._targets.by_size)",
            "weigh_items(np.ones(len(self._targets.by_size)))",
        ),
        pytest.raises(AssertionError),
    ):
        arrives(long_records())


def test_partners_drawn_with_repetition_are_caught():
    with (
        changed(
            draw._Tokens,
            "exchange",
            "sample_distinct(min(len(surplus), others), others, coins)",
            "coins.integers(0, others, len(surplus))",
        ),
        pytest.raises(AssertionError),
    ):
        keeps_tokens()
