"""Small databases of visits with hierarchies, and the promise over labels by brute force, in plain Python."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.data import Axis, Domain, Trajectories
from hedgerow.data.coarse_trajectories import CoarseTrajectories
from hedgerow.data.place_time_levels import PlaceTimeLevels
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl_generalisation import give_back, peeling, refine
from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits
from hedgerow.publishers.trajectories.kcl_generalisation.support import Support

SIZE = 8


@dataclass(frozen=True)
class Case:
    """A database with a promise, and the levels to start from."""

    data: Trajectories
    levels: PlaceTimeLevels
    promise: KCL
    node: tuple[int, int]
    ordered: bool = True

    def visits(self):
        return FineVisits.of(self.data, self.levels, self.promise)

    def steps(self, suppress="grow", seed=0):
        """Run the method; yield the name of each step and the labels after it."""
        visits = self.visits()
        support = Support(visits, self.promise, ordered=self.ordered)
        if suppress == "peel":
            labelling = peeling.peel(visits, support, self.node, np.random.default_rng(seed))
        else:
            labelling = give_back.grow(visits, support, self.node)
        yield suppress, visits, labelling
        give_back.climb(visits, support, labelling, self.node, self.levels.coarsest)
        yield "climb", visits, labelling
        refine.refine(visits, support, labelling)
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


def random_case(seed, *, ordered=True, several=None):
    """A database of 12 to 39 records over 8 places and 8 times, each in four levels."""
    draw = random.Random(seed)
    place = Axis(tuple(f"p{n}" for n in range(SIZE)), paths(draw))
    domain = Domain.declare(place=place, time=range(SIZE), ill=["flu", "cold", "none"], records_per_person=9)
    many = draw.random() < 0.25 if several is None else several
    number = draw.randint(12, 39)
    weights = [draw.random() ** 2 for _ in range(SIZE)]
    records = [
        [
            (f"p{draw.choices(range(SIZE), weights)[0]}", min(SIZE - 1, int(draw.expovariate(0.4))))
            for _ in range(draw.randint(0, 5))
        ]
        for _ in range(number)
    ]
    persons = [draw.randrange(max(1, number * 2 // 3)) for _ in range(number)] if many else list(range(number))
    ill = draw.choices(["flu", "cold", "none", None], [3, 2, 4, 1], k=number)
    data = Trajectories.from_records(records, sensitive={"ill": ill}, domain=domain, persons=persons, several=True)
    k, longest = draw.randint(2, 4), draw.randint(1, 3)
    bound = {} if many else {"c": "60%", "sensitive": ["ill=flu", "ill=cold"]}
    levels = PlaceTimeLevels.of(domain)
    node = (draw.randrange(len(levels.places)), draw.randrange(len(levels.times.widths)))
    return Case(data, levels, KCL(k=k, l=longest, **bound), node, ordered)


def published(case, visits, labelling):
    """The labels of each record, each with the fine visits (place, time) that it covers."""
    axis, times = case.data.domain.axis("place"), case.levels.times
    rows = [[] for _ in range(len(case.data))]
    for visit in range(len(visits)):
        if labelling.label[visit] >= 0:
            rows[int(visits.record[visit])].append(int(labelling.label[visit]))
    covered = {}
    for label in {label for row in rows for label in row}:
        level, region, width, number = (int(part[0]) for part in case.levels.split(np.array([label])))
        name = case.levels.places[level].regions[region]
        inside = [p for p, path in enumerate(axis.paths) if (axis.values[p], *path[::-1])[level] == name]
        start, end = times.interval(width, number)
        covered[label] = {(p, t) for p in inside for t in range(start, end)}
    if not case.ordered:
        rows = [sorted(row) for row in rows]
    return rows, covered


def fine_records(visits):
    """The fine visits of each record, as (place, time)."""
    rows = [[] for _ in range(len(visits.starts) - 1)]
    for record, place, time in zip(visits.record.tolist(), visits.place.tolist(), visits.bins[0].tolist(), strict=True):
        rows[record].append((place, time))
    return rows


def released(case, visits, labelling):
    """The labels as a data set, with owners."""
    rows, _ = published(case, visits, labelling)
    starts = np.cumsum([0, *map(len, rows)])
    labels = np.array([label for row in rows for label in row], np.int64)
    data = case.data
    traits = {name: codes.copy() for name, codes in data.traits.items()}
    return CoarseTrajectories(data.domain, case.levels, starts, labels, traits, case.ordered, data.persons)


class Judge:
    """Whether a group of records breaks the promise, by the definition."""

    def __init__(self, case, visits):
        self.k, self.c = case.promise.k, case.promise.c if case.promise.sensitive else Fraction(1)
        self.owner, self.marked = visits.owner.tolist(), visits.marked.tolist()

    def breaks(self, records):
        persons = {self.owner[record] for record in records}
        if not persons:
            return False
        if len(persons) < self.k:
            return True
        holding = ({self.owner[r] for r in records if marks[r]} for marks in self.marked)
        return any(len(each) > self.c * len(persons) for each in holding)


def count_breaches(case, visits, labelling, most=None):
    """Count violating sequences of labels, overlaps, breaches by fine knowledge, and labels that are not true."""
    rows, covered = published(case, visits, labelling)
    judge, longest = Judge(case, visits), case.promise.l
    groups = defaultdict(set)
    for record, row in enumerate(rows):
        for size in range(1, longest + 1):
            for sequence in itertools.combinations(row, size):
                groups[sequence].add(record)
    fine = fine_records(visits)
    pairs = ((row, pair) for row in rows for pair in itertools.combinations(row, 2))
    return {
        "labels": sum(map(judge.breaks, groups.values())),
        "overlaps": sum(not covered[one].isdisjoint(covered[other]) for _, (one, other) in pairs),
        "attack": _attack(judge, rows, covered, fine, min(longest, most or longest)),
        "untrue": _untrue(visits, labelling, rows, covered, fine),
    }


def _untrue(visits, labelling, rows, covered, fine):
    """Labels that cover no visit of their record, and visits whose label does not cover them."""
    empty = sum(covered[label].isdisjoint(fine[record]) for record, row in enumerate(rows) for label in row)
    places, times = visits.place.tolist(), visits.bins[0].tolist()
    slots, labels = labelling.slot.tolist(), labelling.label.tolist()
    wrong = sum(
        slot >= 0 and (labels[slot] < 0 or (places[visit], times[visit]) not in covered[labels[slot]])
        for visit, slot in enumerate(slots)
    )
    return empty + wrong


def _attack(judge, rows, covered, fine, longest):
    """All knowledge of up to `longest` fine visits of a record: every group that orders and levels can single out."""
    position = [
        {visit: at for visit in set(itertools.chain(*fine)) for at, label in enumerate(row) if visit in covered[label]}
        for row in rows
    ]
    known = {q for record in fine for size in range(1, longest + 1) for q in itertools.combinations(record, size)}
    breaches = 0
    for q in known:
        parts, in_order = defaultdict(list), []
        for record, at in enumerate(position):
            if all(visit in at for visit in q):
                places = [at[visit] for visit in q]
                order = tuple(rows[record][place] for place in sorted(set(places)))
                parts[tuple(rows[record][place] for place in places), order].append(record)
                if places == sorted(places):
                    in_order.append(record)
        whole = [record for part in parts.values() for record in part]
        breaches += any(judge.breaks(group) for group in (*parts.values(), in_order, whole))
    return breaches
