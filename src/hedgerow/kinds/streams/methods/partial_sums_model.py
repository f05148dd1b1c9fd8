"""Trees of partial sums over the leaves of a stream: which node ends with each leaf, and how noise adds up.

The count after a leaf is a sum of nodes that have ended. A tree is given by one number per leaf: the *rank* of the
largest node that ends there. That node covers the leaves since the last one with the same or a smaller rank, and the
count is that of the leaf before the node plus the node. So nodes of one rank are disjoint whatever the ranks are,
and an event lies in at most one node per rank.

Binary tree: the largest node that ends with leaf $t$ is as long as the lowest bit of $t$.

Smooth tree [1]_: leaves are the words of $z$ zeros and $k$ ones in increasing order, first to last. In the binary tree
of all words of $z + k$ bits, what comes before a word is the sum of the nodes to the left of its $k$ ones, and a word
is in a node to the left, a left child, once for each of its $z$ zeros. So every count is the sum of $k$ nodes and every
event is in $z$ nodes. The count after leaf $t$ is what comes before word $t + 1$: $q$ leaves need $q + 1$ words. The
node that ends with a word and is used later has the last zero before the zeros at the end of the word as its last bit;
its rank is the number of zeros up to there. Nodes to the left of ones at the end of a word are empty, since all zeros
are before them: their noise is added only so that every count has the same noise.

References
----------
.. [1] J. D. Andersson, R. Pagh. "A smooth binary mechanism for efficient private continual observation".
   NeurIPS 2023.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Integers

#: words whose ends are computed once and repeated wherever they occur
_BLOCK = 1 << 12


class Endings(NamedTuple):
    """What ends with each of several leaves."""

    #: the rank of the largest node that ends with the leaf, from 0
    ranks: Integers
    #: how many empty nodes are part of the count after the leaf
    empty: Integers


class Tree(ABC):
    """A tree of partial sums."""

    @property
    @abstractmethod
    def ranks(self) -> int:
        """In how many nodes an event lies."""

    @abstractmethod
    def endings(self, sizes: Iterator[int]) -> Iterator[Endings]:
        """What ends with each leaf, for runs of so many leaves, one after another."""


@dataclass(frozen=True)
class BinaryTree(Tree):
    """The binary tree over a number of leaves.

    Examples
    --------
    >>> tree = BinaryTree(leaves=8)
    >>> tree.ranks, next(tree.endings(iter([8]))).ranks.tolist()
    (4, [3, 2, 3, 1, 3, 2, 3, 0])
    """

    leaves: int

    @property
    def ranks(self) -> int:
        """The levels of the tree: from single leaves to all of them."""
        return (self.leaves - 1).bit_length() + 1

    def endings(self, sizes: Iterator[int]) -> Iterator[Endings]:
        """The lowest bit of the number of each leaf."""
        start = 1
        for size in sizes:
            numbers = np.arange(start, start + size, dtype=np.int64)
            lowest = np.bitwise_count((numbers & -numbers) - 1).astype(np.int64)
            yield Endings(self.ranks - 1 - lowest, np.zeros(size, np.int64))
            start += size


@dataclass(frozen=True)
class SmoothTree(Tree):
    """The words of `zeros` zeros and `ones` ones as leaves; the last of them stays unused.

    Examples
    --------
    >>> tree = SmoothTree(zeros=2, ones=2)
    >>> tree.leaves, tree.ranks
    (5, 2)
    >>> ends = next(tree.endings(iter([5])))  # 0011, 0101, 0110, 1001, 1010; unused: 1100
    >>> ends.ranks.tolist(), ends.empty.tolist()
    ([1, 1, 0, 1, 0], [1, 0, 1, 0, 0])
    """

    zeros: int
    ones: int
    #: whether every count has the noise of empty nodes as well, so that all have the same
    padded: bool = True

    @classmethod
    def balanced(cls, leaves: int) -> SmoothTree:
        """The smallest tree for so many leaves with as many zeros as ones: that of the paper.

        Examples
        --------
        >>> SmoothTree.balanced(2**16)
        SmoothTree(zeros=10, ones=10, padded=True)
        """
        half = 1
        while cls(half, half).leaves < leaves:
            half += 1
        return cls(half, half)

    @classmethod
    def best(cls, leaves: int) -> SmoothTree:
        """The tree for so many leaves with the least noise: the variance of a count is in proportion to ones * zeros^2.

        Examples
        --------
        >>> SmoothTree.best(2**16)
        SmoothTree(zeros=5, ones=21, padded=True)
        """
        choice = cls.narrow(1, leaves)
        zeros = 2
        while zeros**2 < choice.variance:  # there is at least one one
            choice = min(choice, cls.narrow(zeros, leaves), key=lambda tree: tree.variance)
            zeros += 1
        return choice

    @classmethod
    def narrow(cls, zeros: int, leaves: int) -> SmoothTree:
        """The tree for so many leaves with this many zeros and the fewest ones."""
        low, high = 0, 1
        while cls(zeros, high).leaves < leaves:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if cls(zeros, middle).leaves >= leaves else (middle, high)
        return cls(zeros, high)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return math.comb(self.zeros + self.ones, self.zeros) - 1

    @property
    def ranks(self) -> int:
        """One rank per zero."""
        return self.zeros

    @property
    def variance(self) -> int:
        """The variance of a count with all its noise, in units of that of one noise with the whole budget."""
        return self.ones * self.zeros**2

    def endings(self, sizes: Iterator[int]) -> Iterator[Endings]:
        """The zeros at the end of each word, and the ones at the end of the next."""
        blocks = _word_ends(self.ones, self.zeros)
        ends = next(blocks)
        for size in sizes:
            parts, known = [ends], len(ends)
            while known <= size:  # the word after the last leaf as well
                parts.append(next(blocks))
                known += len(parts[-1])
            together = np.concatenate(parts).astype(np.int64)
            words, ends = together[: size + 1], together[size:]
            empty = np.maximum(-words[1:], 0) if self.padded else np.zeros(size, np.int64)
            yield Endings(self.zeros - 1 - np.maximum(words[:-1], 0), empty)


def _word_ends(ones: int, zeros: int) -> Iterator[NDArray[np.int16]]:
    """How all words end, in increasing order, in blocks: a stack of as many entries as a word has bits."""
    stack = [(ones, zeros)]
    while stack:
        ones, zeros = stack.pop()
        if math.comb(ones + zeros, zeros) <= _BLOCK:
            yield _block_of_ends(ones, zeros)
        else:
            stack += [(ones - 1, zeros), (ones, zeros - 1)]


@lru_cache(maxsize=1024)
def _block_of_ends(ones: int, zeros: int) -> NDArray[np.int16]:
    """How each word ends: the number of its last zeros, or minus that of its last ones."""
    if not ones or not zeros:
        return np.array([zeros - ones], np.int16)
    # words that start with 0 come first
    return np.concatenate((_block_of_ends(ones, zeros - 1), _block_of_ends(ones - 1, zeros)))
