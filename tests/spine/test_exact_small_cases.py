"""The whole output distribution on universes of two and three items, enumerated."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from laws import FALSE_ALARM, fits
from toys import PickAndFlip, TokenTree

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.audit import release_bytes
from hedgerow.testing import mutant, output_distribution, worst_loss

ROUNDING = 1e-9


def Narrow():  # noqa: N802 - reads as a method
    """flat-laplace with nine tenths of the noise."""
    return mutant(FlatLaplace, "l1=1", "l1=Fraction(9, 10)", Fraction=Fraction)(threshold=0.5)


def tiny(records, items):
    domain = Domain.declare(item=range(items), records_per_person=2)
    owners = [number // 2 for number in range(len(records))]
    return Sets.from_records(records, domain=domain, persons=owners)


def worst(method, data, *, epsilon=1, unit="record", low=-4, high=5):
    """The worst log-ratio between a data set and all its neighbours."""
    guarantee = PureDP(epsilon=epsilon, unit=unit)
    here = output_distribution(method, data, guarantee, low=low, high=high)
    assert math.isclose(sum(here.values()), 1, rel_tol=1e-9)
    return max(
        worst_loss(here, output_distribution(method, neighbour, guarantee, low=low, high=high))
        for neighbour in data.neighbours(unit)
    )


TWO = [[[0]], [[0], [1]], [[0, 1], [0, 1]], [[0], [0], [1], [0, 1]]]
THREE = [[[0, 1, 2]], [[0], [1, 2]]]


@pytest.mark.parametrize("epsilon", [Fraction(3, 10), 1, 3])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("records", TWO)
def test_flat_laplace_loses_what_it_promises_and_no_more(records, threshold, epsilon):
    loss = worst(FlatLaplace(threshold=threshold), tiny(records, 2), epsilon=epsilon, high=7)
    assert loss <= epsilon + ROUNDING
    assert loss >= float(epsilon) * 0.999  # the bound is reached


@pytest.mark.parametrize("records", [records for records in TWO if len(records) > 1])
def test_flat_laplace_keeps_the_promise_for_persons(records):
    loss = worst(FlatLaplace(threshold=0.5), tiny(records, 2), unit="person", high=8)
    assert 0.5 - ROUNDING <= loss <= 1 + ROUNDING


@pytest.mark.parametrize("records", THREE)
def test_flat_laplace_on_three_items(records):
    loss = worst(FlatLaplace(threshold=1.5), tiny(records, 3), high=4)
    assert 0.999 <= loss <= 1 + ROUNDING


@pytest.mark.parametrize("records", TWO)
def test_the_toy_tree_keeps_its_promise(records):
    assert 0 < worst(TokenTree(cutoff=1), tiny(records, 2), low=-2, high=3) <= 1 + ROUNDING


@pytest.mark.parametrize("records", THREE)
def test_the_toy_tree_on_three_items(records):
    assert 0 < worst(TokenTree(cutoff=2), tiny(records, 3), low=-1, high=3) <= 1 + ROUNDING


def test_choices_and_bits_lose_what_they_promise_and_no_more():
    """Two tokens a record, a choice and a bit each; one record has both ends."""
    data = tiny([[0, 1]], 2)
    honest = worst(PickAndFlip(), data)
    assert 0.5 < honest <= 1 + ROUNDING  # the two counts are published as their sum
    # priced for one token instead of two
    broken = mutant(PickAndFlip, "touches=2", "touches=1")()
    assert worst(broken, data) > 1.05


BROKEN_FLAT = {
    "halved sensitivity": ("Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
    "exact instead of noisy": ("Sets.from_masks(ids + 1, noisy,", "Sets.from_masks(masks, exact,"),
    "skips empty candidates": ("candidates=itemsets", "candidates=int(masks.max(initial=1))"),
    "universe from the data": (
        'itemsets = 2 ** data.domain.size("item") - 1',
        "itemsets = max(1, int(data.histogram()[0].max(initial=0)))",
    ),
    "cutoff from the longest record": (
        "cutoff = max(1,",
        "cutoff = max(1, *[len(s) for s, _ in data.itemsets()],",
    ),
    "prunes on exact counts": (
        "return Sets.from_masks(ids + 1, noisy, data.domain)",
        "kept = np.isin(ids + 1, masks); return Sets.from_masks(ids[kept] + 1, noisy[kept], data.domain)",
    ),
}


@pytest.mark.parametrize("name", BROKEN_FLAT)
def test_a_broken_flat_laplace_is_above_the_promise(name):
    old, new = BROKEN_FLAT[name]
    broken = mutant(FlatLaplace, old, new, np=np, Fraction=Fraction)(threshold=0.5)
    losses = [worst(broken, tiny(records, 2), high=6) for records in TWO]
    print(f"{name}: {max(losses):.4g}")
    assert max(losses) > 1 + 0.01


# each is shown on the data where it does harm: three tokens, or a pair at the cutoff
BROKEN_TREE = {
    "touches one for three tokens": ("touches=3", "touches=1"),
    "favourite of a hundredth of its sensitivity": (
        "Choose(sensitivity=3)",
        "Choose(sensitivity=Fraction(3, 100))",
    ),
    "skips empty pairs": ("candidates=len(pairs)", "candidates=int(held.max(initial=0)) + 1"),
    "prunes on exact counts": (
        "tree.close()",
        "kept = tokens[items] > 0; items, noisy = items[kept], noisy[kept]",
    ),
}


@pytest.mark.parametrize("name", BROKEN_TREE)
def test_a_broken_toy_tree_is_above_the_promise(name):
    old, new = BROKEN_TREE[name]
    broken = mutant(TokenTree, old, new, Fraction=Fraction)(cutoff=2)
    losses = [worst(broken, tiny(records, 3), low=-1, high=3) for records in ([[0, 1, 2]], [[0]])]
    print(f"{name}: {max(losses):.4g}")
    assert max(losses) > 1 + 0.01


def test_the_enumerated_law_is_the_one_that_is_drawn():
    """The laws of the check share nothing with the samplers; here they meet."""
    method, data = FlatLaplace(threshold=0.5), tiny([[0], [0], [0, 1]], 2)
    guarantee = PureDP(epsilon=3, unit="record")
    law = output_distribution(method, data, guarantee, low=-4, high=12)
    drawn = Counter(release_bytes(method.publish(data, guarantee, seed=seed)) for seed in range(5_000))
    assert fits(drawn, law) > FALSE_ALARM
    wrong = output_distribution(Narrow(), data, guarantee, low=-4, high=12)
    assert fits(drawn, wrong) < FALSE_ALARM


def test_an_output_that_only_one_side_can_give_is_an_infinite_loss():
    assert worst_loss({b"a": 1.0}, {b"b": 1.0}) == math.inf
    assert worst_loss({b"a": 0.5, b"b": 0.5}, {b"a": 0.25, b"b": 0.75}) == pytest.approx(math.log(2))
