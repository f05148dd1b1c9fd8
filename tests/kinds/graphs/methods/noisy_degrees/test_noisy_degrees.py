"""noisy-degrees: degrees are kept on average, nothing else is; planted bugs are caught."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import GuaranteeError, NoisyDegrees, PureDP
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.testing import check_publisher, check_replay, mutant, output_distribution, worst_loss

EDGE = PureDP(epsilon=1, unit="edge")


def test_degrees_are_kept_on_average():
    """Vertices of degree 2 and of degree 30, in a graph of 300."""
    edges = {(i, (i + 1) % 300) for i in range(300)} | {
        (hub, hub + 5 * step) for hub in (0, 1, 2) for step in range(1, 29)
    }
    data = graph_of(sorted((min(pair), max(pair)) for pair in edges), 300)
    released = [NoisyDegrees().publish(data, PureDP(epsilon=4, unit="edge"), seed=seed).data for seed in range(20)]
    degrees = np.mean([graph.degrees() for graph in released], axis=0)
    assert degrees[:3] == pytest.approx(data.degrees()[:3], rel=0.15)
    assert degrees[3:].mean() == pytest.approx(data.degrees()[3:].mean(), rel=0.1)
    assert np.mean([len(graph) for graph in released]) == pytest.approx(len(data), rel=0.05)


def test_the_loss_is_the_whole_budget():
    data = graph_of([(0, 1), (1, 2)], 3)
    neighbour = data.neighbour(0, unit="edge")
    assert check_replay(NoisyDegrees(), data, neighbour, EDGE, 1).loss == 1
    laws = [output_distribution(NoisyDegrees(), graph, EDGE, low=-1, high=4) for graph in (data, neighbour)]
    assert 0.2 < worst_loss(*laws) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Laplace(l1=2)", "Laplace(l1=1)"),
        ("int(noisy.sum()) // 2", "len(data)"),
        ("estimate_degrees(noisy,", "estimate_degrees(data.degrees(),"),
    ],
    ids=["one end of an edge forgotten", "exact number of edges", "exact degrees"],
)
def test_mutants_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(NoisyDegrees, old, new)(), EDGE)
