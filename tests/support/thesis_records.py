"""The records of the worked examples, with hierarchies of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hedgerow.data import Domain
from hedgerow.data.axis import Axis
from hedgerow.data.domain import Source
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.kinds.records.schema import RecordSchema, VertexType


def axis_of(groups: Mapping[str, Sequence[str]]) -> Axis:
    """An axis from its groups: 'CS/CS3**' with its values; '' for values without a group."""
    paths = {value: tuple(group.split("/")) if group else () for group, values in groups.items() for value in values}
    return Axis(tuple(paths), tuple(paths.values()))


def domain_of(**axes: Axis) -> Domain:
    """A declared domain; two underscores stand for the dot of an axis."""
    return Domain(tuple((name.replace("__", "."), axis) for name, axis in axes.items()), Source.DECLARED)


YEARS = axis_of(
    {**{f"{decade}*": [f"{decade}{year}" for year in range(10)] for decade in range(191, 200)}, "200*": ["2000"]}
)
MAJORS = axis_of({"": ["Computer Science", "Mathematics"]})
AVERAGES = Axis(("3.25", "2.67", "2.17", "3.78", "2.96"))
GRADES = Axis(("A", "A-", "B+", "B", "C+", "C"))
#: two levels: students with courses
STUDENTS = RecordSchema(
    (VertexType("student", None, ("major", "born"), "average"), VertexType("course", "student", ("id",), "grade"))
)
STUDENTS_DOMAIN = domain_of(
    student__major=MAJORS,
    student__born=YEARS,
    student__average=AVERAGES,
    course__id=axis_of(
        {
            "CS/CS2**": ["CS201", "CS202"],
            "CS/CS3**": ["CS301", "CS305", "CS306"],
            "CS/CS4**": ["CS401", "CS404"],
            "": ["MATH101"],
        }
    ),
    course__grade=GRADES,
)


def student(born: int, average: str, **courses: str) -> Tree:
    """A student of computer science with courses and grades."""
    below = [("course", [course], grade, []) for course, grade in courses.items()]
    return "student", ["Computer Science", str(born)], average, below


def five_students() -> Records:
    """S1 to S5 of the examples."""
    return Records.from_trees(
        [
            student(1992, "3.25", CS201="A", CS202="A-"),
            student(1993, "2.67", CS401="B", CS404="B+"),
            student(1993, "2.17", CS301="C+"),
            student(1995, "3.78", CS305="A", CS306="A-"),
            student(1994, "2.96", CS301="B"),
        ],
        STUDENTS,
        STUDENTS_DOMAIN,
    )


#: roots with a label, children with a label, and grandchildren
SMALL = RecordSchema(
    (
        VertexType("r", None, ("label",), "value"),
        VertexType("c", "r", ("label",), "value"),
        VertexType("b", "c", ("label",), "value"),
    )
)
SMALL_DOMAIN = domain_of(
    r__label=axis_of({"": ["k1", "k2"]}),
    r__value=Axis((1, 2, 3)),
    c__label=axis_of({"g": ["x", "y"], "": ["z"]}),
    c__value=Axis((1, 2, 3)),
    b__label=axis_of({"": ["b1", "b2", "b3"]}),
    b__value=Axis((1, 2, 3)),
)


def small(*trees: Tree) -> Records:
    """Records of the small schema."""
    return Records.from_trees(trees, SMALL, SMALL_DOMAIN)


#: courses with evaluations of instructors and of teaching assistants
EVALUATIONS = RecordSchema(
    (
        *STUDENTS.types,
        VertexType("instructor", "course", ("name",), "score"),
        VertexType("assistant", "course", ("name",), "score"),
    )
)
EVALUATIONS_DOMAIN = domain_of(
    student__major=MAJORS,
    student__born=YEARS,
    student__average=Axis(("3.0-3.5", "2.5-3.0")),
    course__id=axis_of(
        {
            "CS/CS2**": ["CS201", "CS204"],
            "CS/CS3**": ["CS305", "CS306", "CS307"],
            "CS/CS4**": ["CS404"],
            "": ["MATH101"],
        }
    ),
    course__grade=GRADES,
    instructor__name=axis_of(
        {"Prof/DB Prof.": ["Saygin", "Nergiz", "Z"], "Prof/Sec Prof.": ["Levi", "Savas"], "o": ["p1", "p2", "p3"]}
    ),
    instructor__score=Axis(tuple(range(11))),
    assistant__name=axis_of({"TA": ["TA1", "TA2", "TA5"], "": ["X1", "X2"]}),
    assistant__score=Axis(tuple(range(11))),
)


def two_students_with_evaluations() -> Records:
    """The two students whose completion is published with the examples."""

    def course(name: str, grade: str, *below: tuple[str, str, int]) -> Tree:
        return "course", [name], grade, [(kind, [who], score, []) for kind, who, score in below]

    first = [
        course("CS201", "A", ("instructor", "Levi", 8)),
        course("CS306", "B", ("instructor", "Saygin", 9), ("assistant", "TA1", 7)),
        course("CS404", "A-", ("instructor", "Savas", 6), ("assistant", "TA5", 10)),
    ]
    second = [
        course("CS201", "B+", ("instructor", "Levi", 8)),
        course("CS305", "C", ("instructor", "Nergiz", 5), ("assistant", "TA2", 4)),
        course("CS404", "A-", ("instructor", "Savas", 7)),
    ]
    trees = [
        ("student", ["Computer Science", "1994"], "3.0-3.5", first),
        ("student", ["Computer Science", "1995"], "2.5-3.0", second),
    ]
    return Records.from_trees(trees, EVALUATIONS, EVALUATIONS_DOMAIN)
