"""What a receiver is told of the origin of a domain: declared, asserted public, or in part taken from the data."""

from __future__ import annotations

import json
import re

import pytest
from record_files import write_students
from terminal import run


def test_an_asserted_domain_is_not_called_one_that_does_not_come_from_the_data(tmp_path):
    (tmp_path / "a.dat").write_text("tea\n" * 60 + "milk\n" * 50)
    publish = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --assert-public-domain --out R"
    assert run(publish, tmp_path).code == 0
    told = run("verify R", tmp_path)
    assert told.code == 0
    assert "yes  the domain comes from the data, and the publisher asserts that it is public knowledge\n" in told.out
    assert "does not come from the data" not in told.out


@pytest.mark.parametrize(
    ("more", "those"),
    [
        ("", "those of student.gpa, course.grade were taken from the data;"),
        ("--assert-public-domain", "taken from the data, and the publisher asserts that they are public knowledge;"),
    ],
)
def test_a_statement_of_nested_records_says_that_labels_were_declared(tmp_path, more, those):
    """Hierarchies of quasi-identifiers are in the schema file; only sensitive values may come from the data."""
    write_students(tmp_path, "jsonl")
    publish = "publish a.jsonl --kind records --schema schema.toml --method clustree --l 2 --out R"
    assert run(f"{publish} {more}", tmp_path).code == 0
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert those in statement
    assert "those of all other fields were declared from public knowledge." in statement
    assert "it was taken from the data" not in statement
    assert run("verify R", tmp_path).code == 0


def test_a_schema_that_declares_every_value_declares_the_domain(tmp_path):
    write_students(tmp_path, "jsonl")
    schema = (tmp_path / "schema.toml").read_text()
    schema = re.sub(r"gpa = .*", 'gpa = "drop"', schema)
    values = json.dumps(["B", "C+"])
    schema = schema.replace('grade = "sensitive"', f"grade = {{ sensitive = true, values = {values} }}")
    (tmp_path / "schema.toml").write_text(schema)
    run("publish a.jsonl --kind records --schema schema.toml --method clustree --l 2 --out R", tmp_path)
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    assert "and their order: it was declared from public knowledge." in statement
