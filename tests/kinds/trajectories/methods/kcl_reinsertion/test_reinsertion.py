"""Suppression with re-insertion: planted bugs, metrics of one's own, sizes, and what it buys."""

from __future__ import annotations

import json

import numpy as np
import pytest
from kcl_cases import trajectories
from project import VECTORS

from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.generated_walks import Walks, walks
from hedgerow.kinds.trajectories.methods import kcl, kcl_reinsertion
from hedgerow.kinds.trajectories.methods.kcl import METRICS, Instances, LocalSuppression
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import SuppressionWithReinsertion
from hedgerow.kinds.trajectories.sequence_mining import mine_sequences

VIOLATING = kcl_reinsertion._violating


def as_it_is(_visits, alive, _promise, _pairs):
    """Re-insert nothing."""
    return alive


@pytest.mark.parametrize(
    ("module", "name", "broken"),
    [
        # local suppressions are applied without looking at clean sequences
        (kcl_reinsertion, "_invalid_operations", lambda *_: np.zeros(0, np.int64)),
        # one record too few is enough to get a visit back
        (
            kcl_reinsertion,
            "_violating",
            lambda sequences, inserted, kept, flags, limits: VIOLATING(
                sequences, inserted, kept, flags, limits._replace(k=limits.k - 1)
            ),
        ),
        # nobody looks at sensitive values when visits are re-inserted
        (
            kcl_reinsertion,
            "_violating",
            lambda sequences, inserted, kept, units, limits: VIOLATING(
                sequences, inserted, kept, units._replace(flags=units.flags[:0]), limits
            ),
        ),
        # only pairs that violate by themselves are looked for
        (kcl, "mine_sequences", lambda visits, k, c, _: mine_sequences(visits, k, c, 1)),
    ],
    ids=["no validity", "one too few", "values given away", "only single visits"],
)
def test_a_planted_bug_is_noticed_by_the_checker(monkeypatch, module, name, broken):
    """The checker shares no code with the method: whatever the method does wrong it refuses."""
    data = walks(Walks(1_000, 6, 8))
    promise = KCL(k=5, c="40%", l=3, sensitive=["diagnosis=HIV"])
    method = SuppressionWithReinsertion(schedule="batch")
    method.publish(data, promise)
    if name != "_violating":  # what suppression leaves is published as it is
        monkeypatch.setattr(kcl_reinsertion, "reinsert", as_it_is)
    monkeypatch.setattr(module, name, broken)
    with pytest.raises(NotSatisfied, match="nothing was released"):
        method.publish(data, promise)


class Evenings(Instances):
    """Only visits at time 3 are worth anything."""

    def __init__(self, records, visits, _):
        super().__init__(records)
        self._worth = np.array([time == 3 for _, time in visits])

    def local(self, visits, of, operations):
        return np.bincount(of, self._worth[self.pairs[visits]], operations)

    def everywhere(self):
        return self.counts * self._worth

    def kept(self, alive):
        return float(self._worth[self.pairs[alive]].sum())


@pytest.mark.parametrize(
    "method", [LocalSuppression, lambda **given: SuppressionWithReinsertion(schedule="batch", **given)]
)
def test_a_metric_of_ones_own_can_be_plugged_in(monkeypatch, method):
    monkeypatch.setitem(METRICS, "evenings", Evenings)
    monkeypatch.setattr(kcl_reinsertion, "reinsert", as_it_is)
    data = trajectories([{1, 3}, {1, 3}, {1}, {3}, {2, 3}, {2}, {2}], [])
    promise = KCL(k=3, l=2)
    kept = {
        metric: [
            sum(time == 3 for _, time in visits)
            for visits, _ in method(metric=metric).publish(data, promise).data.records()
        ]
        for metric in ("instances", "evenings")
    }
    assert sum(kept["evenings"]) == 4 > sum(kept["instances"])
    with pytest.raises(ParameterError, match="must be one of instances, mfs, evenings"):
        method(metric="nothing")


def test_much_data_is_grown_and_nothing_mined_for_it(monkeypatch):
    data, promise = walks(Walks(400, 5, 6)), KCL(k=5, l=2)
    grown = SuppressionWithReinsertion(schedule="grow").publish(data, promise)
    monkeypatch.setattr(kcl_reinsertion, "_GROW", 10)
    monkeypatch.setattr(kcl_reinsertion, "mine_violations", None)  # calling it would fail
    assert SuppressionWithReinsertion().publish(data, promise).data.records() == grown.data.records()
    with pytest.raises(TypeError):
        SuppressionWithReinsertion(schedule="batch").publish(data, promise)


def test_few_violations_are_suppressed_one_at_a_time(monkeypatch):
    data, promise = walks(Walks(300, 5, 6)), KCL(k=5, l=2)
    monkeypatch.setattr(kcl_reinsertion, "reinsert", as_it_is)
    plain = LocalSuppression().publish(data, promise).data.records()
    assert SuppressionWithReinsertion().publish(data, promise).data.records() == plain
    monkeypatch.setattr(kcl_reinsertion, "suppress_greedily", None)  # calling it would fail
    SuppressionWithReinsertion(schedule="batch").publish(data, promise)


def test_reinsertion_never_loses():
    """Of 2,052 visits, suppression leaves about 860, and re-insertion half as many again."""
    promise = KCL(k=5, c="60%", l=3, sensitive=["diagnosis=HIV"])
    data = walks(Walks(400, 5, 6))
    visits = [
        sum(len(record) for record, _ in method.publish(data, promise).data.records())
        for method in (LocalSuppression(mode="global"), LocalSuppression(), SuppressionWithReinsertion())
    ]
    assert visits == sorted(visits)
    assert visits[2] > 1.3 * visits[1]


def test_the_paper_s_table_comes_out():
    """Table 5.2: nothing can be re-inserted there, and growing from nothing keeps less."""
    vector = json.loads((VECTORS / "kcl-reinsertion.json").read_text())
    paths = [[(visit[0], int(visit[1:])) for visit in text.split()] for text in vector["records"]]
    data = Trajectories.from_records(paths, sensitive={"diagnosis": vector["diagnosis"]})
    sensitive = ["diagnosis=HIV", "diagnosis=Hepatitis"]
    release = SuppressionWithReinsertion().publish(data, KCL(k=2, c="50%", l=2, sensitive=sensitive))
    left = [" ".join(f"{place}{time}" for place, time in visits) for visits, _ in release.data.records()]
    assert sorted(left) == sorted(vector["result"])


@pytest.mark.parametrize(
    "method",
    [
        LocalSuppression(),
        LocalSuppression(mode="global"),
        *(SuppressionWithReinsertion(schedule=schedule) for schedule in ("auto", "batch", "grow")),
    ],
    ids=["local", "global", "auto", "batch", "grow"],
)
class TestSizes:
    def test_much_knowledge_costs_no_more_than_the_longest_record(self, method):
        data = trajectories([{0, 1, 2}, {0, 1}] * 3, [])
        method.publish(data, KCL(k=2, l=10**9))

    def test_more_sequences_than_memory_holds_are_refused_at_once(self, method):
        data = trajectories([set(range(40))] * 10, [])
        with pytest.raises(ParameterError, match="too many sequences of up to 40 visits"):
            method.publish(data, KCL(k=2, l=40))


def test_frequent_sequences_are_cut_where_there_are_too_many():
    data = trajectories([set(range(40))] * 10, [])
    with pytest.warns(UserWarning, match="choose a larger k_prime"):
        release = SuppressionWithReinsertion(metric="mfs", k_prime=2).publish(data, KCL(k=2, l=1))
    assert sum(len(visits) for visits, _ in release.data.records()) == 400


def test_of_equal_frequent_sequences_more_visits_are_taken():
    """No sequence is frequent in four of five records: visits alone decide."""
    data, promise = walks(Walks(400, 5, 6)), KCL(k=5, l=3)
    kept = [
        sum(len(visits) for visits, _ in method.publish(data, promise).data.records())
        for method in (SuppressionWithReinsertion(metric="mfs", k_prime=320), LocalSuppression())
    ]
    assert kept[0] > kept[1]
