"""Rules and anatomised releases on the command line: what is refused, by one line each, and what a receiver sees."""

from __future__ import annotations

import hashlib
import json

import pytest
from terminal import run

SCHEMA = """
[types.patient]
path = ""
[types.patient.fields]
born = { low = 1990, high = 1999, widths = [5] }

[types.visit]
path = "visits[]"
[types.visit.fields]
year = { low = 2001, high = 2009, widths = [3] }
illness = { sensitive = true, values = ["AIDS", "Cold", "Flu", "Gout"] }
"""
RULES = """
[[rule]]
attribute = "visit.illness"
value = "AIDS"
m = 2
p = "1/2"
"""
ILLNESSES = ("AIDS", "Cold", "Flu", "Gout")
PUBLISH = "publish in.jsonl --kind records --schema schema.toml --method anatomy-matching"


@pytest.fixture
def folder(tmp_path):
    """Patients, a schema, and rules."""
    patients = [
        {
            "born": 1990 + n % 10,
            "visits": [{"year": 2001 + v, "illness": ILLNESSES[(n + v * (1 + n // 4)) % 4]} for v in range(1 + n % 3)],
        }
        for n in range(12)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(patient) + "\n" for patient in patients))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "rules.toml").write_text(RULES)
    return tmp_path


def test_a_release_is_verified_with_its_rules_and_without_them(folder):
    ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R", folder)
    assert (ran.code, ran.err) == (0, "")
    assert "visit.illness = AIDS: 2 or more, at most 1/2" in ran.out
    statement = (folder / "R" / "STATEMENT.md").read_text()
    assert "There is no k-anonymity" in statement
    assert "does not belong together: only groups and positions do" in statement
    assert "rules.toml" not in statement + (folder / "R" / "release.json").read_text()
    (folder / "elsewhere.toml").write_text(RULES.replace('"1/2"', '"50%"'))
    assert run("verify R", folder).code == 0
    assert run("verify R --l 2 --rules elsewhere.toml", folder).code == 0
    (folder / "others.toml").write_text(RULES.replace('"1/2"', '"1/3"'))
    ran = run("verify R --l 2 --rules others.toml", folder)
    assert (ran.code, "NO   the promise is the one asked for" in ran.out) == (3, True)


def test_a_dry_run_says_what_would_be_promised(folder):
    for form, words in (("vertices", "vertex by vertex"), ("trees", "tree by tree")):
        ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R --dry-run --set form={form}", folder)
        assert (ran.code, words in ran.out, "AIDS: 2 or more, at most 1/2" in ran.out) == (0, True, True)
    assert not (folder / "R").exists()


def test_a_recipe_names_its_rules_from_its_own_folder(folder):
    (folder / "recipes").mkdir()
    ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R --save-recipe recipes/a.toml", folder)
    assert ran.code == 0
    text = (folder / "recipes" / "a.toml").read_text()
    assert 'rules = "../rules.toml"' in text
    assert run("publish --recipe recipes/a.toml --out S", folder).code == 0
    assert run("publish --recipe a.toml --out T", folder / "recipes").code == 0
    assert "visit.illness = AIDS" in (folder / "recipes" / "T" / "STATEMENT.md").read_text()


def test_rules_inside_the_release_are_refused(folder):
    (folder / "R").mkdir()
    (folder / "R" / "rules.toml").write_text(RULES)
    ran = run(f"{PUBLISH} --l 2 --rules R/rules.toml --out R --overwrite", folder)
    assert ran.code != 0
    assert ran.err.count("\n") == 1
    assert [path.name for path in (folder / "R").iterdir()] == ["rules.toml"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (RULES.replace("AIDS", "Aids"), "rule 1 of rules.toml names 'Aids', which is not a value or a bucket of"),
        (RULES.replace("visit.illness", "visit.year"), "rule 1 of rules.toml names 'visit.year', which is not a sens"),
        (RULES + RULES.replace("m = 2", "m = 0"), "rule 2 of rules.toml: m must be a whole number of at least 1; got"),
        (RULES.replace('"1/2"', "1.5"), "rule 1 of rules.toml: p must be above 0 and at most 1"),
        (RULES.replace('value = "AIDS"', 'bucket = "Infections"'), "rule 1 of rules.toml names 'Infections'"),
        ("rules = 1", "rules.toml must have one section [[rule]] or more, and nothing else"),
        ("[[rule", "rules.toml is not a TOML file"),
    ],
)
def test_bad_rules_are_refused_before_anything_is_read(folder, rules, message):
    (folder / "rules.toml").write_text(rules)
    (folder / "in.jsonl").write_text("this is never read")
    ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R", folder)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
    assert not (folder / "R").exists()


def test_a_value_that_is_not_declared_is_refused_after_reading(folder):
    (folder / "schema.toml").write_text(SCHEMA.replace(', values = ["AIDS", "Cold", "Flu", "Gout"]', ""))
    (folder / "rules.toml").write_text(RULES.replace("AIDS", "Aids"))
    ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R", folder)
    assert (ran.code, ran.err.count("\n"), (folder / "R").exists()) == (2, 1, False)
    assert (
        "names 'Aids', which is no value that occurs of 'visit.illness'; correct it, or declare the values" in ran.err
    )


def refused(folder, options, code):
    """One line, and nothing is written."""
    ran = run(f"{PUBLISH} {options} --out R", folder)
    assert (ran.code, ran.out, ran.err.count("\n"), (folder / "R").exists()) == (code, "", 1, False), ran
    return ran.err


def test_what_no_group_can_reach_is_refused(folder):
    assert "there is no file missing.toml" in refused(folder, "--l 2 --rules missing.toml", 2)
    assert "'visit.illness' has 4 values or buckets that differ, fewer than l = 13, so" in refused(folder, "--l 13", 2)
    (folder / "in.jsonl").write_text((folder / "in.jsonl").read_text().split("\n")[0] + "\n")
    assert "2 records, and there are 1" in refused(folder, "--l 2", 3)
    assert "l must be at least 2, since 1 promises nothing" in refused(folder, "--l 1", 2)
    assert "PM (with LDiversity): --rules; got --rules" in refused(folder, "--rules rules.toml", 3)


def test_a_root_with_too_few_values_is_refused_before_reading(folder):
    (folder / "in.jsonl").write_text("this is never read")
    root = 'born = { low = 1990, high = 1999, widths = [5] }\nsex = { sensitive = true, values = ["f", "m"] }'
    (folder / "schema.toml").write_text(SCHEMA.replace("born = { low = 1990, high = 1999, widths = [5] }", root))
    message = "'patient.sex' has 2 values or buckets that differ, fewer than l = 3, so no record can be published"
    assert message in refused(folder, "--l 3", 2)


def test_a_schema_without_sensitive_values_is_refused_before_reading(folder):
    (folder / "in.jsonl").write_text("this is never read")
    sensitive = 'illness = { sensitive = true, values = ["AIDS", "Cold", "Flu", "Gout"] }'
    (folder / "schema.toml").write_text(SCHEMA.replace(sensitive, 'illness = "drop"'))
    assert "the schema has no sensitive field, and l-diversity is about them" in refused(folder, "--l 2", 2)


@pytest.mark.filterwarnings("default")
def test_rules_that_do_nothing_or_leave_nothing_are_said_once(folder):
    (folder / "rules.toml").write_text(RULES.replace('p = "1/2"', "p = 0.49") + RULES.replace('p = "1/2"', "p = 1"))
    ran = run(f"{PUBLISH} --l 2 --rules rules.toml --out R", folder)
    assert ran.code == 0
    first, second = ran.err.splitlines()
    assert first.startswith(
        "hedgerow: warning: rule 1 of rules.toml: p = 49/100 is less than 1/l = 1/2, so published tree by tree"
    )
    assert second == "hedgerow: warning: rule 2 of rules.toml does nothing: p = 1 allows everything"


def exchanged(folder, part, *, hashes):
    """A release with a part of another one, whose hash may be that of the new file."""
    for name, form in (("R", "trees"), ("S", "trees")):
        options = f"--l 2 --rules rules.toml --set form={form} --set relinking=declared"
        data = (folder / "in.jsonl").read_text().splitlines()
        (folder / "in.jsonl").write_text("\n".join(data[:-2]) + "\n")  # another release is of other people
        assert run(f"{PUBLISH} {options} --out {name}", folder).code == 0
    file = folder / "R" / f"data.{part}.jsonl"
    old = hashlib.sha256(file.read_bytes()).hexdigest()
    content = (folder / "S" / file.name).read_bytes()
    file.write_bytes(content)
    if hashes:
        manifest = folder / "R" / "release.json"
        manifest.write_text(manifest.read_text().replace(old, hashlib.sha256(content).hexdigest()))
    return run("verify R", folder)


@pytest.mark.parametrize("part", ["quasi", "sensitive"])
def test_an_exchanged_file_is_noticed(folder, part):
    ran = exchanged(folder, part, hashes=False)
    assert ran.code == 3
    assert f"data.{part}.jsonl is not the file that was published (its SHA-256 differs)" in ran.out


@pytest.mark.parametrize("part", ["quasi", "sensitive"])
def test_an_exchanged_file_is_noticed_by_what_it_contains(folder, part):
    """Whoever exchanges it may change its hash, too."""
    ran = exchanged(folder, part, hashes=True)
    assert ran.code == 3
    assert "NO   All: LDiversity: checked on the published data; PM: checked on the published data" in ran.out
