"""Nested records of the worked examples: students with courses, and who taught them."""

from __future__ import annotations

from hedgerow.data import Axis, Domain, Source
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.schema import RecordSchema, VertexType

SCHEMA = RecordSchema(
    (
        VertexType("student", None, ("major", "born"), "gpa"),
        VertexType("course", "student", ("id",), "grade"),
        VertexType("teacher", "course", ("name",), "score"),
        VertexType("assistant", "course", ("name",), "score"),
    )
)
_COURSES = {
    **dict.fromkeys(("CS201", "CS204"), ("CS", "CS2**")),
    **dict.fromkeys(("CS305", "CS306", "CS307"), ("CS", "CS3**")),
    "CS404": ("CS", "CS4**"),
    "MATH101": (),
}
_TEACHERS = {
    **dict.fromkeys(("Saygin", "Nergiz", "Z"), ("Prof", "DB Prof.")),
    **dict.fromkeys(("Levi", "Savas"), ("Prof", "Sec Prof.")),
    **dict.fromkeys(("p1", "p2", "p3"), ("o",)),
}
_ASSISTANTS = {**dict.fromkeys(("TA1", "TA2", "TA5"), ("TA",)), "X1": (), "X2": ()}
_GRADES = ("A", "A-", "B+", "B", "C")


def _axis(paths):
    return Axis(tuple(paths), tuple(paths.values()))


DOMAIN = Domain(
    (
        ("student.major", Axis(("CS", "EE"))),
        ("student.born", _axis({year: (f"{year // 10}*",) for year in range(1910, 2001)})),
        ("student.gpa", Axis((275, 290, 325), (("2.5-3.0",), ("2.5-3.0",), ("3.0-3.5",)))),
        ("course.id", _axis(_COURSES)),
        ("course.grade", Axis(_GRADES)),
        ("teacher.name", _axis(_TEACHERS)),
        ("teacher.score", Axis(tuple(range(11)))),
        ("assistant.name", _axis(_ASSISTANTS)),
        ("assistant.score", Axis(tuple(range(11)))),
    ),
    Source.DECLARED,
)


def records(*trees):
    """Make records of the schema of this module."""
    return Records.from_trees(trees, SCHEMA, DOMAIN)


def student(born, gpa, *courses):
    return ("student", ["CS", born], gpa, list(courses))


def course(name, grade, *below):
    return ("course", [name], grade, list(below))


def teacher(name, score):
    return ("teacher", [name], score, [])


def assistant(name, score):
    return ("assistant", [name], score, [])


def two_students():
    """The two records of Figure 2.7 (a) of the thesis, completed: 10 and 9 labels."""
    return records(
        student(
            1994,
            325,
            course("CS201", "A", teacher("Levi", 8)),
            course("CS306", "B", teacher("Saygin", 9), assistant("TA1", 7)),
            course("CS404", "A-", teacher("Savas", 6), assistant("TA5", 10)),
        ),
        student(
            1995,
            290,
            course("CS201", "B+", teacher("Levi", 8)),
            course("CS305", "C", teacher("Nergiz", 5), assistant("TA2", 4)),
            course("CS404", "A-", teacher("Savas", 7)),
        ),
    )


def two_anonymous():
    """Figure 2.7 (b): 2-anonymous, not 2-diverse."""
    return records(
        student(
            "199*",
            325,
            course("CS201", "A", teacher("Levi", 8)),
            course("CS3**", "B", teacher("DB Prof.", 9), assistant("TA", 7)),
            course("CS404", "A-", teacher("Savas", 6)),
        ),
        student(
            "199*",
            290,
            course("CS201", "B+", teacher("Levi", 8)),
            course("CS3**", "C", teacher("DB Prof.", 5), assistant("TA", 4)),
            course("CS404", "A-", teacher("Savas", 7)),
        ),
    )


def two_diverse():
    """Figure 2.7 (c): 2-diverse."""
    return records(
        student("199*", 325, course("CS201", "A"), course("CS3**", "B", teacher("DB Prof.", 9), assistant("TA", 7))),
        student("199*", 290, course("CS201", "B+"), course("CS3**", "C", teacher("DB Prof.", 5), assistant("TA", 4))),
    )


def draw_records(rng, count):
    """Draw random students with up to three courses, each with up to two teachers."""
    names = {axis: DOMAIN.values(axis) for axis in SCHEMA.axes}

    def one(axis):
        values = names[axis]
        return values[int(rng.integers(len(values)))]

    def draw():
        courses = [
            course(
                one("course.id"),
                one("course.grade"),
                *(teacher(one("teacher.name"), one("teacher.score")) for _ in range(rng.integers(3))),
            )
            for _ in range(rng.integers(4))
        ]
        return student(int(rng.integers(1990, 2001)), one("student.gpa"), *courses)

    return records(*(draw() for _ in range(count)))
