"""hedgerow query: anatomised folders in each format, answered as the release in memory; and what is refused."""

from __future__ import annotations

import json

import pytest
from terminal import run

from hedgerow import query, read, read_release

#: the sensitive values are declared, or those that are published
SCHEMAS = {
    "declared": '{ sensitive = true, values = ["AIDS", "Cold", "Flu", "Gout"] }',
    "published": '"sensitive"',
}
ILLNESSES = ("AIDS", "Cold", "Flu", "Gout")
PUBLISH = "publish in.jsonl --kind records --schema schema.toml --method anatomy-matching --l 2"
CONDITIONS = (
    ["visit.illness = Flu"],
    ["visit.illness in (AIDS, Cold)", "patient.born in [1990, 1995)"],
    ["visit.illness = Flu", "visit#2.illness = Gout"],
    ["patient.born = 1990-1994"],
)


def folder_of(tmp_path, schema):
    patients = [
        {
            "born": 1990 + n % 10,
            "visits": [{"year": 2001 + v, "illness": ILLNESSES[(n + v * (1 + n // 4)) % 4]} for v in range(1 + n % 3)],
        }
        for n in range(24)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(patient) + "\n" for patient in patients))
    (tmp_path / "schema.toml").write_text(
        '[types.patient]\npath = ""\n[types.patient.fields]\nborn = { low = 1990, high = 1999, widths = [5] }\n'
        '[types.visit]\npath = "visits[]"\n[types.visit.fields]\n'
        f"year = {{ low = 2001, high = 2009, widths = [3] }}\nillness = {schema}\n"
    )
    return tmp_path


@pytest.mark.parametrize("form", ["vertices", "trees"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_folder_is_answered_as_the_release_in_memory(form, schema, tmp_path):
    folder = folder_of(tmp_path, SCHEMAS[schema])
    published = run(f"{PUBLISH} --set form={form} --set relinking=declared --out R", folder)
    assert published.code == 0, published.err
    release = read_release(folder / "R")
    data = read(folder / "in.jsonl", kind="records", options={"schema": str(folder / "schema.toml")})
    for where in CONDITIONS:
        line = ["query", "R", *(word for text in where for word in ("--where", text)), "--count", "visit", "--json"]
        ran = run(line, folder)
        assert (ran.code, ran.err) == (0, ""), where
        document = json.loads(ran.out)
        answer = release.query(where, count="visit", seed=1)
        assert document["estimate"] == pytest.approx(answer.estimate)
        assert document["counted"] == "visit"
        assert answer.low <= answer.estimate <= answer.high
        kept = sum(len(table) for table in release.outputs["quasi"].tables) / sum(map(len, data.tables))
        truth = query(data, where, count="visit").estimate
        assert kept * truth - 6 <= answer.estimate <= truth + 6, where
    assert release.query(count="visit").estimate == len(release.outputs["quasi"].tables[1])


def test_what_was_added_cannot_be_asked_for(tmp_path):
    folder = folder_of(tmp_path, SCHEMAS["declared"])
    assert run(f"{PUBLISH} --out R", folder).code == 0
    for where, message in {
        "patient.group = 1": "type 'patient' has no field 'group'; it has: born",
        "visit.illness = Plague": "visit.illness has no value 'Plague'; it has: AIDS, Cold, Flu, Gout",
        "doctor.name = Who": "there is no type 'doctor'; there are: patient, visit",
    }.items():
        ran = run(["query", "R", "--where", where], folder)
        assert (ran.code, ran.out, ran.err) == (2, "", f"hedgerow: {message}\n")


def test_the_words_of_an_interval_stand_beside_it(tmp_path):
    folder = folder_of(tmp_path, SCHEMAS["declared"])
    assert run(f"{PUBLISH} --out R", folder).code == 0
    ran = run(["query", "R", "--where", "visit.illness = Flu", "--where", "visit.year = 2001"], folder)
    assert ran.code == 0
    assert "[" in ran.out.splitlines()[0]
    for words in (
        "all links that are equally likely",
        "nothing about suppressed vertices",
        "nothing against outside knowledge",
        "depend on each other",
    ):
        assert words in ran.out
    certain = run(["query", "R", "--where", "visit.year = 2001"], folder).out
    assert "equally likely" not in certain
    assert "suppressed" in certain
