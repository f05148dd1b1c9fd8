"""Every registered method passes the one check for all methods, in every unit it protects."""

from __future__ import annotations

import pytest
from small import small
from toys import MinimumSupport, PassOn, PickAndFlip, TokenTree

from hedgerow import METHODS, PureDP, find_method
from hedgerow.errors import InternalError, PromiseBroken
from hedgerow.privacy.parsing import example_of
from hedgerow.testing import check_publisher, mutant

CASES = [(name, unit) for name in METHODS for unit in find_method(name).units]
#: methods without units (syntactic ones), with each promise they keep: the example of its row in the table
SYNTACTIC = [(name, kept.name) for name in METHODS if not find_method(name).units for kept in find_method(name).keeps]


def test_every_registered_method_has_a_case():
    assert {name for name, _ in CASES + SYNTACTIC} == set(METHODS)


@pytest.mark.parametrize(("name", "promise"), SYNTACTIC)
@pytest.mark.filterwarnings(
    "ignore:a sensitive value", "ignore:no record has the sensitive value", "ignore:k = ", "ignore:labels of one level"
)
@pytest.mark.filterwarnings("ignore:nothing is kept", "ignore:mu is at least", "ignore:moved weights show")
def test_a_registered_syntactic_method_conforms(name, promise):
    """It publishes the same whatever the order of its input, and what it publishes is verified."""
    check_publisher(small(name), example_of(promise))


@pytest.mark.parametrize(("name", "unit"), CASES)
def test_a_registered_method_conforms(name, unit):
    assert find_method(name).name == name
    result = check_publisher(small(name), PureDP(epsilon=1, unit=unit))
    assert result.moved >= result.replays / 2
    assert result.replays >= 20


@pytest.mark.slow
@pytest.mark.parametrize(("name", "unit"), CASES)
def test_a_registered_method_conforms_with_much_noise(name, unit):
    """Neighbours of equal content with 24 draws of noise each, where the fast set has three."""
    check_publisher(small(name), PureDP(epsilon=1, unit=unit), repeats=24)


@pytest.mark.parametrize("unit", ["record", "person"])
def test_toys_of_both_families_conform(unit):
    """By the call that catches the planted bugs of `test_mutants`."""
    assert check_publisher(TokenTree(), PureDP(epsilon=1, unit=unit)).moved >= 20
    assert check_publisher(PickAndFlip(), PureDP(epsilon=1, unit=unit)).moved >= 20
    assert check_publisher(PassOn(), MinimumSupport(2)).replays == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    Privacy\n", "    Privately\n", "needs a section Privacy"),
        ('"toy-token-tree"\n    kinds', '"Toy Tree"\n    kinds', "the name is not a valid id"),
        ('param(1, "noisy count a node must reach", ge=1)', "1", "cutoff must be stated by param"),
    ],
)
def test_a_method_describes_itself(old, new, message):
    with pytest.raises((PromiseBroken, InternalError), match=message):
        check_publisher(mutant(TokenTree, old, new)(), PureDP(epsilon=1, unit="record"))


def test_a_method_that_asks_nothing_was_not_checked():
    silent = mutant(
        TokenTree,
        "tokens = count_tokens(data, most=3)",
        "return type(data).from_masks(*[__import__('numpy').zeros(0, int)] * 2, data.domain)",
    )
    with pytest.raises(PromiseBroken, match="only 0 of 63 replays moved an exact answer"):
        check_publisher(silent(), PureDP(epsilon=1, unit="record"))
