"""The exploration tree: the noisy counts of n-grams, level by level, and estimates of those below the threshold.

A context is an n-gram whose continuations were asked for. Its suffix *link* is the longest other context that is a
suffix of it. A context is *known* if some continuation of it passed the threshold. Number 0 is the root, the empty
context.
"""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.proportional_fitting import ratio

#: how counts below the threshold are estimated; see `fill_missing`
FILLS = ("markov", "backoff", "nothing")


class ExplorationTree:
    """All contexts so far. `counts[x, a]` says how often `a` follows `x`; label `size` is the end of a sequence.

    `occurs` is the count of the context itself. Contexts are numbered level by level, and by parent and label within a
    level.
    """

    def __init__(self, unigrams: Floats) -> None:
        self.size = len(unigrams)
        self.parent = np.full(1, -1, np.int64)
        self.label = np.full(1, -1, np.int64)
        self.level = np.zeros(1, np.int64)
        self.link = np.zeros(1, np.int64)
        self.occurs = np.array([unigrams.sum()])
        self.known = np.ones(1, np.bool_)
        self.counts = np.append(unigrams, 0.0)[None, :]
        self._keys = np.full(1, -1, np.int64)

    def __len__(self) -> int:
        return len(self.level)

    def add(self, parent: Integers, label: Integers) -> Integers:
        """Add contexts one item longer than their parents, sorted by parent and label."""
        first = len(self)
        link = np.zeros(len(parent), np.int64)
        unresolved, end = np.flatnonzero(self.level[parent] > 0), self.link[parent]
        while len(unresolved):
            longer = self.find(end[unresolved], label[unresolved])
            link[unresolved[longer >= 0]] = longer[longer >= 0]
            unresolved = unresolved[(longer < 0) & (end[unresolved] > 0)]
            end[unresolved] = self.link[end[unresolved]]
        self._keys = np.concatenate((self._keys, parent * self.size + label))
        self.parent = np.concatenate((self.parent, parent))
        self.label = np.concatenate((self.label, label))
        self.level = np.concatenate((self.level, self.level[parent] + 1))
        self.link = np.concatenate((self.link, link))
        self.occurs = np.concatenate((self.occurs, self.counts[parent, label]))
        self.known = np.concatenate((self.known, np.zeros(len(parent), np.bool_)))
        empty = np.zeros((len(parent), self.size + 1))
        self.counts = np.concatenate((self.counts, empty))
        return np.arange(first, len(self))

    def find(self, contexts: Integers, labels: Integers) -> Integers:
        """The context one item longer, or -1 if there is none."""
        keys = contexts * self.size + labels
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, at, -1)

    def nearest_known(self, contexts: Integers) -> Integers:
        """The longest known context that is a proper suffix of each of these."""
        suffix = self.link[contexts]
        while True:
            unknown = ~self.known[suffix]
            if not unknown.any():
                return suffix
            suffix[unknown] = self.link[suffix[unknown]]

    def pooled(self) -> Floats:
        """The distribution of what follows a known item, pooled over all of them; the end alone if no item is known."""
        first = (self.level == 1) & self.known
        total = self.occurs[first].sum()
        if total <= 0:
            return np.eye(1, self.size + 1, self.size)[0]
        return self.counts[first].sum(axis=0) / total

    def items(self, context: int) -> tuple[int, ...]:
        """The items of a context."""
        items: list[int] = []
        while context > 0:
            items.append(int(self.label[context]))
            context = int(self.parent[context])
        return tuple(reversed(items))


# Estimate the counts below the threshold, so that the continuations of a context add up to its count.


def fill_missing(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags, rule: str) -> None:
    """Set the counts of all continuations of contexts of one level, from those that passed the threshold.

    `rule` is the estimate of the others, before all are scaled to the count of the context: 0 (`nothing`), or
    proportional to the counts in the longest known suffix of the context: relative to the continuations that passed, as
    printed (`markov`), or only what is left over (`backoff`).
    """
    noisy = np.where(passed, np.maximum(noisy, 0.0), 0.0)
    known = noisy.sum(axis=1) > 0
    if rule == "markov":
        noisy = _markov_fill(tree, contexts, noisy, passed)
    elif rule == "backoff":
        noisy = _backoff_fill(tree, contexts, noisy, passed)
    occurs = tree.occurs[contexts]
    tree.counts[contexts] = noisy * _ratio(np.where(known, occurs, 0.0), noisy.sum(axis=1))
    tree.known[contexts] = known & (occurs > 0)


def _markov_fill(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """The printed Markov assumption; if only single items are known, the rest is distributed evenly.

    If the continuations that passed are rare in the shorter context, the ratios are huge.
    """
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    markov = model * _ratio(total, (model * passed).sum(axis=1))
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    even = _ratio(rest, np.count_nonzero(~passed, axis=1).astype(np.float64))
    return np.where(passed, noisy, np.where((source == 0)[:, None], even, markov))


def _backoff_fill(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """Back-off: distribute what is left over by the shorter context, or as after any item if that is not known."""
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    first = bool(tree.level[contexts[0]] == 1)
    model[source == 0] = noisy.sum(axis=0) if first else tree.pooled()
    model[passed] = 0.0
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    return noisy + model * _ratio(rest, model.sum(axis=1))


def _ratio(above: Floats, below: Floats) -> Floats:
    """One ratio per row, as a column; 0 where the denominator is 0."""
    return ratio(above, below)[:, None]
