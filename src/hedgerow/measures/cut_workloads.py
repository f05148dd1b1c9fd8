"""Workloads of cut queries: random vertices, intervals of the vertex order, neighbourhoods and communities.

Cuts of random vertices mostly measure the number of edges: a random graph with as many edges does well. The other
workloads depend on structure. Each is drawn in parts of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.measures.cut_queries import Cuts
from hedgerow.measures.neighbour_lists import NeighbourLists

__all__ = ["community_cuts", "community_pair_cuts", "contiguous_cuts", "ego_cuts", "random_cuts"]

Integers: TypeAlias = NDArray[np.int64]

_S, _T = 1, 2
_WORD = 64
#: flags of vertices in one array
_CHUNK = 1 << 24


def random_cuts(vertices: int, *, largest: int, queries: int, rng: np.random.Generator) -> Iterator[Cuts]:
    """Draw cuts between random vertices [1]_: 2 to `largest` of them, uniformly, each put into S or T by a fair coin.

    The coins are tossed again while S or T is empty.

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, P. S. Yu, B. C. Desai. "Correlated network data publication via differential
       privacy". VLDB Journal 23(4), 2014.
    """
    largest = min(largest, vertices)
    for count in _parts(vertices, queries if largest > 1 else 0):
        labels = np.zeros((count, vertices), np.uint8)
        sizes: list[int] = rng.integers(2, largest + 1, count).tolist()
        for row, size in zip(labels, sizes, strict=True):
            row[rng.choice(vertices, size, replace=False, shuffle=False)] = _toss_coins(size, rng)
        yield Cuts.of_members(labels == _S, labels == _T)


def contiguous_cuts(vertices: int, *, queries: int, rng: np.random.Generator) -> Iterator[Cuts]:
    """Draw cuts between two intervals of the public order of the vertices; they may touch, but not overlap."""
    at = np.arange(vertices, dtype=np.int32)
    for count in _parts(vertices, queries if vertices > 1 else 0):
        ends = np.array([rng.choice(vertices + 2, 4, replace=False, shuffle=False) for _ in range(count)])
        begin, middle, later, end = np.sort(ends, axis=1).astype(np.int32).T[:, :, None]
        yield Cuts.of_members((begin <= at) & (at < middle), (later - 1 <= at) & (at < end - 1))


def ego_cuts(graph: Graph, *, queries: int, rng: np.random.Generator) -> Iterator[Cuts]:
    """Draw cuts between a vertex with all its neighbours, and the rest; the vertex has at least one neighbour."""
    lists = NeighbourLists.of(graph)
    joined = np.flatnonzero(lists.degrees())
    for count in _parts(lists.vertices, queries if len(joined) else 0):
        centres = rng.choice(joined, count)
        near, of = lists.spread(centres)
        members = np.zeros((count, lists.vertices), np.bool_)
        members[np.arange(count), centres] = True
        members[of, near] = True
        yield Cuts.of_members(members, ~members)


def community_cuts(graph: Graph, communities: Integers, *, queries: int, rng: np.random.Generator) -> Iterator[Cuts]:
    """Draw cuts between a community and the rest; the community is that of a random vertex that has an edge."""
    joined = np.flatnonzero(graph.degrees())
    names, groups = np.unique(communities, return_inverse=True)
    for count in _parts(len(groups), queries if len(names) > 1 and len(joined) else 0):
        own = groups[rng.choice(joined, count)]
        members = np.arange(len(names)) == own[:, None]
        yield Cuts.of_members(members, ~members).spread(groups)


def community_pair_cuts(
    graph: Graph, communities: Integers, *, queries: int, rng: np.random.Generator
) -> Iterator[Cuts]:
    """Draw cuts between two communities, those of two random vertices that have edges."""
    names, groups = np.unique(communities, return_inverse=True)
    sizes = np.bincount(groups[graph.degrees() > 0], minlength=len(names))
    at = np.arange(len(names))
    for count in _parts(len(groups), queries if np.count_nonzero(sizes) > 1 else 0):
        own, other = _draw_two(sizes, count, rng)
        yield Cuts.of_members(at == own[:, None], at == other[:, None]).spread(groups)


def _draw_two(sizes: Integers, count: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Draw the groups of two members, given that they differ."""
    whole, ends = int(sizes.sum()), np.cumsum(sizes)
    weights = np.cumsum(sizes * (whole - sizes))
    own = np.searchsorted(weights, rng.integers(0, weights[-1], count), "right")
    # a member outside of the first group: the members of that group are skipped
    place = rng.integers(0, whole - sizes[own])
    place += np.where(place >= ends[own] - sizes[own], sizes[own], 0)
    return own, np.searchsorted(ends, place, "right")


def _toss_coins(size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Toss a coin per vertex, S or T, until both occur."""
    while True:
        sides = rng.integers(_S, _T + 1, size, np.uint8)
        if sides.min() < sides.max():
            return sides


def _parts(vertices: int, queries: int) -> Iterator[int]:
    """Split queries into parts whose flags fit into bounded memory; return their numbers."""
    most = max(1, _CHUNK // max(1, vertices) // _WORD) * _WORD
    for begin in range(0, queries, most):
        yield min(most, queries - begin)
