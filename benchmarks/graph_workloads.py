"""Networks for benchmarks: public ones, generated ones, and how often and with which methods they are published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import CorrelatedDP, Domain, find_method, read
from hedgerow.kinds.graphs.cut_queries import Cuts
from hedgerow.kinds.graphs.data import Graph

Integers = NDArray[np.int64]

#: networks on which figures are reported
NETWORKS = ("ca-grqc", "ca-hepth", "wiki-vote", "email-enron", "facebook-ego", "soc-epinions1-undirected")
#: networks on which constants of `degree-corrected-blocks` were chosen
CHOOSING = {
    "polblogs": "polblogs/polblogs.edges.gz",
    "netscience": "netscience/netscience.edges",
    "condmat-weighted": "condmat-weighted/condmat_coauthors.edges.gz",
    "us-airports": "us-airports/us_airports_500.edges",
}
_FLAGS = 1 << 24


class Way(NamedTuple):
    """A method, its parameters, and how many times the budget it is given."""

    method: str
    parameters: Mapping[str, Any] = {}
    times: int = 1

    def publish(self, data: Graph, epsilon: str, k: int = 1, *, seed: int) -> Graph:
        """Publish a graph; the noise depends on the seed."""
        promise = promise_of(Fraction(epsilon) * self.times, k)
        return find_method(self.method)(**self.parameters).publish(data, promise, seed=seed).data


METHODS = {name: Way(name) for name in ("der", "degree-corrected-blocks", "noisy-degrees", "tmf", "random-graph")}


def promise_of(epsilon: Fraction, k: int) -> CorrelatedDP:
    """The guarantee (epsilon, k): epsilon / k for one edge."""
    return CorrelatedDP(epsilon=epsilon, k=k, unit="edge")


def path_of(folder: Path, name: str) -> Path:
    """The file of a network that figures are reported on."""
    return folder / name / f"{name}.edges.gz"


def read_graph(path: Path) -> Graph:
    """Read a network as users do; vertices that occur, and their order, are assumed to be public."""
    options = {"loops": "drop", "weights": "ignore"}
    return read(path, kind="graphs", assert_public_domain=True, options=options)


def full_cuts(vertices: int, *, size: int, queries: int, rng: np.random.Generator) -> Iterator[Cuts]:
    """Draw cuts between exactly so many random vertices, each put into S or T by a fair coin."""
    most = max(1, _FLAGS // vertices)
    for begin in range(0, queries, most):
        labels = np.zeros((min(most, queries - begin), vertices), np.uint8)
        for row in labels:
            row[rng.choice(vertices, size, replace=False, shuffle=False)] = rng.integers(1, 3, size, np.uint8)
        yield Cuts.of_members(labels == 1, labels == 2)


def block_model(vertices: int, edges: int, blocks: int, *, inside: float, seed: int, shuffled: bool = False) -> Graph:
    """Generate a degree-corrected block model: heavy-tailed weights, a share of edges stay inside of a block.

    Blocks are intervals of the vertex order, unless the vertices are shuffled.
    """
    rng = np.random.default_rng(seed)
    weights = np.minimum(rng.pareto(1.5, vertices) + 1, vertices / 20)
    block = np.sort(rng.integers(0, blocks, vertices))
    before = np.concatenate(([0], np.cumsum(weights)))
    starts = before[np.searchsorted(block, np.arange(blocks + 1))]
    one = _draw(before, np.zeros(edges), np.full(edges, before[-1]), rng)
    stay = rng.random(edges) < inside
    own = block[one]
    low, high = np.where(stay, starts[own], 0), np.where(stay, starts[own + 1], before[-1])
    other = _draw(before, low, high, rng)
    if shuffled:
        names = rng.permutation(vertices)
        one, other = names[one], names[other]
    return _graph(one, other, vertices)


def small_world(vertices: int, neighbours: int, *, rewired: float, seed: int) -> Graph:
    """Generate a ring in which every vertex is joined to the next ones, and a share of edges lead elsewhere."""
    rng = np.random.default_rng(seed)
    one = np.repeat(np.arange(vertices), neighbours)
    other = (one + np.tile(np.arange(1, neighbours + 1), vertices)) % vertices
    return _graph(one, np.where(rng.random(len(one)) < rewired, rng.integers(0, vertices, len(one)), other), vertices)


def large_graph(vertices: int, edges: int, seed: int = 1) -> Graph:
    """Generate a graph with heavy-tailed degrees, half of whose edges join vertices that are near in the order."""
    rng = np.random.default_rng(seed)
    weights = np.cumsum(rng.pareto(2.0, vertices) + 1)
    one = np.searchsorted(weights, rng.random(edges) * weights[-1])
    far = np.searchsorted(weights, rng.random(edges) * weights[-1])
    near = (one + rng.geometric(0.001, edges)) % vertices
    return _graph(one, np.where(rng.random(edges) < 0.5, near, far), vertices)


GENERATED: dict[str, Callable[[], Graph]] = {
    "blocks, ordered": lambda: block_model(4_000, 20_000, 40, inside=0.7, seed=1),
    "blocks, shuffled": lambda: block_model(4_000, 20_000, 40, inside=0.7, seed=1, shuffled=True),
    "small world": lambda: small_world(4_000, 5, rewired=0.1, seed=2),
}


def _draw(before: NDArray[np.float64], low: Any, high: Any, rng: np.random.Generator) -> Integers:
    """Draw vertices by weight, each within an interval of the sums of weights before vertices."""
    drawn = np.searchsorted(before, low + rng.random(len(low)) * (high - low), "right") - 1
    return np.minimum(drawn, len(before) - 2)


def _graph(one: Integers, other: Integers, vertices: int) -> Graph:
    joined = one != other
    domain = Domain.declare(vertex=range(vertices))
    return Graph.from_columns(source=one[joined], target=other[joined], domain=domain)
