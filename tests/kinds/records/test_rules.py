"""Rules: how they are given, what is refused, what is said before reading, and what they allow in whole numbers."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from anatomy_attackers import DOMAIN, SCHEMA, patient, records, release, visit
from hypothesis import given
from hypothesis import strategies as st
from project import ROOT

from hedgerow import PM, All, LDiversity, find_method
from hedgerow.data import Axis, Source
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.kinds.records.anatomy_audit import classes_of
from hedgerow.kinds.records.files import CODEC
from hedgerow.kinds.records.rules import Rule, most_heavy, most_positions
from hedgerow.kinds.records.rules_file import read_rules
from hedgerow.kinds.records.schema import VertexType
from hedgerow.privacy.parsing import build, from_options, from_plain
from hedgerow.promises import PROMISES, interpret_options
from hedgerow.settings import read_files

RULE = {"attribute": "visit.illness", "value": "AIDS", "m": 1, "p": "1/2"}
FILE = """
[[rule]]
attribute = "visit.illness"
value = "AIDS"
m = 2
p = "1/3"

[[rule]]
attribute = "visit.illness"
values = ["AIDS", "Flu"]
m = 1
p = 0.5

[[rule]]
attribute = "patient.grade"
bucket = "[2, 4)"
m = 1
p = "50%"

[[rule]]
attribute = "patient.grade"
all = true
m = 1
p = 1
"""


def write(folder, text=FILE):
    """A file of rules."""
    path = folder / "rules.toml"
    path.write_text(text)
    return path


# ---- how rules are given


def test_a_file_has_all_forms_of_rules(tmp_path):
    rules = PM.from_file(write(tmp_path)).rules
    assert [(rule.attribute, rule.values, rule.m, rule.p) for rule in rules] == [
        ("visit.illness", ("AIDS",), 2, Fraction(1, 3)),
        ("visit.illness", ("AIDS", "Flu"), 1, Fraction(1, 2)),
        ("patient.grade", ("[2, 4)",), 1, Fraction(1, 2)),
        ("patient.grade", (), 1, Fraction(1)),
    ]
    assert rules[1].where == f"rule 2 of {tmp_path / 'rules.toml'}"


def test_rules_come_back_from_plain_data(tmp_path):
    promise = All(LDiversity(l=2), PM.from_file(write(tmp_path)))
    plain = json.loads(json.dumps(promise.to_plain()))
    assert from_plain(plain) == promise
    assert str(tmp_path) not in json.dumps(plain)
    assert eval(repr(promise)) == promise  # noqa: S307 - our own words
    assert plain["parts"][1]["rules"][3] == {"attribute": "patient.grade", "all": "true", "m": "1", "p": "1"}


def test_no_promise_opens_a_file(tmp_path, monkeypatch):
    """What a stranger wrote into `release.json` is no path; only what is typed is, and it is read before."""
    path = str(write(tmp_path))
    monkeypatch.setattr("hedgerow.formats.files.read_bytes", None)
    monkeypatch.setattr("hedgerow.formats.toml.read_bytes", None)
    for hostile in (path, [path], {"file": path}, [{"rules": path}]):
        for plain in ({"name": "PM", "rules": hostile}, {"name": "All", "parts": [{"name": "PM", "rules": hostile}]}):
            with pytest.raises(ParameterError, match="rule"):
                from_plain(plain)
    with pytest.raises(ParameterError, match="rules must be a list of rules, at least one"):
        build(["PM"], {"rules": path})
    monkeypatch.undo()
    typed = read_files({"rules": path, "l": "2"})
    assert from_options(typed, kind="records") == All(LDiversity(l=2), PM.from_file(path))


def test_rules_are_promised_together_with_diversity():
    assert interpret_options({"l", "rules"}, list(PROMISES), kind="records") == [("LDiversity", "PM")]
    assert interpret_options({"rules"}, list(PROMISES), kind="records") == []
    for name in ("anatomy", "anatomy-matching"):
        with pytest.raises(UnsupportedGuarantee, match="PM is promised together with LDiversity; state both"):
            find_method(name)().publish(records([patient(1990, "1")]), PM(rules=[RULE]))


def without(*keys, **more):
    return {key: value for key, value in RULE.items() if key not in keys} | more


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (without("m"), "m must be a whole number of at least 1"),
        (without(m=0), "m must be a whole number of at least 1; got '0'"),
        (without(m=1.5), "m must be a whole number of at least 1; got '1.5'"),
        (without(m=True), "m must be a whole number"),
        (without(m=10**99), "m must be at most 10,000: nobody has that many vertices; got more than 18 digits"),
        (without("p"), "p must be a finite number"),
        (without(p="0"), 'p must be above 0 and at most 1, such as "1/3"; got 0'),
        (without(p="4/3"), "p must be above 0 and at most 1"),
        (without(p="-1/3"), "p must be above 0"),
        (without(p="nan"), "p must be a finite number; got nan"),
        (without(p="1/0"), "p must be a finite number"),
        (without("attribute"), "attribute must be a type and its sensitive field"),
        (without(attribute="illness"), "attribute must be a type and its sensitive field"),
        (without("value"), "needs one of value, values, bucket, all; got none of them"),
        (without(all=True), "needs one of value, values, bucket, all; got value and all"),
        (without("value", all=False), "all must be true, or be left out"),
        (without(value=["AIDS"]), "values must be a list, and a value or a bucket must be a text"),
        (without("value", values="AIDS"), "values must be a list"),
        (without("value", values=[]), "values must be texts, each once"),
        (without("value", values=["AIDS", "AIDS"]), "values must be texts, each once"),
        (without(value=2.5), 'write numbers as the data has them, in quotes: "2.5"'),
        (without(value=True), "value must be texts"),
        (without(value=""), "value must be texts"),
        (without(when="1990"), "has an unknown entry 'when'; it may have: all, attribute, bucket, m, p, value, values"),
        ("AIDS", "must be a table with attribute, value, m and p"),
    ],
)
def test_an_error_names_the_rule(table, message):
    with pytest.raises(ParameterError) as error:
        PM(rules=[RULE, table])
    assert str(error.value).startswith("rule 2")
    assert message in str(error.value)


@pytest.mark.parametrize("rules", [[], (), None, "rules.toml", {"rule": []}, [RULE] * 101])
def test_rules_are_a_list_of_some(rules):
    with pytest.raises(
        ParameterError, match=r"rules must be a list of rules|at most 100 rules can be promised; got 101"
    ):
        PM(rules=rules)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have one section [[rule]] or more, and nothing else"),
        ("[rule]\nm = 1", "must have one section [[rule]] or more"),
        (FILE + "[[rules]]\nm = 1", "must have one section [[rule]] or more"),
        ("[[rule]\n", "is not a TOML file (line 1)"),
        (FILE.replace("m = 2", "m = 0"), ": m must be a whole number of at least 1; got '0'"),
    ],
)
def test_an_error_names_the_file(tmp_path, text, message):
    with pytest.raises(ParameterError) as error:
        read_rules(write(tmp_path, text))
    assert "rules.toml" in str(error.value)
    assert message in str(error.value)


# ---- what is said before reading, and after


def foresee(l, *rules, data=None, schema=SCHEMA, read=False):  # noqa: E741 - the letter of the paper
    """What is warned about."""
    data = replace(records([]) if data is None else data, schema=schema)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        All(LDiversity(l=l), *([PM(rules=rules)] if rules else [])).foresee(data, read=read)
    return [str(each.message) for each in said]


def test_rules_that_are_as_they_should_be_are_not_talked_about():
    assert foresee(2, RULE, without(p="3/4", m=3), without("value", values=["Flu", "AIDS"])) == []
    assert foresee(3, without(p="1/3")) == []
    assert foresee(2, without("value", bucket="[2, 4)", attribute="patient.grade")) == []


@pytest.mark.parametrize(
    ("l", "table", "said"),
    [
        (2, without(p="1"), "rule 1 does nothing: p = 1 allows everything"),
        (
            2,
            without(attribute="patient.grade", value="1", m=2),
            "rule 1 does nothing: no record has 2 vertices with 'patient.grade', but 1 at most",
        ),
        (
            3,
            without(p="1/4"),
            "rule 1: p = 1/4 is less than 1/l = 1/3, so its values cannot be published in groups of l records",
        ),
        (
            3,
            without(p="0.33", m=2),
            (
                "rule 1: p = 33/100 is less than 1/l = 1/3, so published tree by tree, no record in a group of l records "
                'may have 2 of its values; if 1/3 is meant, write p = "1/3"'
            ),
        ),
        (
            3,
            without(p="0.666"),
            'rule 1: p = 333/500 is just below a multiple of 1/l = 1/3; if 2/3 is meant, write p = "2/3"',
        ),
    ],
)
def test_a_rule_that_does_nothing_or_leaves_nothing_is_said(l, table, said):  # noqa: E741 - the letter of the paper
    assert foresee(l, table) == [said]


def test_a_type_that_is_no_list_has_one_vertex_at_most():
    types = (SCHEMA.types[0], replace(SCHEMA.types[1], path="stay"), replace(SCHEMA.types[2], path="drugs[]"))
    [said] = foresee(2, without(m=2), schema=replace(SCHEMA, types=types))
    assert said == "rule 1 does nothing: no record has 2 vertices with 'visit.illness', but 1 at most"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            without(attribute="visit.disease"),
            "rule 1 names 'visit.disease', which is not a sensitive field; there are: pat",
        ),
        (without(attribute="visit.year"), "rule 1 names 'visit.year', which is not a sensitive field"),
        (without(value="Aids"), "rule 1 names 'Aids', which is not a value or a bucket of 'visit.illness'; correct it"),
        (without("value", bucket="Infections"), "rule 1 names 'Infections', which is not a value or a bucket"),
        (without("value", values=["AIDS", "Flue"]), "rule 1 names 'Flue'"),
    ],
)
def test_a_rule_about_what_there_is_not_is_refused(table, message):
    with pytest.raises(DomainError, match=re.escape(message)):
        foresee(2, table)


def test_values_that_are_not_declared_are_known_after_reading():
    before = records([])
    bare = replace(
        before, domain=replace(DOMAIN, axes=tuple(pair for pair in DOMAIN.axes if pair[0] != "visit.illness"))
    )
    assert foresee(2, without(value="Aids"), data=bare) == []
    after = records([patient(1990, "1", visit(2001, "AIDS"))])
    after = replace(after, domain=DOMAIN.with_source(Source.INFERRED)).narrowed()
    assert foresee(2, RULE, data=after, read=True) == []
    with pytest.raises(
        DomainError, match=r"names 'Flu', which is no value that occurs of 'visit.illness'; correct it, or"
    ):
        foresee(2, without(value="Flu"), data=after, read=True)


def test_of_numbers_in_buckets_the_buckets_are_known_before_reading(tmp_path):
    text = """
        [types.patient]
        path = ""
        [types.patient.fields]
        born = { low = 1990, high = 1999, widths = [5] }
        gpa = { sensitive = true, buckets = [0, 2, 3.5] }
    """
    (tmp_path / "schema.toml").write_text(text)
    data = CODEC.expect({"schema": str(tmp_path / "schema.toml")})
    promise = PM(rules=[{"attribute": "patient.gpa", "value": "3.1", "m": 1, "p": "1/2"}])
    All(LDiversity(l=2), promise).foresee(data)
    with pytest.raises(
        DomainError, match=r"'patient.gpa' has 2 values or buckets that differ, fewer than l = 3, so no rec"
    ):
        LDiversity(l=3).foresee(data)
    assert CODEC.expect({}) is None


def test_too_few_declared_values_are_said():
    with pytest.raises(
        DomainError, match=r"'patient.grade' has 3 values or buckets that differ, fewer than l = 4, so no"
    ):
        foresee(4)
    bare = VertexType("patient", None, ("born",))
    with pytest.raises(
        DomainError, match=r"'visit.illness' has 5 values or buckets that differ, fewer than l = 6, so no s"
    ):
        foresee(6, schema=replace(SCHEMA, types=(bare, *SCHEMA.types[1:])))
    drug = replace(SCHEMA.types[2], quasi=(), sensitive="name")
    [said] = foresee(3, schema=replace(SCHEMA, types=(*SCHEMA.types[:2], drug)))
    assert said == (
        "'drug.name' has 2 values or buckets that differ, fewer than l = 3: every drug with such a value will be left out"
    )
    with pytest.raises(
        DomainError, match="the schema has no sensitive field, and l-diversity is about them; declare one"
    ):
        foresee(2, schema=replace(SCHEMA, types=(bare,)))


# ---- what a rule allows


TABLE = {
    2: "0,1,3,5 | 0,2,3,5 | 0,2,4,5 | 1,3,5,7 | 2,4,6,9",
    3: "0,2,4,7 | 0,2,5,7 | 1,3,6,8 | 1,4,7,10 | 3,7,10,14",
    4: "0,3,6,9 | 1,3,7,10 | 1,4,8,11 | 2,6,10,14 | 4,9,14,19",
    5: "1,4,7,11 | 1,4,8,12 | 1,5,10,14 | 3,8,13,18 | 6,12,18,24",
}
SHARES = [Fraction(p) for p in ("1/5", "1/4", "1/3", "1/2", "3/4")]


@pytest.mark.parametrize("l", TABLE)
def test_the_caps_of_the_table(l):  # noqa: E741 - the letter of the paper
    found = " | ".join(",".join(str(most_positions(l, m, p)) for m in (1, 2, 3, 4)) for p in SHARES)
    assert found == TABLE[l]


def tail(draws, chance, least):
    """The chance of so many hits or more, by adding the chances of all lists of draws of one number."""
    chances = {0: Fraction(1)}
    for _ in range(draws):
        chances = {
            hits: chances.get(hits, 0) * (1 - chance) + chances.get(hits - 1, 0) * chance for hits in range(draws + 1)
        }
    return sum(value for hits, value in chances.items() if hits >= least)


@pytest.mark.parametrize("l", [2, 3, 7])
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("p", ["1/100", "0.33", "1/3", "9/10"])
def test_a_cap_is_the_largest_number_within_the_share(l, m, p):  # noqa: E741 - the letter of the paper
    most = most_positions(l, m, Fraction(p))
    assert tail(most, Fraction(1, l), m) <= Fraction(p) < tail(most + 1, Fraction(1, l), m)


def test_caps_of_the_text():
    assert most_positions(3, 2, Fraction("0.33")) == most_positions(3, 2, Fraction(1, 3)) == 3
    assert float(tail(10, Fraction(1, 3), 3)) == pytest.approx(0.7009, abs=1e-4)
    assert float(tail(11, Fraction(1, 3), 3)) == pytest.approx(0.7659, abs=1e-4)
    assert most_positions(2, 1, Fraction(1)) is None
    assert [most_heavy(3, Fraction(p)) for p in ("0.33", "1/3", "1/2", "2/3", "1")] == [0, 1, 1, 2, 3]


@given(draw=st.randoms(use_true_random=False))
def test_methods_and_the_auditor_count_the_same_values(draw):
    """They share no code for it."""
    texts = draw.sample(["1", "2", "3", "4", "5", "6"], draw.randrange(1, 7))
    axis = Axis(tuple(texts), tuple((draw.choice(("x", "y")),) if draw.random() < 0.7 else () for _ in texts))
    named = () if draw.random() < 0.3 else tuple(draw.sample([*texts, *(path[0] for path in axis.paths if path)], 1))
    rule = Rule("a.b", named, 1, Fraction(1, 2))
    classes = classes_of(rule, axis)
    counted = sorted(tuple(np.flatnonzero(each.counted)) for each in rule.ruled(axis))
    assert counted == sorted(tuple(np.flatnonzero(classes == number)) for number in range(classes.max() + 1))


def test_two_rules_on_one_value_both_hold():
    groups = [[patient(1990, "1", visit(2001, "AIDS")), patient(1991, "4", visit(2001, "Flu"))]]
    for form in ("trees", "vertices"):
        outputs = release(groups, form)
        for p, kept in (("1/2", True), ("1/3", False)):
            assert PM(rules=[RULE, without(p=p), without(m=2, p="1/9")]).verify(outputs).satisfied == kept


def test_equal_rules_are_equal_wherever_they_are_written():
    assert Rule.read(RULE, "rule 1") == Rule.read(RULE, "rule 7 of x.toml")
    assert len({PM(rules=[RULE]), PM(rules=[Rule("visit.illness", ("AIDS",), 1, Fraction(1, 2))])}) == 1


# ---- words


def test_the_words_are_those_of_what_is_published():
    outputs = release([[patient(1990, "1", visit(2001, "AIDS")), patient(1991, "2", visit(2001, "Flu"))]], "trees")
    promise = All(LDiversity(l=2), PM(rules=[RULE, without("value", values=["AIDS", "Flu"], m=2)]))
    assert "k-anonymity" not in promise.limits(DOMAIN)
    for form, worded in (("trees", promise.worded_for(outputs)), ("vertices", promise.worded_as("vertices"))):
        assert worded == promise
        sentence, limits = worded.sentence(), " ".join(worded.limits(DOMAIN))
        assert ("tree by tree" in sentence) == (form == "trees")
        assert "looks like" not in sentence
        assert "visit.illness = AIDS: 1 or more, at most 1/2; visit.illness in (AIDS, Flu): 2 or more" in sentence
        for hazard in (
            "That a person is in the data",
            "There is no k-anonymity",
            "some links are likelier than others",
            "somewhere",
            "put together what they know",
            "does not have a value",
            "What is missing",
            "Another release",
            "of the one or of the other",
            "no rule names",
        ):
            assert hazard in limits
        assert ("may tell their tree of values" in limits) == (form == "trees")
        assert ("depend on each other, at different positions" in limits) == (form == "vertices")
    assert "shape and the labels of at least 1 other" in promise.sentence()


@pytest.mark.parametrize("name", ["fhir-synthea", "oulad"])
def test_rules_for_public_data_fit_their_schemas(name):
    """Nothing is refused or warned of before reading; a value that the schema does not declare would be."""
    folder = ROOT / "benchmarks" / "schemas"
    declared = CODEC.expect({"schema": str(folder / f"{name}.toml")})
    rules = read_rules(folder / f"{name}-rules.toml")
    assert len(rules) == 2
    All(LDiversity(l=3), PM(rules=rules)).foresee(declared, read=False)
    other = replace(rules[0], attribute="registration.grade")
    with pytest.raises(DomainError, match="not a sensitive field"):
        All(LDiversity(l=3), PM(rules=[other])).foresee(declared, read=False)
