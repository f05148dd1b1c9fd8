"""Steps as the papers print them, where that is wrong: negative tests show what they leave."""

from __future__ import annotations

import numpy as np

__all__ = ["pushed_down", "rounded_each"]


def pushed_down(parent, level, counts):
    """Take what children have too much from all of them alike (KDD 2012): some get below 0, or above their parent."""
    pushed = counts.copy()
    sums = np.bincount(parent + 1, counts, len(parent) + 1)[1:]
    many = np.bincount(parent + 1, minlength=len(parent) + 1)[1:]
    for depth in range(2, int(level.max(initial=0)) + 1):
        nodes = np.flatnonzero(level == depth)
        above = parent[nodes]
        pushed[nodes] += np.minimum(0.0, (pushed[above] - sums[above]) / many[above])
    return pushed


def rounded_each(tree, counts):
    """Round what ends at each node by itself: errors add up."""
    return np.floor(np.maximum(tree.left_over(counts), 0.0) + 0.5).astype(np.int64)
