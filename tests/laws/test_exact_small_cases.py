"""The whole output distribution on universes of two and three items, enumerated."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from toys import PickAndFlip, TokenTree

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.audit import release_bytes
from hedgerow.testing import mutant, output_distribution, worst_loss
from laws import FALSE_ALARM, fits

ROUNDING = 1e-9


def scaled(tenths):
    """flat-laplace with so many tenths of its noise."""
    return mutant(FlatLaplace, "l1=1", f"l1=Fraction({tenths}, 10)", Fraction=Fraction)(threshold=0.5)


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
THREE = [[[0, 1, 2]], pytest.param([[0], [1, 2]], marks=pytest.mark.slow)]


@pytest.mark.parametrize("epsilon", [pytest.param(Fraction(3, 10), marks=pytest.mark.slow), 1, 3])
@pytest.mark.parametrize("threshold", [pytest.param(0.0, marks=pytest.mark.slow), 0.5, 2.0])
@pytest.mark.parametrize("records", TWO)
def test_flat_laplace_loses_what_it_promises_and_no_more(records, threshold, epsilon):
    """The true counts are at most 2; answers are told apart up to 3 above the cutoff, and lumped from there."""
    cutoff = max(1, math.ceil(math.sqrt(2) * threshold / epsilon))
    loss = worst(FlatLaplace(threshold=threshold), tiny(records, 2), epsilon=epsilon, high=cutoff + 3)
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
    """Second answers of 0 and less publish the same: lumping them hides nothing."""
    assert 0 < worst(TokenTree(cutoff=2), tiny(records, 3), low=0, high=3) <= 1 + ROUNDING


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
    """On the four records of `TWO`, where each of them does harm: singletons, a pair, and items that occur once.

    Answers of 3 and more are lumped. That can only hide a loss, so what is above the promise here is above it.
    """
    old, new = BROKEN_FLAT[name]
    broken = mutant(FlatLaplace, old, new, np=np, Fraction=Fraction)(threshold=0.5)
    loss = worst(broken, tiny(TWO[-1], 2), high=3)
    print(f"{name}: {loss:.4g}")
    assert loss > 1 + 0.01


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
    """On one record of three tokens, where each of them does harm.

    Answers of 2 and more are lumped. That can only hide a loss, so what is above the promise here is above it.
    """
    old, new = BROKEN_TREE[name]
    broken = mutant(TokenTree, old, new, Fraction=Fraction)(cutoff=2)
    loss = worst(broken, tiny([[0, 1, 2]], 3), low=-1, high=2)
    print(f"{name}: {loss:.4g}")
    assert loss > 1 + 0.01


@pytest.mark.slow
def test_the_enumerated_law_is_the_one_that_is_drawn():
    """The laws of the check share nothing with the samplers; here they meet.

    3,000 draws tell the law from those of nine and of eleven tenths of the noise.
    """
    method, data = FlatLaplace(threshold=0.5), tiny([[0], [0], [0, 1]], 2)
    guarantee = PureDP(epsilon=3, unit="record")
    drawn = Counter(release_bytes(method.publish(data, guarantee, seed=seed)) for seed in range(3_000))
    for claimed, accepted in [(method, True), (scaled(9), False), (scaled(11), False)]:
        law = output_distribution(claimed, data, guarantee, low=-4, high=8)
        assert (fits(drawn, law) > FALSE_ALARM) == accepted


def test_an_output_that_only_one_side_can_give_is_an_infinite_loss():
    assert worst_loss({b"a": 1.0}, {b"b": 1.0}) == math.inf
    assert worst_loss({b"a": 0.5, b"b": 0.5}, {b"a": 0.25, b"b": 0.75}) == pytest.approx(math.log(2))
