"""Test cases of nested records: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hedgerow.data import Axis, Domain, Source
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.kinds.records.schema import RecordSchema, VertexType

_COURSES = ("CS201", "CS301", "CS305", "MA101")
_TITLES = ("Sets", "Trees")
_GRADES = ("A", "B", "C", "D")
_GPA = ("1.2", "2.1", "2.3", "3.4")
#: the schema, hierarchies and buckets of all edge cases: students with courses, and books of courses
SCHEMA = RecordSchema(
    (
        VertexType("student", None, ("major", "born"), "gpa", numbers=("born", "gpa")),
        VertexType("course", "student", ("id",), "grade", path="courses[]"),
        VertexType("book", "course", ("title",), path="books[]"),
    )
)
_DOMAIN = Domain(
    (
        ("student.major", Axis(("CS", "EE", "VA"), (("Engineering",), ("Engineering",), ()))),
        ("student.born", Axis(tuple(range(1990, 1994)), (("1990-1991",),) * 2 + (("1992-1993",),) * 2)),
        ("student.gpa", Axis(_GPA, (("[1, 2)",), ("[2, 3)",), ("[2, 3)",), ("[3, 4]",)))),
        ("course.id", Axis(_COURSES, (("CS", "CS2"), ("CS", "CS3"), ("CS", "CS3"), ()))),
        ("course.grade", Axis(_GRADES)),
        ("book.title", Axis(_TITLES)),
    ),
    Source.DECLARED,
)


def records_of(trees: Iterable[Tree]) -> Records:
    """Make records of students, as nested plain values.

    Examples
    --------
    >>> len(records_of([("student", ["CS", 1990], "2.1", [("course", ["CS201"], "A", [])])]))
    1
    """
    return Records.from_trees(trees, SCHEMA, _DOMAIN)


def _student(number: int, *courses: Tree, gpa: int | None = None) -> Tree:
    major, born = ("CS", "EE", "VA")[number % 3], 1990 + number % 4
    return ("student", [major, born], _GPA[number % 4 if gpa is None else gpa], list(courses))


def _course(number: int, grade: int, *titles: str) -> Tree:
    return ("course", [_COURSES[number % 4]], _GRADES[grade % 4], [("book", [title], None, []) for title in titles])


def _many() -> list[Tree]:
    return [
        _student(n, *(_course(n * c + c, n + c, *_TITLES[: (n + c) % 3]) for c in range(1, 1 + n * n % 4)))
        for n in range(40)
    ]


EDGE_CASES: dict[str, Callable[[], Records]] = {
    "no record": lambda: records_of([]),
    "one record": lambda: records_of([_student(0, _course(0, 0))]),
    "roots only": lambda: records_of([_student(number) for number in range(6)]),
    "all alike": lambda: records_of([_student(0, _course(1, 1, "Sets"))] * 5),
    "alike but for sensitive values": lambda: records_of([_student(0, _course(1, n), gpa=n) for n in range(4)]),
    "equal siblings": lambda: records_of([_student(0, *[_course(1, n)] * 3, gpa=n) for n in range(4)]),
    "one has more": lambda: records_of([_student(0), _student(0, *(_course(n, n, *_TITLES) for n in range(9)))]),
    "no sensitive values": lambda: records_of(
        [("student", ["CS", 1990], None, [("course", ["CS201"], None, [])]) for _ in range(3)]
    ),
    "already generalised": lambda: records_of([("student", ["*", "1990-1991"], gpa, []) for gpa in _GPA]),
    "many": lambda: records_of(_many()),
}


def random_data(st: Any, *, least: int, most: int = 8) -> Any:
    """Draw at least `least` students; `st` is hypothesis.strategies."""
    book = st.sampled_from(_TITLES).map(_book)
    course = st.tuples(
        st.just("course"),
        st.tuples(st.sampled_from(_COURSES)),
        st.sampled_from((None, *_GRADES)),
        st.lists(book, max_size=2),
    )
    student = st.tuples(
        st.just("student"),
        st.tuples(st.sampled_from(("CS", "EE", "VA")), st.integers(1990, 1993)),
        st.sampled_from((None, *_GPA)),
        st.lists(course, max_size=3),
    )
    return st.lists(student, min_size=least, max_size=max(least, most)).map(records_of)


def _book(title: str) -> Tree:
    return ("book", [title], None, [])


def from_vector(vector: Mapping[str, Any]) -> Records:
    """Read the data of a vector: its `types`, `axes` and `trees`."""
    schema = RecordSchema(
        tuple(
            VertexType(kind["name"], kind.get("parent"), tuple(kind.get("quasi", ())), kind.get("sensitive"))
            for kind in vector["types"]
        )
    )
    axes = tuple((name, Axis.from_plain(axis)) for name, axis in vector["axes"].items())
    return Records.from_trees(map(_tree, vector["trees"]), schema, Domain(axes, Source.DECLARED))


def _tree(plain: list[Any]) -> Tree:
    name, labels, sensitive, children = plain
    return (name, labels, sensitive, [_tree(child) for child in children])


def to_vector(data: Records) -> list[Any]:
    """Write published data in the form of a vector: type, labels, sensitive value and children of each record."""
    return [_plain(tree) for tree in data.canonical().trees()]


def _plain(tree: Tree) -> list[Any]:
    name, labels, sensitive, children = tree
    return [name, list(labels), sensitive, [_plain(child) for child in children]]
