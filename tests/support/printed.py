"""Steps as the papers print them, for tests to compare with and to show what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.data import Taxonomy
from hedgerow.kinds.sets.methods.diffpart.model import KeptPartitions
from hedgerow.kinds.sets.methods.diffpart.publisher import DiffPart
from hedgerow.privacy import Laplace

__all__ = ["BreedingDiffPart", "TwoStageDiffPart", "pushed_down", "rounded_each"]


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


# leaves in two stages, as in the pseudo-code: tested with alpha as any other sub-partition, and those that pass
# counted with what is then left of their path
@dataclass(frozen=True, kw_only=True)
class TwoStageDiffPart(DiffPart):
    __doc__ = DiffPart.__doc__

    def _keep(self, paths, nodes, candidates, counted, alpha):
        family, codes = candidates.locate(counted.cells, counted.codes)
        share = alpha[candidates.parent]
        grown = paths.survivors(
            family,
            codes,
            counted.counts,
            Laplace(l1=1),
            under=nodes[candidates.parent],
            candidates=candidates.candidates,
            cutoff=self._split_threshold(candidates, share),
            spend=share,
            label="partitions",
        )
        parent, masks = candidates.parent[grown.at], candidates.masks(grown.at, grown.codes)
        leaf, noisy, noise = candidates.leaf[grown.at], grown.noisy.copy(), 2 / share.floats()[grown.at] ** 2
        rest = paths.left(grown.nodes[leaf])
        exact = counted.find(parent[leaf], masks[leaf])
        _, noisy[leaf] = paths.ask(exact, Laplace(l1=1), under=grown.nodes[leaf], spend=rest, label="leaf counts")
        noise[leaf] = 2 / rest.floats() ** 2
        passed = np.ones(len(leaf), np.bool_)
        passed[leaf] = noisy[leaf] >= self._leaf_threshold(rest)
        return KeptPartitions(candidates.cuts, grown.nodes, parent, masks, leaf, noisy, noise).only(passed)


class BreedingDiffPart(DiffPart):
    """Without the refusal of settings whose spurious partitions breed."""

    def _taxonomy(self, domain) -> Taxonomy:
        return domain.taxonomy("item", self.fanout, declared=self.taxonomy == "declared")
