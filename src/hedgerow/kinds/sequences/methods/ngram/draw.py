"""Join n-grams to longer ones, and generate sequences from their counts, longest first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from hedgerow.kinds.sequences.methods.ngram.model import ExplorationTree
from hedgerow.numerics.arrays import Floats, Integers, concatenate_ranges
from hedgerow.numerics.rounding import on_count_grid


@dataclass(frozen=True, eq=False)
class Grams:
    """N-grams of one length, in lexicographic order: each is a shorter n-gram and one more label.

    `prefix` and `suffix` are the numbers of the n-grams without the last and without the first label; -1 if there is
    no such n-gram. The label `size` is the end of a sequence.
    """

    prefix: Integers
    suffix: Integers
    label: Integers
    count: Integers

    def find(self, prefix: Integers, label: Integers, size: int) -> Integers:
        """The numbers of n-grams; -1 where there is none."""
        keys, wanted = self.prefix * (size + 1) + self.label, prefix * (size + 1) + label
        if len(keys) == 0:
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[at] == wanted) & (prefix >= 0), at, -1)


def integer_grams(tree: ExplorationTree) -> list[Grams]:
    """The n-grams of a tree by length, their counts rounded down; those below one are left out."""
    size = tree.size
    count = _round_down(tree.counts[0, :size])
    kept = np.flatnonzero(count)
    none = np.full(len(kept), -1)
    levels = [Grams(np.zeros(len(kept), np.int64), none, kept, count[kept])]
    number = np.full(len(tree), -1)  # the n-gram of each context
    first = np.flatnonzero(tree.level == 1)
    number[first] = levels[0].find(np.zeros(len(first), np.int64), tree.label[first], size)
    for length in range(1, int(tree.level.max()) + 1):
        contexts = np.flatnonzero((tree.level == length) & tree.known & (number >= 0))
        at, label = np.nonzero(_round_down(tree.counts[contexts]))
        prefix = number[contexts[at]]
        order = np.lexsort((label, prefix))
        at, label, prefix = at[order], label[order], prefix[order]
        suffix = levels[-1].suffix[prefix] if length > 1 else np.zeros(len(prefix), np.int64)
        suffix = levels[-1].find(suffix, label, size)
        count = _round_down(tree.counts[contexts[at], label])
        levels.append(Grams(prefix, suffix, label, count))
        longer = np.flatnonzero(tree.level == length + 1)
        number[longer] = levels[-1].find(number[tree.parent[longer]], tree.label[longer], size)
    while len(levels) > 1 and len(levels[-1].count) == 0:
        levels.pop()
    return levels


def extend(levels: list[Grams], size: int, longest: int) -> list[Grams]:
    """Join the longest n-grams that overlap in all but one item at each end, up to `longest` items."""
    levels = list(levels)
    while 1 < len(levels) < longest and len(levels[-1].count):
        last, before = levels[-1], levels[-2]
        first = np.flatnonzero((last.label < size) & (last.suffix >= 0))
        starts = np.searchsorted(last.prefix, last.suffix[first])
        ends = np.searchsorted(last.prefix, last.suffix[first], "right")
        second, of = concatenate_ranges(starts, ends)
        left = first[of]
        whole = last.count[left] / before.count[last.suffix[left]] * last.count[second]
        count = _round_down(whole)
        kept = count >= 1
        levels.append(Grams(left[kept], second[kept], last.label[second[kept]], count[kept]))
    if len(levels[-1].count) == 0 and len(levels) > 1:
        levels.pop()
    return levels


def extract_sequences(levels: list[Grams], size: int) -> list[tuple[tuple[int, ...], int]]:
    """Take sequences from the counts, longest and most frequent first; return each with its number of copies.

    An n-gram becomes as many sequences as its remaining count and those of all its parts allow, so that no count
    becomes negative.
    """
    left = [level.count.copy() for level in levels]
    sequences: list[tuple[tuple[int, ...], int]] = []
    for length in range(len(levels), 0, -1):
        level = levels[length - 1]
        order = np.argsort(-level.count, kind="stable")
        order = order[level.label[order] < size]
        parts = _parts(levels, length, order)
        items = _items(levels, length, order)
        for row, gram in enumerate(order.tolist()):
            rest = int(left[length - 1][gram])
            if rest < 1:
                continue
            inside = Counter((k, int(ids[row, i])) for k, ids in parts for i in range(ids.shape[1]))
            most = min(
                (left[k][at] // n if at >= 0 else 0 for (k, at), n in inside.items()),
                default=rest,
            )
            copies = int(min(rest, most))
            if copies < 1:
                continue
            for (k, at), n in inside.items():
                if at >= 0:
                    left[k][at] -= copies * n
            sequences.append((tuple(items[row].tolist()), copies))
    return sequences


def _parts(levels: list[Grams], length: int, grams: Integers) -> list[tuple[int, Integers]]:
    """The numbers of all proper parts of n-grams, by level: one column per position."""
    parts: list[tuple[int, Integers]] = []
    ids = grams[:, None]
    for shorter in range(length - 1, 0, -1):
        level = levels[shorter]
        before = np.where(ids >= 0, level.prefix[ids], -1)
        last = np.where(ids[:, -1:] >= 0, level.suffix[ids[:, -1:]], -1)
        ids = np.hstack((before, last))
        parts.append((shorter - 1, ids))
    return parts


def _items(levels: list[Grams], length: int, grams: Integers) -> Integers:
    columns: list[Integers] = []
    for level in reversed(levels[:length]):
        columns.append(level.label[grams])
        grams = level.prefix[grams]
    return np.stack(columns[::-1], axis=1) if columns else np.zeros((0, 0), np.int64)


def _round_down(counts: Floats) -> Integers:
    return np.floor(on_count_grid(counts)).astype(np.int64)
