"""What every grouping of records must be, checked from the grouping alone; random rules."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from anatomy_oracle import Ruled, Vertex, buckets_of, rules_hold, vertices_of
from hypothesis import strategies as st

from hedgerow.kinds.records.anatomy import Grouping
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.rules import Rule

SHARES = [Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)]


@st.composite
def rules_for(draw, data: Records, most: int = 3) -> list[Rule]:
    """Some rules on values, sets or all values of the data."""
    rules = []
    kinds = [kind for kind in data.schema.types if kind.sensitive]
    for _ in range(draw(st.integers(0, most)) if kinds else 0):
        kind = draw(st.sampled_from(kinds))
        names = sorted(set(buckets_of(data, data.schema.numbers[kind.name])))
        values = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
        rules.append(Rule(kind.sensitive_axis, tuple(values), draw(st.integers(1, 3)), draw(st.sampled_from(SHARES))))
    return rules


def plain_rules(rules: list[Rule], data: Records) -> list[Ruled]:
    """The rules as the oracle has them."""
    plain = []
    for rule in rules:
        kind = data.schema.numbers[rule.attribute.split(".")[0]]
        every = [frozenset([name]) for name in sorted(set(buckets_of(data, kind)))]
        plain += [
            Ruled(kind, buckets, rule.m, rule.p) for buckets in ([frozenset(rule.values)] if rule.values else every)
        ]
    return plain


def positions_of(data: Records, grouping: Grouping) -> dict[int, dict[tuple[int, int], list[Vertex]]]:
    """The vertices at each position (type and number) of each group."""
    groups = defaultdict(lambda: defaultdict(list))

    def visit(vertex: Vertex, group: int) -> None:
        position = int(grouping.position[vertex.kind][vertex.row])
        if group >= 0 and position >= 0:
            groups[group][vertex.kind, position].append(vertex)
        for child in vertex.children:
            if grouping.position[child.kind][child.row] >= 0:
                assert position >= 0  # a vertex is published with its parent only
            visit(child, group)

    for root in vertices_of(data):
        visit(root, int(grouping.record[root.row]))
    return groups


def check_grouping(data: Records, grouping: Grouping, l: int, rules: list[Rule], form: str, most: int) -> None:  # noqa: E741
    """Groups of l to `most` records of one shape, with different values at every position, that keep all rules."""
    parents = {(child.kind, child.row): vertex for root in vertices_of(data) for vertex, child in pairs(root)}
    record = [data.records_of(number) for number in range(len(data.tables))]
    for group, positions in positions_of(data, grouping).items():
        members = sorted(row for row, own in enumerate(grouping.record.tolist()) if own == group)
        assert l <= len(members) <= most
        for (kind, _), vertices in positions.items():
            assert sorted(int(record[kind][vertex.row]) for vertex in vertices) == members
            values = [vertex.value for vertex in vertices]
            assert len(set(values)) == len(values) or values == [None] * len(values)
            assert None not in values or values == [None] * len(values)
            if kind:
                above = [parents[kind, vertex.row] for vertex in vertices]
                assert len({(one.kind, int(grouping.position[one.kind][one.row])) for one in above}) == 1
        assert rules_hold(positions.values(), plain_rules(rules, data), form, l, len(members))


def pairs(vertex: Vertex):
    """Every vertex with each of its children."""
    for child in vertex.children:
        yield vertex, child
        yield from pairs(child)
