"""Counts of a tree that agree: as by hand, as by a solver, and what the printed steps leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printed import pushed_down, rounded_each
from scipy import optimize

from hedgerow.kinds.sequences.methods.prefix_tree.draw import count_endings
from hedgerow.kinds.sequences.methods.prefix_tree.model import (
    NoisyTree,
    least_squares,
    path_estimates,
    project_children,
)
from hedgerow.numerics.projections import isotonic_regression

PAIR = np.array([-1, 0, 0]), np.array([1, 2, 2])
DEEP = np.array([-1, 0, 0, 1, 1]), np.array([1, 2, 2, 3, 3])


@st.composite
def forests(draw):
    """A forest of up to four levels, its counts and weights."""
    parent, level, last = [-1] * draw(st.integers(1, 3)), [], []
    level = [1] * len(parent)
    last = list(range(len(parent)))
    for depth in range(2, draw(st.integers(2, 5))):
        new = []
        for node in last:
            for _ in range(draw(st.integers(0, 3))):
                parent.append(node)
                level.append(depth)
                new.append(len(parent) - 1)
        last = new
    number = st.integers(-20, 60).map(float)
    counts = draw(st.lists(number, min_size=len(parent), max_size=len(parent)))
    some = st.sampled_from([0.25, 1.0, 3.0])
    weight = draw(st.lists(some, min_size=len(parent), max_size=len(parent)))
    return np.array(parent), np.array(level), np.array(counts), np.array(weight)


def agrees(parent, counts):
    below = np.bincount(parent + 1, counts, len(parent) + 1)[1:]
    return np.all(counts >= -1e-9) and np.all(below <= counts + 1e-9)


def by_solver(parent, counts, weight):
    """What stops at each node is at least 0: non-negative least squares."""
    stops = np.eye(len(parent))
    for node, above in enumerate(parent):
        if above >= 0:
            stops[above, node] -= 1
    counted = np.linalg.inv(stops)
    root = np.sqrt(weight)
    return counted @ optimize.nnls(root[:, None] * counted, root * counts, maxiter=10_000)[0]


@given(
    st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=9),
    st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=9, max_size=9),
)
@settings(max_examples=200)
def test_isotonic_rows_are_those_of_a_library(values, weights):
    row, weight = np.array([values]), np.array([weights[: len(values)]])
    expected = optimize.isotonic_regression(row[0], weights=weight[0]).x
    assert isotonic_regression(row, weight)[0] == pytest.approx(expected)


def test_isotonic_examples():
    assert isotonic_regression(np.array([[3.0, 7, 5, 6, 10]]), np.ones((1, 5))).tolist() == [[3, 6, 6, 6, 10]]
    assert isotonic_regression(np.array([[9.0, 2, 4, 4]]), np.ones((1, 4))).tolist() == [[4.75] * 4]


def test_children_are_pushed_down_and_never_up():
    for top, children, expected in ((10.0, (7, 5), (6, 4)), (20.0, (7, 5), (7, 5))):
        for push in (pushed_down, project_children):
            assert push(*PAIR, np.array([top, *children])).tolist() == [top, *expected]


def test_the_papers_way_leaves_counts_that_do_not_agree():
    """Its claim that consistency is easy to see is false: a child above its parent, and below 0."""
    noisy = np.array([4.0, 10.0, 1.0])
    means = path_estimates(*PAIR, noisy, np.ones(3))
    assert means.tolist() == [5.5, 7.0, 1.0]
    printed = pushed_down(*PAIR, means)
    assert printed.tolist() == [5.5, 5.75, -0.25]
    assert not agrees(PAIR[0], printed)
    assert project_children(*PAIR, means).tolist() == [5.5, 5.5, 0.0]
    assert least_squares(*PAIR, noisy, np.ones(3)) == pytest.approx([7, 7, 0])


def test_three_levels():
    noisy = np.array([10.0, 8.0, 6.0, 9.0, 3.0])
    means = path_estimates(*DEEP, noisy, np.ones(5))
    assert means.tolist() == [10, 8.25, 6, 8.5, 3]
    for push in (pushed_down, project_children):
        assert push(*DEEP, means).tolist() == [10, 6.125, 3.875, 5.8125, 0.3125]
    assert least_squares(*DEEP, noisy, np.ones(5)) == pytest.approx([12, 8, 4, 7, 1])


@given(forests())
@settings(max_examples=150)
def test_least_squares_are_those_of_a_solver(forest):
    parent, level, counts, weight = forest
    assert least_squares(parent, level, counts, weight) == pytest.approx(by_solver(parent, counts, weight), abs=1e-6)


@given(forests())
@settings(max_examples=200)
def test_counts_agree(forest):
    parent, level, counts, weight = forest
    means = path_estimates(parent, level, counts, weight)
    assert agrees(parent, project_children(parent, level, means))
    assert agrees(parent, project_children(parent, level, least_squares(parent, level, counts, weight)))
    total = float(np.maximum(counts, 0).sum()) / 2
    first = project_children(parent, level, counts, total)[level == 1]
    assert first.sum() <= total + 1e-9


@given(forests())
@settings(max_examples=100)
def test_depth_first_order_has_each_node_before_its_children(forest):
    parent, level, counts, _ = forest
    tree = NoisyTree(3)
    for depth in range(1, int(level.max()) + 1):
        nodes = np.flatnonzero(level == depth)
        order = np.argsort(parent[nodes], kind="stable")
        assert np.array_equal(order, np.arange(len(nodes)))
        tree.add(parent[nodes], np.arange(len(nodes)) % 3, counts[nodes], np.ones(len(nodes)))
    walk = tree.depth_first().tolist()
    assert sorted(walk) == list(range(len(parent)))
    place = {node: number for number, node in enumerate(walk)}
    for node in range(len(parent)):
        below = {node}
        for other in range(node + 1, len(parent)):
            if parent[other] in below:
                below.add(other)
        assert {walk[place[node] + step] for step in range(len(below))} == below


def test_rounding_each_by_itself_loses_what_rounding_together_keeps():
    tree = NoisyTree(4)
    tree.add(np.full(3, -1), np.arange(3), np.full(3, 0.4), np.ones(3))
    assert rounded_each(tree, tree.noisy).tolist() == [0, 0, 0]
    assert count_endings(tree, tree.noisy).sum() == 1
