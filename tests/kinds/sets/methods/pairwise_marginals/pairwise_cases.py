"""What the tests of pairwise-marginals share: its branches, forced, and its sensitivities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hedgerow import PairwiseMarginals
from hedgerow.kinds.sets.methods.pairwise_marginals import items_model, pairs_model
from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import _CANDIDATES
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import _BOUNDS

__all__ = ["BRANCHES", "UNIT", "banded", "forced", "labels", "require_item_sensitivity", "require_pair_sensitivity"]

#: the questions of each branch
BRANCHES = {
    "off": ["sizes", "item weights"],
    "again": ["sizes", "item weights", "item weights again"],
    "pairs": ["sizes", "item weights", "pair weights"],
}
UNIT = 1_000


@contextmanager
def banded() -> Iterator[None]:
    """Bands of sizes wherever records are not all of one size, however large the noise is."""
    rules = {"_LEAST_BOUND": 1, "_MOST_NOISE": 1e9, "_PAIRS_BEYOND": 1e-9, "_ITEMS_WITHIN": 1e-9, "_NEXT": 2}
    before = {name: getattr(items_model, name) for name in rules}
    for name, value in rules.items():
        setattr(items_model, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(items_model, name, value)


@contextmanager
def forced(branch: str, cls: type = PairwiseMarginals, **settings: Any) -> Iterator[PairwiseMarginals]:
    """The method on one branch, whatever the worth of pairs is; without a pair it asks for items again."""
    rules = pairs_model._WORTH, pairs_model._IMPORTANCE
    pairs_model._WORTH, pairs_model._IMPORTANCE = {"pairs": (-1.0, -1.0), "again": (2.0, 2.0)}.get(branch, rules)
    try:
        yield cls(pairs="off" if branch == "off" else "auto", **{"steps": 20, **settings})
    finally:
        pairs_model._WORTH, pairs_model._IMPORTANCE = rules


def labels(release: Any) -> list[str]:
    """The questions that were asked."""
    return [entry.label for entry in release.evidence.entries]


def require_item_sensitivity(weigh: Callable[[int, int], Any]) -> None:
    """A record of `k` items moves `k` cells by its weight: at most the bound, and a short one as much."""
    size = np.arange(5_000)
    for bound in _CANDIDATES:
        moved = size * weigh(bound, 4_999)
        assert moved.max() == UNIT * bound
        assert moved[1] == UNIT


def require_pair_sensitivity(weigh: Callable[[int, int], Any]) -> None:
    """The same for the pairs of a record with `s` items of the head."""
    size = np.arange(1_200)
    for bound in _BOUNDS:
        moved = size * (size - 1) // 2 * weigh(bound, 1_199)
        assert moved.max() == UNIT * bound
        assert moved[2] == UNIT
