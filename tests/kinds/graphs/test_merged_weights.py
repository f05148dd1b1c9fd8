"""Files of several owners: their mean has the law of one program, and nothing else is merged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import Distortion, Domain, GaussianWeights, Graph
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs import merged_weights
from hedgerow.kinds.graphs.cases import equip, random_data
from hedgerow.testing import changed

FALSE_ALARM = 1e-6


def network(edges, weights, *, directed=False, vertices=("ann", "bob", "cleo")):
    return Graph.from_edges(edges, weights=weights, directed=directed, domain=Domain.declare(vertex=vertices))


def by_owner(graph):
    """What each vertex knows: its edges without direction, or those that lead away from it."""
    for vertex in range(graph.domain.size("vertex")):
        mine = graph.first == vertex
        if not graph.directed:
            mine = mine | (graph.second == vertex)
        if mine.any():
            yield replace(graph, first=graph.first[mine], second=graph.second[mine], weights=graph.weights[mine])


def check_law(sigma=0.5):
    """Merged files of two owners are not told from what one program draws: variance, distribution and floor."""
    size = 20_000
    ends = np.arange(size)
    data = Graph.from_columns(
        source=ends, target=(ends + 1) % size, domain=Domain.declare(vertex=range(size)), weights=np.ones(size)
    )
    one, both = (GaussianWeights(sigma=sigma, owner=owner) for owner in ("one", "both"))
    merged = merged_weights.merge_weights(*(one.publish(data, Distortion(), seed=seed).data for seed in (1, 2))).weights
    drawn = both.publish(data, Distortion(), seed=3).data.weights
    assert stats.ks_2samp(merged, drawn).pvalue > FALSE_ALARM
    law = stats.truncnorm(-np.inf, 0.95 / sigma, scale=sigma)
    assert merged.var() == pytest.approx(law.var() / 2, rel=5 * math.sqrt(2 / size))
    assert merged.min() >= 0.05


@pytest.mark.filterwarnings("ignore:sigma is 0.5")
def test_merged_files_have_the_law_of_one_program():
    check_law()


@given(random_data(st, least=2), st.booleans(), st.integers(0, 2**32))
def test_owners_publish_apart_and_merge(data, directed, seed):
    data = equip(data, ("weights", "directions") if directed else ("weights",))
    method = GaussianWeights(sigma=0.2, owner="one")
    files = [method.publish(part, Distortion(), seed=seed + n).data for n, part in enumerate(by_owner(data))]
    if len(files) < 2:
        return
    merged = merged_weights.merge_weights(*files)
    assert merged.directed == directed
    assert np.array_equal(merged.first, data.first)
    assert np.array_equal(merged.second, data.second)
    assert np.all(merged.weights >= 0.05 * data.weights)
    for edge, weight in zip(merged.edges(), merged.weights.tolist(), strict=True):
        drawn = [dict(zip(file.edges(), file.weights.tolist(), strict=True)).get(edge) for file in files]
        assert weight == pytest.approx(np.mean([each for each in drawn if each is not None]), rel=1e-12)


def check_directions():
    first, second = network([("ann", "bob")], [2], directed=True), network([("bob", "ann")], [3], directed=True)
    merged = merged_weights.merge_weights(first, second)
    assert (merged.edges(), merged.weights.tolist()) == ([("ann", "bob"), ("bob", "ann")], [2, 3])


def test_edges_with_directions_are_put_together():
    check_directions()


def check_vertices():
    """Owners who name other vertices, in another order, or have numbers for names."""
    first = network([("ann", "bob"), ("ann", "9")], [2, 5], vertices=("9", "bob", "ann"))
    second, third = (
        network([("bob", "ann")], [4], vertices=("ann", "bob")),
        network([("9", "ann")], [6], vertices=("ann", "9")),
    )
    merged = merged_weights.merge_weights(first, second, third)
    assert dict(zip(map(frozenset, merged.edges()), merged.weights, strict=True)) == {
        frozenset(("ann", "bob")): 3,
        frozenset(("ann", "9")): 5.5,
    }
    numbers = network([(1, 2)], [2], vertices=(1, 2))
    assert merged_weights.merge_weights(numbers, network([(2, 1)], [4], vertices=(2, 1, 3))).edges() == [(1, 2)]


def test_vertices_are_known_by_their_names():
    check_vertices()


def test_large_weights_do_not_overflow():
    one, other = (network([("ann", "bob")], [weight]) for weight in (1.5e308, 1.7e308))
    assert merged_weights.merge_weights(one, other).weights.tolist() == [1.6e308]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([network([("ann", "bob")], [2])], "merge the files of at least two owners"),
        (
            [network([("ann", "bob")], [2]), network([("ann", "cleo")], [3])],
            "each edge must be in exactly two files, those of its ends; 2 are in fewer, and 0 in more; nothing was merged",
        ),
        ([network([("ann", "bob")], [2])] * 3, "0 are in fewer, and 1 in more; nothing was merged"),
        (
            [network([("ann", "bob")], [2], directed=True)] * 2,
            "each edge must be in exactly one file, that of its source; 0 are in fewer, and 1 in more",
        ),
        (
            [network([("ann", "bob")], [2], directed=True), network([("bob", "ann")], [2])],
            "some files have directions and some have none",
        ),
        ([network([("ann", "bob")], None)] * 2, "the edges have no weights"),
    ],
)
def test_nothing_else_is_merged(graphs, message):
    with pytest.raises(ParameterError, match=message):
        merged_weights.merge_weights(*graphs)


def check_refusal():
    """Fails if files are merged that must not be."""
    try:
        merged_weights.merge_weights(network([("ann", "bob")], [2]), network([("ann", "cleo")], [3]))
    except ParameterError:
        return
    raise AssertionError


@pytest.mark.filterwarnings("ignore:sigma is 0.5")
@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("merge_weights", "else weights / 2", "else weights", check_law),
        ("_require_times", "1 if directed else 2", "1", check_vertices),
        ("_edges", "(source, target) if directed else ", "", check_directions),
        ("_require_times", "if wrong:", "if False:", check_refusal),
        ("_ends_in", "codes[str(value)]", "code % len(codes)", check_vertices),
    ],
    ids=["a sum", "one file is enough", "directions forgotten", "nothing refused", "codes for names"],
)
def test_planted_bugs_are_caught(name, old, new, check):
    names = {} if name != "_ends_in" else {"code": 0}
    with changed(merged_weights, name, old, new, **names), pytest.raises((AssertionError, ParameterError)):
        check()
