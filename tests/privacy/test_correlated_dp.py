"""(epsilon, k)-differential privacy is epsilon / k for one edge, in the ledger, the statement and the account."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from accounts import charge, entries
from graph_toys import FIGURE, TwoRegions, graph_on

import hedgerow
from hedgerow import All, CorrelatedDP, Laplace, PureDP
from hedgerow.charts import budget_chart
from hedgerow.errors import BudgetExceeded, ParameterError, UnsupportedGuarantee
from hedgerow.privacy import ExactAnswers, NoisyAnswers
from hedgerow.privacy.parsing import build, from_options, from_plain
from hedgerow.releases.account import Account, create_account
from hedgerow.settings import promise
from hedgerow.testing import check_replay, mutant, output_distribution, sets_of, worst_loss

TEN = CorrelatedDP(epsilon=1, k=10, unit="edge")
EDGE = PureDP(epsilon=1, unit="edge")


def test_it_is_exported():
    assert hedgerow.CorrelatedDP is CorrelatedDP
    assert "CorrelatedDP" in hedgerow.__all__


@pytest.mark.parametrize(
    ("epsilon", "k", "budget"),
    [(1, 10, Fraction(1, 10)), ("1/3", "7", Fraction(1, 21)), (0.5, 1, Fraction(1, 2)), (1, 10**6, Fraction(1, 10**6))],
)
def test_the_budget_is_an_exact_quotient(epsilon, k, budget):
    guarantee = CorrelatedDP(epsilon=epsilon, k=k, unit="edge")
    assert guarantee.budget == budget
    ledger = guarantee.open(FIGURE, ExactAnswers())
    assert ledger.budget == budget
    assert type(ledger.budget) is Fraction


@pytest.mark.parametrize("k", [0, -1, "0", "x", "", 2.0, "1.5", True, None, "²"])
def test_k_is_a_whole_number_from_one(k):
    with pytest.raises(ParameterError, match=r"k must be a whole number of at least 1; got '"):
        CorrelatedDP(epsilon=1, k=k, unit="edge")


def test_k_is_no_absurd_number():
    for k, shown in [
        (10**6 + 1, "1000001"),
        ("9999999", "9999999"),
        (10**5000, "more than 18"),
        ("9" * 900, "more than"),
    ]:
        message = f"k must be at most 1,000,000: it is how many edges are protected together; got {shown}"
        with pytest.raises(ParameterError, match=message):
            CorrelatedDP(epsilon=1, k=k, unit="edge")


@pytest.mark.parametrize("epsilon", [0, -1, "x", "1e20"])
def test_epsilon_is_checked_as_that_of_pure_differential_privacy(epsilon):
    with pytest.raises(ParameterError) as pure:
        PureDP(epsilon=epsilon, unit="edge")
    with pytest.raises(ParameterError) as ours:
        CorrelatedDP(epsilon=epsilon, k=2, unit="edge")
    assert str(ours.value) == str(pure.value)


def test_it_is_about_edges_of_networks_only():
    with pytest.raises(ParameterError, match=r"CorrelatedDP protects edges: unit must be 'edge'; got 'person'"):
        CorrelatedDP(epsilon=1, k=2, unit="person")
    with pytest.raises(ParameterError, match="CorrelatedDP is a promise about graphs; got sets"):
        TEN.open(sets_of([[0]], 2), ExactAnswers())
    with pytest.raises(UnsupportedGuarantee, match="flat-laplace does not keep CorrelatedDP; it keeps PureDP"):
        hedgerow.FlatLaplace().publish(sets_of([[0]], 2), TEN)


def test_none_of_its_fields_has_a_default():
    for missing in ("epsilon", "k", "unit"):
        fields = {"epsilon": 1, "k": 2, "unit": "edge"}
        del fields[missing]
        with pytest.raises(TypeError, match=missing):
            CorrelatedDP(**fields)


def test_it_is_written_and_read_again():
    for guarantee in (TEN, CorrelatedDP(epsilon="1/3", k=1, unit="edge"), All(TEN)):
        again = from_plain(json.loads(json.dumps(guarantee.to_plain())))
        assert again == guarantee
        assert repr(again) == repr(guarantee)
    assert TEN.to_plain() == {"name": "CorrelatedDP", "epsilon": "1", "k": "10", "unit": "edge"}
    assert CorrelatedDP(epsilon=1, k=9, unit="edge") != TEN
    assert CorrelatedDP(epsilon=1, k=1, unit="edge") != EDGE  # the same protection, another promise
    with pytest.raises(ParameterError, match="is not written as Hedgerow writes it"):
        from_plain({**TEN.to_plain(), "k": "010"})
    with pytest.raises(ParameterError, match="at most one differentially private guarantee"):
        All(TEN, EDGE)


def test_the_options_say_which_promise_is_meant():
    options = {"epsilon": "1", "unit": "edge"}
    assert promise(TwoRegions, options) == EDGE
    assert promise(TwoRegions, {**options, "k": "10"}) == TEN
    assert from_options({**options, "k": "10"}, kind="graphs") == TEN
    # trajectories are no networks: k and l together still mean only one thing
    both = from_options({"epsilon": "1", "unit": "trajectory", "k": "3", "l": "2"}, kind="trajectories")
    assert [part.name for part in both.parts()] == ["PureDP", "KCL"]
    assert build(["CorrelatedDP"], {**options, "k": "10", "l": "2"}) == TEN


# ---- what it promises


def test_group_privacy_as_in_the_example_of_the_paper():
    """Example 7.3.1: ten correlated records are all there or none is, and the noisy answer is 12."""
    count, none, answer = np.array([10]), np.array([0]), np.array([12])
    for k, ratio in [(1, 10), (10, 1)]:
        spend = CorrelatedDP(epsilon=Fraction(3, 10), k=k, unit="edge").budget
        assert Laplace(l1=1).loss(count, none, answer, spend) == ratio * Fraction(3, 10)
        likelihoods = [math.exp(-float(spend) * abs(12 - exact)) for exact in (10, 0)]
        assert math.isclose(math.log(likelihoods[0] / likelihoods[1]), ratio * 0.3)


def test_the_sentence_says_what_it_is_and_what_it_is_not():
    sentence = TEN.sentence()
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")
    for piece in [
        "by a factor above e^0.1 (about 1.11) if any one edge had been removed from the data or added to it",
        "nor by a factor above e^1 (about 2.72) if any 10 edges had been",
        "0.1-differential privacy for one edge, add or remove, and by group privacy 1 for any 10 edges together",
        "this is not node privacy, which would hide all edges of a vertex",
        "promises nothing about other correlations between edges",
    ]:
        assert piece in sentence
    assert "group privacy" not in CorrelatedDP(epsilon=1, k=1, unit="edge").sentence()
    assert "promises little" in CorrelatedDP(epsilon=30, k=2, unit="edge").sentence()
    assert any("A vertex with more than 10 edges" in limit for limit in TEN.limits(FIGURE.domain))


@pytest.mark.parametrize("guarantee", [TEN, All(TEN)])
def test_the_shares_of_a_statement_add_up_to_epsilon_over_k(guarantee):
    release = TwoRegions().publish(FIGURE, guarantee, seed=1)
    assert release.evidence.total() == Fraction(1, 10)
    statement = release.statement()
    assert "## Questions asked of the data, with their share of epsilon / k\n" in statement
    assert "- edges: 0.1 of 0.1 (discrete Laplace, exponential)" in statement
    assert ("epsilon / k", "0.1") in guarantee.figures()
    chart = budget_chart(release.evidence, guarantee.budget_name)
    assert "epsilon / k" in json.dumps(chart)
    pure = TwoRegions().publish(FIGURE, EDGE, seed=1).statement()
    assert "with their share of epsilon\n" in pure
    assert "1-differential privacy for one edge, add or remove" in pure


def test_with_k_of_one_it_is_pure_differential_privacy():
    one = CorrelatedDP(epsilon="2/7", k=1, unit="edge")
    pure = PureDP(epsilon="2/7", unit="edge")
    for seed in range(5):
        ours, theirs = (TwoRegions().publish(FIGURE, guarantee, seed=seed).data for guarantee in (one, pure))
        assert ours.to_bytes() == theirs.to_bytes()
    tenth = PureDP(epsilon="1/10", unit="edge")
    assert (
        TwoRegions().publish(FIGURE, TEN, seed=1).data.edges()
        == TwoRegions().publish(FIGURE, tenth, seed=1).data.edges()
    )


@pytest.mark.parametrize("guarantee", [TEN, EDGE])
def test_the_replay_law_holds_within_epsilon_over_k(guarantee):
    for number in range(len(FIGURE)):
        replay = check_replay(TwoRegions(), FIGURE, FIGURE.neighbour(number, unit="edge"), guarantee, number)
        assert replay.moved
        assert 0 < replay.loss <= guarantee.budget


def test_spending_epsilon_instead_of_epsilon_over_k_is_caught():
    broken = mutant(TwoRegions, "ledger.budget / 3", "ledger.budget * 10 / 3")
    with pytest.raises(BudgetExceeded):
        broken().publish(FIGURE, TEN, seed=1)


def test_k_edges_together_lose_at_most_epsilon():
    """Every graph on three vertices, and every number of edges that differ: group privacy, enumerated."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    guarantee = CorrelatedDP(epsilon=3, k=3, unit="edge")
    laws = {}
    for mask in range(8):
        data = graph_on(3, [pair for bit, pair in enumerate(pairs) if mask >> bit & 1])
        laws[mask] = output_distribution(TwoRegions(), data, guarantee, low=-3, high=6)
        assert math.isclose(sum(laws[mask].values()), 1, rel_tol=1e-9)
    for (one, first), (other, second) in itertools.product(laws.items(), repeat=2):
        assert worst_loss(first, second) <= (one ^ other).bit_count() + 1e-9
    one_edge = max(worst_loss(laws[mask], laws[mask ^ bit]) for mask in laws for bit in (1, 2, 4))
    assert 0.6 < one_edge < 0.62
    assert worst_loss(laws[0], laws[7]) > 0.99  # so several edges do lose more than one


# ---- accounts


def test_an_account_is_charged_what_one_edge_costs(tmp_path):
    path = tmp_path / "edges.toml"
    create_account(path, "1/2", "edge")
    for guarantee in (TEN, CorrelatedDP(epsilon=1, k=5, unit="edge"), PureDP(epsilon="0.1", unit="edge")):
        with charge(path, guarantee) as charged:
            charged.book()
            described = charged.describe()
        assert ("(epsilon / k)" in described) == isinstance(guarantee, CorrelatedDP)
    assert [entry["epsilon"] for entry in entries(path)] == ["1/10", "1/5", "1/10"]
    # the composition rule for (epsilon, k) follows: at most the sum of epsilons over the smallest k
    assert Account.read(path).spent == Fraction(2, 5) <= Fraction(1 + 1, 5) + Fraction(1, 10)
    with pytest.raises(BudgetExceeded, match=r"has 0\.1 left of 0\.5; the release needs 0\.2 \(epsilon / k\)"):
        charge(path, CorrelatedDP(epsilon=1, k=5, unit="edge")).book()
    charge(path, TEN).book()
    assert Account.read(path).spent == Fraction(1, 2)


def test_an_account_for_records_is_not_charged_for_edges(tmp_path):
    path = tmp_path / "records.toml"
    create_account(path, "2", "record")
    with pytest.raises(UnsupportedGuarantee, match="is for unit 'record'; the release is for 'edge'"):
        charge(path, TEN).book()


def test_noise_grows_in_proportion_to_k():
    spreads = []
    for k in (1, 10):
        ledger = CorrelatedDP(epsilon=1, k=k, unit="edge").open(FIGURE, NoisyAnswers(seed=4))
        noisy = ledger.ask(np.zeros(20_000, np.int64), Laplace(l1=1), spend=ledger.budget, label="zeros")
        spreads.append(np.abs(noisy).mean())
    assert 9 < spreads[1] / spreads[0] < 13
