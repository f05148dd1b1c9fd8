"""A tree of regions of an adjacency matrix: each region is split into four parts, which are counted with noise.

Here edges are counted where they are. What is made of the noisy counts is in `region_counts_model`, which sees no edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Frontier, Position, Quadrant
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.region_counts_model import RegionCounts, noise_variance
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Flags, Integers
from hedgerow.privacy import Laplace, PathBudget, Shares

_PARTS = 4
#: a run with more regions at one depth is stopped
_MOST_REGIONS = 8_000_000


@dataclass(frozen=True, eq=False)
class Level:
    """Regions that are split next: noisy counts, nodes in the forest of the ledger, place in the tree, and edges."""

    regions: Regions
    noisy: Integers
    nodes: Integers
    place: Integers
    edges: Frontier


class Split(NamedTuple):
    """A split point per region, and the node of the ledger below which its parts are counted."""

    row: Integers
    column: Integers
    nodes: Integers


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaf regions, their place in the tree, their nodes in the forest of the ledger, and, private, their edges.

    `early` says which of them are above the greatest depth. `ones` are the exact numbers of edges. Edge number `e` is
    at `positions[e]` of region `at[e]`.
    """

    regions: Regions
    place: Integers
    early: Flags
    nodes: Integers
    ones: Integers
    at: Integers
    positions: Integers

    @classmethod
    def of(cls, regions: Regions, nodes: Integers, place: Integers, edges: Frontier, *, early: bool) -> Leaves:
        """Look up the edges of each region."""
        counted = edges.count(Position(regions))
        ones = np.bincount(counted.cells, minlength=len(regions))
        return cls(regions, place, np.full(len(nodes), early), nodes, ones, counted.cells, counted.codes)

    @classmethod
    def concatenate(cls, parts: list[Leaves]) -> Leaves:
        """Put the leaves of all depths together."""
        shifts = np.cumsum([0, *(len(part.nodes) for part in parts)])
        return cls(
            Regions.concatenate([part.regions for part in parts]),
            np.concatenate([part.place for part in parts]),
            np.concatenate([part.early for part in parts]),
            np.concatenate([part.nodes for part in parts]),
            np.concatenate([part.ones for part in parts]),
            np.concatenate([part.at + shift for part, shift in zip(parts, shifts[:-1], strict=True)]),
            np.concatenate([part.positions for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class RegionTree:
    """What the ledger answered about a tree of regions, and its leaves with their private edges."""

    noisy: RegionCounts
    leaves: Leaves

    @classmethod
    def of(
        cls, parent: Integers, depth: Integers, counts: Integers, shares: Sequence[Fraction], leaves: Leaves
    ) -> RegionTree:
        """Make a tree of its nodes, given the share of a count at each depth; a depth of share 0 is not counted."""
        variances = [noise_variance(share) if share else np.inf for share in shares]
        noisy = counts.astype(np.float64)
        variance = np.array(variances)[depth]
        return cls(RegionCounts(parent, depth, noisy, variance, leaves.regions, leaves.place, leaves.early), leaves)


def grow_tree(
    data: Graph,
    paths: PathBudget,
    shares: Sequence[Fraction],
    choose_splits: Callable[[Level, int], Split],
    are_leaves: Callable[[Regions, Integers, int], Flags],
) -> RegionTree:
    """Split and count regions, one depth after another, until only leaves remain.

    Parameters
    ----------
    shares
        The share of a count at depth 1, 2, ...
    choose_splits
        Chooses a split point of every region of a level, given the depth of its parts.
    are_leaves
        Decides which regions are not split further, given noisy counts and their depth. It is not asked at the
        greatest depth, where all regions are leaves.
    """
    root = np.zeros(1, np.int64)
    level = Level(Regions.whole(data.domain.size("vertex")), root, paths.root, root, data.frontier())
    parents, depths, counts = [root - 1], [root], [root]
    leaves: list[Leaves] = []
    nodes = 1
    for depth, share in enumerate(shares, start=1):
        progress.tell("splitting regions", depth, len(shares))
        split = choose_splits(level, depth)
        children = level.regions.quadrants(split.row, split.column)
        parent, part = np.divmod(np.flatnonzero(children.cells), _PARTS)
        children = children[parent * _PARTS + part]
        _require_few(len(parent))
        counted = level.edges.count(Quadrant(split.row, split.column))
        exact = counted.find(parent, part)  # an edge is in one part of its region: L1 = 1
        below, noisy = paths.ask(exact, Laplace(l1=1), under=split.nodes[parent], spend=share, label="region counts")
        place = nodes + np.arange(len(parent))
        nodes += len(parent)
        parents.append(level.place[parent])
        depths.append(np.full(len(parent), depth))
        counts.append(noisy)
        last = depth == len(shares)
        leaf = np.ones(len(parent), np.bool_) if last else are_leaves(children, noisy, depth)
        stay, go = np.flatnonzero(leaf), np.flatnonzero(~leaf)
        ended = counted.move(parent[stay], part[stay])
        leaves.append(Leaves.of(children[stay], below[stay], place[stay], ended, early=not last))
        moved = counted.move(parent[go], part[go])
        level = Level(children[go], noisy[go], below[go], place[go], moved)
    parent, depth_of, noisy = np.concatenate(parents), np.concatenate(depths), np.concatenate(counts)
    return RegionTree.of(parent, depth_of, noisy, (Fraction(0), *shares), Leaves.concatenate(leaves))


def count_whole(data: Graph, paths: PathBudget, spend: Fraction) -> RegionTree:
    """Make the whole matrix the only leaf."""
    zero = np.zeros(1, np.int64)
    whole = Regions.whole(data.domain.size("vertex"))
    leaf = Leaves.of(whole, paths.root, zero, data.frontier(), early=False)
    nodes, noisy = paths.ask(leaf.ones, Laplace(l1=1), under=paths.root, spend=spend, label="region counts")
    return RegionTree.of(zero - 1, zero, noisy, (spend,), replace(leaf, nodes=nodes))


def count_again(tree: RegionTree, paths: PathBudget, spend: Shares) -> RegionTree:
    """Count the leaves above the greatest depth once more, and combine both counts by inverse variance."""
    leaves = tree.leaves
    early, nodes = np.flatnonzero(leaves.early), leaves.nodes.copy()
    # an edge is in one leaf: L1 = 1
    nodes[early], second = paths.ask(
        leaves.ones[early], Laplace(l1=1), under=nodes[early], spend=spend, label="region counts"
    )
    return RegionTree(tree.noisy.with_second(second, 2 / spend.floats() ** 2), replace(leaves, nodes=nodes))


def _require_few(regions: int) -> None:
    """Stop if regions multiply; their number depends on noisy answers only."""
    if regions > _MOST_REGIONS:
        msg = f"more than {_MOST_REGIONS:,} regions are split; set a lower height"
        raise ParameterError(msg)
