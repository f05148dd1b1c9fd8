"""Public weighted networks, as the experiments on weights read them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
from floor import data_folder

from hedgerow import Domain, Graph
from hedgerow.kinds.graphs.structure import label_components

_FILES = {
    "eies": ("eies/eies_acquaintance_time2.edges", True),
    "us-airports": ("us-airports/us_airports_500.edges", False),
    "netscience": ("netscience/netscience.edges", False),
    "condmat-weighted": ("condmat-weighted/condmat_coauthors.edges.gz", False),
}


def read_network(name: str) -> Graph:
    """Read a public network with its weights; of netscience, its largest component."""
    file, directed = _FILES[name]
    path: Path = data_folder() / file
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    table = np.array([line.split()[:3] for line in content.decode().splitlines() if line[:1].isdigit()], np.float64)
    low = int(table[:, :2].min())
    ends = table[:, :2].astype(np.int64) - low
    graph = Graph.from_columns(
        source=ends[:, 0],
        target=ends[:, 1],
        domain=Domain.declare(vertex=range(low, low + int(ends.max()) + 1)),
        weights=table[:, 2].copy(),
        directed=directed,
    )
    return largest_part(graph) if name == "netscience" else graph


def largest_part(graph: Graph) -> Graph:
    """The largest connected component, whose vertices are named as before."""
    labels = label_components(graph)
    inside = labels == np.bincount(labels).argmax()
    edges = inside[graph.first]
    place = np.cumsum(inside) - 1
    values = graph.domain.values("vertex")
    domain = Domain.declare(vertex=[values[code] for code in np.flatnonzero(inside).tolist()])
    weights = graph.require_weights()[edges]
    part = Graph.from_columns(
        source=place[graph.first[edges]],
        target=place[graph.second[edges]],
        domain=domain,
        weights=weights,
        directed=graph.directed,
    )
    return replace(part, paths=None)
