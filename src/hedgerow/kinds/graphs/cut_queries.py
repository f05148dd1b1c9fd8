"""Cut queries, how many edges join two sets of vertices, and workloads of them.

Thousands of pairs of sets are counted at a time. Workloads are random vertices, intervals of the vertex order,
neighbourhoods and communities. Cuts of random vertices mostly measure the number of edges: a random graph with as many
edges does well. The other workloads depend on structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.structure import NeighbourLists
from hedgerow.measures.scoring import relative_errors
from hedgerow.numerics.arrays import Flags, Floats, Integers

Words: TypeAlias = NDArray[np.uint64]
_WORD = 64
#: words in one array: bounds the memory, whatever the number of edges and queries
_WORDS_AT_ONCE = 1 << 19
#: rows of bits that are added up one by one
_FEW = 48
#: flags of vertices in one array
_FLAGS_AT_ONCE = 1 << 24
#: the sets that a vertex may be in
_S, _T = 1, 2


class Cuts(NamedTuple):
    """Cut queries, one bit each: row `v` tells in which queries vertex `v` is in S (`sources`), and in T (`targets`).

    Examples
    --------
    >>> from hedgerow import Domain
    >>> path = Graph.from_edges([(0, 1), (1, 2)], domain=Domain.declare(vertex=range(3)))
    >>> sources, targets = np.array([[1, 0, 0], [1, 0, 1]], bool), np.array([[0, 1, 0], [0, 1, 0]], bool)
    >>> cuts = Cuts.of_members(sources, targets)
    >>> count_cuts(path, cuts).tolist()
    [1, 2]
    """

    sources: Words
    targets: Words
    queries: int

    @classmethod
    def of_members(cls, sources: Flags, targets: Flags) -> Cuts:
        """Make queries of one row each: which vertices are in S, and which in T."""
        return cls(_pack(sources), _pack(targets), len(sources))

    def spread(self, groups: Integers) -> Cuts:
        """Return the same queries on vertices, each of which is in the sets that its group is in."""
        return Cuts(self.sources[groups], self.targets[groups], self.queries)


def count_cuts(graph: Graph, cuts: Cuts) -> Integers:
    """Count the edges between S and T of each query; an edge inside both counts once."""
    sources, targets = cuts.sources, cuts.targets
    totals = np.zeros(_WORD * sources.shape[1], np.int64)
    rows = max(1, _WORDS_AT_ONCE // max(1, sources.shape[1]))
    for begin in range(0, len(graph), rows):
        first, second = graph.first[begin : begin + rows], graph.second[begin : begin + rows]
        totals += _sum_bits((sources[first] & targets[second]) | (targets[first] & sources[second]))
    return totals[: cuts.queries]


def cut_errors(original: Graph, releases: Mapping[str, Graph], cuts: Iterable[Cuts]) -> dict[str, Floats]:
    """The relative error of each query in each release: relative to the true count or to a thousandth of all edges."""
    exact: list[Integers] = [np.zeros(0, np.int64)]
    counts: dict[str, list[Integers]] = {name: [np.zeros(0, np.int64)] for name in releases}
    for some in cuts:
        exact.append(count_cuts(original, some))
        for name, graph in releases.items():
            counts[name].append(count_cuts(graph, some))
    truth = np.concatenate(exact)
    return {name: relative_errors(truth, np.concatenate(parts), len(original)) for name, parts in counts.items()}


def _pack(members: Flags) -> Words:
    """Pack flags, one row per query, into words of 64 queries, one row per vertex."""
    queries, vertices = members.shape
    words = np.zeros((vertices, -(-queries // _WORD)), np.uint64)
    for column in range(words.shape[1]):
        # 64 queries at a time stay in the cache
        some = members[_WORD * column : _WORD * (column + 1)].view(np.uint8)
        packed = np.zeros((8, vertices), np.uint8)
        for bit in range(8):
            flags = some[bit::8]
            packed[: len(flags)] |= flags << np.uint8(bit)
        words[:, column] = np.ascontiguousarray(packed.T).view(np.uint64)[:, 0]
    return words


def _sum_bits(rows: Words) -> Integers:
    """Add up rows of bits, each column for itself.

    Three rows become two by a carry-save adder, their sum and their carry, 64 columns at a time; so most of the work
    is on whole words. Carries weigh twice as much, and are added up in the next round.
    """
    totals = np.zeros(_WORD * rows.shape[1], np.int64)
    weight = 1
    while len(rows):
        carries: list[Words] = []
        while len(rows) > _FEW:
            third = len(rows) // 3
            a, b, c = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
            either = a ^ b
            carries.append((a & b) | (either & c))
            rows = np.concatenate((either ^ c, rows[3 * third :]))
        bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")
        totals += weight * bits.sum(0, dtype=np.int64)
        rows = np.concatenate(carries) if carries else rows[:0]
        weight *= 2
    return totals


# Workloads, in parts of bounded size.


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
    most = max(1, _FLAGS_AT_ONCE // max(1, vertices) // _WORD) * _WORD
    for begin in range(0, queries, most):
        yield min(most, queries - begin)
