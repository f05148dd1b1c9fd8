"""Cut queries: how many edges join two sets of vertices, for thousands of pairs of sets at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.measures.scoring import relative_errors

__all__ = ["Cuts", "count_cuts", "cut_errors"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]

_WORD = 64
#: words in one array: bounds the memory, whatever the number of edges and queries
_CHUNK = 1 << 19
#: rows of bits that are added up one by one
_FEW = 48


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
    rows = max(1, _CHUNK // max(1, sources.shape[1]))
    for begin in range(0, len(graph), rows):
        first, second = graph.first[begin : begin + rows], graph.second[begin : begin + rows]
        totals += _sum_bits((sources[first] & targets[second]) | (targets[first] & sources[second]))
    return totals[: cuts.queries]


def cut_errors(original: Graph, releases: Mapping[str, Graph], cuts: Iterable[Cuts]) -> dict[str, NDArray[np.float64]]:
    """The relative error of each query in each release: relative to the true count or to a thousandth of all edges."""
    exact: list[Integers] = [np.zeros(0, np.int64)]
    counts: dict[str, list[Integers]] = {name: [np.zeros(0, np.int64)] for name in releases}
    for some in cuts:
        exact.append(count_cuts(original, some))
        for name, graph in releases.items():
            counts[name].append(count_cuts(graph, some))
    truth = np.concatenate(exact)
    return {name: relative_errors(truth, np.concatenate(parts), len(original)) for name, parts in counts.items()}


def _pack(members: NDArray[np.bool_]) -> Words:
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
