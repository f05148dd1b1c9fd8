"""Files of nested records: two students of the thesis (TV-15 of the specification), in every format."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILES", "JSON_LINES", "write_students"]

YEARS = "".join(f"{year};{year // 10}*;*\n" for year in range(1910, 2001))
_NUMBERS = (201, 202, 301, 305, 306, 401, 404)
COURSES = "".join(f"CS{number};CS{number // 100}**;CS;*\n" for number in _NUMBERS) + "MATH101;*\n"

SCHEMA = """
{top}
[types.student]
{student}
[types.student.fields]
{drop}
{at}major{at} = {{ values = ["Computer Science", "Mathematics"] }}
{at}yob{at} = {{ file = "yob.csv", numbers = true }}
gpa = {{ sensitive = true, buckets = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4] }}
[types.course]
{course}
[types.course.fields]
{id} = {{ file = "course.csv" }}
{grade} = "sensitive"
"""
PLAIN = {"top": "", "student": 'path = ""', "at": "", "id": "course", "grade": "grade", "drop": 'studentID = "drop"'}
LISTED = SCHEMA.format(**PLAIN, course='path = "courses[]"')
MONGO = SCHEMA.format(**PLAIN | {"drop": '_id = "drop"'}, course='path = "courses[]"')
JOINED = SCHEMA.format(
    **PLAIN | {"student": 'path = ""\nkey = "studentID"', "drop": ""},
    course='parent = "student"\ntable = "courses.csv"\nparent_key = "studentID"',
)
ELEMENTS = (
    SCHEMA.format(
        top='record = "students.student"',
        student='path = ""',
        drop='"@studentID" = "drop"',
        at="",
        course='path = "course"',
        id='"@id"',
        grade='"@grade"',
    )
    .replace("major =", '"@major" =')
    .replace("yob =", '"@yob" =')
)

JSON_LINES = [
    '{"studentID":"S3","major":"Computer Science","yob":1993,"gpa":2.17,"courses":[{"course":"CS301","grade":"C+"}]}',
    '{"studentID":"S5","major":"Computer Science","yob":1994,"gpa":2.96,"courses":[{"course":"CS301","grade":"B"}]}',
]
PUBLISHED = [
    '{"major":"Computer Science","yob":"199*","gpa":2.17,"courses":[{"course":"CS301","grade":"C+"}]}',
    '{"major":"Computer Science","yob":"199*","gpa":2.96,"courses":[{"course":"CS301","grade":"B"}]}',
]
_XML = '<student {0}major="Computer Science" yob="{1}"><gpa>{2}</gpa><course id="CS301" grade="{3}"/></student>'
_MONGO = (
    '{{"_id":{{"$oid":"{0}"}},"major":"Computer Science","yob":{{"$numberInt":"{1}"}},"gpa":{{"$numberDouble":"{2}"}},'
    '"courses":[{{"course":"CS301","grade":"{3}"}}]}}'
)
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

#: by format: the schema, the input files (the first is the source), and the published file
FILES: dict[str, tuple[str, dict[str, str], str]] = {
    "jsonl": (LISTED, {"a.jsonl": "\n".join(JSON_LINES)}, "\n".join(PUBLISHED) + "\n"),
    "json": (LISTED, {"a.json": "[" + ", ".join(JSON_LINES) + "]"}, "[\n" + ",\n".join(PUBLISHED) + "\n]\n"),
    "xml": (
        ELEMENTS,
        {
            "a.xml": "<students><!-- two -->\n"
            + _XML.format('studentID="S3" ', 1993, " 2.170 ", "C+")
            + _XML.format('studentID="S5" ', 1994, "2.96", "B")
            + "</students>"
        },
        _HEAD
        + "\n".join(
            ["<students>", _XML.format("", "199*", "2.17", "C+"), _XML.format("", "199*", "2.96", "B"), "</students>\n"]
        ),
    ),
    "csv": (
        JOINED,
        {
            "a.csv": "studentID,major,yob,gpa\nS5,Computer Science,1994,2.96\nS3,Computer Science,1993,2.17\n",
            "courses.csv": "studentID,course,grade\nS3,CS301,C+\nS5,CS301,B\n",
        },
        "",
    ),
    "mongo": (
        MONGO,
        {"a.ndjson": _MONGO.format("5f", 1993, 2.17, "C+") + "\n" + _MONGO.format("60", 1994, 2.96, "B")},
        "\n".join(PUBLISHED) + "\n",
    ),
}


def write_students(folder: Path, name: str) -> Path:
    """Write the files of a format, with its schema; return the source."""
    schema, files, _ = FILES[name]
    more = {"schema.toml": schema, "yob.csv": YEARS, "course.csv": COURSES}
    for file, text in {**more, **files}.items():
        (folder / file).write_text(text)
    return folder / next(iter(files))
