"""Linkage: rows without names are matched with the original rows that they are most like.

Somebody who has the original of some rows, or much of it, can do so; here the owner does, to know what each
reconstructed row should be. Success is the right original row; it is not scored, but all guesses are judged by it.
"""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.assignment import assign

#: rows that are matched one to one; of more, a sample is matched with the nearest rows
_MOST = 2000
#: original rows that the sample is compared with at a time: more take memory and no less time
_BLOCK = 4096


def link_rows(original: Floats, released: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return positions of original rows and of the released rows that are most like them, in units of the columns."""
    spread = original.std(0)
    scale = np.where(spread > 0, spread, 1.0)
    before, after = original / scale, released / scale
    if max(len(original), len(released)) <= _MOST:
        distances = (after**2).sum(1)[:, None] - 2 * after @ before.T + (before**2).sum(1)
        theirs, mine = assign(distances)
        return mine.astype(np.int64), theirs.astype(np.int64)
    theirs = np.sort(rng.permutation(len(released))[:_MOST])
    return _nearest(before, after[theirs]), theirs


def _nearest(before: Floats, after: Floats) -> Integers:
    """Return the position of the row nearest to each, block by block."""
    nearest = np.zeros(len(after), np.int64)
    least = np.full(len(after), np.inf)
    for start in range(0, len(before), _BLOCK):
        block = before[start : start + _BLOCK]
        distances = (block**2).sum(1) - 2 * after @ block.T
        at = distances.argmin(1)
        values = distances[np.arange(len(after)), at]
        closer = values < least
        nearest[closer], least[closer] = start + at[closer], values[closer]
    return nearest
