"""Lists whose elements are of several types, fields within lists, lookups, and drafts of such files."""

from __future__ import annotations

import gzip
import json
import zipfile

import pytest
from terminal import run

from hedgerow.errors import DomainError, ReadError
from hedgerow.kinds.records.layout import split_place
from hedgerow.kinds.records.schema_draft import draft_record_schema
from hedgerow.reading import read
from hedgerow.releases.writer import read_release

BUNDLES = """
[types.patient]
path = ""
[types.patient.fields]
type = "drop"
"entry[resource.kind=Patient].resource.born" = { name = "born", low = 1900, high = 1999, widths = [10], first = 4 }
"entry[resource.kind=Patient].resource.home[].zip" = { name = "zip", values = ["02"], first = 2 }
"entry[resource.kind=Patient].resource.more[url=http://a.b/race].value" = { name = "race", values = ["x", "y"] }
"entry[resource.kind=Patient].resource.more[]" = "drop"
"entry[resource.kind=Patient].meta" = "drop"
"entry[resource.kind=Photo]" = "drop"
[types.visit]
path = "entry[resource.kind=Visit]"
[types.visit.fields]
"resource.where" = { values = ["A", "B"] }
[types.illness]
path = "entry[resource.kind=Illness]"
[types.illness.fields]
"resource.code.text" = { name = "what", sensitive = true }
"""


def patient(born="1993-05-06", race="x", **more):
    facts = [{"url": "http://a.b/race", "value": race}, {"url": "other", "value": [1]}, {"url": "another"}]
    return {
        "resource": {"kind": "Patient", "born": born, "home": [{"zip": "02139"}], "more": facts, **more},
        "meta": {"x": [1]},
    }


def bundle(*entries):
    return {"type": "b", "entry": list(entries)}


def visit(where="A"):
    return {"resource": {"kind": "Visit", "where": where}}


def illness(text):
    return {"resource": {"kind": "Illness", "code": {"text": text}}}


def read_bundles(folder, *bundles, schema=BUNDLES):
    (folder / "schema.toml").write_text(schema)
    return read(list(bundles), kind="records", options={"schema": str(folder / "schema.toml")})


@pytest.mark.parametrize(
    ("place", "steps"),
    [
        ("a.b", ["a", "b"]),
        ("a..b", ["a", "", "b"]),
        ("{urn:a.b}c.@d", ["{urn:a.b}c", "@d"]),
        ("e[x.y=http://a.b/c].f[].g", ["e", "f", "g"]),
        ("odd]key.b", ["odd]key", "b"]),
    ],
)
def test_places_are_split_at_dots_but_not_within_brackets(place, steps):
    split = split_place(place)
    assert [step.name for step in split] == steps
    assert ".".join(map(str, split)) == place


def test_a_place_of_any_length_is_split_at_once():
    assert len(split_place("." * 200_000)) == 200_001


def test_elements_of_one_list_are_vertices_of_their_types(tmp_path):
    data = read_bundles(
        tmp_path,
        bundle(illness("flu"), patient(), visit(), illness("gout"), visit("B"), {"resource": {"kind": "Photo"}}),
    )
    below = [("visit", ["A"], None, []), ("visit", ["B"], None, [])]
    below += [("illness", [], "flu", []), ("illness", [], "gout", [])]
    assert data.trees() == [("patient", ["1993", "02", "x"], None, below)]


def test_bundles_are_published_as_bundles_and_read_again(tmp_path):
    lines = [bundle(patient("1993"), visit(), illness("flu")), bundle(illness("gout"), visit(), patient("1991-01-01"))]
    (tmp_path / "a.ndjson.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    (tmp_path / "schema.toml").write_text(BUNDLES)
    publish = "publish a.ndjson.gz --kind records --schema schema.toml --method clustree --l 2 --out R"
    assert run(publish, tmp_path).code == 0
    assert run("verify R --l 2", tmp_path).code == 0
    published = gzip.decompress((tmp_path / "R/data.ndjson.gz").read_bytes()).decode().splitlines()
    person = {"kind": "Patient", "born": "1990-1999", "home": [{"zip": "02"}]}
    person["more"] = [{"url": "http://a.b/race", "value": "x"}]
    expected = [bundle({"resource": person}, visit(), illness(what)) for what in ("flu", "gout")]
    assert [json.loads(line) for line in published] == [{"entry": each["entry"]} for each in expected]
    assert [tree[1] for tree in read_release(tmp_path / "R").data.trees()] == [["1990-1999", "02", "x"]] * 2
    described = run("describe a.ndjson.gz --kind records --schema schema.toml --json", tmp_path)
    assert json.loads(described.out)["share of the most frequent illness.what"] == 0.5
    evaluated = run("evaluate R --against a.ndjson.gz --schema schema.toml --scores s.json", tmp_path)
    assert "loss of labels (LM) of patient.born" in evaluated.out


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([patient(), patient()], "field 'entry' has two elements where the schema declares one"),
        ([patient(), {"resource": {"kind": "Organ"}}], "field 'entry' is not in the schema"),
        ([patient(), 7], "field 'entry' is not in the schema"),
        ([patient(home=[{"zip": "02"}, {"zip": "02"}])], r"field '.*home' has two elements"),
        ([patient(home={"zip": "02"})], r"field '.*home' must be a list"),
        ([patient("2093")], "field 'born' of 'patient' has a value outside its hierarchy"),
        ([patient(name="Eve")], r"field 'entry.resource.name' is not in the schema"),
    ],
)
def test_what_is_not_declared_is_refused(tmp_path, entries, message):
    with pytest.raises(ReadError, match=message):
        read_bundles(tmp_path, bundle(*entries))


def test_other_elements_may_be_dropped_in_one_line(tmp_path):
    schema = BUNDLES.replace('"entry[resource.kind=Photo]"', '"entry[]"')
    data = read_bundles(tmp_path, bundle(patient(), {"resource": {"kind": "Organ"}}, 7, illness("flu")), schema=schema)
    assert data.trees()[0][3] == [("illness", [], "flu", [])]


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        (
            '"entry[resource.kind=Photo]" = "drop"',
            '"entry[].x" = "drop"',
            ReadError,
            r"fields of 'entry\[\]', and of some",
        ),
        ('"entry[resource.kind=Photo]" = "drop"', 'entry = "drop"', ReadError, "declares 'entry.*' twice"),
        (
            'path = "entry[resource.kind=Visit]"',
            'path = "entry[=Visit]"',
            DomainError,
            "path must be names joined by dots",
        ),
        ("first = 4", "first = 0", DomainError, "first must be the number of characters that are read"),
        ('name = "zip"', 'name = "born"', DomainError, "name must be a text that no other field of the type has"),
        ('name = "zip"', "name = 3", DomainError, "name must be a text that no other field of the type has"),
    ],
)
def test_a_schema_that_means_two_things_is_refused(tmp_path, old, new, error, message):
    with pytest.raises(error, match=message):
        read_bundles(tmp_path, bundle(patient()), schema=BUNDLES.replace(old, new))


def test_elements_of_xml_are_told_apart_by_an_attribute(tmp_path):
    (tmp_path / "schema.toml").write_text(
        'record = "people.person"\n[types.person]\npath = ""\n[types.person.fields]\n'
        '"contact[@kind=home].city" = { name = "city", values = ["Bonn", "Rome"] }\n"contact[]" = "drop"\n'
        '[types.job]\npath = "job[@now=yes]"\n[types.job.fields]\n"#value" = "sensitive"\n'
        '"@now" = "drop"\n'
    )
    person = (
        '<person><contact kind="home"><city>{}</city></contact><contact kind="work"/><job now="yes">{}</job></person>'
    )
    rows = person.format("Bonn", "cook") + person.format("Bonn", "smith")
    (tmp_path / "a.xml").write_text(f"<people>{rows}</people>")
    assert run("publish a.xml --kind records --schema schema.toml --method clustree --l 2 --out R", tmp_path).code == 0
    kept = person.replace('<contact kind="work"/>', "")
    assert (tmp_path / "R/data.xml").read_text().splitlines()[2:4] == [
        kept.format("Bonn", job) for job in ("cook", "smith")
    ]


# ---- tables

TABLES = """
[types.student]
table = "a.csv"
key = "who"
rows = "first"
[types.student.fields]
town = { values = ["Bonn", "Rome"] }
course = "drop"
result = "drop"
[types.registration]
parent = "student"
table = "a.csv"
key = ["who", "course"]
parent_key = "who"
[types.registration.fields]
town = "drop"
result = "sensitive"
[types.score]
parent = "registration"
table = "scores.csv.gz"
parent_key = ["who", "course"]
lookup = { table = "tests.csv", key = "test" }
[types.score.fields]
test = "drop"
form = { values = ["oral", "written"] }
score = "sensitive"
"""
ROWS = {
    "a.csv": "who,town,course,result\n1,Bonn,X,pass\n2,Bonn,X,fail\n1,Rome,Y,pass\n2,Bonn,Y,good\n",
    "tests.csv": "test,course,form\nt1,X,oral\nt2,Y,written\n",
    "scores.csv.gz": "who,test,score\n1,t1,7\n2,t1,8\n1,t2,9\n2,t2,6\n",
}


def write_tables(folder, schema=TABLES, **changed):
    (folder / "schema.toml").write_text(schema)
    for name, text in {**ROWS, **changed}.items():
        content = text.encode()
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return read(folder / "a.csv", kind="records", options={"schema": str(folder / "schema.toml")})


def test_a_table_may_have_two_types_and_be_joined_by_a_third_table(tmp_path):
    one, two = write_tables(tmp_path).trees()
    score = ("score", ["oral"], "7", [])
    assert one == (
        "student",
        ["Bonn"],
        None,
        [("registration", [], "pass", [score]), ("registration", [], "pass", [("score", ["written"], "9", [])])],
    )
    assert [each[2] for each in two[3]] == ["fail", "good"]
    assert run("publish a.csv --kind records --schema schema.toml --method clustree --l 2 --out R", tmp_path).code == 0
    with zipfile.ZipFile(tmp_path / "R/data.zip") as archive:
        assert sorted(archive.namelist()) == ["registration.csv", "scores.csv", "student.csv"]
    assert read_release(tmp_path / "R").data.trees()[0][0] == "student"
    assert run("verify R --l 2", tmp_path).code == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tests.csv": "test,course,form\nt1,X,oral\nt1,Y,oral\n"}, "one row per key; tests.csv has a key twice"),
        ({"tests.csv": "test,course,form,score\nt1,X,oral,1\n"}, "column 'score' is also in tests.csv"),
        ({"tests.csv": "other,course,form\nt1,X,oral\n"}, "a lookup needs the columns test here and in tests.csv"),
        ({"tests.csv": "test,course,form,more\nt1,X,oral,1\nt2,Y,oral,1\n"}, "column 'more' is not in the schema"),
        ({"tests.csv": "test,course,form\nt1,X,oral\n"}, ":4: the row belongs to no row of 'registration'"),
        ({"a.csv": ROWS["a.csv"] + ",Rome,X,pass\n"}, "two rows of 'student' have the same key, or one has none"),
    ],
)
def test_tables_that_cannot_be_looked_up_are_refused(tmp_path, changed, message):
    with pytest.raises(ReadError, match=message):
        write_tables(tmp_path, **changed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{ table = "tests.csv", key = "test" }', '"tests.csv"', "lookup must be"),
        ('rows = "first"', 'rows = "last"', "rows must be 'all', or with a key 'first'"),
        ('key = "who"\nrows', "rows", "rows must be 'all', or with a key 'first'"),
    ],
)
def test_rules_of_tables_are_checked(tmp_path, old, new, message):
    with pytest.raises(DomainError, match=message):
        write_tables(tmp_path, TABLES.replace(old, new))


# ---- drafts


def test_a_draft_splits_a_list_by_type_and_flattens_single_elements(tmp_path):
    lines = [bundle(patient(), visit(), visit("B")), bundle(patient(), illness("flu"))]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run("schema a.jsonl --out s.toml --flat --split entry=resource.kind", tmp_path).code == 0
    text = (tmp_path / "s.toml").read_text()
    assert '[types.Visit]\npath = "entry[resource.kind=Visit]"' in text
    assert '"entry[resource.kind=Patient].resource.home[].zip" = "?"  # text' in text
    assert '"entry[resource.kind=Illness].resource.code.text" = "?"  # text, sometimes missing' in text
    assert "resource.kind]" not in text
    assert 'resource.kind" = ' not in text
    plain = draft_record_schema(tmp_path / "a.jsonl").text
    assert 'path = "entry[]"' in plain
    assert '"resource.kind" = "?"' in plain


def test_a_draft_cannot_split_by_what_is_not_there(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(bundle(patient(), {"resource": 1})))
    done = run("schema a.jsonl --out s.toml --split entry=resource.kind", tmp_path)
    assert done.code == 2
    assert "an element of 'entry' has no plain text at 'resource.kind'" in done.err
    assert run("schema a.jsonl --out s.toml --split entry", tmp_path).code == 2
