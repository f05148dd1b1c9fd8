"""Generated shopping baskets: customers of a small shop buy for breakfast, for dinner or for a party."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: the items of the shop, by department
SHELVES = {
    "bakery": ("bread", "rolls", "cake"),
    "dairy": ("milk", "butter", "cheese", "yoghurt"),
    "greens": ("apples", "tomatoes", "salad"),
    "pantry": ("pasta", "rice", "coffee", "tea"),
    "drinks": ("juice", "beer", "wine"),
    "baby": ("nappies",),
}
#: errands: the share of customers who come for each, and the probability of each item on it
_ERRANDS = (
    (0.34, {"bread": 0.7, "rolls": 0.5, "butter": 0.45, "milk": 0.5, "coffee": 0.25, "tea": 0.1}),
    (0.26, {"pasta": 0.55, "tomatoes": 0.6, "cheese": 0.4, "wine": 0.3, "salad": 0.35}),
    (0.14, {"beer": 0.75, "juice": 0.3, "cake": 0.35, "cheese": 0.2}),
    (0.16, {"apples": 0.6, "yoghurt": 0.55, "salad": 0.3, "rice": 0.3, "juice": 0.25}),
    (0.06, {"nappies": 0.9, "milk": 0.5, "yoghurt": 0.35, "apples": 0.3}),
    (0.04, {"tea": 0.6, "cake": 0.6, "milk": 0.3}),
)
#: the probability of any other item, baskets per customer, and the share of baskets that are for the usual errand
_BY_CHANCE = 0.015
_VISITS = 6
_LOYAL = 0.7


class Baskets(NamedTuple):
    """Baskets as a long table: basket, customer and item of each line."""

    basket: list[int]
    customer: list[str]
    item: list[str]


def shopping_baskets(baskets: int = 60_000, *, seed: int = 2024) -> Baskets:
    """Generate baskets; the same seed gives the same ones.

    Examples
    --------
    >>> baskets = shopping_baskets(3)
    >>> len(set(baskets.basket)), len(baskets.item) == len(baskets.customer)
    (3, True)
    """
    draw = np.random.default_rng(seed)
    items = [item for shelf in SHELVES.values() for item in shelf]
    chances = np.full((len(_ERRANDS), len(items)), _BY_CHANCE)
    for errand, (_, taken) in enumerate(_ERRANDS):
        for item, chance in taken.items():
            chances[errand, items.index(item)] = chance
    share = np.array([part for part, _ in _ERRANDS])
    # each customer has a usual errand
    customers = -(-baskets // _VISITS)
    usual = draw.choice(len(share), customers, p=share)
    who = draw.integers(0, customers, baskets)
    errand = np.where(draw.random(baskets) < _LOYAL, usual[who], draw.choice(len(share), baskets, p=share))
    taken = draw.random((baskets, len(items))) < chances[errand]
    nothing = ~taken.any(axis=1)
    taken[nothing, draw.integers(0, len(items), int(nothing.sum()))] = True
    basket, item = np.nonzero(taken)
    return Baskets(
        (basket + 1).tolist(),
        [f"c{customer:05d}" for customer in who[basket].tolist()],
        [items[code] for code in item.tolist()],
    )
