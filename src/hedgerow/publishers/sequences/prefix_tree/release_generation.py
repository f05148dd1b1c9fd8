"""Generate the sequences of a release from the consistent counts of a prefix tree."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable, NoisyTree
from hedgerow.steps.rounding import round_together

__all__ = ["count_endings", "distinct_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def count_endings(tree: NoisyTree, counts: Floats) -> Integers:
    """How many sequences end at each node: its count minus the counts of its children, rounded.

    Cumulative rounding in depth-first order keeps the count of every prefix to within one; if each number were rounded
    by itself, errors would add up.
    """
    left = np.maximum(tree.left_over(counts), 0.0)
    order = tree.depth_first()
    endings = np.empty(len(tree), np.int64)
    endings[order] = round_together(left[order])
    return endings


def distinct_sequences(tree: NoisyTree, copies: Integers, longest: int) -> tuple[LabelTable, Integers]:
    """The prefixes at which sequences end, and how many there are of each."""
    some = np.flatnonzero(copies > 0)
    return tree.prefixes(longest)[some], copies[some]
