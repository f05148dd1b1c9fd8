"""The tree of prefixes: the paper's example, step by step, and what its printing got wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printed import pushed_down
from project import VECTORS
from scipy import stats

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import DomainError, ParameterError
from hedgerow.kinds.sequences.methods.prefix_tree import publisher
from hedgerow.kinds.sequences.methods.prefix_tree.draw import count_endings
from hedgerow.kinds.sequences.methods.prefix_tree.model import (
    END,
    GROUP,
    PLACE,
    CandidateFamilies,
    Thresholds,
    consistent_counts,
    path_estimates,
    place_groups,
)
from hedgerow.kinds.sequences.methods.prefix_tree.publisher import PrefixTree
from hedgerow.kinds.sets.measures import set_errors
from hedgerow.measures.itemsets import ItemsetIndex
from hedgerow.privacy import ExactAnswers
from hedgerow.privacy.mechanisms import Laplace
from hedgerow.privacy.questions import NoisyAnswers, ThresholdQuestion
from hedgerow.privacy.shares import Shares
from hedgerow.publisher import publish_with
from laws import FALSE_ALARM, chi_square, one_sided_geometric

VECTOR = json.loads((VECTORS / "prefix-tree.json").read_text())
UNIT = PureDP(epsilon=1, unit="sequence")
GROUPED = Domain.declare(item=[1, 2, 3, 4]).with_paths("item", [["A"], ["A"], ["B"], ["B"]])
PAPER = Sequences.from_records(VECTOR["records"], domain=GROUPED)


def printed(**given):
    """The thresholds and groups of the paper."""
    return PrefixTree(**{"groups": "declared", "threshold": 2.0, "false_nodes": 0.0, **given})


class AtThree(Thresholds):
    """The example of the paper tests with a threshold of 3 throughout."""

    def cutoff(self, families, spend):
        del spend
        return np.full(len(families.kind), 3)


def groups_of(method, data):
    return place_groups(data.domain, data.labels, method.groups, method.group_share)


def growth_of(method, data):
    return method.growth(groups_of(method, data))


INSIDE = {"A": "12", "B": "34"}


class Heard(ExactAnswers):
    """Answers with noise that was made up, and remembers what was asked and what passed."""

    def __init__(self, noise):
        self.noise, self.names, self.passed, self.questions = noise, {0: ""}, {}, []

    def answer(self, question):
        if not isinstance(question, ThresholdQuestion):
            return super().answer(question)
        self.questions.append(question)
        exact = {
            (int(at), int(code)): int(n)
            for at, code, n in zip(question.families.at, question.families.codes, question.exact, strict=True)
        }
        passed, names = [], []
        for at, node in enumerate(question.under.tolist()):
            name = self.names[node]
            inside = INSIDE.get(name[-1:], "AB")
            for code, label in enumerate(inside):
                full = name[:-1] + label if inside != "AB" else name + label
                count = exact.get((at, code), 0) + self.noise[full]
                if count >= question.families.cutoffs[at]:
                    passed.append((at, code, count))
                    names.append(full)
                    self.passed[full] = count
        first = max(self.names) + 1
        self.names |= {first + number: name for number, name in enumerate(names)}
        return type(question.answer_exactly())(*np.array(passed, np.int64).reshape(-1, 3).T)


def grown(growth, data, answers):
    return growth.grow(data.positions(growth.height), UNIT.open(data, answers))


def as_in_the_figure():
    return replace(growth_of(PrefixTree(height=2, groups="declared"), PAPER), thresholds=AtThree(2.0, 0.0))


def named(tree, counts):
    table = tree.prefixes(9)
    return {"".join(str(code + 1) for code in row[row >= 0]): n for row, n in zip(table, counts.tolist(), strict=True)}


# ---- the example of the paper


def test_prefixes_are_counted():
    tree = grown(growth_of(printed(groups="none", height=4, threshold=0.0), PAPER), PAPER, ExactAnswers())
    assert named(tree, tree.noisy) == VECTOR["prefixes"]


def test_the_noisy_tree_of_the_figure():
    figure = VECTOR["figure 2"]
    heard = Heard(figure["noise"])
    tree = grown(as_in_the_figure(), PAPER, heard)
    assert named(tree, tree.noisy) == figure["kept"]
    assert {name for name in heard.passed if name[-1] in "AB"} == set(figure["gates"])
    means = path_estimates(tree.parent, tree.level, tree.noisy, tree.weight)
    ways = [consistent_counts(tree, inference) for inference in ("project", "exact")]
    for counts in (*ways, pushed_down(tree.parent, tree.level, means)):
        assert named(tree, counts) == pytest.approx(figure["agreed"])
        copies = named(tree, count_endings(tree, counts))
        assert {name: n for name, n in copies.items() if n} == figure["emitted"]


@pytest.mark.parametrize(("eps", "height", "fan", "one", "two", "group", "place", "plain"), VECTOR["budgets"])
def test_budgets_and_thresholds(eps, height, fan, one, two, group, place, plain):
    items = Domain.declare(item=range(4 * fan)).with_paths("item", [[str(code // fan)] for code in range(4 * fan)])
    data = Sequences.from_records([[0]], domain=items)
    growth = growth_of(printed(height=height, group_share=0.0), data)
    part, level = growth.groups.spend[0], Fraction(eps) / height
    assert float(level * part) == pytest.approx(one, rel=1e-5)
    assert float(level * (1 - part)) == pytest.approx(two, rel=1e-5)
    families = CandidateFamilies(np.zeros(2, np.int64), np.array([GROUP, PLACE]), np.array([4, fan]))
    share = Shares.of([level * part, level * (1 - part)])
    assert growth.thresholds.cutoff(families, share.floats()).tolist() == np.ceil([group, place]).tolist()
    simple = growth.thresholds.cutoff(families, Shares.of([level, level]).floats())[1]
    assert simple == np.ceil(plain)


def test_a_level_is_paid_by_groups_and_places_together():
    heard = Heard(VECTOR["figure 2"]["noise"])
    grown(as_in_the_figure(), PAPER, heard)
    shares = [question.shares.used() for question in heard.questions]
    assert shares == [[Fraction(1, 4)]] * 4


def test_survivors_without_enumeration():
    """The number of empty ones that pass is binomial, and their counts are geometric."""
    rate, cutoff, many = 0.3, 5, 400
    survivors = []
    for seed in range(300):
        nothing = np.zeros(0, np.int64)
        ledger = PureDP(epsilon="0.3", unit="sequence").open(PAPER, NoisyAnswers(seed))
        _, noisy = ledger.survivors(
            nothing,
            nothing,
            Laplace(l1=1),
            candidates=many,
            cutoff=cutoff,
            spend=ledger.budget,
            label="x",
        )
        survivors.append(noisy)
    chance = np.exp(-rate * cutoff) / (1 + np.exp(-rate))
    assert chance == pytest.approx(0.128175, abs=1e-6)
    sizes = np.array([len(noisy) for noisy in survivors])
    law = stats.binom(many, chance)
    assert chi_square(sizes, law.cdf, 20) > FALSE_ALARM
    above = np.concatenate(survivors) - cutoff
    assert chi_square(above, one_sided_geometric(rate)) > FALSE_ALARM
    # a wrong scale is seen in both directions
    for wrong in (0.8 * rate, 1.25 * rate):
        assert chi_square(above, one_sided_geometric(wrong)) < FALSE_ALARM


# ---- visits with times


class Candidates(ExactAnswers):
    """Remembers how many candidates there were."""

    def __init__(self):
        self.seen = []

    def answer(self, question):
        if isinstance(question, ThresholdQuestion):
            self.seen.append(question.families.candidates.tolist())
        return super().answer(question)


def test_what_may_follow_a_visit_is_not_earlier():
    """Two places and three times: four labels may follow (a, 2), the same time included."""
    domain = Domain.declare(place=["a", "b"], time=[1, 2, 3])
    data = Trajectories.from_records([[("a", 2), ("b", 2)]] * 60, domain=domain, several=True)

    asked = Candidates()
    promise = PureDP(epsilon=6, unit="trajectory")
    method = PrefixTree(height=2, groups="none")
    release = publish_with(method, data, promise, asked)
    assert asked.seen == [[6], [4]]
    assert release.data.records() == [((("a", 2), ("b", 2)), ())] * 60
    strict = Trajectories.from_records([[("a", 2), ("b", 3)]] * 60, domain=domain)
    asked.seen.clear()
    release = publish_with(method, strict, promise, asked)
    assert asked.seen == [[6], [2]]
    assert release.data.records() == [((("a", 2), ("b", 3)), ())] * 60


# ---- bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"height": 0}, "height must be"),
        ({"threshold": -1.0}, "threshold must be"),
        ({"false_nodes": -1.0}, "false_nodes must be"),
        ({"group_share": 1.0}, "group_share must be"),
        ({"groups": "x"}, "groups must be"),
        ({"inference": "paper"}, "inference must be"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(ParameterError, match=message):
        PrefixTree(**given)


def test_groups_of_two_need_a_share_of_their_own():
    with pytest.raises(ParameterError, match="group_share = 0 leaves nothing"):
        printed(group_share=0.0).publish(PAPER, UNIT)
    printed(group_share=0.3).publish(PAPER, UNIT)


def test_noise_beyond_reason_is_refused_before_anything_is_asked():
    with pytest.raises(ParameterError, match="take a larger epsilon"):
        PrefixTree().publish(PAPER, PureDP(epsilon="1e-6", unit="sequence"))
    with pytest.raises(ParameterError, match="leaves nothing for groups or for places"):
        PrefixTree(groups="fan-out", group_share=0.999999).publish(PAPER, UNIT)


def test_declared_groups_must_be_declared():
    data = Sequences.from_records([[1]], domain=Domain.declare(item=range(4)))
    with pytest.raises(DomainError, match="no declared paths"):
        printed().publish(data, UNIT)


def test_too_many_prefixes_are_given_up(monkeypatch):
    monkeypatch.setattr(publisher, "_NODES", 1_000)
    data = Sequences.from_records([[0]], domain=Domain.declare(item=range(300)))
    method = printed(groups="none", threshold=0.5, height=6)
    with pytest.raises(ParameterError, match="a level of the tree has more than 1,000 prefixes"):
        method.publish(data, UNIT)


def test_what_is_empty_is_published():
    for items in (1, 2, 50):
        data = Sequences.from_records([], domain=Domain.declare(item=range(items)))
        for groups in ("none", "fan-out"):
            PrefixTree(groups=groups).publish(data, UNIT)


@given(st.data())
@settings(max_examples=40)
def test_every_prefix_keeps_its_count_to_within_one(data):
    record = st.lists(st.integers(0, 4), min_size=1, max_size=7)
    records = data.draw(st.lists(record, max_size=60))
    private = Sequences.from_records(records, domain=Domain.declare(item=range(5)))
    groups = data.draw(st.sampled_from(["none", "fan-out"]))
    growth = growth_of(PrefixTree(height=4, groups=groups), private)
    ledger = PureDP(epsilon=20, unit="sequence").open(private, NoisyAnswers(data.draw(st.integers(0, 99))))
    tree = growth.grow(private.positions(4), ledger)
    counts = consistent_counts(tree, data.draw(st.sampled_from(["project", "exact"])))
    below = count_endings(tree, counts).astype(float)
    for node in range(len(tree) - 1, -1, -1):
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += below[node]
    assert np.all(np.abs(below - counts) <= 1 + 1e-9)


def test_the_count_queries_of_the_run_without_noise():
    """Of how many records hold both places: before, after, and the error over the true number."""
    parameters = VECTOR["noise off"]["parameters"]
    release = publish_with(PrefixTree(**parameters), PAPER, PureDP(epsilon=6, unit="sequence"), ExactAnswers())
    before, after = ItemsetIndex.of(PAPER), ItemsetIndex.of(release.data)
    queries = [(0, 1), (0, 2), (1, 3)]
    assert before.supports(queries).tolist() == [6, 4, 2]
    assert after.supports(queries).tolist() == [5, 2, 2]
    assert set_errors(before, after, queries).tolist() == pytest.approx([1 / 6, 0.5, 0])


# ---- thresholds and groups


def test_few_empty_ones_pass():
    """So many as `false_nodes` are expected of a family, of groups and of places; ends all pass."""
    kinds = np.array([GROUP, PLACE, END])
    families = CandidateFamilies(np.zeros(3, np.int64), kinds, np.array([900, 40, 1]))
    share = Shares.of([Fraction(1, 5)] * 3)
    cutoff = Thresholds(place=0.0, false_nodes=0.5).cutoff(families, share.floats())
    chance = np.exp(-0.2 * cutoff) / (1 + np.exp(-0.2))
    assert np.all(families.candidates[:2] * chance[:2] <= 0.5)
    assert np.all(families.candidates[:2] * chance[:2] > 0.5 * np.exp(-0.2))
    assert cutoff[2] == 1
    assert Thresholds(place=9.0, false_nodes=0.5).cutoff(families, share.floats())[1] == np.ceil(9 * np.sqrt(2) * 5)


def test_groups_are_asked_for_from_many_labels_on():
    for places, groups, many in ((1_999, "auto", 0), (2_000, "auto", 45), (50, "fan-out", 7), (9_999, "none", 0)):
        data = Sequences.from_records([[0]], domain=Domain.declare(item=range(places)))
        assert groups_of(PrefixTree(groups=groups), data).tree.inner - 1 == many


def test_many_labels_do_not_wrap():
    """More labels of place and time than 32 bits hold."""
    domain = Domain.declare(place=range(50_000), time=range(50_000))
    visits = [(49_000, 49_000), (49_001, 49_500)]
    data = Trajectories.from_records([visits] * 3_000, domain=domain)
    release = PrefixTree(height=2).publish(data, PureDP(epsilon=8, unit="trajectory"), seed=1)
    assert [record for record, _ in release.data.records()].count(tuple(visits)) > 2_500
    many = Domain.declare(place=range(1_200_000), time=range(2))
    with pytest.raises(ParameterError, match="too many"):
        PrefixTree().publish(Trajectories.from_records([], domain=many), PureDP(epsilon=1, unit="trajectory"))


def test_one_first_visit_that_passed_is_named():
    data = Trajectories.from_records(
        [[(0, 7)]] * 900 + [[(n % 300 + 1, n // 300)] for n in range(3_000)],
        domain=Domain.declare(place=range(301), time=range(24)),
    )
    release = PrefixTree(height=1).publish(data, PureDP(epsilon=1, unit="trajectory"), seed=1)
    (_, passed), (_, added) = release.evidence.notes
    assert passed == 1
    assert 2_000 < added < len(release.data)
    assert 700 < [visits for visits, _ in release.data.records()].count(((0, 7),)) < 1_200
