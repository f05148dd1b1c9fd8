"""The ledger spends first, refuses before it draws, and writes down what it spent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from toys import MinimumSupport

from hedgerow.data import Domain
from hedgerow.errors import BudgetExceeded, InternalError, ParameterError
from hedgerow.kinds.sets.data import Sets
from hedgerow.privacy import All, Choose, ExactAnswers, Flip, Laplace, Ledger, NoisyAnswers, PureDP, Shares
from hedgerow.testing import sets_of

ONE = Fraction(1)
COUNTS = np.array([5, 0, 7])


class Counting(ExactAnswers):
    """Counts how many questions were answered."""

    def __init__(self):
        self.answered = 0

    def answer(self, question):
        self.answered += 1
        return super().answer(question)


@pytest.fixture
def answers():
    return Counting()


@pytest.fixture
def ledger(answers):
    return Ledger(ONE, answers)


def test_thirds_add_up(ledger):
    for _ in range(3):
        ledger.ask(COUNTS, Laplace(l1=1), spend=ONE / 3, label="counts")
    assert ledger.left == 0
    assert [(entry.label, entry.spend) for entry in ledger.evidence().entries] == [("counts", ONE)]


def test_overspending_raises_before_anything_is_drawn(ledger, answers):
    ledger.ask(COUNTS, Laplace(l1=1), spend=ONE / 2, label="counts")
    with pytest.raises(BudgetExceeded, match="'more' would spend 2/3 where 1/2 of 1 is left"):
        ledger.ask(COUNTS, Laplace(l1=1), spend=ONE * 2 / 3, label="more")
    with pytest.raises(BudgetExceeded, match="'more' would spend"):
        ledger.survivors(COUNTS[:1], COUNTS[:1], Laplace(l1=1), candidates=9, cutoff=1, spend=ONE, label="more")
    with pytest.raises(BudgetExceeded, match="'more' would spend"):
        ledger.paths(spend=ONE, label="more")
    with pytest.raises(BudgetExceeded, match="'more' would spend"):
        ledger.each([], spend=ONE, label="more")
    assert answers.answered == 1
    assert ledger.left == ONE / 2


@pytest.mark.parametrize("spend", [0.5, "1/2", True, None])
def test_a_share_is_exact_or_refused(ledger, spend):
    with pytest.raises(ParameterError, match="must be"):
        ledger.ask(COUNTS, Laplace(l1=1), spend=spend, label="counts")


@pytest.mark.parametrize("spend", [Fraction(0), Fraction(-1)])
def test_a_share_is_positive(ledger, answers, spend):
    with pytest.raises(ParameterError, match="more than 0"):
        ledger.ask(COUNTS, Laplace(l1=1), spend=spend, label="counts")
    assert (answers.answered, ledger.left) == (0, 1)


@pytest.mark.parametrize(
    ("exact", "mechanism", "message"),
    [
        (np.array([0.5]), Laplace(l1=1), "int64 in 1 dimension; got float64"),
        (np.array([[1]]), Laplace(l1=1), "in 1 dimension; got int64 in 2"),
        (np.array([2**62]), Laplace(l1=1), "beyond 2\\*\\*60"),
        (np.array([1]), Choose(sensitivity=1), "in 2 dimensions; got int64 in 1"),
        (np.zeros((1, 0), np.int64), Choose(sensitivity=1), "at least one candidate"),
        (np.array([2]), Flip(), "neither 0 nor 1"),
    ],
)
def test_exact_answers_are_int64(ledger, exact, mechanism, message):
    with pytest.raises(InternalError, match=message):
        ledger.ask(exact, mechanism, spend=ONE, label="counts")
    assert ledger.left == 1


@pytest.mark.parametrize("bad", [0, -1, 0.5, True])
def test_sensitivities_are_positive_and_exact(bad):
    with pytest.raises(ParameterError, match="l1 must be a positive"):
        Laplace(l1=bad)
    with pytest.raises(ParameterError, match="sensitivity must be a positive"):
        Choose(sensitivity=bad)


def test_the_ledger_of_several_promises_has_the_one_budget_and_knows_them_all(answers):
    """However its promises are combined, an epsilon is had once; parts of the ledger know them too."""
    private, rare = PureDP(epsilon=1, unit="person"), MinimumSupport(2)
    for promise in (All(private, rare), All(rare, All(private)), All(All(rare), private)):
        ledger = promise.open(sets_of([[0]] * 4, 2), answers)  # a person owns two records at most
        assert ledger.budget == ONE / 2
        for part in (ledger, *ledger.split(1, 1)):
            assert (part.promised(PureDP), part.promised(MinimumSupport)) == (private, rare)
        with pytest.raises(BudgetExceeded, match="where 0 of 1/2 is left"):
            ledger.ask(COUNTS, Laplace(l1=1), spend=ONE / 9, label="counts")
    assert All(rare).open(sets_of([[0]], 2), answers).budget == 0
    with pytest.raises(InternalError, match="no promise of class PureDP was made"):
        rare.open(sets_of([[0]], 2), answers).promised(PureDP)


def test_split_reserves_all_at_once(ledger):
    structure, values = ledger.split(1, 3)
    assert (structure.budget, values.budget, ledger.left) == (ONE / 4, ONE * 3 / 4, 0)
    with pytest.raises(BudgetExceeded, match="0 of 1 is left"):
        ledger.ask(COUNTS, Laplace(l1=1), spend=ONE / 9, label="more")
    with pytest.raises(BudgetExceeded, match="nothing left to split"):
        ledger.split(1, 1)
    structure.ask(COUNTS, Laplace(l1=1), spend=ONE / 4, label="structure")
    values.ask(COUNTS, Laplace(l1=1), spend=ONE / 4, label="values")
    assert ledger.evidence().total() == ONE / 2


@pytest.mark.parametrize("weights", [(), (0, 1), (0.5, 0.5), (-1, 2)])
def test_split_needs_positive_whole_weights(ledger, weights):
    with pytest.raises(ParameterError, match="positive whole weights"):
        ledger.split(*weights)


def test_pieces_of_a_partition_cost_once(ledger):
    domain = Domain.declare(item=["a", "b", "c"])
    data = Sets.from_records(map(list, ["ab", "b", "abc"]), domain=domain)
    asked = {}
    for (item, piece), sub in ledger.each(data.partition("first item"), spend=ONE, label="by item"):
        asked[item] = sub.ask(np.array([len(piece)]), Laplace(l1=1), spend=ONE, label="size").tolist()
        with pytest.raises(BudgetExceeded, match="would spend"):
            sub.ask(np.array([len(piece)]), Laplace(l1=1), spend=ONE, label="size")
    assert asked == {"a": [2], "b": [1], "c": [0]}  # the empty piece is asked as well
    (entry,) = ledger.evidence().entries
    assert (entry.label, entry.spend, entry.questions) == ("by item", ONE, ("size",))


def test_coins_cost_nothing_and_repeat_with_their_key():
    first, second = (Ledger(ONE, NoisyAnswers(seed=9)).coins().integers(0, 2**62, 4).tolist() for _ in "ab")
    assert first == second
    fresh = Ledger(ONE, NoisyAnswers()).coins().integers(0, 2**62, 4).tolist()
    assert fresh != first


def test_notes_stand_in_the_evidence(ledger):
    ledger.note("levels grown", 3)
    assert ledger.evidence().notes == (("levels grown", 3),)


def test_a_person_with_many_records_costs_what_was_promised():
    domain = Domain.declare(item=["a", "b"], records_per_person=4)
    data = Sets.from_records([["a"]], domain=domain, persons=["x"])
    ledger = PureDP(epsilon=1, unit="person").open(data, ExactAnswers())
    assert ledger.budget == ONE / 4
    ledger.ask(COUNTS, Laplace(l1=1), spend=ledger.budget, label="counts")
    assert ledger.evidence().total() == 1


# ---- paths


def grow(tree, parents, spend):
    return tree.ask(np.ones(len(parents), np.int64), Laplace(l1=1), under=parents, spend=spend, label="cells")[0]


def test_siblings_cost_nothing_extra_and_paths_add_up(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    children = grow(tree, np.zeros(50, np.int64), ONE / 3)
    assert tree.left(children) == Shares.spread(ONE * 2 / 3, 50)
    below = grow(tree, children[:2], [ONE * 2 / 3, ONE / 3])
    assert tree.left(below).fractions() == [0, ONE / 3]
    with pytest.raises(BudgetExceeded, match="would spend 4/3 along a path that may spend 1"):
        grow(tree, below, ONE / 3)
    assert tree.left(grow(tree, below[1:], ONE / 3)).fractions() == [0]


def test_a_node_is_asked_for_its_children_once(ledger, answers):
    tree = ledger.paths(spend=ONE, label="tree")
    grow(tree, tree.root, ONE / 9)
    with pytest.raises(BudgetExceeded, match="asks twice below the same node"):
        grow(tree, tree.root, ONE / 9)
    with pytest.raises(BudgetExceeded, match="asks twice below the same node"):
        tree.survivors(
            COUNTS[:0],
            COUNTS[:0],
            COUNTS[:0],
            Laplace(l1=1),
            under=tree.root,
            candidates=3,
            cutoff=1,
            spend=ONE / 9,
            label="again",
        )
    assert answers.answered == 1


def test_a_node_of_another_forest_is_refused(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    with pytest.raises(InternalError, match="not in this forest"):
        grow(tree, np.array([5]), ONE / 9)


def test_every_cell_of_a_forest_spends_something(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    with pytest.raises(BudgetExceeded, match="more than 0 in every cell"):
        grow(tree, np.zeros(2, np.int64), [ONE, Fraction(0)])


def test_closing_gives_back_what_no_path_has_spent(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    grow(tree, tree.root, ONE / 4)
    assert (ledger.left, tree.close(), ledger.left) == (0, ONE * 3 / 4, ONE * 3 / 4)
    assert ledger.evidence().total() == ONE / 4
    with pytest.raises(BudgetExceeded, match="closed"):
        grow(tree, np.array([1]), ONE / 4)
    with pytest.raises(BudgetExceeded, match="closed"):
        tree.close()


def test_a_path_counts_by_what_was_asked_though_nothing_survived(ledger):
    """A forest that is asked, comes back empty and is closed has still spent its share."""
    none = COUNTS[:0]
    tree = ledger.paths(spend=ONE, label="tree")
    grown = tree.survivors(
        none, none, none, Laplace(l1=1),
        under=tree.root, candidates=9, cutoff=1_000, spend=ONE * 2 / 3, label="cells",
    )  # fmt: skip
    assert len(grown.nodes) == 0
    assert tree.close() == ONE / 3
    assert (ledger.left, ledger.evidence().total()) == (ONE / 3, ONE * 2 / 3)
    with pytest.raises(BudgetExceeded, match="would spend 2/3 where 1/3 of 1 is left"):
        ledger.paths(spend=ONE * 2 / 3, label="tree")


def test_a_forest_is_closed_by_its_longest_path(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    children = grow(tree, np.zeros(2, np.int64), [ONE / 2, ONE / 9])
    grow(tree, children[1:], ONE / 9)  # asked later, and still the shorter path
    assert tree.close() == ONE / 2


def test_every_parent_of_a_call_is_asked_once(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    children = grow(tree, np.zeros(2, np.int64), ONE / 9)
    grow(tree, children, ONE / 9)
    for child in children:
        with pytest.raises(BudgetExceeded, match="asks twice below the same node"):
            grow(tree, np.array([child]), ONE / 9)


def test_nodes_of_two_forests_are_told_apart(ledger):
    first = ledger.paths(spend=ONE / 2, label="first")
    second = ledger.paths(spend=ONE / 2, label="second")
    node = grow(first, first.root, ONE / 9)
    for foreign in (node, first.root):
        with pytest.raises(InternalError, match="not in this forest"):
            grow(second, foreign, ONE / 9)
    assert second.left(grow(second, second.root, ONE / 9)).fractions() == [ONE / 2 - ONE / 9]


def test_noise_that_cannot_be_held_is_refused_whoever_is_listed(ledger):
    for listed in (COUNTS[:0], COUNTS[:1]):
        with pytest.raises(ParameterError, match="scale of this noise is beyond"):
            ledger.survivors(listed, listed, Laplace(l1=2**55), candidates=9, cutoff=2**59, spend=ONE, label="x")
    assert ledger.left == 1


def test_only_mechanisms_with_a_proven_price_are_asked(ledger):
    class Free(Laplace):
        def loss(self, exact, other, answer, spend):
            return Fraction(0)

    with pytest.raises(InternalError, match="Free is not a mechanism with a proven price"):
        ledger.ask(COUNTS, Free(l1=1), spend=ONE, label="free")
    with pytest.raises(InternalError, match="Free is not a mechanism with a proven price"):
        grow_with = ledger.paths(spend=ONE, label="tree")
        grow_with.ask(COUNTS, Free(l1=1), under=np.zeros(3, np.int64), spend=ONE, label="free")


def test_touches_stretch_the_noise():
    """With three tokens a record the noise of a cell is three times as wide."""
    spreads = []
    for touches in (1, 3):
        tree = Ledger(ONE, NoisyAnswers(seed=1)).paths(spend=ONE, touches=touches, label="tree")
        under = np.zeros(20_000, np.int64)
        _, noisy = tree.ask(np.zeros(20_000, np.int64), Laplace(l1=10), under=under, spend=ONE, label="cells")
        spreads.append(noisy.std())
    assert 2.85 < spreads[1] / spreads[0] < 3.15


@pytest.mark.parametrize("touches", [0, -1, 1.5, True])
def test_touches_are_a_positive_whole_number(ledger, touches):
    with pytest.raises(ParameterError, match="touches must be"):
        ledger.paths(spend=ONE, touches=touches, label="tree")


def test_families_of_one_parent_may_have_shares_and_cutoffs_of_their_own(ledger):
    tree = ledger.paths(spend=ONE, label="tree")
    grown = tree.survivors(
        np.array([0, 1, 1]),
        np.array([2, 0, 1]),
        np.array([5, 5, 9]),
        Laplace(l1=1),
        under=np.zeros(2, np.int64),
        candidates=np.array([3, 2]),
        cutoff=np.array([5, 6]),
        spend=[ONE / 2, ONE / 4],
        label="children",
    )
    assert (grown.at.tolist(), grown.codes.tolist(), grown.noisy.tolist()) == (
        [0, 1],
        [2, 1],
        [5, 9],
    )
    assert tree.left(grown.nodes).fractions() == [ONE / 2, ONE * 3 / 4]


# ---- shares


def test_shares_are_exact_and_spread():
    shares = Shares.of([ONE / 3, ONE / 2, ONE / 3])
    assert (shares * np.array([3, 2, 6])).fractions() == [1, 1, 2]
    assert (shares + shares).fractions() == [ONE * 2 / 3, 1, ONE * 2 / 3]
    assert shares.rounded_down(ONE / 4).fractions() == [ONE / 4, ONE / 2, ONE / 4]
    assert shares.weigh(np.array([3, 2, 2**62])) == 1 + 1 + ONE * 2**62 / 3
    assert shares.weigh(np.array([2**62] * 3)) == 2**62 * (ONE / 3 + ONE / 2 + ONE / 3)
    assert len(shares.table) == 2
    with pytest.raises(ParameterError, match="got 3 shares for 2"):
        Shares.spread(shares, 2)
    with pytest.raises(ParameterError, match=r"Fraction or a whole number; got 0\.5"):
        Shares.of([0.5])
