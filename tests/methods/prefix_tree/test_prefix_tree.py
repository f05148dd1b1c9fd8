"""The tree of prefixes: the paper's example, step by step, and what its printing got wrong."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import FALSE_ALARM, chi_square, one_sided_geometric
from project import VECTORS
from scipy import stats

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import DomainError, ParameterError
from hedgerow.measures.containment import itemset_index_of
from hedgerow.measures.sets import set_errors
from hedgerow.privacy import NoiseOff
from hedgerow.privacy.mechanisms import Laplace
from hedgerow.privacy.questions import Noisy, Thresholded
from hedgerow.privacy.shares import Shares
from hedgerow.publishers.base import publish_with
from hedgerow.publishers.sequences.gates import GATES, PLACES, Families
from hedgerow.publishers.sequences.prefix_tree import PrefixTree
from hedgerow.publishers.sequences.prefix_writing import agreed, emitted

VECTOR = json.loads((VECTORS / "prefix-tree.json").read_text())
UNIT = PureDP(epsilon=1, unit="sequence")
GROUPED = Domain.declare(item=[1, 2, 3, 4]).with_paths("item", [["A"], ["A"], ["B"], ["B"]])
PAPER = Sequences.from_records(VECTOR["records"], domain=GROUPED)


def printed(**given):
    """The method as it is printed."""
    held = {"mode": "hybrid", "taxonomy": "declared", "generator": "cut", "budget": "uniform"}
    return PrefixTree(**{"tau_split": 0.0, "a_place": 2.0, **held, **given})


class AtThree(PrefixTree):
    """The example of the paper tests with a threshold of 3 throughout."""

    def _cutoff(self, families, share):
        del share
        return np.full(len(families.kind), 3)


INSIDE = {"A": "12", "B": "34"}


class Heard(NoiseOff):
    """Answers with noise that was made up, and remembers what was asked and what passed."""

    def __init__(self, noise):
        self.noise, self.names, self.passed, self.questions = noise, {0: ""}, {}, []

    def answer(self, question):
        if not isinstance(question, Thresholded):
            return super().answer(question)
        self.questions.append(question)
        exact = {
            (int(at), int(code)): int(n)
            for at, code, n in zip(question.families.at, question.families.codes, question.exact, strict=True)
        }
        found, names = [], []
        for at, node in enumerate(question.where.tolist()):
            name = self.names[node]
            inside = INSIDE.get(name[-1:], "AB")
            for code, label in enumerate(inside):
                full = name[:-1] + label if inside != "AB" else name + label
                count = exact.get((at, code), 0) + self.noise[full]
                if count >= question.families.cutoffs[at]:
                    found.append((at, code, count))
                    names.append(full)
                    self.passed[full] = count
        first = max(self.names) + 1
        self.names |= {first + number: name for number, name in enumerate(names)}
        return type(question.quiet())(*np.array(found, np.int64).reshape(-1, 3).T)


def grown(method, data, answers):
    gates = method._gates(data)
    return method.grow(data.positions(method.height), gates, 0, UNIT.open(data, answers))


def named(tree, counts):
    table = tree.table(9)
    return {"".join(str(code + 1) for code in row[row >= 0]): n for row, n in zip(table, counts.tolist(), strict=True)}


# ---- the example of the paper


def test_prefixes_are_counted():
    tree = grown(printed(mode="simple", height=4, a_place=0.0), PAPER, NoiseOff())
    assert named(tree, tree.noisy) == VECTOR["prefixes"]


def test_the_noisy_tree_of_the_figure():
    held = VECTOR["figure 2"]
    heard = Heard(held["noise"])
    method = AtThree(height=2, mode="hybrid", taxonomy="declared", generator="cut", budget="uniform")
    tree = grown(method, PAPER, heard)
    assert named(tree, tree.noisy) == held["kept"]
    assert {name for name in heard.passed if name[-1] in "AB"} == set(held["gates"])
    for inference in ("paper", "project", "exact"):
        counts = agreed(tree, inference)
        assert named(tree, counts) == pytest.approx(held["agreed"])
        copies = named(tree, emitted(tree, counts, "cumulative"))
        assert {name: n for name, n in copies.items() if n} == held["emitted"]


@pytest.mark.parametrize(("eps", "height", "fan", "one", "two", "gate", "place", "plain"), VECTOR["budgets"])
def test_budgets_and_thresholds(eps, height, fan, one, two, gate, place, plain):
    items = Domain.declare(item=range(4 * fan)).with_paths("item", [[str(code // fan)] for code in range(4 * fan)])
    data = Sequences.from_records([[0]], domain=items)
    method = printed(height=height, gate_share=0.0)
    gates = method._gates(data)
    level = Fraction(eps) / height
    assert float(level * gates.spend[0]) == pytest.approx(one, rel=1e-5)
    assert float(level * (1 - gates.spend[0])) == pytest.approx(two, rel=1e-5)
    kinds = Families(np.zeros(2, np.int64), np.array([GATES, PLACES]), np.array([4, fan]))
    share = Shares.of([level * gates.spend[0], level * (1 - gates.spend[0])])
    assert method._cutoff(kinds, share).tolist() == np.ceil([gate, place]).tolist()
    simple = method._cutoff(kinds, Shares.of([level, level]))[1]
    assert simple == np.ceil(plain)


def test_a_level_is_paid_by_groups_and_places_together():
    heard = Heard(VECTOR["figure 2"]["noise"])
    method = AtThree(height=2, mode="hybrid", taxonomy="declared", generator="cut", budget="uniform")
    grown(method, PAPER, heard)
    shares = [question.shares.used() for question in heard.questions]
    assert shares == [[Fraction(1, 4)]] * 4


def test_survivors_without_enumeration():
    """The number of empty ones that pass is binomial, and their counts are geometric."""
    rate, cutoff, many = 0.3, 5, 400
    found = []
    for seed in range(300):
        nothing = np.zeros(0, np.int64)
        ledger = PureDP(epsilon="0.3", unit="sequence").open(PAPER, Noisy(seed))
        _, noisy = ledger.survivors(
            nothing,
            nothing,
            Laplace(l1=1),
            candidates=many,
            cutoff=cutoff,
            spend=ledger.budget,
            label="x",
        )
        found.append(noisy)
    chance = np.exp(-rate * cutoff) / (1 + np.exp(-rate))
    assert chance == pytest.approx(0.128175, abs=1e-6)
    sizes = np.array([len(noisy) for noisy in found])
    law = stats.binom(many, chance)
    assert chi_square(sizes, law.cdf, 20) > FALSE_ALARM
    above = np.concatenate(found) - cutoff
    assert chi_square(above, one_sided_geometric(rate)) > FALSE_ALARM
    # a wrong scale is seen in both directions
    for wrong in (0.8 * rate, 1.25 * rate):
        assert chi_square(above, one_sided_geometric(wrong)) < FALSE_ALARM


# ---- visits with times


class Candidates(NoiseOff):
    """Remembers how many candidates there were."""

    def __init__(self):
        self.seen = []

    def answer(self, question):
        if isinstance(question, Thresholded):
            self.seen.append(question.families.candidates.tolist())
        return super().answer(question)


def test_what_may_follow_a_visit_is_not_earlier():
    """Two places and three times: four labels may follow (a, 2), the same time included."""
    domain = Domain.declare(place=["a", "b"], time=[1, 2, 3])
    data = Trajectories.from_records([[("a", 2), ("b", 2)]] * 60, domain=domain, several=True)

    held = Candidates()
    promise = PureDP(epsilon=6, unit="trajectory")
    method = PrefixTree(height=2, mode="simple", generator="cut", budget="uniform")
    release = publish_with(method, data, promise, held)
    assert held.seen == [[6], [4]]
    assert release.data.records() == [((("a", 2), ("b", 2)), ())] * 60
    strict = Trajectories.from_records([[("a", 2), ("b", 3)]] * 60, domain=domain)
    held.seen.clear()
    release = publish_with(method, strict, promise, held)
    assert held.seen == [[6], [2]]
    assert release.data.records() == [((("a", 2), ("b", 3)), ())] * 60


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("mode", ["simple", "hybrid"])
def test_visits_are_published_in_order(several, mode):
    rng = np.random.default_rng(4)
    domain = Domain.declare(place=[f"p{n}" for n in range(9)], time=range(6))
    records = []
    for _ in range(3_000):
        times = np.sort(rng.choice(6, 3, replace=several)).tolist()
        records.append([(f"p{int(p)}", t) for p, t in zip(rng.integers(0, 9, 3), times, strict=True)])
    data = Trajectories.from_records(records, domain=domain, several=several)
    release = PrefixTree(height=3, mode=mode).publish(data, PureDP(epsilon=4, unit="trajectory"), seed=1)
    starts, pairs, _ = release.data.arrays()
    assert len(release.data) == pytest.approx(3_000, rel=0.05)
    for begin, end in itertools.pairwise(starts):
        steps = np.diff(pairs[begin:end] // 9)
        assert 1 <= end - begin <= 3
        assert np.all(steps >= (0 if several else 1))


# ---- bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"height": 0}, "height must be"),
        ({"a_place": -1.0}, "a_place must be"),
        ({"a_gate": -1.0}, "a_gate must be"),
        ({"gate_share": 1.0}, "gate_share must be"),
        ({"mode": "x"}, "mode must be"),
        ({"inference": "x"}, "inference must be"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(ParameterError, match=message):
        PrefixTree(**given)


def test_groups_of_two_need_a_share_of_their_own():
    with pytest.raises(ParameterError, match="gate_share = 0 leaves nothing"):
        printed(gate_share=0.0).publish(PAPER, UNIT)
    printed(gate_share=0.3).publish(PAPER, UNIT)


def test_noise_beyond_reason_is_refused_before_anything_is_asked():
    with pytest.raises(ParameterError, match="take a larger epsilon"):
        PrefixTree().publish(PAPER, PureDP(epsilon="1e-6", unit="sequence"))
    with pytest.raises(ParameterError, match="leaves nothing for groups or for places"):
        PrefixTree(mode="hybrid", gate_share=0.999999).publish(PAPER, UNIT)


def test_declared_groups_must_be_declared():
    data = Sequences.from_records([[1]], domain=Domain.declare(item=range(4)))
    with pytest.raises(DomainError, match="no declared paths"):
        printed().publish(data, UNIT)


def test_too_many_prefixes_are_given_up():
    data = Sequences.from_records([[0]], domain=Domain.declare(item=range(300)))
    method = printed(mode="simple", a_place=0.5, height=6, most=1_000)
    with pytest.raises(ParameterError, match="more than 1,000 prefixes are alive"):
        method.publish(data, UNIT)


def test_what_is_empty_is_published():
    for items in (1, 2, 50):
        data = Sequences.from_records([], domain=Domain.declare(item=range(items)))
        for chosen in ({}, {"generator": "cut"}, {"mode": "hybrid"}):
            PrefixTree(**chosen).publish(data, UNIT)


def test_deeper_groups_are_asked_one_after_the_other():
    paths = [[str(code // 16), str(code // 4)] for code in range(64)]
    domain = Domain.declare(item=range(64)).with_paths("item", paths)
    data = Sequences.from_records([[5, 60, 5]] * 4_000 + [[33]] * 2_000, domain=domain)
    release = PrefixTree(mode="hybrid", taxonomy="declared", height=4).publish(
        data, PureDP(epsilon=2, unit="sequence"), seed=1
    )
    held = dict(release.data.named())
    assert held[(5, 60, 5)] == pytest.approx(4_000, rel=0.05)
    assert held[(33,)] == pytest.approx(2_000, rel=0.05)


@given(st.data())
@settings(max_examples=60)
def test_what_is_written_fits(data):
    """Lengths, and with `cut` every prefix count to within one of what was agreed."""
    record = st.lists(st.integers(0, 4), min_size=1, max_size=7)
    records = data.draw(st.lists(record, max_size=60))
    held = Sequences.from_records(records, domain=Domain.declare(item=range(5)))
    seed = data.draw(st.integers(0, 99))
    mode = data.draw(st.sampled_from(["simple", "hybrid"]))
    promise = PureDP(epsilon=20, unit="sequence")
    release = PrefixTree(height=4, mode=mode).publish(held, promise, seed=seed)
    assert all(1 <= len(path) <= 4 for path in release.data.records())
    method = PrefixTree(height=4, mode=mode, generator="cut")
    tree = method.grow(held.positions(4), method._gates(held), 0, promise.open(held, Noisy(seed)))
    counts = agreed(tree, data.draw(st.sampled_from(["project", "exact"])))
    copies = emitted(tree, counts, "cumulative")
    below = copies.astype(float)
    for node in range(len(tree) - 1, -1, -1):
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += below[node]
    assert np.all(np.abs(below - counts) <= 1 + 1e-9)


def test_the_count_queries_of_the_run_without_noise():
    """Of how many records hold both places: before, after, and the error over the true number."""
    held = VECTOR["noise off"]
    release = publish_with(PrefixTree(**held["parameters"]), PAPER, PureDP(epsilon=6, unit="sequence"), NoiseOff())
    before, after = itemset_index_of(PAPER), itemset_index_of(release.data)
    queries = [(0, 1), (0, 2), (1, 3)]
    assert before.supports(queries).tolist() == [6, 4, 2]
    assert after.supports(queries).tolist() == [5, 2, 2]
    assert set_errors(before, after, queries).tolist() == pytest.approx([1 / 6, 0.5, 0])
