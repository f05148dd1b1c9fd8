"""Ask for the children of many nodes by hierarchical tests: groups of places first, then the places in them.

A group is a node of a public tree over the places. Smaller groups and places are asked for only in groups that pass the
threshold, so that few of the many empty labels pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Counts
from hedgerow.privacy import Laplace, PathBudget, Shares, SurvivingNodes
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups

__all__ = ["END", "GROUP", "PLACE", "CandidateFamilies", "PassedLabels", "ask_children"]

Integers: TypeAlias = NDArray[np.int64]
#: gives the least count that passes, for families of candidates and their shares
Cutoff: TypeAlias = Callable[["CandidateFamilies", Shares], Integers]

#: the kinds of candidates
GROUP, PLACE, END = 0, 1, 2


class CandidateFamilies(NamedTuple):
    """Families of candidates with the same test: an entry, the kind (groups, places or end), and how many there are."""

    entry: Integers
    kind: Integers
    candidates: Integers


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

    def only(self, kept: NDArray[np.bool_]) -> _LabelCounts:
        return _LabelCounts(self.entry[kept], self.place[kept], self.time[kept], self.counts[kept])


def ask_children(
    paths: PathBudget,
    counted: Counts,
    groups: PlaceGroups,
    under: Integers,
    early: Integers,
    share: Shares,
    cutoff: Cutoff,
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
    cutoff
        Gives the least count that passes.
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
        families = _families(groups, entries, ends=ends and depth == 0)
        level = share[entries.at[families.entry]]
        spend = Shares.where(families.kind == GROUP, level * part, level * left)
        counts = replace(counts, time=counts.time - entries.early[counts.entry])
        question = _LevelQuestion(groups, entries, families, counts, above[counts.place])
        grown = question.ask(paths, stop if depth == 0 else None, spend, cutoff(families, spend))
        kind = families.kind[grown.at]
        passed.append(question.labels(grown, spend, kind != GROUP))
        counts, entries = question.passed(grown, kind == GROUP)
        left -= part
        if not len(entries.at):
            break
    return _concatenate(passed)


def _families(groups: PlaceGroups, entries: _Entries, *, ends: bool) -> CandidateFamilies:
    """The families of each entry: groups, places, and the end of sequences."""
    many = groups.many[entries.node] * entries.times[:, None]
    table = np.column_stack((many, np.full(len(many), int(ends))))
    entry, kind = np.nonzero(table)
    return CandidateFamilies(entry, kind, table[entry, kind])


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
    def _of_counts(self) -> tuple[Integers, Integers]:
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
        family, code = self._of_counts
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

    def labels(self, grown: SurvivingNodes, spend: Shares, chosen: NDArray[np.bool_]) -> PassedLabels:
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

    def passed(self, grown: SurvivingNodes, chosen: NDArray[np.bool_]) -> tuple[_LabelCounts, _Entries]:
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
        family, code = self._of_counts
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
