"""Uniformly random subsets, drawn exactly: every subset of the right size is equally likely.

Elements are drawn with replacement, and elements that were drawn before are dropped and drawn again, until the size is
reached. Renumbering the elements changes neither the distribution of the draws nor the rule, so all subsets of one size
are equally likely. Of a set that is to be more than half full, the elements left out are drawn instead, so that at
least every second draw is new.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.interval_refinement import Bits

__all__ = ["uniform_below", "uniform_subsets"]

Integers: TypeAlias = NDArray[np.int64]

_CHUNK = 1 << 18


def uniform_below(limits: Integers, source: Bits) -> Integers:
    """Draw a whole number from 0 to `limit - 1` for each limit, all equally likely.

    As many bits as the limit has are read, and read again where they are not below it: no division, so no bias.
    """
    # a limit that is rounded up on its way to a float gets one bit more than it needs, never one less
    lengths = np.maximum(np.frexp((limits - 1).astype(np.float64))[1], 1)
    drawn = np.empty(len(limits), np.int64)
    for start in range(0, len(limits), _CHUNK):
        todo = np.arange(start, min(start + _CHUNK, len(limits)))
        while len(todo):
            words = source.words(len(todo)) >> (64 - lengths[todo]).astype(np.uint64)
            drawn[todo] = words.astype(np.int64)
            todo = todo[drawn[todo] >= limits[todo]]
    return drawn


def uniform_subsets(sizes: Integers, counts: Integers, source: Bits) -> Integers:
    """Draw a subset of `count` elements of each set of `size` elements; return all of them in order.

    The elements of all sets are numbered from 0, one set after the other: at most 2**62.
    """
    ends = np.cumsum(sizes)
    complemented = counts > sizes - counts
    drawn = _distinct(sizes, np.where(complemented, sizes - counts, counts), ends, source)
    if not np.any(complemented):
        return drawn
    left_out = np.repeat(complemented, np.diff(np.searchsorted(drawn, ends), prepend=0))
    kept = _complement(drawn[left_out], sizes[complemented], ends[complemented])
    return np.sort(np.concatenate((drawn[~left_out], kept)), kind="stable")


def _distinct(sizes: Integers, counts: Integers, ends: Integers, source: Bits) -> Integers:
    """Draw `count` different elements of each set, in order; at most half of the set."""
    runs: list[Integers] = []
    missing = counts
    while np.any(missing):
        home = np.repeat(np.arange(len(sizes)), missing)
        elements = uniform_below(sizes[home], source)
        elements += (ends - sizes)[home]
        elements.sort()
        new = np.ones(len(elements), np.bool_)
        new[1:] = elements[1:] != elements[:-1]
        for run in runs:
            at = np.minimum(np.searchsorted(run, elements), len(run) - 1)
            new &= run[at] != elements
        elements = elements[new]
        if len(elements):
            runs.append(elements)
        missing = missing - np.diff(np.searchsorted(elements, ends), prepend=0)
    if len(runs) == 1:
        return runs[0]
    return np.sort(np.concatenate([*runs, np.zeros(0, np.int64)]), kind="stable")


def _complement(left_out: Integers, sizes: Integers, ends: Integers) -> Integers:
    """List the elements of these sets, in order, without those left out."""
    before = np.cumsum(sizes) - sizes
    shift = ends - sizes - before
    elements = np.arange(int(sizes.sum()), dtype=np.int64) + np.repeat(shift, sizes)
    kept = np.ones(len(elements), np.bool_)
    kept[left_out - shift[np.searchsorted(ends, left_out, "right")]] = False
    return elements[kept]
