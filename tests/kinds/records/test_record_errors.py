"""Nested records that cannot be read: one line that says where and what, and never a value of the data."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from record_files import JSON_LINES, write_students
from terminal import run

from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.formats.codec import codec_of
from hedgerow.reading import read

GOOD = JSON_LINES[0]
HIDDEN = "hush"
DEEP = '{"a":' * 70 + "1" + "}" * 70
DESCRIBE = "describe {} --kind records --schema schema.toml"


def describe(folder, name, *more):
    return run(" ".join([DESCRIBE.format(name), *more]), folder)


def facts(ran):
    """What `describe` says, by name."""
    return dict(re.split("  +", line, maxsplit=1) for line in ran.out.splitlines() if "  " in line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (GOOD.replace('"grade"', '"mark"'), "field 'courses.mark' is not in the schema; declare it"),
        (
            GOOD.replace("CS301", HIDDEN),
            "field 'course' of 'course' has a value outside its hierarchy; declare the value",
        ),
        (GOOD.replace("1993", "1893"), "field 'yob' of 'student' has a value outside its hierarchy"),
        (
            GOOD.replace('"yob":1993,', ""),
            "field 'yob' of 'student' is missing; fill it in, or declare it with missing",
        ),
        (GOOD.replace('"Computer Science"', "null"), "field 'major' of 'student' is missing"),
        (GOOD.replace("2.17", "7"), "field 'gpa' of 'student' is outside of all buckets; add a bucket"),
        (GOOD.replace("2.17", f'"{HIDDEN}"'), "field 'gpa' of 'student' is not a number; correct it"),
        (GOOD.replace("2.17", "NaN"), "NaN and Infinity are not JSON; correct them"),
        (GOOD.replace("2.17", "1e999999999"), "field 'gpa' of 'student' is not a number"),
        (GOOD.replace("2.17", "9" * 5000), "field 'gpa' of 'student' is not a number"),
        (GOOD.replace("2.17", "[2.17]"), "field 'gpa' must be a plain value, not a list or an object"),
        (GOOD.replace("2.17", '2.17,"gpa":3'), "an object has two values under one key; correct it"),
        (GOOD.replace("CS301", "\\ud800"), "field 'courses.course' has a zero byte or half a character; correct it"),
        (GOOD.replace('[{"course":"CS301","grade":"C+"}]', "7"), "field 'courses' must be a list"),
        (GOOD.replace('{"course":"CS301","grade":"C+"}', f'"{HIDDEN}"'), "field 'courses' must be an object with the"),
        (
            GOOD.replace('{"course":"CS301","grade":"C+"}', ",".join(["{}"] * 10_001)),
            "field 'courses' has more than 10,000 entries",
        ),
        (GOOD.replace('"S3"', DEEP), "the record is nested more than 64 deep; flatten it"),
        (GOOD.replace('"S3"', "[" * 100_000), "the line is not a JSON document; correct it"),
        (GOOD + GOOD, "there is more than one document on the line; correct it"),
        (f'"{HIDDEN}"', "the record must be an object with the fields of its type; correct it"),
        (GOOD[:-1], "the line is not a JSON document; correct it"),
        (GOOD.replace("CS301", "\udcff"), "not UTF-8 text; convert the file"),
        (GOOD.replace("CS301", "\0"), "a zero byte, so this is not a text file"),
    ],
)
def test_a_bad_line_is_named_or_dropped(tmp_path, line, message):
    source = write_students(tmp_path, "jsonl")
    source.write_bytes(f"{GOOD}\n{line}\n{GOOD}\n".encode(errors="surrogateescape"))
    ran = describe(tmp_path, "a.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran
    assert ran.err.startswith(f"hedgerow: a.jsonl:2: {message}"), ran.err
    assert "on_bad=drop" in ran.err
    assert HIDDEN not in ran.err
    dropped = describe(tmp_path, "a.jsonl", "--read on_bad=drop")
    assert (dropped.code, facts(dropped)["records"]) == (0, "2"), dropped


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "a.json:1: the file must be one JSON list of records"),
        ("", "a.json:1: the file must be one JSON list of records"),
        (f"[{GOOD}\n{GOOD}]", "a.json:2: records of a list must be separated by one comma"),
        (f"[{GOOD},]", "a.json:1: records of a list must be separated by one comma"),
        (f"[{GOOD}", "a.json:1: records of a list must be separated by one comma"),
        (f"[\n\n{GOOD[:-2]},{GOOD}]", "a.json:3: this is not JSON; correct the file"),
        (f"[{GOOD}] 7", "a.json:1: there is more after the list of records; remove it"),
        (f"[{GOOD},\n{'[' * 100_000}]", "a.json:2: a record is nested too deep; flatten it"),
        (f"[{GOOD},\n{GOOD.replace('2.17', 'NaN')}]", "a.json:2: NaN and Infinity are not JSON"),
    ],
)
def test_a_torn_list_is_refused_with_its_line(tmp_path, text, message):
    write_students(tmp_path, "json").write_text(text)
    ran = describe(tmp_path, "a.json")
    assert (ran.code, ran.err.startswith(f"hedgerow: {message}")) == (2, True), ran.err[:300]


BOMB = '<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><students>&b;</students>'
OUTSIDE = '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/hosts">]><students>&a;</students>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "a.xml:1: a document type (DOCTYPE) is not read, since it may define entities; remove it"),
        (OUTSIDE, "a.xml:1: a document type (DOCTYPE) is not read"),
        ("<students>\n<student>", "a.xml:2: this is not well-formed XML"),
        ("<students>&hush;</students>", "a.xml:1: this is not well-formed XML"),
        ("<people/>", "a.xml:1: the file has no elements students.student; declare in the schema where"),
        ('<students xmlns="urn:x"/>', "a.xml:1: the file has no elements students.student"),
        ("<students>\n<student hush='1'/></students>", "a.xml:2: field '@hush' is not in the schema"),
        ("<students><student>hush</student></students>", "a.xml:1: the record must be an object with the fields"),
        ("<students><student yob='1993'>hush</student></students>", "a.xml:1: field '#value' is not in the schema"),
        ("<students><student><gpa>2</gpa><gpa>3</gpa></student></students>", "a.xml:1: field 'gpa' occurs twice"),
        ("<students><student><gpa a='1'>2</gpa></student></students>", "a.xml:1: field 'gpa' must be a plain value"),
        ("<students>\n<student>" + "<a>" * 70 + "</a>" * 70 + "</student></students>", "a.xml:2: the record is nested"),
        ('<?xml version="1.0" encoding="latin-1"?><students/>', "a.xml:1: the encoding must be UTF-8"),
        ("<students/>".encode("utf-16-le").decode(), "a.xml:1: the encoding must be UTF-8; convert the file"),
        ("<students><!--" + "x" * 2_000_000 + "--></students>", "a.xml:1: a tag or comment is longer than"),
    ],
)
def test_hostile_xml_is_refused_with_its_line(tmp_path, text, message):
    write_students(tmp_path, "xml").write_text(text)
    ran = describe(tmp_path, "a.xml")
    assert (ran.code, ran.err.startswith(f"hedgerow: {message}")) == (2, True), ran.err[:300]


def test_xml_in_a_namespace_and_with_deep_rubbish(tmp_path):
    source = write_students(tmp_path, "xml")
    schema = tmp_path / "schema.toml"
    schema.write_text('namespace = "urn:x"\n' + schema.read_text().replace('"@studentID"', '"{urn:b.c}note"'))
    student = '<student major="Mathematics" yob="1993"><b:note>x</b:note><gpa>2<!-- -->.5</gpa></student>'
    source.write_text(f'<students xmlns="urn:x" xmlns:b="urn:b.c"><other><student/></other>{student}</students>')
    data = read(source, kind="records", options={"schema": str(schema)})
    assert data.trees() == [("student", ["Mathematics", "1993"], "2.5", [])]
    assert b'<students xmlns="urn:x">\n<student major' in codec_of("records").write(data, "xml", {})


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "courses.csv",
            "studentID,course,grade\nS9,CS301,A\n",
            "courses.csv:2: the row belongs to no row of 'student'",
        ),
        ("courses.csv", "studentID,course,grade\n,CS301,A\n", "courses.csv:2: the row belongs to no row of 'student'"),
        ("courses.csv", "course,grade\nCS301,A\n", "courses.csv has no column 'studentID', which the schema declares"),
        ("courses.csv", "studentID,course,grade,x\n", "courses.csv: column 'x' is not in the schema; declare it"),
        ("courses.csv", "studentID,course,grade\nS3,CS301\n", "courses.csv:2: the line has more or fewer cells"),
        (
            "a.csv",
            "studentID,major,yob,gpa\nS3,Mathematics,1993,2\nS3,Mathematics,1994,3\n",
            "a.csv:2: two rows of 'student' have the same key, or one has none",
        ),
        (
            "courses.csv",
            "studentID,course,grade\nS3,CS301,A\nS3,hush,A\n",
            "courses.csv:3: field 'course' of 'course' has a value outside its hierarchy",
        ),
    ],
)
def test_tables_that_do_not_join_are_refused(tmp_path, file, text, message):
    write_students(tmp_path, "csv")
    (tmp_path / file).write_text(text)
    ran = describe(tmp_path, "a.csv")
    assert (ran.code, ran.err.startswith(f"hedgerow: {message}")) == (2, True), ran.err
    assert "hush" not in ran.err


@pytest.mark.parametrize(
    ("student", "course", "place"),
    [("1893", "CS301", "a.zip/student.csv:2"), ("1993", HIDDEN, "a.zip/courses.csv:2")],
)
def test_a_table_within_an_archive_is_named(tmp_path, student, course, place):
    write_students(tmp_path, "csv")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("student.csv", f"studentID,major,yob,gpa\nS3,Mathematics,{student},2.17\n")
        packed.writestr("courses.csv", f"studentID,course,grade\nS3,{course},A\n")
    ran = describe(tmp_path, "a.zip")
    assert (ran.code, ran.err.startswith(f"hedgerow: {place}: field ")) == (2, True), ran.err


def test_a_torn_table_that_is_looked_up_is_named_with_its_folder(tmp_path):
    (tmp_path / "desk").mkdir()
    write_students(tmp_path / "desk", "csv")
    schema = (tmp_path / "desk/schema.toml").read_text()
    lookup = 'lookup = { table = "names.csv", key = "course" }\n[types.course.fields]'
    (tmp_path / "schema.toml").write_text(schema.replace("[types.course.fields]", lookup))
    for name in ("yob.csv", "course.csv"):
        (tmp_path / "desk" / name).rename(tmp_path / name)
    (tmp_path / "desk/names.csv").write_text("course,name\nCS301,a,b\n")
    ran = describe(tmp_path, "desk/a.csv")
    assert (ran.code, ran.err.startswith("hedgerow: desk/names.csv:2: the line has more or fewer cells")) == (2, True)
    faculty = f'{lookup}\nfaculty = {{ values = ["x"] }}'
    (tmp_path / "schema.toml").write_text(schema.replace("[types.course.fields]", faculty))
    (tmp_path / "desk/names.csv").write_text(f"course,faculty\nCS301,{HIDDEN}\n")
    ran = describe(tmp_path, "desk/a.csv")
    where = "desk/courses.csv:2: field 'faculty' of 'course' (looked up in desk/names.csv) has a value outside"
    assert (ran.code, ran.err.startswith(f"hedgerow: {where}")) == (2, True), ran.err


def test_a_key_of_two_records_is_refused_always(tmp_path):
    """With `on_bad=drop` too: a row of one person must not remove the books of another, nor the person."""
    write_students(tmp_path, "csv")
    schema = tmp_path / "schema.toml"
    book = '[types.book]\ntable = "books.csv"\nparent = "course"\nparent_key = "number"\n[types.book.fields]\n'
    text = schema.read_text().replace("[types.course]", '[types.course]\nkey = "number"')
    schema.write_text(f'{text}{book}title = {{ values = ["x", "y"] }}\n')
    (tmp_path / "books.csv").write_text("number,title\n1,x\n")
    for second, records in {"S5,CS301,A,2": "2", "S3,CS301,A,1": "1", "S5,CS301,A,": "1"}.items():
        (tmp_path / "courses.csv").write_text(f"studentID,course,grade,number\nS3,CS301,A,1\n{second}\n")
        ran = describe(tmp_path, "a.csv", "--read on_bad=drop")
        assert facts(ran)["records"] == records, ran
    (tmp_path / "courses.csv").write_text("studentID,course,grade,number\nS3,CS301,A,1\nS5,CS301,A,1\n")
    for more in ("", "--read on_bad=drop"):
        ran = describe(tmp_path, "a.csv", more)
        assert (ran.code, ran.err) == (
            2,
            "hedgerow: courses.csv:2: another record has a 'course' with the same key; correct it\n",
        )


@pytest.mark.parametrize("form", ["jsonl", "json", "xml", "mongo"])
def test_a_person_has_one_record(tmp_path, form):
    """If the schema names the key of records: both are dropped, since nobody knows which is right."""
    source = write_students(tmp_path, form)
    name = {"xml": "@studentID", "mongo": "_id.$oid"}.get(form, "studentID")
    schema = tmp_path / "schema.toml"
    schema.write_text(schema.read_text().replace('path = ""', f'path = ""\nkey = "{name}"', 1))
    assert describe(tmp_path, source.name).code == 0
    line = f"publish {source.name} --kind records --schema schema.toml --method clustree --l 2 --out X"
    assert run(line, tmp_path).code == 0
    [data] = (tmp_path / "X").glob("data*")
    ran = run(f"verify {data} --kind records --schema schema.toml --read groups=yes --l 2", tmp_path)
    assert ran.code == 0, ran.err
    twins = source.read_text().replace("S5", "S3").replace('"60"', '"5f"')
    source.write_text(twins)
    ran = describe(tmp_path, source.name)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "an earlier record has the same key, and a person has one record; correct it, or drop such" in ran.err
    dropped = describe(tmp_path, source.name, "--read on_bad=drop")
    assert (facts(dropped)["records"], facts(dropped)["records dropped"]) == ("0", "2")
    source.write_text(twins.replace("S3", "", 1).replace('"5f"', "null", 1))
    dropped = describe(tmp_path, source.name, "--read on_bad=drop")
    assert facts(dropped)["records"] == "1", dropped


@pytest.mark.parametrize("form", ["jsonl", "xml", "csv"])
def test_a_file_with_more_than_what_is_verified_is_not_satisfied(tmp_path, form):
    """An identifier that the schema drops is published all the same if it is in the file."""
    source = write_students(tmp_path, form)
    schema = tmp_path / "schema.toml"
    line = "publish {} --kind records --schema schema.toml --method clustree --l 2 --out X"
    assert run(line.format(source.name), tmp_path).code == 0
    data = next((tmp_path / "X").glob("data*"))
    verify = f"verify {data} --kind records --schema schema.toml --read groups=yes --l 2"
    assert run(verify, tmp_path).code == 0
    text = schema.read_text()
    schema.write_text(
        text.replace("gpa = { sensitive = true, buckets = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4] }", 'gpa = "drop"')
    )
    ran = run(verify, tmp_path)
    assert (ran.code, "NO   nothing else is in the file (values that the schema drops: 2)" in ran.out) == (3, True), ran
    schema.write_text(text.replace('"Computer Science", ', ""))
    ran = run(verify.replace("--l 2", "--k 2 --read on_bad=drop"), tmp_path)
    assert (ran.code, "NO   nothing else is in the file (records dropped: 2)" in ran.out) == (3, True), ran


@pytest.mark.parametrize("form", ["jsonl", "json", "xml", "csv"])
def test_blanks_do_not_make_another_value(tmp_path, form):
    source = write_students(tmp_path, form)
    where = tmp_path / ("courses.csv" if form == "csv" else source.name)
    where.write_text(re.sub("C[+]|B(?![A-Z])", lambda grade: {"C+": "A", "B": " A "}[grade[0]], where.read_text()))
    data = read(source, kind="records", options={"schema": str(tmp_path / "schema.toml")})
    assert {child[2] for tree in data.trees() for child in tree[3]} == {"A"}


def archive(**tables):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, text in tables.items():
            made.writestr(f"{name}.csv", text)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK", "a.zip is not a zip archive of tables, or it is damaged"),
        (archive(student="x"), "a.zip must have the tables of the schema and nothing else: student.csv, courses.csv"),
        (archive(student="x\n", courses="y" * 10**6), "a.zip holds too many bytes when decompressed"),
    ],
)
def test_archives_are_not_trusted(tmp_path, content, message):
    write_students(tmp_path, "csv")
    (tmp_path / "a.zip").write_bytes(content)
    ran = describe(tmp_path, "a.zip", "--read most_bytes=100000")
    assert (ran.code, ran.err.startswith(f"hedgerow: {message}")) == (2, True), ran.err


def test_a_stranger_cannot_name_other_files(tmp_path):
    """The layout of a release comes from anyone: it is read from an archive only, and checked."""
    codec = codec_of("records")
    source = write_students(tmp_path, "csv")
    data = read(source, kind="records", options={"schema": str(tmp_path / "schema.toml")})
    options = codec.reread_options(data, "csv")
    with pytest.raises(ReadError, match="is not an archive of tables as Hedgerow writes it"):
        read(source, kind="records", options=options)
    for name, text in {"layout": options["layout"] + " ", "axes": "{}x", "schema": "/etc/hosts"}.items():
        assert not codec.accepts_reread({**options, name: text})
    assert not codec.accepts_reread({"layout": '{"types":[]}'})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "course.csv is empty; list one value per line, with its groups"),
        ("CS301;hush;*\nCS301;B;*\n", "course.csv:2: the value of this line is listed twice; list it once"),
        ("CS301;hush;A;*\nCS305;hush;B;*\n", "course.csv:2: a group of this line is also within another group"),
        ("CS301;hush;A;*\nCS305;A;hush;*\n", "course.csv:2: a group of this line is also within another group"),
        ("CS301;hush;*\nhush;B;*\n", "schema.toml: field 'course' of 'course': a group of a hierarchy has the name"),
        (";".join(["CS301", *map(str, range(99))]), "schema.toml: field 'course' of 'course': a hierarchy has more"),
        ("CS301\n", ""),  # one value
        ("CS301;hush\nCS305;B\n", ""),  # the root is above all groups, listed or not
    ],
)
def test_hierarchies_that_are_no_trees_are_refused(tmp_path, text, message):
    write_students(tmp_path, "jsonl")
    (tmp_path / "course.csv").write_text(text)
    ran = describe(tmp_path, "a.jsonl")
    expected = (2, True) if message else (0, False)
    assert (ran.code, ran.err.startswith(f"hedgerow: {message}")) == expected, ran.err
    assert "hush" not in ran.err


def test_a_schema_is_needed(tmp_path):
    write_students(tmp_path, "jsonl")
    with pytest.raises(ParameterError, match="records need a schema file; give it with --schema FILE, or draft one"):
        read(tmp_path / "a.jsonl", kind="records")
    with pytest.raises(ReadError, match=r"there is no file nowhere\.toml"):
        read(tmp_path / "a.jsonl", kind="records", options={"schema": "nowhere.toml"})
    with pytest.raises(DomainError, match="is not a TOML file"):
        read(tmp_path / "a.jsonl", kind="records", options={"schema": str(tmp_path / "a.jsonl")})


@pytest.mark.parametrize(("second", "code"), [("S3", 2), ("S7", 0)])
def test_the_key_of_a_record_may_be_within_a_list(tmp_path, second, code):
    write_students(tmp_path, "jsonl")
    schema = tmp_path / "schema.toml"
    text = schema.read_text().replace("[types.student]", '[types.student]\nkey = "ids[use=own].id"', 1)
    schema.write_text(text.replace('studentID = "drop"', 'studentID = "drop"\nids = "drop"'))
    source = tmp_path / "a.jsonl"
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    for line, name in zip(lines, ("S3", second), strict=True):
        line["ids"] = [{"use": "own", "id": name}, {"use": "old", "id": "S0"}]
    source.write_text("\n".join(json.dumps(line) for line in lines))
    assert describe(tmp_path, "a.jsonl").code == code
