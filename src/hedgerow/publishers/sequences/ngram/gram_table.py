"""The noisy counts of n-grams as a data set."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Domain, NGrams
from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["gram_table"]


def gram_table(tree: ExplorationTree, domain: Domain) -> NGrams:
    """All n-grams whose count is at least a half, with rounded counts."""
    counts = np.floor(on_count_grid(tree.counts) + 0.5).astype(np.int64)
    context, label = np.nonzero(counts)
    lengths = tree.level[context] + 1
    row = np.repeat(np.arange(len(context)), lengths)
    place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    back = lengths[row] - 1 - place
    item, at = np.repeat(label, lengths), np.repeat(context, lengths)
    for _ in range(int(tree.level.max(initial=0))):
        further = back > 0
        item[further] = tree.label[at[further]]
        at[further] = tree.parent[at[further]]
        back[further] -= 1
    return NGrams.from_columns(row=row, item=item, counts=counts[context, label], domain=domain)
