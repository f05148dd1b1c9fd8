"""Nested records as a kind: its vector, schema files, hierarchies, and drafts that go through all commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import VECTORS
from record_files import FILES, write_students
from terminal import run

from hedgerow import find_method
from hedgerow.data import Domain
from hedgerow.errors import DomainError
from hedgerow.kinds.records.cases import EDGE_CASES, from_vector, to_vector
from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.kinds.records.schema_file import read_hierarchy, read_record_schema
from hedgerow.testing import check_publisher


def test_the_vector_of_two_students():
    vector = json.loads((VECTORS / "clustree.json").read_text())
    release = find_method("clustree")().publish(from_vector(vector), LDiversity(l=vector["l"]), seed=1)
    assert to_vector(release.data) == vector["published"]


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=6))
def test_records_are_ordered_by_the_lists_of_their_children(lists):
    """Compared from their start, the shorter of two that agree so far first; siblings have no order."""
    schema = RecordSchema((VertexType("s", None, (), "g"), VertexType("c", "s", ("a",))))
    domain = Domain.declare(**{"s.g": ["x"], "c.a": [0, 1, 2, 3]})
    trees = [("s", [], "x", [("c", [label], None, []) for label in labels]) for labels in lists]
    ordered = Records.from_trees(trees, schema, domain).canonical().trees()
    assert [[int(child[1][0]) for child in tree[3]] for tree in ordered] == sorted(map(sorted, lists))


def test_only_sensitive_values_that_occur_are_left_in_a_narrow_domain():
    data = EDGE_CASES["many"]()
    few = data.only(np.arange(len(data)) < 2)
    narrow = few.narrowed()
    assert narrow.trees() == few.trees()
    assert set(narrow.domain.values("course.grade")) < set(few.domain.values("course.grade"))
    assert narrow.domain.values("course.id") == few.domain.values("course.id")
    assert EDGE_CASES["no record"]().narrowed().trees() == []


@pytest.mark.parametrize(
    ("section", "groups", "losses"),
    [
        ({"values": ["a", "b"]}, (), (0, 0, 1)),
        ({"values": ["a", "b"], "missing": True}, (), (0, 0, 0, 1)),
        ({"values": ["a", "b", "c"], "paths": ["x/y", "x/y", ""]}, ("x", "y"), (0, 0, 0, 0.5, 0.5, 1)),
        ({"low": 1, "high": 4, "widths": [2]}, ("2-3",), (0, 0, 0, 0, 1 / 3, 1)),
        ({"low": 0, "high": 3, "widths": [2, 4]}, ("0-1", "2-3"), (0, 0, 0, 0, 1 / 3, 1 / 3, 1)),
        ({"values": ["9411", "9422"], "prefix": [2, 3]}, ("94**", "941*", "942*"), (0, 0, 1, 0, 0, 1)),
        ({"low": "2001-12-31", "high": "2002-01-01", "widths": ["month", "decade"]}, None, None),
    ],
)
def test_hierarchies_are_built_by_their_rule(section, groups, losses):
    tree = Hierarchy.from_axis(read_hierarchy(section, Path(), "field"))
    if groups is None:
        assert tree.names == ("2001-12-31", "2002-01-01", "2000s", "2001-12", "2002-01", "*")
    else:
        assert tree.names[tree.leaves : -1] == groups
        assert tree.loss.tolist() == pytest.approx(losses)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CS301;CS3;CS;*\nCS301;CS3;CS;*", "h.csv:2: the value of this line is listed twice; list it once"),
        ("a;x;y\nb;x;z", "h.csv:2: a group of this line is also within another group; rename one of them"),
        ("a;b\nb;*", "a group of a hierarchy has the name of a value"),
    ],
)
def test_a_hierarchy_that_is_no_tree_is_refused(tmp_path, text, message):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(DomainError, match=message):
        read_hierarchy({"file": "h.csv"}, tmp_path, "field 'x'")


def test_a_hierarchy_file_may_be_ragged_and_repeat_levels(tmp_path):
    (tmp_path / "h.csv").write_text("CS301,CS3,CS,*\nMA,MA,MA,*\n\nCS2,CS2,CS,*\n")
    axis = read_hierarchy({"file": "h.csv"}, tmp_path, "field 'x'")
    assert dict(zip(axis.values, axis.paths, strict=True)) == {"CS301": ("CS", "CS3"), "MA": (), "CS2": ("CS",)}


ROOT = '[types.s]\npath = ""\n[types.s.fields]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares no type of vertices; write a section"),
        ("wrong = 1", "has an unknown entry 'wrong'; it may have: namespace, record, types, unlisted"),
        ('unlisted = "keep"\n' + ROOT + 'a = "drop"', "unlisted must be 'error' or 'drop'; got 'keep'"),
        (ROOT + 'a = "?"', "field 'a' of 's' has no role yet; write 'drop', 'sensitive', or its hierarchy"),
        (ROOT + 'a = "quasi"', "field 'a' of 's' must be 'drop', 'sensitive', or a hierarchy"),
        (ROOT + "a = {}", "field 'a' of 's' needs one of file, values, or low and high"),
        (ROOT + "a = { list = [1] }", "field 'a' of 's' has an unknown entry 'list'; it needs one of file"),
        (ROOT + "a = { low = 1, high = 0 }", "low and high must be whole numbers, or dates"),
        (ROOT + "a = { low = 1, high = 9, widths = [2, 3] }", "each a multiple of the one before"),
        (ROOT + 'a = "sensitive"\nb = "sensitive"', "'a' is sensitive already; a type has one such field"),
        (ROOT + "a = { sensitive = true, buckets = [1, 0] }", "buckets must be a list of growing numbers"),
        (ROOT + 'a = "drop"', "type 's' needs an attribute"),
        ('[types.s]\npath = "x[]"\n[types.s.fields]\na = "sensitive"', "one type must be the root of records"),
        ('[types.s]\npath = ".x"', "path must be names joined by dots, with \\[\\] after a list"),
        ('[types.s]\npath = ""', "needs its fields: a section \\[types.s.fields\\] with one line per field"),
    ],
)
def test_a_schema_file_is_checked(tmp_path, text, message):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(DomainError, match=message):
        read_record_schema(tmp_path / "s.toml")


def test_missing_values_are_a_leaf_of_their_own_and_stay_missing(tmp_path):
    source = write_students(tmp_path, "jsonl")
    schema = tmp_path / "schema.toml"
    schema.write_text(schema.read_text().replace("numbers = true }", "numbers = true, missing = true }"))
    source.write_text(source.read_text().replace('"yob":1993,', "").replace('"B"', "null").replace('"C+"', '""'))
    assert (
        run("publish a.jsonl --kind records --schema schema.toml --method clustree --k 2 --out R", tmp_path).code == 0
    )
    published = (tmp_path / "R" / "data.jsonl").read_text()
    assert published.count('"yob":"*"') == 2
    assert published.count('"courses":[{"course":"CS301"}]') == 2
    source.write_text(source.read_text().replace("1994", '"(missing)"'))  # the name of that leaf is no value
    ran = run("describe a.jsonl --kind records --schema schema.toml", tmp_path)
    assert (ran.code, "a.jsonl:2: field 'yob' of 'student' has a value outside its hierarchy" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["jsonl", "json", "xml", "csv"])
def test_a_draft_has_all_fields_and_is_refused_until_edited(tmp_path, name):
    source = write_students(tmp_path, name)
    record = " --record students.student" if name == "xml" else ""
    ran = run(f"schema {source.name} --out d.toml{record}", tmp_path)
    assert ran.code == 0, ran
    draft = (tmp_path / "d.toml").read_text()
    assert draft.count('= "?"') == {"jsonl": 6, "json": 6, "csv": 4, "xml": 6}[name]
    assert "has no role yet" in run(f"describe {source.name} --kind records --schema d.toml", tmp_path).err
    assert "exists already" in run(f"schema {source.name} --out d.toml{record}", tmp_path).err


def test_an_edited_draft_reads_the_data(tmp_path):
    source = write_students(tmp_path, "jsonl")
    run("schema a.jsonl --out d.toml", tmp_path)
    roles = dict(
        line.split(" = ", 1) for line in FILES["jsonl"][0].splitlines() if " = " in line and "path" not in line
    )
    draft = (tmp_path / "d.toml").read_text()
    for field, role in roles.items():
        draft = draft.replace(f'"{field}" = "?"', f'"{field}" = {role}')
    (tmp_path / "d.toml").write_text(draft)
    assert run("describe a.jsonl --kind records --schema d.toml", tmp_path).code == 0, source


@pytest.mark.parametrize("promise", [LDiversity(l=2), KAnonymity(k=2)])
def test_the_method_conforms(promise):
    check_publisher(find_method("clustree")(), promise)


@pytest.mark.filterwarnings("always:at most")
def test_what_is_not_published_is_said_to_the_owner_only(tmp_path):
    """Before the run if nobody could publish it, else after it; in no file of the release."""
    schema = '[types.p]\npath = ""\n[types.p.fields]\na = { values = [1, 2, 3, 4] }\ns = "sensitive"\n'
    (tmp_path / "s.toml").write_text(schema)
    line = "publish d.jsonl --kind records --schema s.toml --method clustree --l 2 --out {} --set block=2"
    one, two, three, four = (f'{{"a": {label}, "s": "{2 - label % 2}"}}\n' for label in (1, 2, 3, 4))
    (tmp_path / "d.jsonl").write_text(one * 3)
    ran = run(line.format("A"), tmp_path)
    assert (ran.code, (tmp_path / "A").exists()) == (3, False)
    assert ran.err.startswith("hedgerow: no record can be published with l = 2: too few values or groups of values")
    # a block has records of one label, and what is left over meets the same value again
    (tmp_path / "d.jsonl").write_text(one * 2 + two * 2 + three * 2 + four * 2)
    ran = run(line.format("B"), tmp_path)
    assert (ran.code, (tmp_path / "B").exists()) == (3, False)
    assert "What would help: a weaker promise" in ran.err
    ran = run(line.format("B") + " --even-if-useless", tmp_path)
    assert (ran.code, "The release is empty" in ran.out) == (0, True)
    assert "For the owner only: records suppressed: 8." in ran.out
    (tmp_path / "d.jsonl").write_text(one * 2 + two)
    ran = run(line.replace("block=2", "block=9").format("C"), tmp_path)
    assert ran.err.startswith("hedgerow: warning: at most 2 of 3 records can be published with l = 2, since a value")
    assert "For the owner only: records suppressed: 1." in ran.out
    assert not any(b"suppressed: " in path.read_bytes() for path in (tmp_path / "C").iterdir())
