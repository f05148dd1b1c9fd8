"""Anatomy of nested records by assignments, with repair of rules: our own method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.kinds.records.anatomy import FORMS, TREES
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.anatomy.grouping import MakeJoiner
from hedgerow.kinds.records.methods.anatomy.publisher import (
    COSTS,
    LEFTOVERS,
    RELINKING,
    GroupPlan,
    publish_in_groups,
)
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits
from hedgerow.kinds.records.methods.clustree.clustering import PairSavings
from hedgerow.kinds.records.methods.clustree.representative import KEEP, MAPPINGS, Positions, Representative
from hedgerow.kinds.records.rule_promise import PM
from hedgerow.numerics.arrays import Flags, Integers
from hedgerow.privacy import Guarantee, Ledger
from hedgerow.publisher import Publisher, param


@dataclass(frozen=True, kw_only=True)
class AnatomyMatching(Publisher[Records]):
    r"""Publish nested records in groups of one shape, matched by assignments.

    As in `anatomy` [1]_ a group is a seed and the $l - 1$ records that join it at the least cost in suppressed
    vertices, and the link between labels and sensitive values is cut in groups. Which vertices of a joining record are
    matched is solved as an assignment problem: as many as possible, with everything below them.

    Rules are repaired when a group is complete: positions are suppressed one after another, each time the one that
    helps with most broken rules per vertex that is lost with it, until all rules hold.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on both parts together.
    The order of records and siblings is random, so that seeds are, as are numbers of groups and positions; both parts
    are sorted by their own content.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> visit = VertexType("visit", "patient", ("year",), "illness")
    >>> schema = RecordSchema((VertexType("patient", None, ("born",)), visit))
    >>> years = {"patient.born": [1990, 1991], "visit.year": [2000, 2001]}
    >>> domain = Domain.declare(**years, **{"visit.illness": ["Asthma", "Flu"]})
    >>> ill = [("visit", [2000], "Flu", []), ("visit", [2001], "Asthma", [])]
    >>> trees = [("patient", [born], None, ill) for born in (1990, 1991)]
    >>> release = AnatomyMatching().publish(Records.from_trees(trees, schema, domain), LDiversity(l=2), seed=1)
    >>> [len(tree[3]) for tree in release.outputs["quasi"].trees()]
    [2, 2]

    References
    ----------
    .. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017,
       chapter 3; matching by assignments and repair are not in it.
    """

    name: ClassVar[str] = "anatomy-matching"
    kinds: ClassVar = ("records",)
    keeps: ClassVar = (LDiversity, PM)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    # docs/results/anatomy.md: it kept more than first fit in every setting that was run with both
    recommended: ClassVar[str] = "nested records, if exact labels matter more than hiding whose record it is"

    form: str = param("vertices", "publish sensitive values by position, or as trees", choices=FORMS)
    partitions: int = param(0, "parts in which groups are built; 0 for one per 1,000 records", ge=0)
    leftovers: str = param("attach", "let records left over join a group, or suppress them", choices=LEFTOVERS)
    cost: str = param("vertices", "count suppressed vertices, or their share of each record", choices=COSTS)
    relinking: str = param("refuse", "refuse trees that can be linked again, or declare it", choices=RELINKING)

    def word(self, guarantee: Guarantee) -> Guarantee:
        """The promise in the words for the form that is published."""
        return guarantee.worded_as(self.form)

    def run(self, data: Records, ledger: Ledger) -> Mapping[str, Records]:
        """Put records into a random order, group them by assignments, and publish labels and values of the groups."""
        plan = GroupPlan(self.form, self.partitions, self.leftovers, self.cost, self.relinking)
        return publish_in_groups(data, ledger, plan, make_assignment)


def make_assignment(limits: RuleLimits) -> MakeJoiner:
    """Records join by assignments, and rules are repaired once a group is complete."""
    return lambda group, size: Assignment(group, limits.for_size(size), size)


class Assignment:
    """What becomes of a group that a record joins: as many vertices as possible are matched."""

    batch = 8

    def __init__(self, group: Representative, limits: RuleLimits, size: int) -> None:
        self._pairs = PairSavings(group, MAPPINGS["assignment"], most=1, weight=1)
        self._limits, self._size = limits, size

    def joinable(self) -> Flags:
        """Which records have a root that may be matched."""
        return self._pairs.joinable()

    def overlaps(self, records: Integers) -> Integers:
        """How many vertices of the group are left if each of these records joins, before any repair."""
        return np.rint(self._pairs.of_records(records) / KEEP).astype(np.int64)

    def merged(self, record: int) -> Representative:
        """The group after a record has joined; if it is complete, with all rules kept."""
        merged = self._pairs.merged(record)
        return repair(merged, self._limits) if len(merged.members) == self._size else merged


# Rules that a complete group breaks.


def repair(group: Representative, limits: RuleLimits) -> Representative:
    """Suppress positions until all rules hold: always the one that serves most needs per vertex of its subtree.

    A need is, in the form `vertices`, a broken rule, served by every position with a value that it counts. In the form
    `trees` it is a heavy member beyond those that a rule allows, of which the heaviest stay; it is served by the
    positions at which this member has a counted value. Of equal positions the one with fewer vertices goes first.
    """
    if not limits.types:
        return group
    occurs = {number: own.counted[:, group.buckets(number)] for number, own in limits.types.items()}
    kept = [np.ones(len(positions.parent), np.bool_) for positions in group.types]
    while (worst := _worst_position(group, limits, occurs, kept)) is not None:
        kept[worst[0]][worst[1]] = False
        _drop_below(group, kept)
        for number, own in occurs.items():
            own[:, ~kept[number]] = False
    return group if all(own.all() for own in kept) else _without(group, kept)


def _worst_position(
    group: Representative, limits: RuleLimits, occurs: Mapping[int, Flags], kept: Sequence[Flags]
) -> tuple[int, int] | None:
    """The type and the row of the position to suppress, or nothing if all rules hold."""
    worst: list[tuple[float, int, int, int]] = []
    for number, own in limits.types.items():
        if limits.form == TREES:
            needs = own.find_heavy(occurs[number].sum(axis=1))
            served = (occurs[number] & needs[:, None, :]).sum(axis=(0, 2))
        else:
            broken = own.find_linked(occurs[number].sum(axis=2))
            served = occurs[number][broken].any(axis=2).sum(axis=0)
        rows = np.flatnonzero(served)
        if len(rows):
            sizes = _subtree_sizes(group, kept)[number][rows]
            ratio = served[rows] / sizes
            first = int(np.lexsort((rows, sizes, -ratio))[0])
            worst.append((-float(ratio[first]), int(sizes[first]), number, int(rows[first])))
    return min(worst)[2:] if worst else None


def _subtree_sizes(group: Representative, kept: Sequence[Flags]) -> list[Integers]:
    sizes = [own.astype(np.int64) for own in kept]
    for number in reversed(range(1, len(sizes))):
        np.add.at(sizes[group.forest.schema.parents[number]], group.types[number].parent, sizes[number])
    return sizes


def _drop_below(group: Representative, kept: Sequence[Flags]) -> None:
    for number, above in enumerate(group.forest.schema.parents):
        if above >= 0:
            kept[number][~kept[above][group.types[number].parent]] = False


def _without(group: Representative, kept: Sequence[Flags]) -> Representative:
    """The group with these positions only."""
    types: list[Positions] = []
    for number, above in enumerate(group.forest.schema.parents):
        rows, own = kept[number], group.types[number]
        parent = own.parent[rows] if above < 0 else (np.cumsum(kept[above]) - 1)[own.parent[rows]]
        types.append(Positions(parent, own.labels[rows], own.vertices[rows]))
    return Representative(group.forest, tuple(types))
