"""Small anatomised releases, and an attacker who goes through all worlds that fit them, as plainly as can be."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow.data import Axis, Domain, Source
from hedgerow.kinds.records.anatomy import Grouping, publish_groups
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.schema import RecordSchema, VertexType

ILLNESSES, GRADES = ("AIDS", "Cold", "Flu", "Gout"), ("1", "2", "3", "4", "5")
BUCKETS = {"1": "[1, 2)", "2": "[2, 4)", "3": "[2, 4)", "4": "[4, 5]", "5": "[4, 5]"}
SCHEMA = RecordSchema(
    (
        VertexType("patient", None, ("born",), "grade"),
        VertexType("visit", "patient", ("year",), "illness"),
        VertexType("drug", "visit", ("name",)),
    )
)
DOMAIN = Domain(
    (
        ("patient.born", Axis(tuple(range(1990, 2000)))),
        ("patient.grade", Axis(GRADES, tuple((BUCKETS[value],) for value in GRADES))),
        ("visit.year", Axis((2001, 2002, 2003))),
        ("visit.illness", Axis((*ILLNESSES, "Worms"))),
        ("drug.name", Axis(("ibu", "pen"))),
    ),
    Source.DECLARED,
)
#: more worlds than this are not gone through
MOST = 3_000


def patient(born, grade, *visits):
    """A record."""
    return ("patient", [born], grade, list(visits))


def visit(year, illness, *drugs):
    """A visit with the names of drugs."""
    return ("visit", [year], illness, [("drug", [name], None, []) for name in drugs])


def records(trees):
    """Records of patients."""
    return Records.from_trees(trees, SCHEMA, DOMAIN)


def by_order(data, groups):
    """Group records; the vertices of a type are matched in their order, whatever their parents are."""
    positions = []
    for number, table in enumerate(data.tables):
        record = data.records_of(number)
        positions.append(np.arange(len(table)) - np.searchsorted(record, record))
    return Grouping(np.asarray(groups, np.int64), tuple(positions))


def release(groups, form, seed=0):
    """Publish groups of trees of one shape, whether or not that keeps any promise."""
    data = records([tree for members in groups for tree in members])
    numbers = [number for number, members in enumerate(groups) for _ in members]
    coins = np.random.default_rng(seed)
    return {name: part.canonical() for name, part in publish_groups(data, by_order(data, numbers), form, coins).items()}


def draw_shape(draw, most):
    """A shape: the numbers of drugs of each visit, and at which of its vertices a value is given."""
    visits = [draw.choice((0, 0, 1, 2)) for _ in range(draw.randrange(most))]
    return visits, [draw.random() < 0.85 for _ in range(1 + len(visits))]


def draw_group(draw, size, *, few):
    """Trees of one shape, with values that are often equal if they are few."""
    visits, given = draw_shape(draw, {2: 6, 3: 4, 4: 3}[size])
    lists = [draw.choices(ILLNESSES[: 2 if few else 4], k=size) for _ in visits]
    grades = draw.choices(GRADES, k=size)
    if not few:  # distinct, as methods leave them
        lists = [draw.sample(ILLNESSES, size) for _ in visits]
        grades = [*draw.sample(("1", "2", "4"), min(size, 3)), *draw.choices(GRADES, k=max(0, size - 3))]
    return [
        patient(
            draw.randrange(1990, 2000),
            grades[member] if given[0] else None,
            *(
                visit(draw.choice((2001, 2002, 2003)), values[member] if own else None, *["ibu"] * drugs)
                for drugs, values, own in zip(visits, lists, given[1:], strict=True)
            ),
        )
        for member in range(size)
    ]


def draw_rule(draw):
    """A rule as a table."""
    attribute, values = draw.choice((("visit.illness", ILLNESSES), ("patient.grade", GRADES)))
    which = draw.choice(
        (
            {"all": True},
            {"value": draw.choice(values)},
            {"values": draw.sample(values, 2)},
            {"values": draw.sample(values, 3)},
        )
    )
    p = draw.choice(("1/4", "1/3", "4/9", "1/2", "2/3", "3/4"))
    return {"attribute": attribute, **which, "m": draw.choice((1, 1, 2, 2, 3)), "p": p}


# ---- the attacker


class Group(NamedTuple):
    """What both files say about a group: the spots of its records, and its trees of values or its values by spot."""

    people: list[list[tuple[str, str]]]
    trees: list[dict[tuple[str, str], str]]
    values: dict[tuple[str, str], list[str]]


def groups_of(outputs):
    """Read the published trees, as texts."""
    people, trees, values = defaultdict(list), defaultdict(list), defaultdict(dict)
    for tree in outputs["quasi"].trees():
        people[tree[1][-2]].append([spot for spot, _ in vertices(tree)])
    for tree in outputs["sensitive"].trees():
        if len(tree[1]) == 2:
            trees[tree[1][0]].append({spot: value for spot, value in vertices(tree) if value is not None})
            continue
        for name, (position, count), value, _ in tree[3]:
            values[tree[1][0]].setdefault((name, position), []).extend([value] * int(count))
    return [Group(people[name], trees.get(name, []), values.get(name, {})) for name in people]


def vertices(tree):
    """Each vertex, as type and position, with its value."""
    name, labels, value, children = tree
    yield (name, labels[-1]), value
    for child in children:
        yield from vertices(child)


def count_worlds(group):
    """How many ways there are to link the records of a group with its values."""
    members = math.factorial(len(group.people))
    return members if group.trees else members ** len(group.values)


def worlds(group):
    """All of them: the values of each record by spot."""
    if group.trees:
        yield from itertools.permutations(group.trees)
        return
    spots = list(group.values)
    for orders in itertools.product(*(itertools.permutations(group.values[spot]) for spot in spots)):
        yield [
            {spot: order[who] for spot, order in zip(spots, orders, strict=True)} for who in range(len(group.people))
        ]


def views(group):
    """What the first person may have, over all worlds: those of all others are as many, by symmetry."""
    if group.trees:
        yield from group.trees
        return
    for values in itertools.product(*group.values.values()):
        yield dict(zip(group.values, values, strict=True))


def beliefs(group, rules):
    """How sure an attacker is, at most: of a value at a spot, and by rule of m or more of its values in a record."""
    sure, broken, total = Counter(), Counter(), 0
    people = range(len(group.people))
    known = ((who, world[who]) for world in worlds(group) for who in people)
    if count_worlds(group) > MOST:
        known, people = ((0, view) for view in views(group)), range(1)
    for who, values in known:
        total += 1
        for spot, value in values.items():
            sure[who, spot, same(value)] += 1
        for number, rule in enumerate(rules):
            for what, times in occurrences(rule, values).items():
                broken[who, number, what] += times >= rule["m"]
    share = Fraction(len(people), max(1, total))
    by_rule = [
        max([times * share for key, times in broken.items() if key[1] == number], default=0)
        for number in range(len(rules))
    ]
    return max([times * share for times in sure.values()], default=0), by_rule


def same(value):
    """Values of one bucket count as one."""
    return BUCKETS.get(value, value)


def occurrences(rule, values):
    """How often a record has what a rule names: each value by itself if it names all."""
    name = rule["attribute"].split(".")[0]
    own = [same(value) for (kind, _), value in values.items() if kind == name]
    if "all" in rule:
        return Counter(own)
    named = {same(value) for value in rule.get("values", [rule.get("value")])}
    return {"": sum(value in named for value in own)}


def is_kept(outputs, l, rules):  # noqa: E741 - the letter of the paper
    """Whether l-diversity, and every rule, hold against this attacker."""
    diverse, ruled = True, True
    for group in groups_of(outputs):
        size = len(group.people)
        most, by_rule = beliefs(group, rules)
        diverse = diverse and size >= l and most <= Fraction(size // l, size)
        ruled = ruled and all(belief <= Fraction(rule["p"]) for belief, rule in zip(by_rule, rules, strict=True))
    return diverse, ruled
