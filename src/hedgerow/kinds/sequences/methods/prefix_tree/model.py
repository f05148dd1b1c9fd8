"""What prefix trees estimate: the noisy tree, public groups of places, thresholds, and constrained inference.

Only noisy answers and public facts are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.domain import Domain
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.errors import ParameterError
from hedgerow.kinds.sequences.labels import Labels
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.projections import isotonic_regression
from hedgerow.numerics.rounding import on_count_grid, on_grid

#: one sequence of labels per row, padded with -1
LabelTable: TypeAlias = NDArray[np.int32 | np.int64]


class NoisyTree:
    """All nodes so far, without the root.

    Node `v` represents the prefix of labels from the first level down to it. `noisy` is its noisy count, `weight` the
    inverse variance of the noise; `expanded` says whether its children were asked for. The label `size` is the end of a
    sequence: such a node represents the sequences that end at its parent. The children of a node are contiguous and
    sorted by label.

    Examples
    --------
    >>> tree = NoisyTree(3)
    >>> first = tree.add(np.array([-1, -1]), np.array([0, 2]), np.array([9.0, 4.0]), np.ones(2))
    >>> below = tree.add(first[[0, 0]], np.array([1, 3]), np.array([5.0, 3.0]), np.ones(2))
    >>> tree.prefixes(3).tolist(), tree.depth_first().tolist()
    ([[0, -1, -1], [2, -1, -1], [0, 1, -1], [0, -1, -1]], [0, 2, 3, 1])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.parent = np.zeros(0, np.int64)
        self.label = np.zeros(0, np.int64)
        self.level = np.zeros(0, np.int64)
        self.noisy = np.zeros(0)
        self.weight = np.zeros(0)
        self.expanded = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, parent: Integers, label: Integers, noisy: Integers | Floats, weight: Floats) -> Integers:
        """Add a level of nodes, sorted by parent and label; return their numbers."""
        first = len(self)
        above = self.level[parent[parent >= 0]]
        depth = 1 + (int(above[0]) if len(above) else 0)
        self.parent = np.concatenate((self.parent, parent))
        self.label = np.concatenate((self.label, label))
        self.level = np.concatenate((self.level, np.full(len(parent), depth)))
        self.noisy = np.concatenate((self.noisy, noisy.astype(np.float64)))
        self.weight = np.concatenate((self.weight, weight))
        self.expanded = np.concatenate((self.expanded, np.zeros(len(parent), np.bool_)))
        return np.arange(first, len(self))

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Which nodes represent the end of sequences."""
        return self.label == self.size

    def prefixes(self, longest: int) -> LabelTable:
        """The labels of each node from the first level on, padded with -1; without ends."""
        table = np.full((len(self), longest), -1, np.int32 if self.size < 2**31 else np.int64)
        for depth in range(1, int(self.level.max(initial=0)) + 1):
            nodes = np.flatnonzero(self.level == depth)
            if depth > 1:
                table[nodes] = table[self.parent[nodes]]
            items = nodes[~self.ends[nodes]]
            table[items, depth - 1] = self.label[items]
        return table

    def left_over(self, counts: Floats) -> Floats:
        """The count of each node minus the counts of its children."""
        below = np.bincount(self.parent + 1, counts, len(self) + 1)[1:]
        return counts - below

    def depth_first(self) -> Integers:
        """All nodes, each before its children, siblings by label; a subtree is contiguous."""
        sizes = np.ones(len(self), np.int64)
        depths = range(int(self.level.max(initial=0)), 0, -1)
        for depth in depths:
            nodes = np.flatnonzero(self.level == depth)
            if depth > 1:
                np.add.at(sizes, self.parent[nodes], sizes[nodes])
        place = np.zeros(len(self), np.int64)
        for depth in reversed(depths):
            nodes = np.flatnonzero(self.level == depth)
            before = np.cumsum(sizes[nodes]) - sizes[nodes]
            above = self.parent[nodes]
            new = np.ones(len(nodes), np.bool_)
            new[1:] = above[1:] != above[:-1]
            shift = before[np.flatnonzero(new)][np.cumsum(new) - 1]
            top = np.where(above >= 0, place[np.maximum(above, 0)] + 1, 0)
            place[nodes] = top + before - shift
        order = np.empty(len(self), np.int64)
        order[place] = np.arange(len(self))
        return order


# Groups of places: a public tree over the places, and the part of a level's budget for each of its depths.

#: how places may be grouped; see `place_groups`
GROUPINGS = ("auto", "none", "fan-out", "declared")
#: with `auto`, there are groups from this many labels on
_MANY = 2_000
#: the paper's split of a level's budget needs groups of more places than this
_PAIR = 2
#: the largest denominator of the share of groups
_PARTS = 10_000
#: most labels, and most places, so that a label and a node fit in 64 bits
_WORD, _PLACES = 1 << 38, 1 << 20


@dataclass(frozen=True, eq=False)
class PlaceGroups:
    """A public tree over places: at each depth groups are asked for, and at the leaves places.

    `spend[d]` is the part of a level's budget for groups at depth `d + 1`; places get all that is left of it at their
    depth.
    """

    tree: Taxonomy
    labels: Labels
    spend: tuple[Fraction, ...] = ()

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.labels.places

    @property
    def times(self) -> int:
        """How many times there are."""
        return self.labels.times

    @cached_property
    def above(self) -> Integers:
        """The ancestor of each place at each depth; the place itself from its own depth on."""
        first, end = self.tree.span
        by_position = np.argsort(self.tree.position)
        above = np.full((int(self.tree.height[self.tree.root]) + 1, self.places), -1, np.int64)
        above[0] = self.tree.root
        for depth in range(1, len(above)):
            above[depth] = above[depth - 1]
            for node in np.unique(above[depth - 1]).tolist():
                for child in self._children(node):
                    above[depth, by_position[first[child] : end[child]]] = child
        return above

    def _children(self, node: int) -> tuple[int, ...]:
        """The children of a node from left to right."""
        return self.tree.children[node - self.places] if node >= self.places else ()

    @cached_property
    def rank(self) -> Integers:
        """The number of each node among its siblings of the same kind, groups or places."""
        rank = np.zeros(self.tree.size, np.int64)
        for siblings in self.tree.children:
            nodes = np.array(siblings)
            for alike in (nodes[nodes >= self.places], nodes[nodes < self.places]):
                rank[alike] = np.arange(len(alike))
        return rank

    @cached_property
    def many(self) -> Integers:
        """How many groups, and how many places, are children of each node."""
        many = np.zeros((self.tree.size, 2), np.int64)
        for number, siblings in enumerate(self.tree.children):
            places = sum(child < self.places for child in siblings)
            many[self.places + number] = len(siblings) - places, places
        return many

    def child(self, node: Integers, kind: Integers, rank: Integers) -> Integers:
        """The child of each node of a kind, group (0) or place (1), and a rank."""
        starts, children = self._listed
        return children[starts[2 * node + kind] + rank]

    @cached_property
    def _listed(self) -> tuple[Integers, Integers]:
        """Where the children of each parent and kind start, and all children by parent, groups first."""
        ordered = [
            sorted(siblings, key=lambda child: (child < self.places, self.rank[child]))
            for siblings in self.tree.children
        ]
        sizes = self.many.ravel()
        flat = np.array([child for siblings in ordered for child in siblings], np.int64)
        return np.cumsum(sizes) - sizes, flat


def place_groups(domain: Domain, labels: Labels, grouping: str, share: float) -> PlaceGroups:
    """Group the places of a domain, and split the budget of a level between groups and places.

    Parameters
    ----------
    grouping
        `none`: no groups; `fan-out`: groups of about the square root of the number of places; `declared`: the groups in
        the declared paths of the domain; `auto`: fan-out from 2,000 labels on.
    share
        The part of a level's budget for groups; 0 is the split of the paper, two over the size of a group.
    """
    if labels.places > _PLACES or labels.size > _WORD:
        msg = f"{labels.places:,} places at {labels.times:,} times are too many; take a coarser grid or bins"
        raise ParameterError(msg)
    tree = _tree(domain, labels, grouping)
    groups = PlaceGroups(tree, labels)
    levels = len(groups.above) - 1
    if levels == 1:
        return groups
    sizes = [int(np.count_nonzero(np.unique(above) >= tree.leaves)) for above in groups.above]
    parts = [Fraction(_PAIR * many, tree.leaves) for many in sizes[1:levels]]
    if share > 0:
        whole = Fraction(share).limit_denominator(_PARTS)
        parts = [whole / (levels - 1)] * (levels - 1)
    if not 0 < sum(parts) < 1:
        msg = (
            f"group_share = {share:g} leaves nothing for groups or for places (0 is two over the size of a group, "
            "which must be more than two); take 0.5"
        )
        raise ParameterError(msg)
    return PlaceGroups(tree, labels, tuple(parts))


def _tree(domain: Domain, labels: Labels, grouping: str) -> Taxonomy:
    places = labels.places
    flat = Taxonomy(places, (tuple(range(places)),))
    if grouping == "none" or (grouping == "auto" and labels.size < _MANY):
        return flat
    if grouping == "declared":
        tree = domain.taxonomy(labels.axis, max(2, places), declared=True)
    else:
        fanout = math.isqrt(places - 1) + 1
        tree = Taxonomy.from_paths([[str(code // fanout)] for code in range(places)], max(2, places))
    return tree if tree.inner else flat


# Candidates: which children of a node are tested together, and the thresholds that their noisy counts must reach.

#: the kinds of candidates
GROUP, PLACE, END = 0, 1, 2
#: a cutoff that no count reaches
_LARGEST = 1 << 59


class CandidateFamilies(NamedTuple):
    """Families of candidates with the same test: an entry, the kind (groups, places or end), and how many there are."""

    entry: Integers
    kind: Integers
    candidates: Integers

    @classmethod
    def below(cls, groups: PlaceGroups, node: Integers, times: Integers, *, ends: bool) -> CandidateFamilies:
        """The families of each entry, a node of the public tree and how many times are possible below it."""
        many = groups.many[node] * times[:, None]
        table = np.column_stack((many, np.full(len(many), int(ends))))
        entry, kind = np.nonzero(table)
        return cls(entry, kind, table[entry, kind])


class Thresholds(NamedTuple):
    """The thresholds of a prefix tree.

    `place` and `group` are the standard deviations of the noise that a count must reach. At most `false_nodes` of the
    empty candidates below a node are expected to pass; 0 sets no such bound.
    """

    place: float
    false_nodes: float
    group: float = 4.0

    def cutoff(self, families: CandidateFamilies, spend: Floats) -> Integers:
        """The least count that passes, by what a family spends; the number of sequences that end has no threshold."""
        scales = math.sqrt(2) * np.where(families.kind == GROUP, self.group, self.place)
        if self.false_nodes > 0:
            # an empty one reaches t with probability a**t / (1 + a): at most `false_nodes` per family in expectation
            few = np.log(families.candidates / (self.false_nodes * (1 + np.exp(-spend))))
            scales = np.maximum(scales, few)
        scales[families.kind == END] = 0
        return np.clip(np.ceil(on_grid(scales / spend)), 1, _LARGEST).astype(np.int64)

    def of_level(self, groups: PlaceGroups, share: Floats) -> Floats:
        """Approximately the least count that passes all thresholds of a level."""
        scales = [self.group / float(part) for part in groups.spend]
        scales.append(self.place / float(1 - sum(groups.spend, Fraction(0))))
        return np.maximum(1.0, math.sqrt(2) * max(scales) / share)


def expected_heights(tree: NoisyTree, nodes: Integers, limit: Floats, places: int, most: int) -> Integers:
    """The expected number of levels below each node, from one to `most`.

    If the largest child has the part `p` of the count at every level, a count of `A` falls to the threshold, `limit`,
    after `log(limit / A) / log p` levels. `p` is estimated from the nodes at the same place.
    """
    part = _largest_part(tree, places)[tree.label[nodes] % places]
    noisy = tree.noisy[nodes]
    height = np.where(part < 1, 1, most)
    some = (part < 1) & (noisy > limit)
    levels = np.log(limit[some] / noisy[some]) / np.log(part[some])
    height[some] = np.clip(np.ceil(on_count_grid(levels)), 1, most)
    return height


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


# Constrained inference: make the noisy counts of a prefix tree consistent.
#
# The counts of the children of a node sum up to at most its own count, since some sequences end there. A tree is given
# level by level: the parent of each node (-1 above the first level), the children of a node contiguous and after it.


def consistent_counts(tree: NoisyTree, inference: str, total: float = np.inf) -> Floats:
    """Make the counts of all nodes consistent with each other, and with the total number of sequences."""
    if inference == "exact":
        counts = least_squares(tree.parent, tree.level, tree.noisy, tree.weight)
    else:
        counts = path_estimates(tree.parent, tree.level, tree.noisy, tree.weight)
    # after least squares this only removes floating-point errors
    return on_count_grid(project_children(tree.parent, tree.level, counts, total))


def path_estimates(parent: Integers, level: Integers, noisy: Floats, weight: Floats) -> Floats:
    """Isotonic regression along each path to a leaf; the estimate of a node is the mean over its leaves."""
    inner = np.zeros(len(parent), np.bool_)
    inner[parent[parent >= 0]] = True
    leaves = np.flatnonzero(~inner)
    total, many = np.zeros(len(parent)), np.zeros(len(parent))
    for depth in np.unique(level[leaves]).tolist():
        path = [leaves[level[leaves] == depth]]
        while len(path) < depth:
            path.append(parent[path[-1]])
        nodes = np.stack(path, axis=1)
        estimates = isotonic_regression(noisy[nodes], weight[nodes])
        total += np.bincount(nodes.ravel(), estimates.ravel(), len(parent))
        many += np.bincount(nodes.ravel(), minlength=len(parent))
    return total / np.maximum(many, 1)


def project_children(parent: Integers, level: Integers, counts: Floats, total: float = np.inf) -> Floats:
    """Top down, project the counts of the children of each node: none below 0, in all at most the count of the node.

    The nodes of the first level have at most `total`. The paper subtracts the same amount from all children instead,
    which leaves negative counts, and children that exceed their parent.

    Examples
    --------
    >>> project_children(np.array([-1, 0, 0]), np.array([1, 2, 2]), np.array([5.5, 7.0, 1.0])).tolist()
    [5.5, 5.5, 0.0]
    """
    projected = np.append(np.maximum(counts, 0.0), total)
    for depth in range(1, int(level.max(initial=0)) + 1):
        nodes = np.flatnonzero(level == depth)
        # the last position, which index -1 refers to, is the root
        projected[nodes] = _project(projected[nodes], parent[nodes], projected)
    return projected[:-1]


def _project(values: Floats, owner: Integers, limit: Floats) -> Floats:
    """Subtract the same amount from all children of an owner, none below 0, until their sum is within its limit."""
    order = np.lexsort((-values, owner))
    value, own = values[order], owner[order]
    first = np.ones(len(own), np.bool_)
    first[1:] = own[1:] != own[:-1]
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    rank = np.arange(len(own)) - starts[group] + 1
    running = np.cumsum(value)
    running -= (running[starts] - value[starts])[group]
    off = (running - limit[own]) / rank
    # the largest values stay positive: the last rank for which this holds gives the amount
    positive = value > off
    last = np.maximum.reduceat(np.where(positive, rank, 0), starts)
    spare = np.where(last > 0, off[starts + np.maximum(last, 1) - 1], np.inf)
    projected = np.empty(len(values))
    projected[order] = np.maximum(value - np.maximum(spare, 0.0)[group], 0.0)
    return projected


# Exact least squares over a whole tree by dual variables (prices), which are passed down the tree.
#
# The counts $x$ minimise $\sum_v w_v (x_v - c_v)^2$ subject to $x_v \ge \sum_{children} x_u$ and $x \ge 0$. Given the
# price $\lambda$ that its parent's constraint puts on its count, the optimal count of a node is a non-increasing,
# piecewise linear function of $\lambda$. With $S(\mu)$, the sum of the children's functions at their price $\mu$,
#
# $$\lambda = 2 w (c - S(\mu)) + \mu,$$
#
# or $\mu = 0$ where the constraint of the node is not binding.


class _PiecewiseLinear(NamedTuple):
    """Piecewise linear functions of a price, given by breakpoints sorted by owner and price; 0 after the last.

    The breakpoints of owner `v` are `starts[v]` to `starts[v + 1]`.
    """

    starts: Integers
    price: Floats
    value: Floats

    def at(self, price: Floats) -> tuple[Integers, Floats]:
        """For one price per owner: the breakpoint before it, and the fraction of the way to the next."""
        low, high = self.starts[:-1].copy(), self.starts[1:] - 1
        last = high.copy()
        while np.any(low < high):
            middle = (low + high + 1) // 2
            under = self.price[middle] <= price
            low, high = np.where(under, middle, low), np.where(under, high, middle - 1)
        after = np.minimum(low + 1, last)
        wide = self.price[after] - self.price[low]
        part = np.clip((price - self.price[low]) / np.where(wide > 0, wide, 1.0), 0.0, 1.0)
        return low, np.where(wide > 0, part, 0.0)

    def between(self, column: Floats, low: Integers, part: Floats) -> Floats:
        """Interpolate a column of the breakpoints at a result of `at`."""
        after = np.minimum(low + 1, len(column) - 1)
        return column[low] + part * np.where(part > 0, column[after] - column[low], 0.0)


def least_squares(parent: Integers, level: Integers, counts: Floats, weight: Floats) -> Floats:
    """The consistent counts with the least weighted squared distance to the noisy ones.

    Examples
    --------
    >>> parent, level = np.array([-1, 0, 0]), np.array([1, 2, 2])
    >>> least_squares(parent, level, np.array([4.0, 10.0, 1.0]), np.ones(3)).round(9).tolist()
    [7.0, 7.0, 0.0]
    """
    levels = [np.flatnonzero(level == depth) for depth in range(1, int(level.max(initial=0)) + 1)]
    below = _PiecewiseLinear(np.zeros(1, np.int64), np.zeros(0), np.zeros(0))
    kept: list[tuple[_PiecewiseLinear, _PiecewiseLinear]] = []
    for depth in reversed(range(len(levels))):
        nodes = levels[depth]
        children = parent[levels[depth + 1]] if depth + 1 < len(levels) else nodes[:0]
        summed = _sum_children(below, np.searchsorted(nodes, children), len(nodes))
        passed, below = _solve_nodes(summed, counts[nodes], weight[nodes])
        kept.append((passed, below))
    fitted = np.zeros(len(parent))
    price = np.zeros(len(parent))
    for nodes, (passed, own) in zip(levels, reversed(kept), strict=True):
        above = parent[nodes]
        paid = np.where(above >= 0, price[np.maximum(above, 0)], 0.0)
        fitted[nodes] = own.between(own.value, *own.at(paid))
        # `passed` maps the price of a node to the price of its children
        price[nodes] = passed.between(passed.value, *passed.at(paid))
    return fitted


def _sum_children(lines: _PiecewiseLinear, owner: Integers, owners: int) -> _PiecewiseLinear:
    """Add up the functions of the children of each owner; without children: 0 at any price."""
    sizes = np.diff(lines.starts)
    at = np.repeat(owner, sizes)
    child = np.repeat(np.arange(len(sizes)), sizes)
    slope = np.zeros(len(at))
    last = np.ones(len(at), np.bool_)
    last[:-1] = child[1:] != child[:-1]
    inner = np.flatnonzero(~last)
    wide = lines.price[inner + 1] - lines.price[inner]
    drop = lines.value[inner + 1] - lines.value[inner]
    slope[inner] = np.where(wide > 0, drop / np.where(wide > 0, wide, 1.0), 0.0)
    # every breakpoint changes the slope
    turn = slope - np.where(np.append(True, last[:-1])[: len(at)], 0.0, np.append(0.0, slope[:-1]))
    start = lines.value[lines.starts[:-1]] if len(sizes) else np.zeros(0)
    first = np.bincount(owner, start, owners)
    # every owner has a breakpoint at price 0
    at, turn = np.concatenate((np.arange(owners), at)), np.concatenate((np.zeros(owners), turn))
    price = np.concatenate((np.zeros(owners), lines.price))
    order = np.lexsort((price, at))
    at, price, turn = at[order], price[order], turn[order]
    starts = np.searchsorted(at, np.arange(owners + 1))
    slopes = _cumulative_sums(turn, starts)
    step = np.zeros(len(at))
    step[1:] = np.where(at[1:] == at[:-1], slopes[:-1] * (price[1:] - price[:-1]), 0.0)
    value = _cumulative_sums(step, starts) + first[at]
    return _PiecewiseLinear(starts, price, np.maximum(value, 0.0))


def _cumulative_sums(values: Floats, starts: Integers) -> Floats:
    """Cumulative sums that restart at each of `starts`."""
    running = np.cumsum(values)
    sizes = np.diff(starts)
    before = running[starts[:-1]] - values[starts[:-1]]
    return running - np.repeat(before, sizes)


def _solve_nodes(
    children: _PiecewiseLinear, counts: Floats, weight: Floats
) -> tuple[_PiecewiseLinear, _PiecewiseLinear]:
    """For each node, as functions of its price: the price of its children, and its optimal count."""
    sizes = np.diff(children.starts)
    node = np.repeat(np.arange(len(sizes)), sizes)
    pays = 2 * weight[node] * (counts[node] - children.value) + children.price
    free = pays[children.starts[:-1]]  # up to this price the constraint is not binding
    # not binding at price 0: a breakpoint at price 0, with their own count
    slack = np.flatnonzero(free > 0)
    # binding at price 0: everything before price 0 is cut off
    cut = _PiecewiseLinear(children.starts, pays, children.value)
    low, part = cut.at(np.zeros(len(sizes)))
    binding = np.flatnonzero(free <= 0)
    kept = (pays > 0) & (np.arange(len(node)) > np.where(free > 0, -1, low)[node])
    kept |= (free > 0)[node]
    owner = np.concatenate((slack, binding, node[kept]))
    zero = np.zeros(len(slack) + len(binding))
    price = np.concatenate((zero, pays[kept]))
    own = np.concatenate(
        (
            counts[slack],
            cut.between(children.value, low, part)[binding],
            children.value[kept],
        )
    )
    passed = np.concatenate(
        (
            np.zeros(len(slack)),
            cut.between(children.price, low, part)[binding],
            children.price[kept],
        )
    )
    order = np.lexsort((price, owner))
    # after the last breakpoint the count is 0
    starts = np.searchsorted(owner[order], np.arange(len(sizes) + 1))
    return (
        _PiecewiseLinear(starts, price[order], passed[order]),
        _PiecewiseLinear(starts, price[order], np.maximum(own[order], 0.0)),
    )
