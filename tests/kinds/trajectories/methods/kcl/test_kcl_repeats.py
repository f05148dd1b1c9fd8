"""A visit that stands twice in a record, and visits at one time in an order of their own: counted once, and refused."""

from __future__ import annotations

import dataclasses

import pytest
from terminal import run

from hedgerow import KCL, Domain, LocalSuppression, Trajectories
from hedgerow.audit.verification import verify_folder
from hedgerow.errors import NotSatisfied
from hedgerow.kinds.trajectories import criterion
from hedgerow.releases.writer import write_release
from hedgerow.testing import changed

A, B = ("a", 8), ("b", 8)
#: who knows both visits finds six records, of which four have HIV; by order there are two sequences, each with half
RECORDS = [[A, B]] * 2 + [[B, A]] * 2 + [[A, B, A]] * 2 + [[A]] * 2 + [[B]] * 2
DIAGNOSES = ["HIV"] * 4 + ["ok"] * 6
PROMISE = KCL(k=2, l=2, c="50%", sensitive=["dx=HIV"])
WHAT = "records with a visit twice, or with visits at one time that are not in the order of places"


def trajectories(records, diagnoses):
    domain = Domain.declare(place=["a", "b"], time=range(24), dx=["HIV", "ok"])
    return Trajectories.from_records(records, sensitive={"dx": diagnoses}, domain=domain, several=True)


def test_a_file_with_a_visit_twice_does_not_keep_the_promise(tmp_path):
    lines = ["unit,time,place,dx"]
    for unit, (visits, diagnosis) in enumerate(zip(RECORDS, DIAGNOSES, strict=True)):
        lines += [f"{unit},{time},{place},{diagnosis}" for place, time in visits]
    (tmp_path / "keep.csv").write_text("\n".join(lines) + "\n")
    promise = "--k 2 --l 2 --c 50% --sensitive dx=HIV"
    ran = run(f"verify keep.csv --kind trajectories --read collisions=keep {promise}", tmp_path)
    assert ran.code == 3
    assert f"4 x {WHAT}, 1 x sequences of 2 visits with a sensitive value beyond 0.5" in ran.err


@pytest.mark.filterwarnings("ignore:no record has the sensitive value")
def test_a_folder_with_a_visit_twice_does_not_keep_the_promise(tmp_path):
    """Written by a checker that counts as the old one did; the new one refuses to believe it, and to write it."""
    plain = dataclasses.replace(trajectories([[A]] * 4, ["ok"] * 4), several=False)
    made = LocalSuppression().publish(plain, PROMISE)
    bad = trajectories(RECORDS, DIAGNOSES).canonical()
    with changed(KCL, "violations", "if not isinstance(data, CoarseTrajectories):", "if False:"):
        forged = dataclasses.replace(made, outputs={"": bad}, verdict=PROMISE.verify({"": bad}))
        assert forged.verdict.satisfied
        write_release(forged, tmp_path / "R", like="x.csv")
        assert all(verify_folder(tmp_path / "R").values())
    assert verify_folder(tmp_path / "R")["KCL: checked on the published data"] is False
    honest = dataclasses.replace(forged, verdict=PROMISE.verify({"": bad}))
    with pytest.raises(NotSatisfied, match="does not keep KCL"):
        write_release(honest, tmp_path / "R2", like="x.csv")


@pytest.mark.parametrize(
    ("owner", "name", "old", "new", "missed"),
    [
        (KCL, "violations", "visits = data.as_sets()", "visits = data", "a sensitive value beyond 0.5"),
        (KCL, "violations", "+= count_repeats(data)", "+= 0", WHAT),
        (criterion, "count_repeats", "pairs[1:] <= pairs[:-1]", "pairs[1:] < pairs[:-1]", "1 x " + WHAT),
    ],
    ids=["records count twice", "order is not looked at", "only order is looked at"],
)
def test_a_planted_bug_is_caught(owner, name, old, new, missed):
    """Two of three who were at both places have HIV; in a file where the third was at one of them twice it is half."""
    data = trajectories([[A, B], [A, B], [A, A, B], [A], [B]], ["HIV", "HIV", "ok", "ok", "ok"])
    assert missed in f"{PROMISE.verify({'': data}).failures}"
    with changed(owner, name, old, new):
        assert missed not in PROMISE.verify({"": data}).failures


def test_several_visits_at_one_time_in_canonical_order_keep_the_promise():
    data = trajectories([[A, B]] * 4, ["HIV", "HIV", "ok", "ok"])
    assert PROMISE.verify({"": data}).satisfied
