"""DiffPart against its vectors, and its errata as negative tests."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printed import BreedingDiffPart, TwoStageDiffPart
from project import VECTORS

from hedgerow import Domain, PureDP, Sets
from hedgerow.audit import Recorder
from hedgerow.data import Taxonomy
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.sets.methods.diffpart import publisher
from hedgerow.kinds.sets.methods.diffpart.model import HierarchyCuts, SubPartitions
from hedgerow.kinds.sets.methods.diffpart.publisher import DiffPart
from hedgerow.privacy import ExactAnswers, Shares, path_budget
from hedgerow.privacy.questions import CellQuestion
from hedgerow.privacy.survivors import Survivors
from hedgerow.publisher import publish_with
from hedgerow.testing import changed, check_publisher, mutant, output_distribution, sets_of
from laws import worst

VECTOR = json.loads((VECTORS / "diffpart.json").read_text())
RECORD = PureDP(epsilon=1, unit="record")
OPEN = {"c1": 0.0, "c2": 0.0, "tau_split": 0.0}
RAW = {"consistent": False}
#: leaves counted at once with all that is left, and tested first as in the pseudo-code; neither refuses to breed
MERGED = BreedingDiffPart
TWO_STAGE = type("TwoStage", (TwoStageDiffPart, BreedingDiffPart), {})
BOTH = pytest.mark.parametrize("method", [MERGED, TWO_STAGE], ids=["merged", "two-stage"])


# ---- the partitioning


class Killing(ExactAnswers):
    """Lets every candidate survive, empty or not, with 100 more than it has, but for a few."""

    def __init__(self, killed):
        self.killed = killed
        self.splits = []
        self.tree = Taxonomy.by_fanout(4, 2)
        self.cuts = [HierarchyCuts.whole(self.tree)]

    def answer(self, question):
        if isinstance(question, CellQuestion):
            return question.exact + 100
        candidates = SubPartitions.of(self.cuts[-1])
        counts = dict(
            zip(
                zip(question.families.at.tolist(), question.families.codes.tolist(), strict=True),
                question.exact.tolist(),
                strict=True,
            )
        )
        cells = [
            (at, code, 100 + counts.get((at, code), 0))
            for at, size in enumerate(question.families.candidates.tolist())
            for code in range(size)
        ]
        at, codes, noisy = np.array(cells, np.int64).reshape(-1, 3).T
        parent, masks = candidates.parent[at], candidates.masks(at, codes)
        grown = self.cuts[-1].grow(parent, masks)
        kept = [row for row in range(len(grown)) if named(grown, row) not in self.killed]
        for family, partition in enumerate(candidates.parent.tolist()):
            own = [count for (home, _), count in counts.items() if candidates.parent[home] == partition]
            self.splits.append((named(self.cuts[-1], partition), sum(own), question.shares.fractions()[family]))
        inner = np.array([row for row in kept if not candidates.leaf[at[row]]], np.int64)
        self.cuts.append(self.cuts[-1].grow(parent[inner], masks[inner]))
        return Survivors(at[kept], codes[kept], noisy[kept])


def named(cuts, row):
    """A cut as the sets of items below its nodes."""
    names = {0: "3", 1: "4", 2: "1", 3: "2", 4: "34", 5: "12", 6: "1234"}
    return tuple(sorted(names[node] for node in cuts.nodes[cuts.starts[row] : cuts.starts[row + 1]].tolist()))


def as_cut(listed):
    """A cut as it is written in the vector: items, groups parted by bars."""
    return tuple(
        sorted("".join(sorted(str(item) for item in group.split())) for group in " ".join(map(str, listed)).split("|"))
    )


@BOTH
def test_the_printed_partitioning_with_scripted_noise(method):
    """Exactly the six leaves of the figure are reached, with the budgets of the example."""
    vector, mode = VECTOR["partitioning"], "merged" if method is MERGED else "two-stage"
    data = Sets.from_records(VECTOR["records"], domain=Domain.declare(item=[3, 4, 1, 2]))
    killing = Killing([as_cut(cut) for cut in vector["killed"]])
    recorder = Recorder(killing)
    release = publish_with(method(fanout=2, c1=1.0, c2=1.0, tau_split=0.0, **RAW), data, RECORD, recorder)
    expected = {tuple(sorted(leaf["items"])): 100 + leaf["count"] for leaf in vector["leaves"]}
    assert {tuple(sorted(itemset)): count for itemset, count in release.data.itemsets()} == expected
    alphas = {cut: (records, share) for cut, records, share in killing.splits}
    for split in vector["splits"]:
        cut = as_cut(split["cut"])
        ends = split["splits left"] == 1 and mode == "merged"  # a last split is its leaves' count
        share = Fraction(split["left for splits"]) + Fraction(1, 2) if ends else Fraction(split["alpha"])
        assert alphas[cut] == (split["records"], share)
    leaf_shares = {leaf[mode] for leaf in vector["leaves"]}
    asked = [question for question, _ in recorder.transcript]
    if mode == "two-stage":
        assert {
            str(share) for question in asked if isinstance(question, CellQuestion) for share in question.shares.used()
        } == leaf_shares
    else:
        assert leaf_shares <= {str(share) for question in asked for share in question.shares.used()}
    assert release.evidence.total() == 1


@given(data=st.data())
@settings(max_examples=200)
def test_without_noise_and_thresholds_the_data_comes_back(data):
    items, fanout = data.draw(st.integers(1, 39)), data.draw(st.integers(2, 10))
    records = data.draw(st.lists(st.sets(st.integers(0, items - 1), min_size=1, max_size=6), max_size=12))
    method = data.draw(st.sampled_from([MERGED, TWO_STAGE]))
    original = sets_of([sorted(record) for record in records], items)
    release = publish_with(method(fanout=fanout, **OPEN), original, RECORD, ExactAnswers())
    assert release.data.itemsets() == original.itemsets()


# ---- the law


def published_law(method, count, *, high):
    law = output_distribution(method, sets_of([[0]] * count, 2), RECORD, low=1, high=high)
    chances = Counter()
    for output, chance in law.items():
        rows = json.loads(output.splitlines()[-1])[3]
        chances[next((weight for items, weight, _ in rows if items == [0]), None)] += chance
    return chances


def test_merged_on_two_items_is_the_flat_histogram():
    vector = json.loads((VECTORS / "flat-laplace.json").read_text())["law"]
    method = DiffPart(fanout=2, c1=1.0, tau_split=0.0, **RAW)
    for row in vector["rows"]:
        chances = published_law(method, row["count"], high=7)
        assert chances[None] == pytest.approx(row["absent"], abs=1e-6)
        for value, chance in row["published"].items():
            assert chances[int(value)] == pytest.approx(chance, abs=1e-6)


@pytest.mark.parametrize("count", [0, 1, 3, 10])
def test_two_stage_has_the_closed_form(count):
    method = TwoStageDiffPart(fanout=2, c1=1.0, c2=1.2, tau_split=0.0, **RAW)
    # only whether it is published matters: one value for the test, one for the leaf
    chances = published_law(method, count, high=3)
    assert 1 - chances[None] == pytest.approx(VECTOR["two-stage law"]["published"][str(count)], abs=1e-6)


MODES = [
    DiffPart(fanout=2, c1=1.0, tau_split=0.0, **RAW),
    TwoStageDiffPart(fanout=2, c1=1.0, c2=1.2, tau_split=0.0),
    TwoStageDiffPart(fanout=2, c1=1.2, c2=0.8, tau_split=1.0),
]


@pytest.mark.parametrize("method", MODES, ids=["merged", "two-stage", "two-stage tau"])
@pytest.mark.parametrize("records", [[[0]], [[0], [0], [1]], [[0, 1]] * 3])
def test_the_exact_loss_stays_within_the_promise(method, records):
    # a leaf below its cutoff (3 and 4 in two stages) is not published whatever it shows
    low = 3 if method.tau_split else 2
    assert 0.4 < worst(method, sets_of(records, 2), unit="record", low=low, high=4) <= 1 + 1e-9


def test_the_exact_loss_of_merged_reaches_the_promise():
    assert worst(MODES[0], sets_of([[0], [0], [1]], 2), unit="record", low=1, high=5) >= 0.999


@pytest.mark.parametrize("fanout", [2, 3])
def test_the_exact_loss_on_three_items(fanout):
    """Fan-out 2 gives a promoted single item: leaf and other sub-partitions in one split."""
    method = DiffPart(fanout=fanout, c1=1.5, c2=1.0, tau_split=0.5, **RAW)
    assert 0.3 < worst(method, sets_of([[0, 1, 2], [2]], 3), unit="record", low=1, high=1) <= 1 + 1e-9


def test_a_split_must_reach_its_deviations_at_every_height():
    candidates = SubPartitions.of(HierarchyCuts.whole(Taxonomy.by_fanout(4, 2)))
    shares = Shares.spread(Fraction(1, 4), len(candidates.parent))
    # the root has height 2: 2 * sqrt(2) / (1 / 4) = 11.3
    method = DiffPart(fanout=2, c2=1.0, tau_split=0.0)
    assert set(method._split_threshold(candidates, shares).tolist()) == {12}


# ---- errata, kept as negative tests


def mixed():
    """The mix of the printed example: leaves tested with alpha, and counted with all that was left before."""
    return mutant(
        TwoStageDiffPart,
        "rest = paths.left(grown.nodes[leaf])",
        "rest = Shares.spread(paths.left(paths.root).table[0], int(leaf.sum()))",
        Shares=Shares,
    )


def test_e1_testing_leaves_and_counting_them_with_all_is_refused():
    """The ledger refuses it before anything is drawn."""
    with pytest.raises(GuaranteeError, match=r"would spend \d/\d along a path that may spend 1"):
        check_publisher(mixed()(fanout=2, c1=1.0, c2=0.5), RECORD)


def test_e1_the_mix_loses_one_and_a_half_epsilon():
    with changed(path_budget.PathBudget, "_enter", "most > self._spend", "False"):
        loss = worst(mixed()(fanout=2, c1=1.0, c2=0.5, tau_split=0.0), sets_of([[0]], 2), unit="record", low=1, high=2)
    assert loss == pytest.approx(1.5, abs=1e-6)


@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.01])
def test_e2_one_candidate_too_many_breaks_the_promise(alpha):
    """The printed loop runs one test more than there are empty candidates.

    Three candidates of which two have records: the one that is left is then tested twice, at c2 = 1.
    """
    cutoff = max(1, math.ceil(math.sqrt(2) / alpha))
    tail = lambda t: math.exp(-alpha * t) / (1 + math.exp(-alpha))  # noqa: E731 - a formula
    once, twice = tail(cutoff), 1 - (1 - tail(cutoff)) ** 2
    with_a_record = tail(cutoff - 1) if cutoff > 1 else 1 - tail(cutoff)
    assert abs(math.log(with_a_record / once)) <= alpha + 1e-12
    assert abs(math.log(with_a_record / twice)) > alpha  # towards ln 2, however small alpha is


def test_e3_constants_that_let_empty_partitions_breed_are_refused():
    for fanout, least in zip(range(2, 11), VECTOR["breeding"]["c2"], strict=True):
        assert math.log((2**fanout - 1) / 2) / math.sqrt(2) == pytest.approx(least, abs=5e-3)
    data = sets_of([[0]], 20)
    with pytest.raises(
        ParameterError,
        match=r"c2 = 1.2 lets empty partitions of 10 children multiply; take at least 4.41",
    ):
        DiffPart(fanout=10, c2=1.2, tau_split=0.0).publish(data, RECORD)
    DiffPart(fanout=10, c2=4.42, tau_split=0.0).publish(data, RECORD, seed=1)
    DiffPart(c2=1.2, tau_split=0.0).publish(sets_of([[0]], 10), RECORD, seed=1)  # one level cannot breed


def test_e3_a_run_whose_partitions_breed_nevertheless_is_given_up(monkeypatch):
    monkeypatch.setattr(publisher, "_MOST_PARTITIONS", 2)
    with pytest.raises(ParameterError, match="more than 2 partitions are alive; raise"):
        BreedingDiffPart(c2=0.0, tau_split=0.0, fanout=2).publish(sets_of([], 30), RECORD, seed=1)


def test_e3_a_bound_on_spurious_sub_partitions_keeps_an_empty_data_set_small():
    """At most tau survivors are expected of one split, and of its descendants at every height."""
    data = sets_of([], 1_000)
    domain = Domain.declare(item=range(1_000))
    data = Sets.from_columns(row=np.zeros(0, np.int64), item=np.zeros(0, np.int64), domain=domain)
    sizes = [len(DiffPart(tau_split=0.5).publish(data, RECORD, seed=seed).data.itemsets()) for seed in range(60)]
    leaves = (2**10 - 1) * 0.5 * math.exp(-math.sqrt(2) * 2.0)  # of a last split, at most
    assert np.mean(sizes) < 0.5 * leaves


def test_e12_a_universe_of_one_item_is_noised_as_any():
    data = sets_of([[0]] * 30, 1)
    counts = {DiffPart().publish(data, RECORD, seed=seed).data.itemsets()[0][1] for seed in range(20)}
    assert len(counts) > 3
    law = output_distribution(DiffPart(c1=1.0, tau_split=0.0), sets_of([[0]], 1), RECORD, low=1, high=4)
    assert sum(law.values()) == pytest.approx(1)
    assert len(law) == 4  # nothing, or 2, 3, 4 records: the cutoff is 2


def test_every_path_spends_the_whole_promise():
    """Chain accounting: what a leaf is counted with is all that is left."""
    data = sets_of([[0, 5], [1], [9, 3, 2]] * 9, 11)
    for method in (MERGED, TWO_STAGE):
        recorder = Recorder(ExactAnswers())
        release = publish_with(method(fanout=3, **OPEN), data, RECORD, recorder)
        assert release.evidence.total() == 1
        labels = {question.label for question, _ in recorder.transcript}
        assert labels == ({"partitions"} if method is MERGED else {"partitions", "leaf counts"})


# ---- mutants of its own

SETTINGS = {"fanout": 2, "c1": 0.5, "c2": 0.3, "tau_split": 1.0}


@pytest.mark.parametrize("method", [DiffPart, TwoStageDiffPart])
@pytest.mark.parametrize("unit", ["record", "person"])
def test_the_shipped_class_passes_the_call_of_the_mutants(unit, method):
    result = check_publisher(method(**SETTINGS), PureDP(epsilon=1, unit=unit))
    assert result.moved == result.replays


@pytest.mark.parametrize(
    ("original", "old", "new", "message"),
    [
        (DiffPart, "Laplace(l1=1),\n            under", "Laplace(l1=Fraction(1, 2)),\n            under", "loses 2"),
        (
            DiffPart,
            "kept.only(cuts.size_after(kept.parent, kept.masks) <= self.longest)",
            "kept.only(counted.find(kept.parent, kept.masks) > 0)",
            "asked differently|publishes something else",
        ),
        (
            TwoStageDiffPart,
            "share = alpha[candidates.parent]",
            "share = paths.left(nodes)[candidates.parent]",
            "more than nothing|divide by zero",
        ),
        (
            DiffPart,
            "partitions.count(children_of(tree, cuts.split))",
            "partitions.count(children_of(tree, cuts.split)); nodes = paths.root",
            "asks twice below the same node|would spend|out of bounds",
        ),
    ],
    ids=["wrong l1", "exact instead of noisy", "share spent twice", "path forgotten"],
)
def test_mutants_of_diffpart_are_caught(original, old, new, message):
    broken = mutant(original, old, new, Fraction=Fraction)
    with pytest.raises((GuaranteeError, ParameterError), match=message):
        check_publisher(broken(**SETTINGS), RECORD)


def test_records_are_cut_to_the_longest_and_impossible_partitions_dropped():
    data = sets_of([[0, 1, 2, 3, 4]] * 300, 5)
    release = DiffPart(longest=2, fanout=2).publish(data, PureDP(epsilon=50, unit="record"), seed=1)
    assert release.data.itemsets()[0][0] == (0, 1)
    for seed in range(30):  # spurious partitions of more nodes than items are nobody's
        spurious = DiffPart(longest=1, fanout=2, c1=0.0, c2=0.0, tau_split=1.0)
        release = spurious.publish(sets_of([[0]], 9), RECORD, seed=seed)
        assert all(len(itemset) == 1 for itemset, _ in release.data.itemsets())


# ---- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fanout": 1}, "fanout must be at least 2; got 1"),
        ({"fanout": 31}, "fanout must be at most 30; got 31"),
        ({"fanout": 2.5}, "fanout must be a whole number; got 2.5"),
        ({"c1": -1}, "c1 must be at least 0; got -1"),
        ({"c2": float("inf")}, "c2 must be finite; got inf"),
        ({"tau_split": 1.5}, "tau_split must be at most 1; got 1.5"),
        ({"taxonomy": "none"}, "taxonomy must be one of fan-out, declared; got 'none'"),
        ({"consistent": 1}, "consistent must be True or False; got 1"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        DiffPart(**parameters)


def test_an_empty_data_set_is_published_like_any():
    assert isinstance(DiffPart().publish(sets_of([], 5), RECORD).data, Sets)
