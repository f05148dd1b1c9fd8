"""Draw the records that are published: from items alone, or from the fitted model of pairs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Sets
from hedgerow.publishers.sets.pairwise_marginals.dealing import deal_by_band
from hedgerow.publishers.sets.pairwise_marginals.item_estimates import ItemEstimates
from hedgerow.publishers.sets.pairwise_marginals.metropolis_moves import Proposals
from hedgerow.publishers.sets.pairwise_marginals.model_fit import move_all
from hedgerow.publishers.sets.pairwise_marginals.pair_model import PairModel
from hedgerow.publishers.sets.pairwise_marginals.population import Population

__all__ = ["draw_from_items", "draw_from_model"]

Integers: TypeAlias = NDArray[np.int64]

#: moves of every record after the fitted ones were repeated
_LAST_MOVES = 3


def draw_from_items(items: ItemEstimates, sizes: Integers, domain: Domain, coins: np.random.Generator) -> Sets:
    """Deal items to records of these sizes, as often as expected."""
    row, item = items.deal(sizes, coins)
    return Sets.from_columns(row=row, item=item, domain=domain)


def draw_from_model(
    population: Population,
    models: list[PairModel],
    head: Integers,
    items: ItemEstimates,
    *,
    records: int,
    domain: Domain,
    coins: np.random.Generator,
) -> Sets:
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
    return Sets.from_columns(
        row=np.concatenate((np.repeat(np.arange(len(counts)), counts), row)),
        item=np.concatenate((head[population.members], tail[at])),
        domain=domain,
    )
