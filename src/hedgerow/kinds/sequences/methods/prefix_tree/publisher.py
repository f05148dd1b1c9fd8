"""Prefix trees: noisy counts of prefixes, level by level, as deep as they reach a threshold.

The publisher, then its questions: children of nodes by hierarchical tests, and first visits of records that start with
no counted prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hedgerow.data.dataset import Dataset
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Counts, Frontier, NextSymbol
from hedgerow.kinds.sequences.data import LabelledRecords
from hedgerow.kinds.sequences.methods.prefix_tree.draw import (
    FirstVisits,
    add_first_visits,
    count_endings,
    distinct_sequences,
)
from hedgerow.kinds.sequences.methods.prefix_tree.model import (
    END,
    GROUP,
    GROUPINGS,
    PLACE,
    CandidateFamilies,
    NoisyTree,
    PlaceGroups,
    Thresholds,
    consistent_counts,
    expected_heights,
    place_groups,
)
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.privacy import Laplace, Ledger, PathBudget, PureDP, Shares, SurvivingNodes
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: nodes of a level, at most
_NODES = 5_000_000
#: shares of the budget are rounded down to multiples of one part in this many
_SHARES = 4_096
#: the part of the budget for first times, and for first places
_PART = Fraction(3, 100)


@dataclass(frozen=True, kw_only=True)
class PrefixTree(Publisher[Any]):
    r"""Publish sequences, or visits with their times, by the noisy counts of their prefixes.

    The noisy prefix tree is built level by level: a prefix whose noisy count reaches a threshold is expanded by every
    place that may come next. In a *hybrid* tree, groups of places (a location taxonomy) are counted first, and places
    only in groups that reach their threshold, so that few of the many empty prefixes do. Constrained inference makes
    the noisy counts consistent; the release is generated from the tree, and a sequence ends where the tree does [1]_. A
    visit with a time is one label of place and time; times never decrease along a sequence.

    Corrected: the printed inference leaves negative counts, and children whose counts exceed that of their parent; here
    the children are projected onto the count of their parent, or least squares are solved over the whole tree
    (`inference` exact). Counts are rounded together, so that every prefix keeps its count. Two visits may have the same
    time. The printed split of the budget leaves hardly anything for groups, and nothing for the places in a group of
    two (`group_share`); with the printed threshold empty prefixes multiply if there are no groups (`false_nodes`).
    Where visits have times, the paper drops the records that start with no counted prefix, which are most of them if
    there are many places and times; the hours of the few others then pass for those of all. Here the times and places
    of first visits are asked for in addition, and these records are published with their first visit alone.

    Privacy
    -------
    prefixes: a sequence, truncated to its first `height` items, follows one path (L1 = 1, one token): at every level it
    is in one group, then at one place in that group. A level spends a part of what is left on its path, groups and
    places together, and the last level at most the rest; so no path spends more than was reserved. Where visits have
    times, three hundredths of the budget each: first times, first places: a record has one first visit, or none
    (L1 = 1). Which prefixes are expanded, what they spend, inference, rounding and added visits depend on noisy answers
    only. Groups, times, thresholds and height are public.

    Examples
    --------
    >>> from hedgerow import Domain, Sequences
    >>> domain = Domain.declare(item=["airport", "centre", "harbour", "museum"])
    >>> trips = [["airport", "centre", "airport"]] * 3000 + [["harbour"]] * 1000
    >>> data = Sequences.from_records(trips, domain=domain)
    >>> release = PrefixTree(height=4).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 100]
    [(('harbour',), 1000), (('airport', 'centre', 'airport'), 3000)]

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data publication: a case
       study on the Montreal transportation system". KDD 2012.
    """

    name: ClassVar[str] = "prefix-tree"
    kinds: ClassVar = ("sequences", "trajectories")
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "trajectory", "person")

    height: int = param(
        12, "height of the tree: how many items of a sequence are used, from the first on", ge=1, le=200
    )
    groups: str = param(
        "auto",
        "groups of places that are counted first, by fan-out or as declared; auto: by fan-out from 2,000 labels on",
        choices=GROUPINGS,
    )
    group_share: float = param(
        0.5, "part of a level's budget for groups; 0: as printed, two over the size of a group", ge=0, lt=1
    )
    threshold: float = param(5.0, "standard deviations of the noise that the count of a place must reach", ge=0)
    false_nodes: float = param(0.5, "most empty children of a node expected to reach the threshold; 0: no bound", ge=0)
    budget: str = param(
        "uniform",
        "share of each level: equal, or by the expected height of the branch",
        choices=("uniform", "adaptive"),
    )
    inference: str = param(
        "project", "constrained inference: by projection, or exact least squares", choices=("project", "exact")
    )

    def run(self, data: LabelledRecords, ledger: Ledger) -> Dataset:
        """Build the noisy prefix tree, make its counts consistent, and generate the release."""
        timed = data.labels.times > 1
        noise = noise_of_number(data.labels.times, ledger.budget) if timed else 0.0
        scale = max(noise, self.threshold * self.height / float(ledger.budget))
        require_little_noise(SCALES * scale * self.height, "items", "take a larger epsilon, or a smaller height")
        groups = place_groups(data.domain, data.labels, self.groups, self.group_share)
        positions = data.positions(self.height)
        first = ask_first_visits(positions, groups, ledger) if timed else None
        tree = self.growth(groups).grow(positions, ledger)
        note_first_visits(tree, groups, ledger)
        counts = consistent_counts(tree, self.inference)
        copies = count_endings(tree, counts)
        sequences, numbers = distinct_sequences(tree, copies, self.height)
        if first is not None:
            sequences, numbers = add_first_visits(first, sequences, numbers, ledger.coins())
            note_added_visits(int(numbers.sum()) - int(copies.sum()), ledger)
        return data.from_labels(sequences, numbers)

    def growth(self, groups: PlaceGroups) -> Growth:
        """How the tree is built."""
        thresholds = Thresholds(self.threshold, self.false_nodes)
        return Growth(self.height, groups, thresholds, adaptive=self.budget == "adaptive", ends=False)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `height` items of a sequence are used."""
        return {"longest": self.height}


# Build a noisy prefix tree: ask for the counts of prefixes, level by level, below those that passed the threshold.


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
                self.thresholds,
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
        """The number of levels that each branch divides what it has left by."""
        most = self.height - level
        if level == 0 or not self.adaptive:
            return np.full(len(live.nodes), most)
        limit = self.thresholds.of_level(self.groups, live.share)
        return expected_heights(tree, live.numbers, limit, self.groups.places, most)


def _round_down(share: Shares, step: Fraction) -> Shares:
    """Round down, so that there are few distinct shares; a share that would become 0 stays as it is."""
    down = share.rounded_down(step)
    return Shares.where(down.floats() > 0, down, share)


def _require_few(nodes: int) -> None:
    if nodes > _NODES:
        msg = f"a level of the tree has more than {_NODES:,} prefixes; set groups, or bound false_nodes"
        raise ParameterError(msg)


def note_first_visits(tree: NoisyTree, groups: PlaceGroups, ledger: Ledger) -> None:
    """Note in the statement how many first visits the tree has, if visits have times."""
    if groups.times > 1:
        ledger.note(
            "first visits (pairs of place and time) whose noisy count reached the threshold",
            int(np.count_nonzero(tree.level == 1)),
        )


# Ask for the children of many nodes by hierarchical tests: groups of places first, then the places in them. Smaller
# groups and places are asked for only in groups that pass the threshold, so that few of the many empty labels pass.


class PassedLabels(NamedTuple):
    """Labels that passed: node of the ledger, position of the parent, label, noisy count, and budget spent."""

    nodes: Integers
    at: Integers
    label: Integers
    noisy: Integers
    spend: Shares


@dataclass(frozen=True, eq=False)
class _Entries:
    """Where a question is asked: node of the ledger, position of the parent, node of the public tree, possible times.

    The possible times are the `times` from `early` on.
    """

    under: Integers
    at: Integers
    node: Integers
    early: Integers
    times: Integers


@dataclass(frozen=True, eq=False)
class _LabelCounts:
    """Counts of the labels that occur: entry, place, time, count."""

    entry: Integers
    place: Integers
    time: Integers
    counts: Integers

    def only(self, kept: Flags) -> _LabelCounts:
        return _LabelCounts(self.entry[kept], self.place[kept], self.time[kept], self.counts[kept])


def ask_children(
    paths: PathBudget,
    counted: Counts,
    groups: PlaceGroups,
    under: Integers,
    early: Integers,
    share: Shares,
    thresholds: Thresholds,
    *,
    ends: bool,
) -> PassedLabels:
    """Ask for the children of nodes: every place at every time from `early` on, and the end of sequences.

    Parameters
    ----------
    paths
        The part of the ledger that asks, and accounts along paths.
    counted
        How often each label follows each node; a label is `time * places + place`.
    under, early, share
        The nodes, the earliest time of a child of each, and the share of the budget for this level.
    thresholds
        Say which counts pass.
    ends
        Whether to ask how many sequences end at each node.
    """
    inner = counted.codes < groups.labels.size
    time, place = np.divmod(counted.codes[inner], groups.places)
    counts = _LabelCounts(counted.cells[inner], place, time, counted.counts[inner])
    stop = (counted.cells[~inner], counted.counts[~inner])
    root = np.full(len(under), groups.tree.root)
    entries = _Entries(under, np.arange(len(under)), root, early, groups.times - early)
    passed: list[PassedLabels] = []
    left = Fraction(1)
    for depth, above in enumerate(groups.above[1:]):
        part = groups.spend[depth] if depth < len(groups.spend) else Fraction(0)
        families = CandidateFamilies.below(groups, entries.node, entries.times, ends=ends and depth == 0)
        level = share[entries.at[families.entry]]
        spend = Shares.where(families.kind == GROUP, level * part, level * left)
        counts = replace(counts, time=counts.time - entries.early[counts.entry])
        question = _LevelQuestion(groups, entries, families, counts, above[counts.place])
        grown = question.ask(paths, stop if depth == 0 else None, spend, thresholds.cutoff(families, spend.floats()))
        kind = families.kind[grown.at]
        passed.append(question.labels(grown, spend, kind != GROUP))
        counts, entries = question.passed(grown, kind == GROUP)
        left -= part
        if not len(entries.at):
            break
    return _concatenate(passed)


@dataclass(frozen=True, eq=False)
class _LevelQuestion:
    """One question below all entries: the family and code of each count."""

    groups: PlaceGroups
    entries: _Entries
    families: CandidateFamilies
    counts: _LabelCounts
    child: Integers

    @cached_property
    def _family(self) -> Integers:
        """The number of each entry's families by kind; -1 where there is none."""
        numbers = np.full((len(self.entries.at), 3), -1, np.int64)
        numbers[self.families.entry, self.families.kind] = np.arange(len(self.families.entry))
        return numbers

    @cached_property
    def _counted_cells(self) -> tuple[Integers, Integers]:
        """The family of each label that occurs, and its code in the family."""
        kind = np.where(self.child < self.groups.places, PLACE, GROUP)
        node = self.entries.node[self.counts.entry]
        code = self.counts.time * self.groups.many[node, kind] + self.groups.rank[self.child]
        return self._family[self.counts.entry, kind], code

    def ask(
        self,
        paths: PathBudget,
        stop: tuple[Integers, Integers] | None,
        spend: Shares,
        cutoff: Integers,
    ) -> SurvivingNodes:
        """Ask for every candidate of all families; `stop` has the entries and counts of sequences that end."""
        family, code = self._counted_cells
        exact = self.counts.counts
        if stop is not None and np.any(self.families.kind == END):
            family = np.concatenate((family, self._family[stop[0], END]))
            code = np.concatenate((code, np.zeros(len(stop[0]), np.int64)))
            exact = np.concatenate((exact, stop[1]))
        wide = int(self.families.candidates.max(initial=1))
        keys, place = np.unique(family * wide + code, return_inverse=True)
        total = np.bincount(place, exact, len(keys)).astype(np.int64)
        at, code = np.divmod(keys, wide)
        return paths.survivors(
            at,
            code,
            total,
            Laplace(l1=1),
            under=self.entries.under[self.families.entry],
            candidates=self.families.candidates,
            cutoff=cutoff,
            spend=spend,
            label="prefixes",
        )

    def labels(self, grown: SurvivingNodes, spend: Shares, chosen: Flags) -> PassedLabels:
        """The labels of the places and ends that passed."""
        nodes, at, code, noisy = (part[chosen] for part in grown)
        entry, kind = self.families.entry[at], self.families.kind[at]
        node, time = self.entries.node[entry], np.zeros(len(at), np.int64)
        label = np.full(len(at), self.groups.labels.size)
        placed = kind == PLACE
        time[placed], rank = np.divmod(code[placed], self.groups.many[node[placed], PLACE])
        place = self.groups.child(node[placed], kind[placed], rank)
        label[placed] = (self.entries.early[entry] + time)[placed] * self.groups.places + place
        return PassedLabels(nodes, self.entries.at[entry], label, noisy, spend[at])

    def passed(self, grown: SurvivingNodes, chosen: Flags) -> tuple[_LabelCounts, _Entries]:
        """The counts within the groups that passed, and these groups as entries."""
        nodes, at, code, _ = (part[chosen] for part in grown)
        entry = self.families.entry[at]
        time, rank = np.divmod(code, self.groups.many[self.entries.node[entry], GROUP])
        node = self.groups.child(self.entries.node[entry], np.zeros_like(rank), rank)
        early = self.entries.early[entry] + time
        ones = np.ones(len(at), np.int64)
        entries = _Entries(nodes, self.entries.at[entry], node, early, ones)
        wide = int(self.families.candidates.max(initial=1))
        keys = at * wide + code
        order = np.argsort(keys)
        family, code = self._counted_cells
        key = family * wide + code
        position = np.minimum(np.searchsorted(keys[order], key), max(0, len(keys) - 1))
        kept = np.zeros(len(key), np.bool_)
        if len(keys):
            kept = keys[order][position] == key
        counts = self.counts.only(kept)
        # back to absolute times, as in the first question
        time = counts.time + self.entries.early[counts.entry]
        return replace(counts, entry=order[position[kept]], time=time), entries


def _concatenate(passed: list[PassedLabels]) -> PassedLabels:
    """Concatenate the labels, sorted by parent and label."""
    nodes, at, label, noisy = (
        np.concatenate([getattr(part, name) for part in passed]) for name in ("nodes", "at", "label", "noisy")
    )
    table = tuple(share for part in passed for share in part.spend.table)
    shift = np.cumsum([0, *(len(part.spend.table) for part in passed)])
    codes = np.concatenate([part.spend.codes + shift[n] for n, part in enumerate(passed)])
    order = np.lexsort((label, at))
    spend = Shares(table, codes[order]).packed()
    return PassedLabels(nodes[order], at[order], label[order], noisy[order], spend)


# First visits of records that start with no counted prefix: their times and places are asked for separately. Where
# visits have times, a first visit is a place at a time, and few of them are frequent enough to be counted: without
# these questions, the times of the few that were would pass for those of all records.


def noise_of_number(times: int, budget: Fraction) -> float:
    """The standard deviation of the number of records, a sum over all times."""
    return sqrt(2 * times) / float(budget * _PART)


def ask_first_visits(positions: Frontier, groups: PlaceGroups, ledger: Ledger) -> FirstVisits:
    """Ask how many records start at each time, and how many at each place."""
    spend = ledger.budget * _PART
    counted = positions.first().count(NextSymbol(groups.labels.size))
    time, place = np.divmod(counted.codes, groups.places)
    # a record has one first visit, or none: L1 = 1
    exact = np.zeros(groups.times, np.int64)
    np.add.at(exact, time, counted.counts)
    times = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first times")
    # the same
    exact = np.zeros(groups.places, np.int64)
    np.add.at(exact, place, counted.counts)
    places = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first places")
    total = np.array([float(max(0, int(times.sum())))])
    fitted = (project_to_simplex(noisy[None, :].astype(np.float64), total)[0] for noisy in (times, places))
    return FirstVisits(*fitted)


def note_added_visits(number: int, ledger: Ledger) -> None:
    """Note in the statement how many records have their first visit alone."""
    ledger.note(
        "records that start with none of these first visits: they have one visit, whose place and time were drawn "
        "independently of each other",
        number,
    )
