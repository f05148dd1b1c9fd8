"""Persons with several records: K counts them, the owner checks them with a file, a receiver is told they cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from coarse_cases import count_breaches, random_case, released
from terminal import run

from hedgerow import KCL, Domain, Trajectories, TrajectoryGeneralisation
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.label_criterion import count_label_faults
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import Support
from hedgerow.testing import changed

PLACES = ["quay", "pier", "mall"]
DOMAIN = '[place]\nvalues = ["quay", "pier", "mall"]\npaths = ["port", "port", "centre"]\n[time]\nlow = 0\nhigh = 23\n'
#: three records of A and one of B at the quay; C, D and E at the pier
OWNERS = ["A", "A", "A", "B", "C", "D", "E"]
VISITS = [[("quay", 8)]] * 4 + [[("pier", 8)]] * 3


@pytest.fixture
def desk(tmp_path):
    lines = [(n, owner, hour, place) for n, owner in enumerate(OWNERS) for place, hour in VISITS[n]]
    pl.DataFrame(lines, schema=["unit", "person", "time", "place"], orient="row").write_csv(tmp_path / "t.csv")
    (tmp_path / "d.toml").write_text(DOMAIN)
    return tmp_path


PUBLISH = (
    "publish t.csv --kind trajectories --method kcl-generalisation --columns person=person --domain d.toml "
    "--records-per-person 3 --l 2 --set levels=0,1 --read collisions=keep"
)


def test_k_counts_persons(desk):
    """Four records of two persons do not keep K = 3 at the quay: all go to the port, or only the pier is published."""
    ran = run(f"{PUBLISH} --k 3 --out R", desk)
    assert ran.code == 0, ran.err
    places = set(pl.read_csv(desk / "R" / "data.csv", infer_schema=False)["place"].drop_nulls())
    assert places == {"pier"}
    assert "persons" in (desk / "R" / "STATEMENT.md").read_text()
    two = run(f"{PUBLISH} --k 2 --out S", desk)
    assert two.code == 0, two.err
    assert set(pl.read_csv(desk / "S" / "data.csv", infer_schema=False)["place"]) == {"pier", "quay"}


def test_the_owner_checks_persons_and_a_receiver_cannot(desk):
    made = run(f"{PUBLISH} --k 2 --out R --owners o.csv", desk)
    assert made.code == 0, made.err
    alone = run("verify R", desk)
    assert alone.code == 3
    assert "cannot be checked" in alone.out
    assert "NO" not in alone.out
    with_owners = run("verify R --owners o.csv", desk)
    assert with_owners.code == 0, with_owners.out
    table = pl.read_csv(desk / "o.csv", infer_schema=False)
    column = table.columns[-1]
    table.with_columns(pl.lit("1").alias(column)).write_csv(desk / "o.csv")
    assert run("verify R --owners o.csv", desk).code == 3


def test_no_owner_is_in_the_folder(desk):
    assert run(f"{PUBLISH} --k 2 --out R --owners o.csv", desk).code == 0
    names = pl.read_csv(desk / "R" / "data.csv").columns
    assert "person" not in names
    assert "owner" not in json.dumps(json.loads((desk / "R" / "release.json").read_text())["files"])


def test_a_k_in_records_is_caught_before_publishing(desk):
    """The checker counts persons by code of its own, on the output."""
    with changed(Support, "count", "if self.visits.one_record_each:", "if True:"):
        ran = run(f"{PUBLISH} --k 3 --out R", desk)
    assert ran.code == 3
    assert "of fewer than 3 persons" in ran.err
    assert not (desk / "R").exists()


@pytest.mark.parametrize("seed", range(2_000, 2_020))
def test_checker_and_brute_force_agree_on_persons(seed):
    """On labels that were made for a smaller K."""
    case = random_case(seed, several=True)
    weaker = replace(case, promise=KCL(k=1, l=1))
    *_, (_, visits, labelling) = weaker.steps()
    broken = count_breaches(case, case.visits(), labelling, 1)
    promise = case.promise.about(case.data)
    assert promise.counts_persons
    violations = promise.violations({"": released(case, visits, labelling)})
    assert bool(broken["labels"] + broken["overlaps"]) == any(violations.values())


@pytest.mark.slow
def test_one_level_keeps_c_for_persons():
    """300 databases with several records per person and a C: no fine knowledge breaks it."""
    published = 0
    for seed in range(3_000, 3_300):
        case = random_case(seed, several=True)
        promise = KCL(k=case.promise.k, l=case.promise.l, c="60%", sensitive=["ill=flu", "ill=cold"])
        case = replace(case, promise=promise)
        _, visits, labelling = next(case.steps(suppress="peel"))
        assert not any(count_breaches(case, visits, labelling, 2).values()), seed
        published += int((labelling.label >= 0).sum())
    assert published > 1_000


@pytest.mark.parametrize(("labels", "faults"), [([0, 1], 0), ([0, 13], 1)])
def test_the_checker_refuses_what_the_theorem_does_not_cover(labels, faults):
    domain = Domain.declare(place=PLACES, time=range(4), ill=["yes", "no"], records_per_person=2)
    data = Trajectories.from_records([[("quay", 0)]], domain=domain, sensitive={"ill": ["no"]}, persons=["A"])
    levels = TrajectoryGeneralisation().hierarchies(data.domain)
    coarse = CoarseTrajectories(domain, levels, np.array([0, 1, 2]), np.array(labels), {"ill": np.array([1, 1])})
    what = "labels of several levels, though persons may own several records"
    assert count_label_faults(coarse, shared=True)[what] == faults
    promise = KCL(k=1, l=1, c="1/2", sensitive=["ill=yes"], unit="person")
    assert promise.violations({"": coarse})[what] == faults
