"""Ten families of count queries on the synthetic students, from labels of the root to three conditions at two depths.

The sixth, the seventh and the tenth are the examples that the thesis prints; the others are ours. Values are drawn
uniformly from the domain, never from the data; queries that fewer than one in a hundred records satisfy are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.queries import Compared, Workload, find_accuracies
from hedgerow.kinds.records.query_text import Vocabulary, parse_query
from hedgerow.kinds.records.tree_pattern import Pattern

#: l, m and p at which the thesis prints accuracies by family
SETTINGS = ((2, 2, "1/2"), (3, 2, "1/3"), (4, 2, "1/4"))
#: queries below this share of all records are not asked
_LEAST = 0.01
#: how often a query is drawn, per query that is asked for
_DRAWS = 200
_DEPARTMENTS = ("MATH", "NS", "SPS", "CS", "EE", "IE", "ECON", "HUM")


@dataclass(frozen=True)
class _Words:
    """What queries are drawn from: the public domain."""

    data: Records
    rng: np.random.Generator

    def values(self, axis: str) -> tuple[str, ...]:
        return tuple(map(str, self.data.domain.values(axis)))

    def draw(self, names: tuple[str, ...]) -> str:
        return names[int(self.rng.integers(len(names)))]

    def label(self, axis: str, depths: tuple[int, ...]) -> str:
        """A label at one of these heights over the values, each equally likely: 0 for a value, 1 for its group."""
        tree = Hierarchy.from_axis(self.data.domain.axis(axis))
        code = int(self.rng.integers(tree.leaves))
        for _ in range(int(self.rng.choice(depths))):
            code = int(tree.parent[code])
        return tree.names[code]

    def averages(self) -> str:
        """A range of five of the buckets of the average."""
        low = int(self.rng.integers(len(self.values("student.average")) - 4))
        return f"student.average in [{low}, {low + 5})"

    def grades(self) -> str:
        names = self.values("course.grade")
        place = int(self.rng.integers(len(names) - 1))
        return f"course.grade in ({names[place]}, {names[place + 1]})"

    def departments(self) -> str:
        first, second = self.rng.permutation(len(_DEPARTMENTS))[:2].tolist()
        return f"course.id in ({_DEPARTMENTS[first]}, {_DEPARTMENTS[second]})"

    def prices(self) -> str:
        """A range of five buckets of prices."""
        low = int(self.rng.integers(len(self.values("book.price")) - 4))
        return f"book.price in [{low}, {low + 5})"

    def course(self) -> str:
        return self.draw(self.values("course.id"))


def _course_grade_title(draw: _Words) -> list[str]:
    course = draw.course()
    grade = draw.draw(draw.values("course.grade"))
    return [f"course.id = {course}", f"course.grade = {grade}", f"book.title = T:{course}"]


#: how a query of each family is drawn
FAMILIES: Mapping[str, Callable[[_Words], list[str]]] = {
    "F1 born": lambda draw: [f"student.born = {draw.label('student.born', (0, 1))}"],
    "F2 average": lambda draw: [draw.averages()],
    "F3 born and average": lambda draw: [f"student.born = {draw.label('student.born', (1,))}", draw.averages()],
    "F4 course": lambda draw: [f"course.id = {draw.label('course.id', (0, 1))}"],
    "F5 grade": lambda draw: [draw.grades()],
    "F6 grade in departments": lambda draw: [draw.grades(), draw.departments()],
    "F7 born and course": lambda draw: [
        f"student.born = {draw.label('student.born', (0,))}",
        f"course.id = {draw.course()}",
    ],
    "F8 title": lambda draw: [f"book.title = {draw.label('book.title', (0, 1))}"],
    "F9 price of a title": lambda draw: [f"book.title = T:{draw.course()}", draw.prices()],
    "F10 course, grade and title": _course_grade_title,
}


def draw_queries(data: Records, queries: int, seed: int) -> dict[str, list[tuple[Pattern, float]]]:
    """Draw the queries of each family, with the number of records that satisfy them."""
    words = _Words(data, np.random.default_rng(seed))
    vocabulary = Vocabulary(data.schema, dict(data.domain.axes), public=True)
    workload, least = Workload.of(data), max(1.0, _LEAST * len(data))
    drawn: dict[str, list[tuple[Pattern, float]]] = {name: [] for name in FAMILIES}
    for name, draw in FAMILIES.items():
        for _ in range(_DRAWS * queries):
            if len(drawn[name]) == queries:
                break
            pattern = parse_query(draw(words), "record", vocabulary)
            count = workload.estimate_pattern(data, pattern)
            if count >= least:
                drawn[name].append((pattern, count))
    return drawn


def measure_families(
    data: Records, releases: Mapping[str, Compared], *, queries: int = 100, seed: int = 1
) -> dict[str, dict[str, float]]:
    """Return the mean accuracy of each family in each release, negative ones as 0, and of all queries together."""
    drawn, workload = draw_queries(data, queries, seed), Workload.of(data)
    found: dict[str, dict[str, float]] = {}
    for name, release in releases.items():
        accuracies = {
            family: np.maximum(
                0,
                find_accuracies(
                    np.array([count for _, count in asked]),
                    np.array([workload.estimate_pattern(release, pattern) for pattern, _ in asked]),
                ),
            )
            for family, asked in drawn.items()
            if asked
        }
        every = np.concatenate(list(accuracies.values()))
        found[name] = {family: float(each.mean()) for family, each in accuracies.items()} | {"all": float(every.mean())}
    return found
