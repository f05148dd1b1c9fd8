"""K counts persons where records have owners: brute force, planted bugs, files of owners, what a receiver is told."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

from hedgerow import KCL, Domain, Trajectories, find_method, read_release
from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.trajectories.criterion import count_violations
from hedgerow.kinds.trajectories.methods import kcl_reinsertion as reinsertion
from hedgerow.kinds.trajectories.methods.kcl import PersonSuppressionState
from hedgerow.kinds.trajectories.sequence_mining import VisitArrays
from hedgerow.releases.owner_files import write_owners
from hedgerow.releases.writer import write_release
from hedgerow.testing import changed

METHODS = {
    "local": find_method("kcl")(),
    "global": find_method("kcl")(mode="global"),
    "auto": find_method("kcl-reinsertion")(),
    "grow": find_method("kcl-reinsertion")(schedule="grow"),
}


def owned(sets, ill, owners, most=3):
    """Records as sets of hours at one place; some of them ill."""
    domain = Domain.declare(place=["here"], time=range(8), state=["ill", "well"], records_per_person=most)
    return Trajectories.from_records(
        [[("here", hour) for hour in sorted(record)] for record in sets],
        sensitive={"state": ["ill" if flag else "well" for flag in ill]},
        persons=owners,
        domain=domain,
    )


def breaches(records, owners, k, c, longest):
    """Brute force: each knowledge of up to L visits that some record has, against the definition in persons."""
    known = {
        q
        for visits, _ in records
        for size in range(1, longest + 1)
        for q in itertools.combinations(sorted(visits), size)
    }
    wrong = 0
    for q in known:
        matching = [row for row, (visits, _) in enumerate(records) if set(q) <= set(visits)]
        persons = {owners[row] for row in matching}
        holders = {owners[row] for row in matching if records[row][1] == ("ill",)}
        wrong += len(persons) < k or len(holders) > c * len(persons)
    return wrong


@st.composite
def databases(draw):
    rows = draw(st.integers(1, 12))
    masks = draw(st.lists(st.integers(0, 31), min_size=rows, max_size=rows))
    sets = [{hour for hour in range(5) if mask >> hour & 1} for mask in masks]
    ill = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    owners = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    return sets, ill, owners


@given(
    databases(),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["1/2", "1/3", "1"]),
    st.sampled_from(sorted(METHODS)),
)
@settings(max_examples=400, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_no_knowledge_matches_fewer_persons(database, k, longest, c, way):
    data = owned(*database)
    promise = KCL(k=k, c=c, l=longest, sensitive=["state=ill"])
    release = METHODS[way].publish(data, promise)
    assert release.guarantee == KCL(k=k, c=c, l=longest, sensitive=["state=ill"], unit="person")
    owners = release.owners[""].tolist()
    published = release.data.records()
    assert breaches(published, owners, k, Fraction(c), longest) == 0
    # records are those of at most three per person, and visits are those that they had
    assert len(published) == len(data.bounded("person"))
    assert sorted(owners) == sorted(data.bounded("person").persons.tolist())


@given(databases(), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["1/2", "1/3"]))
@settings(max_examples=300, deadline=None)
def test_the_checker_counts_as_brute_force_does(database, k, longest, c):
    data = owned(*database).sorted()
    promise = KCL(k=k, c=c, l=longest, sensitive=["state=ill"], unit="person")
    counted = count_violations(data, promise, persons=True)
    records, owners = data.records(), data.persons.tolist()
    assert (sum(map(sum, counted.values())) == 0) == (breaches(records, owners, k, Fraction(c), longest) == 0)


@given(databases(), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_one_record_each_is_the_promise_about_records(database, k, longest):
    sets, ill, _ = database
    promise = KCL(k=k, c="1/2", l=longest, sensitive=["state=ill"])
    theirs = replace(owned(sets, ill, range(len(sets)), most=1), persons=None)
    for method in METHODS.values():
        by_person = method.publish(owned(sets, ill, range(len(sets)), most=1), promise)
        assert by_person.data.records() == method.publish(theirs, promise).data.records()
        assert by_person.owners == {}
        assert "checked on the published data" in by_person.statement()


def test_four_records_of_two_persons():
    """Vector 5.9 of the specification of coarser places."""
    data = owned([{0}] * 4, [False] * 4, ["A", "A", "A", "B"])
    for method in METHODS.values():
        assert len(method.publish(data, KCL(k=2, l=1)).data.pairs) == 4
        with pytest.warns(UserWarning, match="k = 3 is more than there are persons"):
            assert len(method.publish(data, KCL(k=3, l=1)).data.pairs) == 0


def test_the_records_of_a_person_beyond_the_declared_number_are_left_out():
    data = owned([{0}] * 5, [False] * 5, ["A", "A", "A", "B", "B"], most=2)
    release = METHODS["local"].publish(data, KCL(k=2, l=1))
    assert len(release.data) == 4
    assert "At most 2 records per person are published" in release.statement()


def test_batches_count_records_only():
    data = owned([{0, 1}] * 4, [False] * 4, [0, 0, 1, 1])
    with pytest.raises(ParameterError, match="schedule=batch counts records"):
        find_method("kcl-reinsertion")(schedule="batch").publish(data, KCL(k=2, l=1))
    alone = owned([{0, 1}] * 4, [False] * 4, range(4))
    find_method("kcl-reinsertion")(schedule="batch").publish(alone, KCL(k=2, l=1))


# ---- planted bugs


def many():
    rng = np.random.default_rng(3)
    sets = [set(np.flatnonzero(row).tolist()) for row in rng.random((120, 6)) < 0.4]
    return owned(sets, rng.random(120) < 0.1, rng.integers(0, 40, 120).tolist())


def crowded(seed):
    """Records of few persons, who own many each and are ill in some of them."""
    rng = np.random.default_rng(seed)
    sets = [set(np.flatnonzero(row).tolist()) for row in rng.random((90, 5)) < 0.4]
    owners = rng.integers(0, 15, 90)
    return owned(sets, (owners < 5) & (rng.random(90) < 0.5), owners.tolist(), most=20)


def count_refused(way):
    """How many of some databases the checker refuses to release."""
    refused = 0
    for seed in range(8):
        try:
            METHODS[way].publish(crowded(seed), PROMISE)
        except NotSatisfied:
            refused += 1
    return refused


PROMISE = KCL(k=6, c="1/3", l=3, sensitive=["state=ill"])


@pytest.mark.parametrize(
    ("owner", "name", "old", "new", "way"),
    [
        (VisitArrays, "count_units", "if self.owners is not None:", "if False:", "local"),
        (PersonSuppressionState, "_is_clean", "count > lost[mark, person]", "count > 0", "local"),
        (PersonSuppressionState, "_is_clean", "left.values()", "()", "local"),
        (PersonSuppressionState, "_count", "Counter((-1, self.owners[row])", "Counter((-1, row)", "local"),
        (reinsertion._Units, "count_of", "if self.owners is not None:", "if False:", "grow"),
    ],
    ids=[
        "mining counts records",
        "a person is never lost",
        "values are not looked at",
        "rows are persons",
        "records are given back",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_planted_bug_is_caught(owner, name, old, new, way):
    assert count_refused(way) == 0
    with changed(owner, name, old, new):
        assert count_refused(way) > 0


def test_a_checker_that_counts_records_misses_what_the_right_one_sees():
    """Ten records of one person are ten records, and no ten persons."""
    data = owned([{0}] * 10, [False] * 10, [0] * 10, most=10).sorted()
    promise = KCL(k=2, l=1, unit="person")
    assert count_violations(data, promise, persons=True) == {1: (1, 0)}
    assert count_violations(data, promise) == {1: (0, 0)}


# ---- what a receiver is told, and how the owner checks


def write_table(folder, data):
    lines = ["unit,time,place,state,who"]
    for row, (start, end) in enumerate(itertools.pairwise(data.starts.tolist())):
        state = ["ill", "well"][data.traits["state"][row]]
        lines += [f"{row},{pair},here,{state},{data.persons[row]}" for pair in data.pairs[start:end].tolist()]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")


PUBLISH = (
    "publish t.csv --kind trajectories --method kcl --k 6 --l 2 --c 1/3 --sensitive state=ill "
    "--columns person=who --records-per-person 3 --out R"
)


def test_a_receiver_is_told_that_persons_cannot_be_checked(tmp_path):
    write_table(tmp_path, many())
    ran = run(f"{PUBLISH} --owners own.csv", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "records of at least 6 persons that match" in ran.out
    told = run("verify R", tmp_path)
    assert (told.code, told.out.splitlines()[-1]) == (3, "cannot be checked")
    assert "?    that 6 persons match wherever records do takes the owners of the records" in told.out
    assert "NO " not in told.out
    assert "satisfied" not in told.out.splitlines()[-1]
    checked = run("verify R --owners own.csv", tmp_path)
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "satisfied")
    assert "yes  persons counted by their owners" in checked.out
    statement = (tmp_path / "R" / "STATEMENT.md").read_text()
    for words in (
        "That 6 persons match cannot be checked from the published data, which has no owners",
        "is held by at most 1/3 of the persons whose records match",
        "At most 3 records per person are published",
        "Visits of several records of a person",
        "records checked on the published data, which does not show persons",
    ):
        assert words in statement
    assert not list((tmp_path / "R").glob("*own*"))
    assert (tmp_path / "own.csv").stat().st_mode & 0o077 == 0


def test_a_release_about_persons_is_evaluated(tmp_path):
    write_table(tmp_path, many())
    run(PUBLISH, tmp_path)
    against = "evaluate R --against t.csv --read sensitive=state --scores s.json"
    nobody = run(against, tmp_path)
    assert (nobody.code, "needs the owner of each record" in nobody.err) == (2, True)
    # the release tells how many records per person were declared
    ran = run(f"{against} --columns person=who", tmp_path)
    assert (ran.code, ran.err) == (0, "")


def test_owners_that_break_the_promise_are_noticed(tmp_path):
    write_table(tmp_path, many())
    run(f"{PUBLISH} --owners own.csv", tmp_path)
    lines = (tmp_path / "own.csv").read_text().splitlines()
    one = [",".join([*line.split(",")[:2], "7"]) for line in lines[1:]]
    (tmp_path / "one.csv").write_text("\n".join([lines[0], *one]) + "\n")
    ran = run("verify R --owners one.csv", tmp_path)
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "NOT satisfied")
    assert "of fewer than 6 persons" in ran.out
    for wrong in (
        "",
        "data,unit,person\n",
        "\n".join(lines[:-1]),
        "\n".join([*lines, lines[-1]]),
        "\n".join(lines) + "\n,1\n",
    ):
        (tmp_path / "wrong.csv").write_text(wrong)
        ran = run("verify R --owners wrong.csv", tmp_path)
        assert ran.code == 2, wrong
        assert "owner" in ran.err


def test_files_of_owners_are_refused_where_they_do_not_belong(tmp_path):
    write_table(tmp_path, many())
    inside = run(f"{PUBLISH} --owners R/own.csv", tmp_path)
    assert (inside.code, "is inside R, the folder that is published" in inside.err) == (3, True)
    (tmp_path / "old.csv").write_text("mine")
    old = run(f"{PUBLISH} --owners old.csv", tmp_path)
    assert (old.code, "exists already" in old.err) == (2, True)
    assert not (tmp_path / "R").exists()
    needless = run(f"{PUBLISH} --owners own.csv".replace("person 3", "person 1"), tmp_path)
    assert (needless.code, "--owners is for a promise that counts persons" in needless.err) == (2, True)
    plain = run(PUBLISH.replace("person 3", "person 1"), tmp_path)
    assert plain.code == 0
    # each person owns one record, as declared: records are persons
    assert run("verify R", tmp_path).code == 0


def test_a_folder_that_counts_persons_without_a_declared_number_is_not_satisfied(tmp_path):
    release = METHODS["local"].publish(many(), PROMISE)
    folder = write_release(release, tmp_path / "R", like="x.csv")
    assert read_release(folder).guarantee.counts_persons
    document = json.loads((folder / "release.json").read_text())
    for changes in ({"records_per_person": None}, {"records_per_person": 1}):
        document["domain"] |= changes
        (folder / "release.json").write_text(json.dumps(document))
        assert run("verify R", tmp_path).out.splitlines()[-1] == "NOT satisfied"


def test_the_statement_says_that_c_is_about_whole_visits():
    """Who knows a district has a union of groups: at least K match, but a share in it may exceed C."""
    domain = Domain.declare(place=["park"], time=[8], ill=["flu"])
    said = " ".join(KCL(k=2, c="60%", l=1, sensitive=["ill=flu"]).limits(domain))
    assert "a district and a part of the day: among the records that match a sensitive value may be more" in said
    assert "a district" not in " ".join(KCL(k=2, l=1).limits(domain))


def test_a_file_of_owners_replaces_no_file_that_came_meanwhile(tmp_path):
    (tmp_path / "o.csv").write_text("mine")
    with pytest.raises(ParameterError, match="exists already; choose another name"):
        write_owners(tmp_path / "o.csv", {"": np.array([0])})
    assert (tmp_path / "o.csv").read_text() == "mine"
