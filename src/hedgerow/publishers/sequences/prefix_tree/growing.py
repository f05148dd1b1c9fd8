"""Build a noisy prefix tree: ask for the counts of prefixes, level by level, below those that passed the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.frontiers import Frontier, NextSymbol
from hedgerow.privacy import Ledger, Shares
from hedgerow.publishers.sequences.prefix_tree.group_tests import ask_children
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups
from hedgerow.publishers.sequences.prefix_tree.thresholds import Thresholds
from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["Growth", "note_first_visits"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: nodes of a level, at most
_NODES = 5_000_000
#: shares of the budget are rounded down to multiples of one part in this many
_SHARES = 4_096


class _LiveNodes(NamedTuple):
    """Nodes to be expanded: node of the ledger, number in the tree, earliest next time, share of their own level."""

    nodes: Integers
    numbers: Integers
    early: Integers
    share: Floats

    @classmethod
    def root(cls, node: Integers) -> _LiveNodes:
        return cls(node, np.full(1, -1), np.zeros(1, np.int64), np.zeros(1))


@dataclass(frozen=True)
class Growth:
    """How a tree is built: over which labels, to which height, with which thresholds.

    With `adaptive`, a branch divides what it has left by the number of levels that it is expected to have; else every
    level gets the same. With `ends`, the end of a sequence is one more child of every node below the root.
    """

    height: int
    groups: PlaceGroups
    thresholds: Thresholds
    adaptive: bool
    ends: bool

    def grow(self, positions: Frontier, ledger: Ledger) -> NoisyTree:
        """Spend all that is left of the budget on a tree over the first items of sequences."""
        labels = self.groups.labels
        paths = ledger.paths(spend=ledger.left, label="prefixes")
        tree = NoisyTree(labels.size)
        positions, live = positions.first(), _LiveNodes.root(paths.root)
        for level in range(self.height):
            height = self._heights(tree, live, level)
            share = _round_down(paths.left(live.nodes) / height, ledger.budget / _SHARES)
            counted = positions.count(NextSymbol(tree.size))
            passed = ask_children(
                paths,
                counted,
                self.groups,
                live.nodes,
                live.early,
                share,
                self.thresholds.cutoff,
                ends=level > 0 and self.ends,
            )
            tree.expanded[live.numbers[live.numbers >= 0]] = True
            numbers = tree.add(live.numbers[passed.at], passed.label, passed.noisy, passed.spend.floats() ** 2 / 2)
            # a node that passed is expanded if its branch has budget left and a later time exists
            early = passed.label // labels.places + labels.gap
            on = (height[passed.at] > 1) & (passed.label < tree.size) & (early < labels.times)
            live = _LiveNodes(passed.nodes[on], numbers[on], early[on], share.floats()[passed.at[on]])
            if not len(live.nodes):
                break
            _require_few(len(live.nodes))
            positions = counted.move(passed.at[on], passed.label[on])
        return tree

    def _heights(self, tree: NoisyTree, live: _LiveNodes, level: int) -> Integers:
        """The expected number of levels below each node, at least one.

        If the largest child has the part `p` of the count at every level, a count of `A` falls to the threshold after
        `log(threshold / A) / log p` levels. `p` is estimated from the nodes at the same place.
        """
        most = self.height - level
        if level == 0 or not self.adaptive:
            return np.full(len(live.nodes), most)
        part = _largest_part(tree, self.groups.places)[tree.label[live.numbers] % self.groups.places]
        noisy = tree.noisy[live.numbers]
        limit = self.thresholds.of_level(self.groups, live.share)
        height = np.where(part < 1, 1, most)
        some = (part < 1) & (noisy > limit)
        levels = np.log(limit[some] / noisy[some]) / np.log(part[some])
        height[some] = np.clip(np.ceil(on_count_grid(levels)), 1, most)
        return height


def _round_down(share: Shares, step: Fraction) -> Shares:
    """Round down, so that there are few distinct shares; a share that would become 0 stays as it is."""
    down = share.rounded_down(step)
    return Shares.where(down.floats() > 0, down, share)


def _require_few(nodes: int) -> None:
    if nodes > _NODES:
        msg = f"a level of the tree has more than {_NODES:,} prefixes; set groups, or bound false_nodes"
        raise ParameterError(msg)


def _largest_part(tree: NoisyTree, places: int) -> Floats:
    """For each place, the largest part of its count that goes to a single next place, estimated from the tree."""
    inner = np.flatnonzero(~tree.ends)
    place = np.where(tree.ends, places, tree.label % places)
    below = inner[tree.parent[inner] >= 0]
    expanded = inner[tree.expanded[inner]]
    first = inner[tree.level[inner] == 1]
    shares = np.bincount(place[first], tree.noisy[first], places)
    overall = min(1.0, float(shares.max(initial=0.0)) / max(1.0, float(shares.sum())))
    total = np.bincount(place[expanded], tree.noisy[expanded], places)
    keys, number = np.unique(place[tree.parent[below]] * places + place[below], return_inverse=True)
    largest = np.zeros(places)
    np.maximum.at(largest, keys // places, np.bincount(number, tree.noisy[below], len(keys)))
    part = np.full(places, overall)
    known = (total > 0) & (largest > 0)
    part[known] = np.minimum(1.0, largest[known] / total[known])
    return part


def note_first_visits(tree: NoisyTree, groups: PlaceGroups, ledger: Ledger) -> None:
    """Note in the statement how many first visits the tree has, if visits have times."""
    if groups.times > 1:
        ledger.note(
            "first visits (pairs of place and time) whose noisy count reached the threshold",
            int(np.count_nonzero(tree.level == 1)),
        )
