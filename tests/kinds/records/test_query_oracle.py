"""Estimates and intervals of count queries equal those over all worlds, on small random groups in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from query_oracle import (
    Wanted,
    add_laws,
    find_counted,
    flatten,
    grouping_of,
    law_by_tree,
    law_by_vertex,
    mean_of,
    middle_of,
)
from record_cases import DOMAIN, SCHEMA

from hedgerow.kinds.records import count_intervals, match_chances
from hedgerow.kinds.records.anatomy import publish_groups
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.query import query
from hedgerow.kinds.records.query_sources import ByVertex

PARENTS = {"student": None, "course": "student", "teacher": "course", "assistant": "course"}
LABELS = {
    "student": [["CS", "EE"], ["1990", "1991"]],
    "course": [["CS201", "CS305"]],
    "teacher": [["Saygin", "Levi"]],
    "assistant": [["TA1", "X1"]],
}
VALUES = {"student": [275, 325], "course": ["A", "B+", "C"], "teacher": [1, 2], "assistant": [1, 2]}
FIELDS = {"student": ["major", "born"], "course": ["id"], "teacher": ["name"], "assistant": ["name"]}
SENSITIVE = {"student": "gpa", "course": "grade", "teacher": "score", "assistant": "score"}


def draw_shape(coins, most):
    """A list of (type, parent's place), parents first, and which places have sensitive values."""
    shape = [("student", -1)]
    for _ in range(int(coins.integers(2, most + 1))):
        options = [
            (kind, place) for kind, above in PARENTS.items() for place, (own, _) in enumerate(shape) if own == above
        ]
        shape.append(options[int(coins.integers(len(options)))])
    return shape


def draw_group(coins, members, given):
    """Trees of one shape, with at most so many places that have sensitive values."""
    shape = draw_shape(coins, 9)
    places = set(coins.permutation(len(shape))[:given].tolist())

    def make(place):
        kind = shape[place][0]
        labels = [options[int(coins.integers(len(options)))] for options in LABELS[kind]]
        values = VALUES[kind]
        value = values[int(coins.integers(len(values)))] if place in places else None
        children = [make(child) for child, (_, parent) in enumerate(shape) if parent == place]
        return (kind, labels, value, children)

    return [make(0) for _ in range(members)]


def draw_query(coins):
    """Conditions as text, the same as a pattern by definition, and what is counted."""
    named = {}
    texts = []
    for _ in range(int(coins.integers(1, 4))):
        kind = str(coins.choice(["student", "course", "course", "course", "teacher", "assistant"]))
        number = 1 if kind == "student" else int(coins.choice([1, 1, 2]))
        labels, values = named.setdefault((kind, number), ({}, None))
        name = kind if number == 1 else f"{kind}#{number}"
        if coins.random() < 0.35:
            column = int(coins.integers(len(FIELDS[kind])))
            asked = {str(each) for each in coins.choice(LABELS[kind][column], int(coins.integers(1, 3)))}
            texts.append(f"{name}.{FIELDS[kind][column]} in ({', '.join(sorted(asked))})")
            labels[column] = labels.get(column, asked) & asked
        else:
            chosen = {VALUES[kind][int(place)] for place in coins.integers(len(VALUES[kind]), size=2)}
            if kind in {"teacher", "student"} and coins.random() < 0.3:
                low = min(VALUES[kind])
                chosen = {value for value in VALUES[kind] if low <= value < max(VALUES[kind])}
                texts.append(f"{name}.{SENSITIVE[kind]} in [{low}, {max(VALUES[kind])})")
            else:
                texts.append(f"{name}.{SENSITIVE[kind]} in ({','.join(map(str, sorted(chosen, key=str)))})")
            named[kind, number] = (labels, chosen if values is None else values & chosen)
    count = str(coins.choice(["record", "record", "student", "course", "teacher"]))
    return texts, named, count


def complete(named, count):
    """Vertices above those that are named; numbered ones lie below those of their number, if there are any."""
    given = {("student", 1), *named, (count if count != "record" else "student", 1)}
    nodes = dict.fromkeys(sorted(given, key=lambda name: (list(PARENTS).index(name[0]), name[1])))

    def above(kind, number):
        parent = PARENTS[kind]
        at = parent
        while at not in {None, "student"} and (at, number) not in given:
            at = PARENTS[at]
        return (parent, number if at not in {None, "student"} else 1)

    for kind, number in list(nodes):
        name = (kind, number)
        while name[0] != "student":
            nodes[name] = name = above(*name)
            nodes.setdefault(name)
    order = sorted(nodes, key=lambda name: (list(PARENTS).index(name[0]), name[1]))
    pattern = [
        Wanted(
            kind,
            order.index(nodes[kind, number]) if nodes[kind, number] else -1,
            *named.get((kind, number), ({}, None)),
        )
        for kind, number in order
    ]
    return pattern, order.index((count if count != "record" else "student", 1))


def draw_case(coins, form):
    """A release, a query, and the law of its count; most of the queries have a count that links decide."""
    members = [2, 2, 3, 2][: int(coins.integers(1, 4))]
    trees = [draw_group(coins, each, {2: 4, 3: 2}[each]) for each in members]
    data = Records.from_trees([tree for group in trees for tree in group], SCHEMA, DOMAIN)
    groups = [[flatten(tree) for tree in group] for group in trees]
    law = law_by_vertex if form == "vertices" else law_by_tree
    for _ in range(8 if form == "vertices" else 40):
        texts, named, count = draw_query(coins)
        pattern, counted = complete(named, count)
        total = add_laws([law(group, pattern, counted) for group in groups])
        if len(total) > 1:
            break
    truth = sum(len(find_counted(record, pattern, counted)) for group in groups for record in group)
    return data, publish_groups(data, grouping_of(data, members), form, coins), (texts, count), total, truth


@pytest.mark.parametrize(
    ("form", "seed", "cases"),
    [("vertices", 29, 60), ("trees", 30, 60)]
    + [pytest.param(form, seed, 400, marks=pytest.mark.slow) for form, seed in (("vertices", 1), ("trees", 2))],
)
def test_estimates_are_means_over_all_worlds(form, seed, cases):
    coins = np.random.default_rng(seed)
    kinds = dict.fromkeys(("certain", "uncertain", "several of a type", "counts of vertices"), 0)
    for _ in range(cases):
        data, outputs, asked, law, truth = draw_case(coins, form)
        answer = query(outputs, *asked, coins, released=True)
        assert answer.estimate == pytest.approx(float(mean_of(law)), abs=1e-9), asked
        low, high = middle_of(law)
        if len(law) == 1 or form == "trees":
            assert (answer.low, answer.high) == (low, high), asked
        else:
            # drawn worlds: an end may be the count beside it, if about 2.5 % are beyond
            (lowest, highest), (low, high) = (middle_of_share(law, share) for share in (0.012, 0.045))
            assert lowest <= answer.low <= low, asked
            assert high <= answer.high <= highest, asked
        known = query({"": data}, *asked, coins, released=False)
        assert (known.estimate, known.low, known.high) == (truth, truth, truth)
        kinds["certain" if len(law) == 1 else "uncertain"] += 1
        kinds["several of a type"] += len(law) > 1 and any("#" in text for text in asked[0])
        kinds["counts of vertices"] += len(law) > 1 and asked[1] not in {"record", "student"}
    assert min(kinds.values()) > cases / 10, kinds


def middle_of_share(law, share):
    below, ends = 0.0, []
    for count in sorted(law):
        below += float(law[count])
        while len(ends) < 2 and below >= (share, 1 - share)[len(ends)] - 1e-12:
            ends.append(count)
    return tuple(ends)


def one_child_serves_all(family, matched):
    """The bug: a child finds a place for every node that it matches."""
    return family | {some | matched for some in family}


def records_are_independent(tables, top):
    """The bug: the sum of independent records, each with a tree of its own choice."""
    laws = []
    for table in tables:
        law = np.ones(1)
        for row in table:
            law = np.convolve(law, np.bincount(row, minlength=int(row.max()) + 1) / len(row))
        laws.append(np.append(law, np.zeros(top + 1 - len(law))))
    return np.array(laws)


def likely_is_certain(self, number, vertices, wanted):
    """The bug: a position has a value surely if it may have it."""
    shares = np.ceil(self._find_shares(number, wanted))
    return shares[self.spot[number] if vertices is None else self.spot[number][vertices]]


@pytest.mark.parametrize(
    ("place", "name", "bug", "form"),
    [
        (match_chances, "_take", one_child_serves_all, "vertices"),
        (count_intervals, "_over_orders", records_are_independent, "trees"),
        (ByVertex, "value_chances", likely_is_certain, "vertices"),
    ],
)
def test_planted_bugs_are_caught(place, name, bug, form, monkeypatch):
    coins = np.random.default_rng(31)
    cases = [draw_case(coins, form) for _ in range(40)]

    def wrong():
        answers = [
            (query(outputs, *asked, np.random.default_rng(1), released=True), law)
            for _, outputs, asked, law, _ in cases
        ]
        return sum(
            abs(answer.estimate - float(mean_of(law))) > 1e-9
            or (form == "trees" and (answer.low, answer.high) != middle_of(law))
            for answer, law in answers
        )

    assert wrong() == 0
    monkeypatch.setattr(place, name, bug)
    assert wrong() > 0
