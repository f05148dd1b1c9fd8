"""Synthetic records of students, the data of the figures of nested records.

Students take obligatory, core and elective courses, and buy up to two books for each; grades depend on the average of
the student. In kind T, courses are grouped by college year. All constants are public, and the data set is a function of
the seed; the counts that it must have are in `tests/kinds/records/methods/clustree/test_recon.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hedgerow.data import Domain
from hedgerow.data.axis import Axis
from hedgerow.data.domain import Source
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.kinds.records.schema import RecordSchema, VertexType

_LETTERS = ("A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D")
_POINTS = np.array([4, 3.7, 3.3, 3, 2.7, 2.3, 2, 1.7, 1.3, 1.0])
_YEARS = ("freshman", "sophomore", "junior", "senior")
_MAJORS = {"Eng": ("CS", "EE", "ME", "IE"), "Arts": ("VA", "PSY", "ECON")}
_OBLIGATORY = {"MATH": (101, 102), "NS": (101, 102), "SPS": (101, 102), "CS": (201, 204, 300, 301)}
_CORE = {"CS": (302, 303, 305, 306, 307, 308), "MATH": (201, 202, 203, 204), "EE": (200, 202)}
_ELECTIVE = {
    "CS": range(401, 421),
    "EE": range(301, 309),
    "IE": range(301, 307),
    "ECON": (201, 202, 301, 302),
    "HUM": (201, 202),
}
#: price buckets of ten: no book costs more than 1.1 * 129
_PRICES = 15


@dataclass(frozen=True)
class Recon:
    """Which data set: kind S or T, the number of records, the seed, and the width of the buckets of averages."""

    kind: str = "S"
    records: int = 1000
    seed: int = 1
    width: float = 0.1


@dataclass
class _Catalogue:
    """Courses and their books, each with its path of groups, in the order in which they are added."""

    courses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    titles: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, pools: dict[str, tuple[int, ...] | range]) -> list[str]:
        names: list[str] = []
        for department, numbers in pools.items():
            for number in numbers:
                name = f"{department}{number}"
                self.courses[name] = (department, f"{department}{number // 100}**")
                self.titles.update({f"{name}-b{book}": (f"T:{department}", f"T:{name}") for book in range(3)})
                names.append(name)
        return names


class _Generator:
    def __init__(self, plan: Recon) -> None:
        self.plan = plan
        self.catalogue = _Catalogue()
        self.obligatory = self.catalogue.add(_OBLIGATORY)
        self.core = self.catalogue.add(_CORE)
        self.elective = self.catalogue.add(_ELECTIVE)
        self.coins = np.random.default_rng(plan.seed)
        self.price = {title: float(self.coins.integers(30, 130)) for title in self.catalogue.titles}

    def student(self) -> Tree:
        """Draw a student; the order of the draws is part of the definition of the data."""
        coins = self.coins
        average = float(np.clip(coins.normal(2.9, 0.5), 1.5, 4.0))
        born = 1986 + int(coins.integers(0, 10))
        courses = [(name, 0.2) for name in self.obligatory]
        courses += [(self.core[place], 0.0) for place in coins.choice(len(self.core), 5, replace=False)]
        number = int(coins.integers(2, 9))
        courses += [(self.elective[place], -0.1) for place in coins.choice(len(self.elective), number, replace=False)]
        taken = [(name, self._course(name, average + better)) for name, better in courses]
        coins.shuffle(taken)
        below = [tree for _, tree in taken] if self.plan.kind == "S" else self._years(taken)
        highest = int(4.0 / self.plan.width) - 1
        return "student", ["CS", str(born)], min(highest, max(0, int(average / self.plan.width + 1e-9))), below

    def _course(self, name: str, level: float) -> Tree:
        coins = self.coins
        grade = _LETTERS[int(np.argmin(abs(_POINTS - np.clip(coins.normal(level, 0.6), 1, 4))))]
        books: list[Tree] = []
        for book in coins.choice(3, int(coins.integers(0, 3)), replace=False):
            title = f"{name}-b{book}"
            books.append(("book", [title], int(self.price[title] * coins.uniform(0.5, 1.1) // 10), []))
        return "course", [name], grade, books

    def _years(self, taken: list[tuple[str, Tree]]) -> list[Tree]:
        by_year: dict[int, list[Tree]] = {}
        for name, tree in taken:
            level = int("".join(letter for letter in name if letter.isdigit())) // 100 - 1
            year = int(np.clip(level + self.coins.choice([-1, 0, 0, 0, 1]), 0, 3))
            by_year.setdefault(year, []).append(tree)
        return [("year", [_YEARS[year]], None, trees) for year, trees in sorted(by_year.items())]


def _born_paths() -> dict[str, tuple[str, ...]]:
    return {
        f"{decade}{digit}": (f"{decade}*", f"{decade}{digit // 5 * 5}-{decade}{digit // 5 * 5 + 4}")
        for decade in (198, 199)
        for digit in range(10)
    }


def recon(plan: Recon) -> Records:
    """Generate the data set of a plan."""
    made = _Generator(plan)
    above = "year" if plan.kind == "T" else "student"
    year = [VertexType("year", "student", ("name",))] if plan.kind == "T" else []
    root = VertexType("student", None, ("major", "born"), "average")
    below = [VertexType("course", above, ("id",), "grade"), VertexType("book", "course", ("title",), "price")]
    majors = {name: (group,) for group, names in _MAJORS.items() for name in names}
    axes = {
        "student.major": Axis(tuple(majors), tuple(majors.values())),
        "student.born": Axis(tuple(_born_paths()), tuple(_born_paths().values())),
        "student.average": Axis(tuple(range(int(4.0 / plan.width)))),
        "year.name": Axis(_YEARS),
        "course.id": Axis(tuple(made.catalogue.courses), tuple(made.catalogue.courses.values())),
        "course.grade": Axis(_LETTERS),
        "book.title": Axis(tuple(made.catalogue.titles), tuple(made.catalogue.titles.values())),
        "book.price": Axis(tuple(range(_PRICES))),
    }
    schema = RecordSchema((root, *year, *below))
    domain = Domain(tuple((name, axes[name]) for name in schema.axes), Source.DECLARED)
    return Records.from_trees([made.student() for _ in range(plan.records)], schema, domain)
