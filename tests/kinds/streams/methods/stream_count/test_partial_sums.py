"""Trees of partial sums: against the papers' own algorithms, and in how many nodes events and counts are."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import BudgetExceeded
from hedgerow.kinds.streams.methods import running_sums as partial_sums
from hedgerow.kinds.streams.methods.partial_sums_model import BinaryTree, SmoothTree
from hedgerow.kinds.streams.methods.running_sums import Leaves, noisy_sums
from hedgerow.privacy import ExactAnswers, Ledger
from hedgerow.testing import changed

# ---- Continual counting, slowly and as the papers print it: words, nodes and sums written out

#: the noise of a node, by its rank from 0 and its number among the nodes of that rank; rank -1 for empty nodes
Noise = Callable[[int, int], int]


def words(zeros: int, ones: int) -> list[str]:
    """All words of so many zeros and ones, in increasing order."""
    length = zeros + ones
    places = combinations(range(length), zeros)
    return sorted("".join("0" if bit in chosen else "1" for bit in range(length)) for chosen in places)


def nodes_before(word: str) -> list[str]:
    """The nodes to the left of each one: together, all that comes before the word."""
    return [word[:bit] + "0" for bit in range(len(word)) if word[bit] == "1"]


def left_children_over(word: str) -> list[str]:
    """The nodes that hold a word, and are to the left in their parent."""
    return [word[: bit + 1] for bit in range(len(word)) if word[bit] == "0"]


def smooth_counts(leaves: Sequence[int], zeros: int, ones: int, noise: Noise) -> list[int]:
    """The sum of all leaves so far, after each: what comes before the next word."""
    names = words(zeros, ones)
    drawn: dict[str, int] = {}
    numbers: dict[int, int] = defaultdict(int)
    counts = []
    for time in range(1, len(leaves) + 1):
        count = 0
        for node in nodes_before(names[time]):
            inside = [leaf for leaf, name in zip(leaves, names, strict=False) if name.startswith(node)]
            if node not in drawn:
                rank = node.count("0") - 1 if node.count("0") <= zeros else -1
                drawn[node] = noise(rank, numbers[rank])
                numbers[rank] += 1
            count += sum(inside) + drawn[node]
        counts.append(count)
    return counts


def binary_counts(leaves: Sequence[int], levels: int, noise: Noise) -> list[int]:
    """The binary mechanism as Chan, Shi and Song print it (Algorithm 2), with the noise of each partial sum given."""
    exact, noisy = [0] * levels, [0] * levels
    numbers: dict[int, int] = defaultdict(int)
    counts = []
    for time, leaf in enumerate(leaves, start=1):
        lowest = next(level for level in range(levels) if time >> level & 1)
        exact[lowest] = sum(exact[:lowest]) + leaf
        for level in range(lowest):
            exact[level] = noisy[level] = 0
        rank = levels - 1 - lowest
        noisy[lowest] = exact[lowest] + noise(rank, numbers[rank])
        numbers[rank] += 1
        counts.append(sum(noisy[level] for level in range(levels) if time >> level & 1))
    return counts


# ---- tests

SMALL = [(zeros, ones) for zeros in range(1, 6) for ones in range(1, 6)]


def scripted(rank, number):
    """Noise that names its node: no two nodes have the same, and no two sums of a few are likely to."""
    return (7919 * (rank + 2) ** 3 + 104_729 * number**2 + 31 * number) % 1_000_003


def in_runs(leaves, sizes):
    """Split leaves into runs of these sizes, over and over; some may be empty."""
    leaves, runs = np.array(leaves, np.int64), []
    for size in sizes * (len(leaves) + 1):
        runs.append(leaves[:size])
        leaves = leaves[size:]
        if not len(leaves):
            return runs
    return [*runs, leaves]


def with_scripted_noise(leaves, tree, sizes):
    """Run the shipped code on noise by script. Leaves are above 0, so that only empty nodes are 0."""
    numbers = defaultdict(int)

    def ask(rank, exact):
        rank = rank if exact.any() else -1
        start = numbers[rank]
        numbers[rank] += len(exact)
        return exact + np.array([scripted(rank, number) for number in range(start, numbers[rank])], np.int64)

    runs = (Leaves(run, run) for run in in_runs(leaves, sizes))
    answers = list(partial_sums._answer(runs, tree, ask))
    times, *columns = (np.concatenate(column).tolist() for column in zip(*answers, strict=True))
    assert times == leaves  # passed on as they are
    return columns


SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=4)


@given(shape=st.sampled_from(SMALL), sizes=SIZES, seed=st.integers(0, 99), share=st.floats(0.01, 1))
def test_smooth_counts_are_those_of_the_paper_node_by_node(shape, sizes, seed, share):
    tree = SmoothTree(*shape)
    leaves = np.random.default_rng(seed).integers(1, 9, math.ceil(share * tree.leaves)).tolist()
    counts, noises = with_scripted_noise(leaves, tree, sizes)
    assert counts == smooth_counts(leaves, *shape, scripted)
    assert set(noises) == {tree.ones}


@given(length=st.integers(1, 70), horizon=st.integers(0, 30), sizes=SIZES, seed=st.integers(0, 99))
def test_binary_counts_are_those_of_the_paper_node_by_node(length, horizon, sizes, seed):
    tree = BinaryTree(length + horizon)
    leaves = np.random.default_rng(seed).integers(1, 9, length).tolist()
    counts, noises = with_scripted_noise(leaves, tree, sizes)
    assert counts == binary_counts(leaves, tree.ranks, scripted)
    assert noises == [time.bit_count() for time in range(1, length + 1)]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("_add_nodes", "np.diff(known[:, 0])", "(np.diff(known[:, 0]) + (rank == 1))"),
        ("_last_of_each_rank", "np.maximum.accumulate(at)", "at"),
        ("_sum_groups", "ends - sizes", "np.maximum(ends - sizes - 1, 0)"),
        ("_answer", "last[-1, 0] +", "last[0, 0] +"),
    ],
    ids=["events counted twice", "larger nodes forgotten", "noise used twice", "nodes of several runs cut off"],
)
def test_the_comparison_with_the_papers_notices(name, old, new):
    tree, leaves = SmoothTree(3, 3), list(range(1, 20))
    expected = smooth_counts(leaves, 3, 3, scripted)
    assert with_scripted_noise(leaves, tree, [4])[0] == expected
    with changed(partial_sums, name, old, new):
        assert with_scripted_noise(leaves, tree, [4])[0] != expected


# ---- the trees


@pytest.mark.parametrize(("zeros", "ones"), SMALL)
def test_every_count_has_as_many_nodes_and_every_event_is_in_as_many(zeros, ones):
    """By the words themselves, for every leaf: what the noise of the method follows from."""
    names = words(zeros, ones)
    assert len(names) == SmoothTree(zeros, ones).leaves + 1
    for time, name in enumerate(names):
        nodes = nodes_before(name)
        assert len(nodes) == ones
        assert Counter(other for node in nodes for other in names if other.startswith(node)) == Counter(names[:time])
        assert len(left_children_over(name)) == zeros


@pytest.mark.parametrize("leaves", [1, 2, 3, 4, 5, 19, 20, 100, 1000, 2**16])
def test_trees_are_as_large_as_they_must_be(leaves):
    """For q leaves there are q + 1 words; the best tree is the best of all."""
    best, balanced = SmoothTree.best(leaves), SmoothTree.balanced(leaves)
    assert min(best.leaves, balanced.leaves) >= leaves
    assert balanced == SmoothTree(1, 1) or SmoothTree(balanced.zeros - 1, balanced.ones - 1).leaves < leaves
    shapes = [(z, k) for z in range(1, 40) for k in range(1, 400) if math.comb(z + k, z) >= leaves + 1]
    assert best.variance == min((k * z * z for z, k in shapes), default=leaves)
    assert BinaryTree(leaves).ranks == (math.ceil(math.log2(leaves)) + 1)


def test_figures_for_two_to_the_sixteen_leaves():
    """In units of twice the squared scale: by formula."""
    leaves = 2**16
    assert SmoothTree.best(leaves) == SmoothTree(zeros=5, ones=21)
    assert SmoothTree.best(leaves).variance == 525
    assert SmoothTree.balanced(leaves).variance == 1000
    levels = BinaryTree(leaves).ranks
    nodes = [time.bit_count() for time in range(1, leaves + 1)]
    assert (levels, sum(nodes) / leaves, max(nodes)) == (17, 8 + 1 / leaves, 16)


def test_the_largest_trees_cost_nothing_to_start():
    tree = SmoothTree.best(10**15)
    ends = next(tree.endings(iter([1000])))
    assert len(ends.ranks) == 1000
    assert ends.ranks.max() == tree.zeros - 1


def test_a_tree_ends_with_its_last_leaf():
    tree = SmoothTree(2, 2)
    assert len(next(tree.endings(iter([5]))).ranks) == 5
    with pytest.raises(RuntimeError):
        list(tree.endings(iter([6])))


# ---- the budget


@pytest.mark.parametrize("tree", [BinaryTree(9), SmoothTree.best(9), SmoothTree.balanced(9)])
def test_the_whole_budget_is_charged_before_a_leaf_is_read(tree):
    def leaves():
        raise AssertionError
        yield

    ledger = Ledger(Fraction(1), ExactAnswers())
    noisy_sums(leaves(), tree, ledger, l1=1)
    assert ledger.left == 0
    assert [entry.spend for entry in ledger.evidence().entries] == [Fraction(1)]
    with pytest.raises(BudgetExceeded):
        noisy_sums(leaves(), tree, ledger, l1=1)
