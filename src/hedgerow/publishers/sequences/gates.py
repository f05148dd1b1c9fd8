"""Ask for the children of many nodes through gates: groups of labels first, then what is in them.

A gate is a group of places at one time, a node of a public tree over the places. Only below the
gates that pass is anything smaller asked for, so that few of the many empty labels can pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Taxonomy
from hedgerow.frontiers import Counts
from hedgerow.privacy import Grown, Laplace, Paths, Shares

__all__ = ["Asked", "Families", "Gates", "ask_children"]

Integers: TypeAlias = NDArray[np.int64]
#: the least count that passes, for families of a number of candidates and their shares
Cutoff: TypeAlias = Callable[["Families", Shares], Integers]

GATES, PLACES, END = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Gates:
    """A public tree over places, a level of questions a depth; and how many times there are.

    `spend[d]` is the part of a level's budget that groups at depth `d + 1` are asked with; places
    are asked with all that is left of it at their depth.
    """

    tree: Taxonomy
    times: int
    spend: tuple[Fraction, ...]

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.tree.leaves

    @cached_property
    def above(self) -> Integers:
        """The node that holds each place at each depth; a place itself from its own depth on."""
        first, end = self.tree.span
        by_position = np.argsort(self.tree.position)
        held = np.full((int(self.tree.height[self.tree.root]) + 1, self.places), -1, np.int64)
        held[0] = self.tree.root
        for depth in range(1, len(held)):
            held[depth] = held[depth - 1]
            for node in np.unique(held[depth - 1]).tolist():
                for child in self.children(node):
                    held[depth, by_position[first[child] : end[child]]] = child
        return held

    def children(self, node: int) -> tuple[int, ...]:
        """The children of a node from left to right."""
        return self.tree.children[node - self.places] if node >= self.places else ()

    @cached_property
    def rank(self) -> Integers:
        """The place of each node among its siblings of the same kind, groups or places."""
        held = np.zeros(self.tree.size, np.int64)
        for group in self.tree.children:
            alike = np.array(group)
            for kind in (alike[alike >= self.places], alike[alike < self.places]):
                held[kind] = np.arange(len(kind))
        return held

    @cached_property
    def many(self) -> Integers:
        """How many groups, and how many places, are children of each node."""
        held = np.zeros((self.tree.size, 2), np.int64)
        for number, group in enumerate(self.tree.children):
            places = sum(child < self.places for child in group)
            held[self.places + number] = len(group) - places, places
        return held

    def child(self, node: Integers, kind: Integers, rank: Integers) -> Integers:
        """The child of each node of a kind and a rank."""
        starts, held = self._listed
        return held[starts[2 * node + kind] + rank]

    @cached_property
    def _listed(self) -> tuple[Integers, Integers]:
        """All children by parent, groups first; and where those of a parent and kind start."""
        held = [
            sorted(group, key=lambda child: (child < self.places, self.rank[child])) for group in self.tree.children
        ]
        sizes = self.many.ravel()
        flat = np.array([child for group in held for child in group], np.int64)
        return np.cumsum(sizes) - sizes, flat


class Families(NamedTuple):
    """What is asked below some entries: groups, places or an end; how many candidates there are."""

    entry: Integers
    kind: Integers
    candidates: Integers


class Asked(NamedTuple):
    """Labels that passed: their node, the position of their parent, the label, the noisy count.

    `spend` is what each was asked with.
    """

    nodes: Integers
    at: Integers
    label: Integers
    noisy: Integers
    spend: Shares


@dataclass(frozen=True, eq=False)
class _Entries:
    """Where something is asked: the parent, a node of the public tree, the times that may be.

    `under` is the node of the ledger; `early` is the first time, and `times` how many there are.
    """

    under: Integers
    at: Integers
    node: Integers
    early: Integers
    times: Integers


@dataclass(frozen=True, eq=False)
class _Cells:
    """The labels that occur: in which entry, at which place and time, how often."""

    entry: Integers
    place: Integers
    time: Integers
    counts: Integers

    def only(self, kept: NDArray[np.bool_]) -> _Cells:
        return _Cells(self.entry[kept], self.place[kept], self.time[kept], self.counts[kept])


def ask_children(
    paths: Paths,
    counted: Counts,
    gates: Gates,
    under: Integers,
    early: Integers,
    share: Shares,
    cutoff: Cutoff,
    *,
    ends: bool,
) -> Asked:
    """Ask what follows nodes: any place at any time from `early` on, or the end.

    Parameters
    ----------
    paths
        Where cells are asked.
    counted
        How often each label follows each node; a label is `time * places + place`.
    under, early, share
        The nodes, the first time of what may follow each, and what a level may spend there.
    cutoff
        The least count that passes.
    ends
        Whether to ask how many sequences end at each node.
    """
    size = gates.places * gates.times
    inner = counted.codes < size
    time, place = np.divmod(counted.codes[inner], gates.places)
    cells = _Cells(counted.cells[inner], place, time, counted.counts[inner])
    stop = (counted.cells[~inner], counted.counts[~inner])
    everywhere = np.full(len(under), gates.tree.root)
    entries = _Entries(under, np.arange(len(under)), everywhere, early, gates.times - early)
    found: list[Asked] = []
    left = Fraction(1)
    for depth, above in enumerate(gates.above[1:]):
        gate = gates.spend[depth] if depth < len(gates.spend) else Fraction(0)
        families = _families(gates, entries, ends=ends and depth == 0)
        level = share[entries.at[families.entry]]
        spend = Shares.where(families.kind == GATES, level * gate, level * left)
        cells = replace(cells, time=cells.time - entries.early[cells.entry])
        asked = _Question(gates, entries, families, cells, above[cells.place])
        grown = asked.ask(paths, stop if depth == 0 else None, spend, cutoff(families, spend))
        kind = families.kind[grown.at]
        found.append(asked.labels(grown, spend, kind != GATES))
        passed = asked.passed(grown, kind == GATES)
        cells, entries = passed
        left -= gate
        if not len(entries.at):
            break
    return _joined(found)


def _families(gates: Gates, entries: _Entries, *, ends: bool) -> Families:
    """Two families an entry, groups and places, and the end of sequences."""
    many = gates.many[entries.node] * entries.times[:, None]
    table = np.column_stack((many, np.full(len(many), int(ends))))
    entry, kind = np.nonzero(table)
    return Families(entry, kind, table[entry, kind])


@dataclass(frozen=True, eq=False)
class _Question:
    """One question below all entries: which cells are in which family, under which code."""

    gates: Gates
    entries: _Entries
    families: Families
    cells: _Cells
    child: Integers

    @cached_property
    def _family(self) -> Integers:
        """The number of each entry's families by kind; -1 where there is none."""
        held = np.full((len(self.entries.at), 3), -1, np.int64)
        held[self.families.entry, self.families.kind] = np.arange(len(self.families.entry))
        return held

    @cached_property
    def _of_cells(self) -> tuple[Integers, Integers]:
        """The family and the code in it of each cell."""
        kind = np.where(self.child < self.gates.places, PLACES, GATES)
        node = self.entries.node[self.cells.entry]
        code = self.cells.time * self.gates.many[node, kind] + self.gates.rank[self.child]
        return self._family[self.cells.entry, kind], code

    def ask(
        self,
        paths: Paths,
        stop: tuple[Integers, Integers] | None,
        spend: Shares,
        cutoff: Integers,
    ) -> Grown:
        """Ask for every candidate of all families; `stop` says how many sequences end where."""
        family, code = self._of_cells
        exact = self.cells.counts
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

    def labels(self, grown: Grown, spend: Shares, chosen: NDArray[np.bool_]) -> Asked:
        """The places and ends that passed, as labels."""
        nodes, at, code, noisy = (part[chosen] for part in grown)
        entry, kind = self.families.entry[at], self.families.kind[at]
        node, time = self.entries.node[entry], np.zeros(len(at), np.int64)
        label = np.full(len(at), self.gates.places * self.gates.times)
        placed = kind == PLACES
        time[placed], rank = np.divmod(code[placed], self.gates.many[node[placed], PLACES])
        place = self.gates.child(node[placed], kind[placed], rank)
        label[placed] = (self.entries.early[entry] + time)[placed] * self.gates.places + place
        return Asked(nodes, self.entries.at[entry], label, noisy, spend[at])

    def passed(self, grown: Grown, chosen: NDArray[np.bool_]) -> tuple[_Cells, _Entries]:
        """The groups that passed, and the cells in them."""
        nodes, at, code, _ = (part[chosen] for part in grown)
        entry = self.families.entry[at]
        time, rank = np.divmod(code, self.gates.many[self.entries.node[entry], GATES])
        node = self.gates.child(self.entries.node[entry], np.zeros_like(rank), rank)
        early = self.entries.early[entry] + time
        ones = np.ones(len(at), np.int64)
        entries = _Entries(nodes, self.entries.at[entry], node, early, ones)
        wide = int(self.families.candidates.max(initial=1))
        keys = at * wide + code
        order = np.argsort(keys)
        family, code = self._of_cells
        wanted = family * wide + code
        there = np.minimum(np.searchsorted(keys[order], wanted), max(0, len(keys) - 1))
        kept = np.zeros(len(wanted), np.bool_)
        if len(keys):
            kept = keys[order][there] == wanted
        cells = self.cells.only(kept)
        # times are counted from the start again, as the first question does
        whole = cells.time + self.entries.early[cells.entry]
        return replace(cells, entry=order[there[kept]], time=whole), entries


def _joined(found: list[Asked]) -> Asked:
    """All labels in one, by parent and label."""
    nodes, at, label, noisy = (
        np.concatenate([getattr(part, name) for part in found]) for name in ("nodes", "at", "label", "noisy")
    )
    table = tuple(share for part in found for share in part.spend.table)
    shift = np.cumsum([0, *(len(part.spend.table) for part in found)])
    codes = np.concatenate([part.spend.codes + shift[n] for n, part in enumerate(found)])
    order = np.lexsort((label, at))
    spend = Shares(table, codes[order]).packed()
    return Asked(nodes[order], at[order], label[order], noisy[order], spend)
