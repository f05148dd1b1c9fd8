"""Anatomy of nested records: exact labels and exact sensitive values, and groups instead of links between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from hedgerow.errors import DomainError, NotSatisfied, ParameterError
from hedgerow.kinds.records.anatomy import FORMS, TREES, Grouping, publish_groups
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.methods.anatomy.first_fit import FirstFit
from hedgerow.kinds.records.methods.anatomy.grouping import (
    GroupSearch,
    MakeJoiner,
    attach_leftovers,
    build_groups,
    cut_parts,
    grouping_of,
)
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits
from hedgerow.kinds.records.methods.clustree.publisher import require_feasible
from hedgerow.kinds.records.methods.clustree.representative import Forest, LabelLosses
from hedgerow.kinds.records.relinking import find_relinking
from hedgerow.kinds.records.rule_promise import PM
from hedgerow.privacy import Guarantee, Ledger
from hedgerow.progress import count, tell
from hedgerow.publisher import Publisher, param

LEFTOVERS = ("attach", "suppress")
COSTS = ("vertices", "relative")
RELINKING = ("refuse", "declared")
#: records of a part, if the number of parts is not given
_PART = 1_000


@dataclass(frozen=True, kw_only=True)
class Anatomy(Publisher[Records]):
    r"""Publish nested records in groups of one shape: exact labels, exact sensitive values, and no link between them.

    A group is a seed and the $l - 1$ records that join it one after another, each at the least cost in suppressed
    vertices. A joining record is matched by *first fit*: each vertex of the group gets the first free vertex of the
    record that has its type, another sensitive value than those at this position, and breaks no rule; its children
    follow. Vertices without a partner are suppressed with everything below them. Records are sorted by their numbers of
    vertices and cut into `partitions` in which groups are built; what is left over is tried once more [1]_.

    Corrected: vertices are matched if they have equal types, and if they have no sensitive value; only vertices that
    are matched already count for rules, since a seed that breaks a rule itself would else take its whole group down; a
    seed that nobody can join takes nobody down with it; records that are left over join a finished group if all values
    at all of its positions stay different, all rules hold, and that costs less than suppressing the record.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on both parts together.
    The order of records and siblings is random, so that seeds are, as are numbers of groups and positions; both parts
    are sorted by their own content.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("patient", None, ("born",), "illness"),))
    >>> domain = Domain.declare(**{"patient.born": [1990, 1991], "patient.illness": ["Asthma", "Flu"]})
    >>> trees = [("patient", [1990], "Flu", []), ("patient", [1991], "Asthma", [])]
    >>> release = Anatomy().publish(Records.from_trees(trees, schema, domain), LDiversity(l=2), seed=1)
    >>> [tree[1] for tree in release.outputs["quasi"].trees()]
    [['1990', '1', '1'], ['1991', '1', '1']]
    >>> [tree[2] for group in release.outputs["sensitive"].trees() for tree in group[3]]
    ['Asthma', 'Flu']

    References
    ----------
    .. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017,
       chapter 3.
    """

    name: ClassVar[str] = "anatomy"
    kinds: ClassVar = ("records",)
    keeps: ClassVar = (LDiversity, PM)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True

    form: str = param("vertices", "publish sensitive values by position, or as trees", choices=FORMS)
    partitions: int = param(0, "parts in which groups are built; 0 for one per 1,000 records", ge=0)
    leftovers: str = param("attach", "let records left over join a group, or suppress them", choices=LEFTOVERS)
    cost: str = param("vertices", "count suppressed vertices, or their share of each record", choices=COSTS)
    relinking: str = param("refuse", "refuse trees that can be linked again, or declare it", choices=RELINKING)

    def word(self, guarantee: Guarantee) -> Guarantee:
        """The promise in the words for the form that is published."""
        return guarantee.worded_as(self.form)

    def run(self, data: Records, ledger: Ledger) -> Mapping[str, Records]:
        """Put records into a random order, group them by first fit, and publish labels and values of the groups."""
        plan = GroupPlan(self.form, self.partitions, self.leftovers, self.cost, self.relinking)
        return publish_in_groups(data, ledger, plan, make_first_fit)


def make_first_fit(limits: RuleLimits) -> MakeJoiner:
    """Records join by first fit, within the rules for the size of the group."""
    return lambda group, size: FirstFit(group, limits.for_size(size))


# What both methods share: only the way how records join differs.


class GroupPlan(NamedTuple):
    """How groups are built and published: the parameters of both methods."""

    form: str = FORMS[0]
    partitions: int = 0
    leftovers: str = LEFTOVERS[0]
    cost: str = COSTS[0]
    relinking: str = RELINKING[0]


def publish_in_groups(
    data: Records, ledger: Ledger, plan: GroupPlan, make: Callable[[RuleLimits], MakeJoiner]
) -> Mapping[str, Records]:
    """Put records into a random order, group them, and publish both parts."""
    l = ledger.promised(LDiversity).l  # noqa: E741 - the letter of the paper
    rules = ledger.promised(PM).rules if ledger.has_promised(PM) else ()
    _require_groups(data, l, plan.partitions)
    coins = ledger.coins()
    data = data.canonical().shuffled(coins)
    limits = RuleLimits.of(rules, data.schema, data.domain, form=plan.form, l=l)
    grouping = group_records(data, make(limits), l=l, plan=plan)
    _count_suppressed(data, grouping)
    if not (grouping.record >= 0).any():
        msg = (
            "no group of records can be formed within the rules, so that nothing would be published; allow a larger p "
            "or m, or a smaller l"
        )
        raise NotSatisfied(msg)
    parts = publish_groups(data, grouping, plan.form, coins)
    if plan.form == TREES:
        limit_relinking(parts, ledger, declared=plan.relinking != RELINKING[0])
    return parts


def limit_relinking(parts: Mapping[str, Records], ledger: Ledger, *, declared: bool) -> None:
    """Refuse trees that can be linked again from the two parts alone; or, if that is declared, say so in the statement.

    Raises
    ------
    NotSatisfied
        If a limit is exceeded, and that is not declared.
    """
    relinking = find_relinking(parts)
    if declared:
        # what is disclosed is a function of what is published
        ledger.disclose(
            "limits of re-linking that are exceeded, by values and by trees (above 0: whose sensitive values are whose "
            "can be guessed from this release alone, more often than 1 in l; publish vertex by vertex instead)",
            relinking.by_values + relinking.by_trees,
        )
        ledger.disclose(
            "groups whose own sensitive trees were compared with those of another group", relinking.compared
        )
        ledger.disclose(
            "of these, groups whose own trees fit their labels better (half of them by chance)", int(relinking.better)
        )
        return
    reasons: list[str] = []
    if relinking.by_values:
        lift = f"at least {relinking.lift:.1f} times as likely as overall"
        reasons.append(f"{relinking.attribute!r} follows {relinking.label!r} ({lift})")
    if relinking.by_trees:
        share = relinking.better / relinking.compared
        reasons.append(
            f"in {share:.0%} of the groups the own trees fit their labels better than those of another group"
        )
    if reasons:
        msg = (
            f"trees of sensitive values could be linked with their labels again: {', and '.join(reasons)}; publish "
            "vertex by vertex (form=vertices), make such a value a label, or publish nevertheless with "
            "relinking=declared (--set relinking=declared)"
        )
        raise NotSatisfied(msg)


def group_records(
    data: Records,
    make_joiner: MakeJoiner,
    *,
    l: int,  # noqa: E741
    plan: GroupPlan = GroupPlan(),  # noqa: B008 - it cannot be changed
) -> Grouping:
    """Group records, Algorithm 6: in the order of the data, which decides who is a seed and which sibling comes first.

    Parameters
    ----------
    data
        The records, in random order.
    make_joiner
        What becomes of a group that a record joins.
    l
        The number of members of a group, all with different values at every position.
    plan
        The number of parts, the cost, and what becomes of records that are left over.
    """
    search = GroupSearch(without_labels(data), l, make_joiner, plan.cost == COSTS[1])
    parts = plan.partitions or max(1, len(data) // max(_PART, l))
    progress = partial(_tell, "building groups", len(data))
    groups = build_groups(search, cut_parts(search.vertices, parts), progress)
    if plan.leftovers == LEFTOVERS[0]:
        groups = attach_leftovers(search, groups, partial(_tell, "attaching what is left over", len(groups.leftovers)))
    return grouping_of(data, groups.groups)


def without_labels(data: Records) -> Forest:
    """The records as a forest of types and sensitive values: labels decide nothing here."""
    none = tuple(tuple[LabelLosses, ...]() for _ in data.tables)
    bare = [VertexTable(table.parent, np.zeros((len(table), 0), np.int64), table.sensitive) for table in data.tables]
    return Forest.of(Records(data.domain, data.schema, tuple(bare)), none)


def _tell(stage: str, total: int, done: int) -> None:
    tell(stage, done, total)


def _count_suppressed(data: Records, grouping: Grouping) -> None:
    count("records suppressed", int((grouping.record < 0).sum()))
    for kind, position in list(zip(data.schema.types, grouping.position, strict=True))[1:]:
        count(f"vertices of type {kind.name!r} suppressed", int((position < 0).sum()))


def _require_groups(data: Records, l: int, partitions: int) -> None:  # noqa: E741
    """Refuse what no grouping can publish."""
    if all(kind.sensitive is None for kind in data.schema.types):
        msg = "the schema names no sensitive value, so there is nothing to unlink; declare one"
        raise DomainError(msg)
    if len(data) < l:
        msg = f"a group needs {l:,} records, and there are {len(data):,}; lower l, or add records"
        raise NotSatisfied(msg)
    if partitions > len(data) // l:
        msg = f"partitions must be at most {len(data) // l:,}, so that each has a group of {l:,}; got {partitions:,}"
        raise ParameterError(msg)
    require_feasible(data, k=1, l=l)
