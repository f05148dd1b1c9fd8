"""Continual counting, slowly and as the papers print it: words, nodes and sums written out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

#: the noise of a node, by its rank from 0 and its number among the nodes of that rank; rank -1 for empty nodes
Noise = Callable[[int, int], int]


def words(zeros: int, ones: int) -> list[str]:
    """All words of so many zeros and ones, in increasing order."""
    length = zeros + ones
    places = combinations(range(length), zeros)
    return sorted("".join("0" if bit in chosen else "1" for bit in range(length)) for chosen in places)


def nodes_before(word: str) -> list[str]:
    """The nodes to the left of each one: together, all that comes before the word."""
    return [word[:bit] + "0" for bit in range(len(word)) if word[bit] == "1"]


def left_children_over(word: str) -> list[str]:
    """The nodes that hold a word, and are to the left in their parent."""
    return [word[: bit + 1] for bit in range(len(word)) if word[bit] == "0"]


def smooth_counts(leaves: Sequence[int], zeros: int, ones: int, noise: Noise) -> list[int]:
    """The sum of all leaves so far, after each: what comes before the next word."""
    names = words(zeros, ones)
    drawn: dict[str, int] = {}
    numbers: dict[int, int] = defaultdict(int)
    counts = []
    for time in range(1, len(leaves) + 1):
        count = 0
        for node in nodes_before(names[time]):
            inside = [leaf for leaf, name in zip(leaves, names, strict=False) if name.startswith(node)]
            if node not in drawn:
                rank = node.count("0") - 1 if node.count("0") <= zeros else -1
                drawn[node] = noise(rank, numbers[rank])
                numbers[rank] += 1
            count += sum(inside) + drawn[node]
        counts.append(count)
    return counts


def binary_counts(leaves: Sequence[int], levels: int, noise: Noise) -> list[int]:
    """The binary mechanism as Chan, Shi and Song print it (Algorithm 2), with the noise of each partial sum given."""
    exact, noisy = [0] * levels, [0] * levels
    numbers: dict[int, int] = defaultdict(int)
    counts = []
    for time, leaf in enumerate(leaves, start=1):
        lowest = next(level for level in range(levels) if time >> level & 1)
        exact[lowest] = sum(exact[:lowest]) + leaf
        for level in range(lowest):
            exact[level] = noisy[level] = 0
        rank = levels - 1 - lowest
        noisy[lowest] = exact[lowest] + noise(rank, numbers[rank])
        numbers[rank] += 1
        counts.append(sum(noisy[level] for level in range(levels) if time >> level & 1))
    return counts
