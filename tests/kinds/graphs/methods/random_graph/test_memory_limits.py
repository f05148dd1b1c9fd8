"""With a tiny budget noise alone is more than fits in memory: every method for networks says so in one line."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import DER, DegreeCorrectedBlocks, PureDP, RandomGraph, find_method
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.methods.edge_draw import place_edges
from hedgerow.kinds.graphs.methods.memory_limits import possible_edges
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.privacy.samplers import coins

METHODS = {
    "der": DER(),
    "der, clipped": DER(fitted=False),
    "der, whole matrix": DER(height=0),
    "degree-corrected-blocks": DegreeCorrectedBlocks(),
    "noisy-degrees": find_method("noisy-degrees")(),
    "tmf": find_method("tmf")(),
    "random-graph": RandomGraph(),
}


@pytest.mark.parametrize("name", METHODS)
def test_more_edges_than_fit_in_memory_are_refused_with_what_to_do(name):
    data, promise = graph_of([], 100_000), PureDP(epsilon="0.000000001", unit="edge")
    with pytest.raises(ParameterError, match=r"^about \S+ edges would be published, .* memory; give a larger epsilon$"):
        for seed in range(9):
            METHODS[name].publish(data, promise, seed=seed)


def test_more_pairs_than_fit_in_memory_are_not_listed():
    """Half of the pairs of 13,000 vertices are few enough edges, but to choose them all pairs would be listed."""
    pairs = 13_000 * 12_999 // 2
    assert possible_edges(pairs // 2, pairs) == pairs // 2
    with pytest.raises(ParameterError, match=r"^about 8\.4e\+07 pairs would be listed .* memory; .* or use der$"):
        place_edges(Regions.whole(13_000), np.array([pairs // 2]), np.ones(13_000), coins((1, 0)))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("epsilon", ["0.000000001", "0.00001", "1000000000"])
def test_any_budget_is_enough_for_some_release(name, epsilon):
    data = graph_of([(i, (7 * i + 1) % 60) for i in range(60) if i != (7 * i + 1) % 60], 60)
    released = METHODS[name].publish(data, PureDP(epsilon=epsilon, unit="edge"), seed=2).data
    assert len(released) <= data.pairs
    if epsilon == "1000000000":
        assert len(released) == len(data)
