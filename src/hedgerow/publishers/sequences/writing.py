"""Write sequences like the grams that were counted: no private data is seen here."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, NGrams
from hedgerow.steps.balance import balanced, sequence_count
from hedgerow.steps.chain import lengthened, written
from hedgerow.steps.contexts import Contexts
from hedgerow.steps.joining import extended, grams_of, published
from hedgerow.steps.states import markov

__all__ = ["grams_as_data", "write_sequences"]

Integers: TypeAlias = NDArray[np.int64]


def write_sequences(
    tree: Contexts, longest: int, generator: str, rule: str, coins: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Write sequences of up to `longest` items; return rows, items, and the counts of rows."""
    nothing = np.zeros(0, np.int64)
    if tree.counts[0].sum() == 0:
        return nothing, nothing, nothing
    if generator == "join":
        return _joined(tree, longest, rule)
    number = sequence_count(tree, longest)
    if generator == "markov":
        chain, ends = markov(tree)
        number = ends or number  # where no end was counted, the items say how many there are
    else:
        chain = lengthened(balanced(tree, longest), longest, float(tree.counts[0].sum()) / number)
    many = math.floor(number + 0.5)
    row, item = written(chain, many, longest, coins)
    return row, item, np.ones(many, np.int64)


def _joined(tree: Contexts, longest: int, rule: str) -> tuple[Integers, Integers, Integers]:
    found = published(extended(grams_of(tree), tree.size, longest), tree.size, rule)
    row = np.repeat(np.arange(len(found)), [len(gram) for gram, _ in found])
    item = np.array([code for gram, _ in found for code in gram], np.int64)
    return row, item, np.array([copies for _, copies in found], np.int64)


def grams_as_data(tree: Contexts, domain: Domain) -> NGrams:
    """Lay out all grams whose count is at least a half, rounded."""
    counts = np.floor(tree.counts + 0.5).astype(np.int64)
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
