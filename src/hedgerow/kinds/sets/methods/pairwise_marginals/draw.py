"""Draw the records that are published: from items alone, or from the fitted model of pairs.

Items are dealt to records like cards: every item as often as expected, and no record gets an item twice. Only estimates
and coins are used here.
"""

from __future__ import annotations

import numpy as np

from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import ItemEstimates
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import PairModel, Population, Proposals, move_all
from hedgerow.numerics.arrays import Floats, Integers, concatenate_ranges, sort_distinct
from hedgerow.numerics.sampling import draw_systematically, sample_distinct

#: moves of every record after the fitted ones were repeated
_LAST_MOVES = 3
#: how often surplus tokens change places with others, and how often what is left is drawn anew
_EXCHANGES, _REPLACEMENTS = 30, 20


def draw_from_items(items: ItemEstimates, sizes: Integers, coins: np.random.Generator) -> tuple[Integers, Integers]:
    """Deal items to records of these sizes, which ascend, as often as expected: the record and item of each token."""
    return deal_by_band(items.expected, sizes, items.bands.starts(sizes), coins)


def draw_from_model(
    population: Population,
    models: list[PairModel],
    head: Integers,
    items: ItemEstimates,
    records: int,
    coins: np.random.Generator,
) -> tuple[Integers, Integers]:
    """Repeat the fitted population until there are so many records, and deal the items of the tail to it."""
    if records > len(population):
        population = population.repeated(records)
        proposals = [Proposals.from_model(model) for model in models]
        for _ in range(_LAST_MOVES):
            move_all(population, models, proposals, coins)
    counts = population.counts
    tail = np.delete(np.arange(len(items.expected[0])), head)
    # an item that could not be dealt may be missing from the head of a record: the tail cannot always make up for it
    others = np.minimum(population.sizes - counts, len(tail))
    row, at = deal_by_band(items.expected[:, tail], others, items.bands.starts(population.sizes), coins)
    rows = np.concatenate((np.repeat(np.arange(len(counts)), counts), row))
    return rows, np.concatenate((head[population.members], tail[at]))


def deal_by_band(
    expected: Floats, sizes: Integers, starts: list[int], coins: np.random.Generator
) -> tuple[Integers, Integers]:
    """Deal within each band of records, with a row of expected numbers per band; `starts` are those of the bands."""
    ends = [*starts[1:], len(sizes)]
    rows: list[Integers] = []
    items: list[Integers] = []
    for each, start, end in zip(expected, starts, ends, strict=True):
        row, item = deal(each, sizes[start:end], coins)
        rows.append(row + start)
        items.append(item)
    return np.concatenate(rows), np.concatenate(items)


def deal(expected: Floats, sizes: Integers, coins: np.random.Generator) -> tuple[Integers, Integers]:
    """Deal items to records of these sizes, in proportion to the expected number of records with each item.

    Returns
    -------
    The record and the item of each token. A token that could not be dealt is missing.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> row, item = deal(np.array([3.0, 2, 1]), np.array([2, 1, 3]), coins((5, 0)))
    >>> row.tolist(), item.tolist()
    ([0, 0, 1, 2, 2, 2], [1, 0, 0, 1, 2, 0])
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    drawn = draw_systematically(expected, len(owner), coins.random()) if len(owner) else owner
    item = coins.permutation(drawn)
    tokens = _Tokens(owner, item, np.cumsum(sizes) - sizes, sizes)
    surplus = tokens.find_surplus(np.arange(len(owner)))
    for _ in range(_EXCHANGES):
        if len(surplus) == 0:
            break
        surplus = tokens.exchange(surplus, coins)
    covered = np.flatnonzero(expected > 0)
    for _ in range(_REPLACEMENTS):
        if len(surplus) == 0:
            break
        item[surplus] = coins.choice(covered, len(surplus))
        surplus = tokens.find_surplus_near(surplus)
    return np.delete(owner, surplus), np.delete(item, surplus)


class _Tokens:
    """The tokens of all records, one record after the other; `item` is changed in place."""

    def __init__(self, owner: Integers, item: Integers, starts: Integers, sizes: Integers) -> None:
        self.owner, self.item, self.starts, self.sizes = owner, item, starts, sizes

    def exchange(self, surplus: Integers, coins: np.random.Generator) -> Integers:
        """Permute the surplus tokens with as many others among themselves, and return which are surplus then.

        Partners are distinct: with one partner for two, a token would be lost.
        """
        others = len(self.item) - len(surplus)
        drawn = sample_distinct(min(len(surplus), others), others, coins)
        # the r-th token that is not surplus
        partners = drawn + np.searchsorted(surplus - np.arange(len(surplus)), drawn, "right")
        moved = np.concatenate((surplus, partners))
        self.item[moved] = self.item[coins.permutation(moved)]
        return self.find_surplus_near(moved)

    def find_surplus_near(self, changed: Integers) -> Integers:
        """Find the surplus tokens of the records whose tokens were changed."""
        records = sort_distinct(self.owner[changed])
        tokens, _ = concatenate_ranges(self.starts[records], self.starts[records] + self.sizes[records])
        return self.find_surplus(tokens)

    def find_surplus(self, tokens: Integers) -> Integers:
        """Find the tokens whose item occurs before in the same record, ascending; whole records are given."""
        keys = self.owner[tokens] * (int(self.item.max(initial=0)) + 1) + self.item[tokens]
        order = np.argsort(keys, kind="stable")
        repeated = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
        return np.sort(tokens[order[repeated]])
