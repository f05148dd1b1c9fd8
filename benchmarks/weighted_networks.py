"""Weighted networks for benchmarks: public files, and the synthetic network of the thesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hedgerow import Domain
from hedgerow.kinds.graphs.data import Graph

#: public networks, and whether they have directions
FILES = {
    "EIES": ("eies/eies_acquaintance_time2.edges", True),
    "us-airports": ("us-airports/us_airports_500.edges", False),
    "netscience": ("netscience/netscience.edges", False),
    "condmat-weighted": ("condmat-weighted/condmat_coauthors.edges.gz", False),
}


def load_network(name: str, folder: Path) -> Graph:
    """Load a network of three columns: two vertices and a weight."""
    file, directed = FILES[name]
    rows = np.loadtxt(folder / file)
    rows = rows[rows[:, 0] != rows[:, 1]]
    names, codes = np.unique(rows[:, :2].astype(np.int64), return_inverse=True)
    ends = codes.reshape(-1, 2)
    domain = Domain.declare(vertex=names.tolist())
    return Graph.from_columns(
        source=ends[:, 0], target=ends[:, 1], weights=rows[:, 2], directed=directed, domain=domain
    )


def synthetic_network(vertices: int = 1_600, part: float = 0.7, *, seed: int = 1) -> Graph:
    """Make the synthetic network of the thesis: a part of all pairs are edges, with weights uniform in 10 to 100."""
    draw = np.random.default_rng(seed)
    first, second = np.triu_indices(vertices, 1)
    edges = draw.random(len(first)) < part
    weights: NDArray[np.float64] = draw.uniform(10, 100, int(edges.sum()))
    domain = Domain.declare(vertex=range(vertices))
    return Graph.from_columns(source=first[edges], target=second[edges], weights=weights, domain=domain)
