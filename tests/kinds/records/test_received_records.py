"""Nested records made by somebody else: planted violations, hidden messages, and folders that unfold without bound."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest
from folders import seal
from record_files import write_students
from terminal import run

ROW = '{"major":"Computer Science","yob":"199*","gpa":%s,"courses":[{"course":"CS301","grade":"%s"}]}\n'
FIRST, SECOND = ROW % (2.17, "C+"), ROW % (2.96, "B")
ORDERED = '"courses":[{"course":"CS301","grade":"C+"}]', '"gpa":2.17'


@pytest.fixture
def publish(tmp_path):
    """Publish the two students in a format; return the folder and the name of its data file."""

    def made(form):
        source = write_students(tmp_path, form)
        line = f"publish {source.name} --kind records --schema schema.toml --method clustree --l 2 --out X"
        assert run(line, tmp_path).code == 0
        assert run("verify X --l 2", tmp_path).code == 0
        [data] = (tmp_path / "X").glob("data*")
        return data

    return made


def verify(data):
    """Verify a folder whose data was changed, with hashes that fit."""
    seal(data.parent)
    return run("verify X", data.parent.parent)


def marked(ran):
    """The checks that failed."""
    return [line.removeprefix("NO").strip() for line in ran.out.splitlines() if line.startswith("NO")]


#: by format: a text, what it is changed to, and the check that notices
PLANTED = {
    "equal grades": ("jsonl", '"grade":"B"', '"grade":"C+"', "LDiversity"),
    "equal buckets": ("jsonl", "2.96", "2.17", "LDiversity"),
    "a label as it was": ("jsonl", SECOND, SECOND.replace("199*", "1994"), "LDiversity"),
    "a vertex more": ("jsonl", SECOND, SECOND.replace("}]", '},{"course":"CS305","grade":"A"}]'), "the release can"),
    "a record less": ("jsonl", SECOND, "", "LDiversity"),
    "a missing value": ("jsonl", '"gpa":2.96,', "", "LDiversity"),
    "a label that is no group": ("jsonl", "199*", "199?", "the release can be read"),
    "a value outside the domain": ("jsonl", "2.96", "2.97", "the release can be read"),
    "a field more": ("jsonl", '"gpa"', '"name":"x","gpa"', "the release can be read"),
    "a key twice": ("jsonl", '"gpa"', '"gpa":1,"gpa"', "the release can be read"),
    "order of records": ("jsonl", FIRST + SECOND, SECOND + FIRST, "the order of records"),
    "order of keys": ("jsonl", f"{ORDERED[1]},{ORDERED[0]}", f"{ORDERED[0]},{ORDERED[1]}", "the order of records"),
    "white space": ("jsonl", '"gpa":2.17', '"gpa": 2.17', "the order of records"),
    "spelling of numbers": ("jsonl", "2.17", "2.170", "the order of records"),
    "a number as text": ("jsonl", "2.17", '"2.17"', "the order of records"),
    "escapes": ("jsonl", "Computer", "\\u0043omputer", "the order of records"),
    "a blank line": ("jsonl", FIRST, FIRST + "\n", "the order of records"),
    "equal grades in a list": ("json", '"grade":"B"', '"grade":"C+"', "LDiversity"),
    "white space in a list": ("json", "[\n", "[", "the order of records"),
    "equal grades in XML": ("xml", 'grade="B"', 'grade="C+"', "LDiversity"),
    "a comment": ("xml", "<students>", "<students><!-- x -->", "the order of records"),
    "an instruction": ("xml", "<students>", "<students><?x y?>", "the order of records"),
    "an element beside records": ("xml", "<students>", "<students><x/>", "the order of records"),
    "quotes": ("xml", 'id="CS301"', "id='CS301'", "the order of records"),
    "order of attributes": ("xml", 'id="CS301" grade="C+"', 'grade="C+" id="CS301"', "the order of records"),
    "blanks around a value": ("xml", ">2.17<", "> 2.17<", "the order of records"),
    "an attribute more": ("xml", "<course ", '<course x="1" ', "the release can be read"),
    "a namespace": ("xml", "<students>", '<students xmlns:x="urn:x">', "the order of records"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_in_a_file_is_noticed(publish, name):
    form, text, changed, check = PLANTED[name]
    data = publish(form)
    assert text in data.read_text()
    data.write_text(data.read_text().replace(text, changed))
    ran = verify(data)
    assert (ran.code, any(line.startswith(check) for line in marked(ran))) == (3, True), ran.out


def repacked(data, change, time=(1980, 1, 1, 0, 0, 0), comment=b"", backwards=False):
    """Pack the tables of an archive again, changed."""
    with zipfile.ZipFile(data) as archive:
        tables = {name: archive.read(name).decode() for name in archive.namelist()}
    tables = change(tables)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.comment = comment
        for name in reversed(tables) if backwards else tables:
            made.writestr(zipfile.ZipInfo(name, time), tables[name], zipfile.ZIP_DEFLATED)
    data.write_bytes(packed.getvalue())


def replaced(old, new):
    return lambda tables: {name: text.replace(old, new) for name, text in tables.items()}


@pytest.mark.parametrize(
    ("change", "packing", "check"),
    [
        (replaced(",B", ",C+"), {}, "LDiversity"),
        (replaced("2.96", "2.17"), {}, "LDiversity"),
        (replaced("2,CS301", "1,CS301"), {}, "LDiversity"),
        (replaced("2,CS301", "9,CS301"), {}, "the release can be read"),
        (replaced("2,Comp", "7,Comp"), {}, "the release can be read"),
        (lambda tables: {**tables, "more.csv": "x"}, {}, "the release can be read"),
        (lambda tables: tables, {"time": (1999, 1, 1, 0, 0, 0)}, "data.zip holds nothing but its data"),
        (lambda tables: tables, {"comment": b"x"}, "data.zip holds nothing but its data"),
        (lambda tables: tables, {"backwards": True}, "the order of records"),
        (replaced("CS301", '"CS301"'), {}, "the order of records"),
        (replaced("\n", "\r\n"), {}, "the order of records"),
    ],
)
def test_what_is_planted_in_tables_is_noticed(publish, change, packing, check):
    data = publish("csv")
    repacked(data, change, **packing)
    ran = verify(data)
    assert (ran.code, any(line.startswith(check) for line in marked(ran))) == (3, True), ran.out


# ---- folders that unfold


def declared(data, types, axes, content):
    """Let a folder declare other types and axes, and have other data."""
    path = data.parent / "release.json"
    manifest = json.loads(path.read_text())
    layout = json.dumps({"types": types}, separators=(",", ":"))
    [file] = manifest["files"]
    file["options"] = {"layout": layout, "axes": json.dumps(axes, separators=(",", ":"))}
    path.write_text(json.dumps(manifest))
    data.write_bytes(content)
    return verify(data)


def test_fields_that_are_not_given_take_memory_too(tmp_path):
    """Two bytes can be a record with all fields of its type, and a file of them compresses a thousand times."""
    source = write_students(tmp_path, "jsonl")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    line = "publish a.jsonl.gz --kind records --schema schema.toml --method clustree --l 2 --out X"
    assert run(line, tmp_path).code == 0
    names = [f"a{number}" for number in range(1_000)]
    axes = {f"p.{name}": [["x", "(missing)"], []] for name in names}
    content = gzip.compress(b"{}\n" * 20_000, mtime=0)
    ran = declared(tmp_path / "X" / "data.jsonl.gz", [{"name": "p", "quasi": names}], axes, content)
    assert ran.code == 3
    assert "has too many vertices and fields, given or not; if you trust its maker" in ran.out


def test_hierarchies_are_not_deep_and_types_not_many(publish):
    data = publish("jsonl")
    types = [{"name": "p", "quasi": ["a"]}]
    ran = declared(data, types, {"p.a": [["x", "y"], [[f"g{i}" for i in range(9_000)], []]]}, b'{"a":"x"}\n' * 3)
    assert (ran.code, "more than 64 groups within each other" in ran.out) == (3, True), ran.out
    types += [{"name": f"t{number}", "parent": "p", "quasi": ["a"]} for number in range(1_000)]
    axes = {f"{kind['name']}.a": [["x"], []] for kind in types}
    ran = declared(data, types, axes, b'{"a":"x"}\n' * 3)
    assert (ran.code, "is not as Hedgerow writes it" in ran.out) == (3, True), ran.out
