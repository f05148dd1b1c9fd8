"""Small databases of visits with hierarchies, and the promise over labels by brute force, in plain Python.

The attack reads published lines by the names in them, and asks of each whether some record of exact visits would be
published so.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.data import Axis, Domain
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.kinds.trajectories.methods.kcl_generalisation import labelling as steps
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits, Support

# ---- An attacker who knows a few facts of somebody and reads every published line whole, by brute force
#
# For any syntactic method: the test says what lines there are, what may be known, and how a line is explained. A line
# is left if *some* private record that holds all that is known would be published as just this line: its labels, their
# order, their positions and what stands beside.


def count_exposed(
    lines: Sequence[Hashable],
    knowledge: Iterable[Any],
    explain: Callable[[Any, Any], Hashable | None],
    breaks: Callable[[Sequence[int]], bool],
) -> int:
    """Count what may be known that leaves a group of lines which breaks the promise.

    `explain(line, known)` is None if no private record that holds `known` would be published as the line, else how it
    would be: an attacker may guess that, so each part of the lines that are left is a group, and so are all together.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        alike[line].append(number)
    exposed = 0
    for known in knowledge:
        parts: dict[Hashable, list[int]] = defaultdict(list)
        for line, numbers in alike.items():
            how = explain(line, known)
            if how is not None:
                parts[how] += numbers
        together = [number for part in parts.values() for number in part]
        exposed += any(breaks(group) for group in (*parts.values(), together))
    return exposed


# ---- tests

SIZE = 8


@dataclass(frozen=True)
class Case:
    """A database with a promise, and the levels to start from."""

    data: Trajectories
    levels: PlaceTimeLevels
    promise: KCL
    node: tuple[int, int]
    #: whether labels keep the stricter rule, and whether attackers know that nobody is at two places at one time
    one_place: bool = False
    known_one_place: bool = False

    def visits(self):
        return FineVisits.of(self.data, self.levels, self.promise, one_place=self.one_place)

    def steps(self, suppress="grow", seed=0):
        """Run the method; yield the name of each step and the labels after it."""
        visits = self.visits()
        support = Support(visits, self.promise)
        if suppress == "peel":
            labelling = steps.peel(visits, support, self.node, np.random.default_rng(seed))
        else:
            labelling = steps.grow(visits, support, self.node)
        yield suppress, visits, labelling
        if self.one_place:
            return
        steps.climb(visits, support, labelling, self.node, self.levels.coarsest)
        yield "climb", visits, labelling
        steps.refine(visits, support, labelling)
        yield "refine", visits, labelling


def paths(draw, places=SIZE, groupings=3):
    """Nested groups of places, of uneven sizes; some with one child."""
    names = [[] for _ in range(places)]
    current = list(range(places))
    for level in range(groupings):
        groups = draw.randint(1, max(1, len(set(current)) - draw.randint(0, 2)))
        of = {value: draw.randrange(groups) for value in sorted(set(current))}
        current = [of[value] for value in current] if level < groupings - 1 else [0] * places
        for name, group in zip(names, current, strict=True):
            name.insert(0, f"g{level}.{group}")
    return tuple(tuple(name) for name in names)


def random_case(seed, *, several=None, apart=False):
    """A database of 12 to 39 records over 8 places and 8 times, each in four levels.

    With `apart` there are four times, a record has one place at each of them, and attackers know it.
    """
    draw = random.Random(seed)
    place = Axis(tuple(f"p{n}" for n in range(SIZE)), paths(draw))
    times = SIZE // 2 if apart else SIZE
    domain = Domain.declare(place=place, time=range(times), ill=["flu", "cold", "none"], records_per_person=9)
    many = draw.random() < 0.25 if several is None else several
    number = draw.randint(12, 39)
    weights = [draw.random() ** 2 for _ in range(SIZE)]
    records = [
        [
            (f"p{draw.choices(range(SIZE), weights)[0]}", min(times - 1, int(draw.expovariate(0.4))))
            for _ in range(draw.randint(0, 5))
        ]
        for _ in range(number)
    ]
    if apart:
        records = [
            [(f"p{draw.choices(range(3), weights[:3])[0]}", time) for time in range(times) if draw.random() < 0.6]
            for _ in range(number)
        ]
    persons = [draw.randrange(max(1, number * 2 // 3)) for _ in range(number)] if many else list(range(number))
    ill = draw.choices(["flu", "cold", "none", None], [3, 2, 4, 1], k=number)
    data = Trajectories.from_records(records, sensitive={"ill": ill}, domain=domain, persons=persons, several=True)
    k, longest = draw.randint(2, 4), draw.randint(1, 3)
    bound = {} if many else {"c": "60%", "sensitive": ["ill=flu", "ill=cold"]}
    levels = PlaceTimeLevels.of(domain)
    node = (draw.randrange(len(levels.places)), draw.randrange(len(levels.times.widths)))
    return Case(data, levels, KCL(k=k, l=longest, **bound), node, known_one_place=apart)


def fine_records(visits):
    """The exact visits of each record, as (time, place)."""
    rows = [[] for _ in range(len(visits.starts) - 1)]
    for record, place, time in zip(visits.record.tolist(), visits.place.tolist(), visits.bins[0].tolist(), strict=True):
        rows[record].append((time, place))
    return rows


def released(case, visits, labelling):
    """The labels as a data set, with owners; records are those of the data."""
    given = np.flatnonzero(labelling.label >= 0)
    starts = np.searchsorted(visits.record[given], np.arange(len(case.data) + 1))
    traits = {name: codes.copy() for name, codes in case.data.traits.items()}
    labels = labelling.label[given]
    return CoarseTrajectories(case.data.domain, case.levels, starts, labels, traits, case.data.persons, case.one_place)


def lines_of(data):
    """The labels of each record by their names, in the order in which they stand."""
    names = data.decode(data.labels)
    return [tuple(names[a:b]) for a, b in itertools.pairwise(data.starts.tolist())]


def visits_under(data):
    """The exact visits (time, place) under each label, by what its names say."""
    axis = data.domain.axis("place")
    names = [(value, *path[::-1]) for value, path in zip(axis.values, axis.paths, strict=True)]
    return {
        label: sorted(
            (time, place)
            for place, levels in enumerate(names)
            if levels[int(label[0])] == label[1]
            for time in range(label[2], label[3])
        )
        for label in {label for line in lines_of(data) for label in line}
    }


class Judge:
    """Whether a group of records breaks the promise, by the definition."""

    def __init__(self, case, data):
        self.k, self.c = case.promise.k, case.promise.c if case.promise.sensitive else Fraction(1)
        self.owner = data.persons.tolist() if data.persons is not None else list(range(len(data)))
        values = {column: [str(value) for value in data.domain.values(column)] for column, _ in case.promise.sensitive}
        self.marked = [
            [code >= 0 and values[column][code] == value for code in data.traits[column].tolist()]
            for column, value in case.promise.sensitive
        ]

    def breaks(self, records):
        persons = {self.owner[record] for record in records}
        if not persons:
            return False
        if len(persons) < self.k:
            return True
        holding = ({self.owner[r] for r in records if marks[r]} for marks in self.marked)
        return any(len(each) > self.c * len(persons) for each in holding)


def count_breaches(case, visits, labelling, most=None):
    """Count violating sets of labels, overlaps, breaches by exact knowledge, and labels that are not true."""
    data = released(case, visits, labelling)
    lines, under, longest = lines_of(data), visits_under(data), case.promise.l
    judge, groups = Judge(case, data), defaultdict(set)
    for record, line in enumerate(lines):
        for size in range(1, longest + 1):
            for each in itertools.combinations(sorted(line), size):
                groups[each].add(record)
    fine = fine_records(visits)
    pairs = ((line, pair) for line in lines for pair in itertools.combinations(line, 2))
    return {
        "labels": sum(map(judge.breaks, groups.values())),
        "overlaps": sum(not set(under[one]).isdisjoint(under[other]) for _, (one, other) in pairs),
        "attack": attack(case, data, fine, min(longest, most or longest)),
        "untrue": _untrue(visits, labelling, lines, under, fine),
    }


def _untrue(visits, labelling, lines, under, fine):
    """Labels that cover no visit of their record, and visits whose label does not cover them."""
    empty = sum(set(under[label]).isdisjoint(fine[record]) for record, line in enumerate(lines) for label in line)
    slots, given = labelling.slot.tolist(), np.flatnonzero(labelling.label >= 0)
    names = dict(zip(given.tolist(), itertools.chain(*lines), strict=True))
    exact = zip(visits.bins[0].tolist(), visits.place.tolist(), strict=True)
    wrong = sum(
        slot >= 0 and visit not in under.get(names.get(slot), ()) for slot, visit in zip(slots, exact, strict=True)
    )
    return empty + wrong


def attack(case, data, fine, longest, *, by_visits=False):
    """Count the knowledge of up to `longest` exact visits of a record that breaks the promise, on what is published.

    With `by_visits`, lines are known to be in the order of first visits.
    """
    published = data.sorted()
    under = visits_under(published)
    known = {q for record in fine for size in range(1, longest + 1) for q in itertools.combinations(record, size)}

    def explain(line, q):
        return explain_line(line, q, under, by_visits=by_visits, one_place=case.known_one_place)

    return count_exposed(lines_of(published), known, explain, Judge(case, published).breaks)


def explain_line(line, known, under, *, by_visits=False, one_place=False):
    """The labels over the known visits, if some record of exact visits that holds these is published as the line.

    Such a record is looked for visit by visit: the known ones, and a first visit under each label.
    """
    over = {visit: label for visit in known for label in line if visit in under[label]}
    if len(over) < len(known):
        return None

    def complete(number, record, last):
        if number == len(line):
            return True
        latest = min((visit for visit, label in over.items() if label == line[number]), default=(SIZE, SIZE))
        for first in under[line[number]]:
            if first > latest:
                break
            if by_visits and first <= last:
                continue
            if one_place and any(first[0] == visit[0] and first[1] != visit[1] for visit in record):
                continue
            if complete(number + 1, record | {first}, first):
                return True
        return False

    return tuple(over[visit] for visit in known) if complete(0, frozenset(known), (-1, -1)) else None
