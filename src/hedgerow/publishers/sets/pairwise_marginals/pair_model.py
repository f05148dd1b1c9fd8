r"""The model of the items of a record given its size: a weight per item, and an interaction per pair of the head.

A set of size $k$ with the items $A$ of the head, $s$ of them, has a probability proportional to
$\prod_{i \in A} w_i \cdot \exp(\varphi(s) \sum_{i < j \in A} \theta_{ij}) \cdot W^{k - s} / (k - s)!$, where $W$ is the
weight of all other items together (the *tail*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["PairModel"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the exponent with which interactions are damped in records of many head items, which pair weights hardly see; without
#: it items with strong lifts flood them. Of 0, 0.25, 0.3, 0.4, 0.5 and 1, chosen on groceries, bms-webview-2 and
#: kosarak-subset
_DAMPING = 0.4


@dataclass(eq=False)
class PairModel:
    """Weights and interactions; both have one more entry, of 0, for the padding of records.

    Attributes
    ----------
    log_weights, interactions
        The logarithm of the weight of each head item, and a symmetric table with a diagonal of 0.
    tail_items, log_tail
        How many items are in the tail, and the logarithm of their total weight (0 if there are none).
    damping
        The factor of interactions in a record of 0, 1, ... head items.
    """

    log_weights: Floats
    interactions: Floats
    tail_items: int
    log_tail: float
    damping: Floats

    @classmethod
    def by_band(cls, odds: Floats, head: Integers) -> list[PairModel]:
        """Start without interactions, which all bands of sizes share; a row of odds per band."""
        models = [cls.independent(each, head) for each in odds]
        return [replace(model, interactions=models[0].interactions) for model in models]

    @classmethod
    def independent(cls, odds: Floats, head: Integers, exponent: float = _DAMPING) -> PairModel:
        """Start without interactions."""
        size, tail_items = len(head), len(odds) - len(head)
        tail = np.delete(odds, head)
        return cls(
            np.append(on_count_grid(np.log(odds[head])), 0.0),
            np.zeros((size + 1, size + 1)),
            tail_items,
            math.log(float(tail.sum())) if tail_items else 0.0,
            np.maximum(1.0, np.arange(size + 2) - 1.0) ** -exponent,
        )
