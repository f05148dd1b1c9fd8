"""Tokens: the positions of a sequence that are counted, and the context of each.

A sequence of `n` items has `n + 1` tokens: every item and the end, each with what comes before it. If these are more
than `most`, exactly `most` of them are counted, spread over the whole sequence.

Which tokens are counted is a public function of the sequence and of its number among equal sequences. No coins are
used, and no other record matters: removing one of several equal sequences removes exactly the tokens of the last copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import number_within_groups
from hedgerow.data import Sequences
from hedgerow.data.ragged_arrays import take_lists
from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree

__all__ = ["Tokens", "content_hashes", "copy_offsets", "kept_positions"]

Integers: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float64]

#: the finalizer of SplitMix64, and the golden ratio in 64 bits
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_DROPPED, _UNIT = np.uint64(11), 2.0**-53
_WORD = 2**64 - 1
#: the rest of so few lists is hashed one by one, which is faster than an array operation for each of thousands of items
_FEW = 16


@dataclass(frozen=True, eq=False, repr=False)
class Tokens:
    """Tokens of all sequences, each in a row of a context tree.

    `symbols` are the items of all sequences, with a separator before, between and after them: the separator is the end
    of one sequence and the start of the next. Token `i` is at `at[i]`: the symbol after it is its own, those up to it
    are its history. `weights` is None if every token counts once. The first `depth` symbols of the history were used to
    find `row`.
    """

    symbols: NDArray[Any]
    at: NDArray[Any]
    weights: Integers | None
    row: NDArray[np.int32]
    depth: int = 0

    @classmethod
    def of(cls, data: Sequences, most: int) -> Self:
        """Take at most so many tokens of each sequence."""
        size, tokens = data.domain.size("item"), np.diff(data.starts) + 1
        long = tokens > most
        # only long sequences need to be numbered among their equals
        merged = Sequences(
            data.domain, data.numbers[long], *take_lists(data.starts, data.items, long), data.weights[long]
        )
        merged = merged.canonical()
        symbols = _with_separators(data.starts, data.items, size)
        every, copies = np.flatnonzero(np.repeat(~long, tokens)), _positions_of_copies(merged, most) + len(symbols)
        symbols = np.concatenate((symbols, _with_separators(merged.starts, merged.items, size)))
        # positions of half the size are read twice as fast
        narrow = np.int32 if len(symbols) < 2**31 else np.int64
        at = np.concatenate((every.astype(narrow), copies.astype(narrow)))
        weights = None
        if int(data.weights.max(initial=1)) > 1:
            weights = np.append(np.repeat(data.weights[~long], tokens[~long]), np.ones(len(copies), np.int64))
        return cls(symbols, at, weights, np.zeros(len(at), np.int32))

    def descend(self, tree: ContextTree) -> Self:
        """Keep the tokens of opened contexts, and move each to the context one symbol longer, or to the rest."""
        if self.depth == 0:  # all tokens are at the root
            return replace(self, row=tree.child[0][self.symbols[self.at]], depth=1)
        inside = np.flatnonzero(tree.opened[self.row])
        at = self.at[inside]
        row = tree.child[self.row[inside], self.symbols[at - self.depth]]
        weights = None if self.weights is None else self.weights[inside]
        return replace(self, at=at, weights=weights, row=row, depth=self.depth + 1)

    def count(self, first: int, rows: int, symbols: int) -> Integers:
        """Count how often each symbol follows, in so many rows from a first one on."""
        cell = (self.row.astype(np.int64) - first) * symbols + self.symbols[self.at + 1]
        return np.bincount(cell, self.weights, rows * symbols).astype(np.int64)


def _with_separators(starts: Integers, items: NDArray[Any], size: int) -> NDArray[Any]:
    """Put a separator, the code `size`, before each list, and after the last."""
    symbols = np.full(len(items) + len(starts), size, np.min_scalar_type(size))
    inner = np.ones(len(symbols), np.bool_)
    inner[starts + np.arange(len(starts))] = False
    symbols[inner] = items
    return symbols


def _positions_of_copies(merged: Sequences, most: int) -> Integers:
    """Positions of the tokens of every copy of sequences that have more than `most`."""
    copy_of = np.repeat(np.arange(len(merged.weights)), merged.weights)
    offset = copy_offsets(content_hashes(merged.starts, merged.items)[copy_of], number_within_groups(copy_of))
    tokens = np.diff(merged.starts)[copy_of] + 1
    first = merged.starts[copy_of] + copy_of
    return (first[:, None] + kept_positions(tokens, offset, most)).ravel()


def kept_positions(tokens: Integers, offset: Floats, most: int) -> Integers:
    """Which tokens of a sequence are counted if it has more than `most`: one row of numbers for each.

    They are distinct, and over all offsets each token is counted equally often.

    Examples
    --------
    >>> kept_positions(np.array([6, 5]), np.array([0.5, 0.5]), 4).tolist()
    [[0, 2, 3, 5], [0, 1, 3, 4]]
    """
    steps = (np.arange(most) + offset[:, None]) * tokens[:, None] / most
    return np.minimum(tokens[:, None] - 1, np.floor(steps).astype(np.int64))


def content_hashes(starts: Integers, items: NDArray[Any]) -> Words:
    """Hash each list by its length and its items, in order."""
    length = np.diff(starts)
    order = np.argsort(-length, kind="stable")
    hashes = _mix(length[order].astype(np.uint64))
    first = starts[:-1][order]
    # lists that have an item at a position are the first ones, as longer lists come first
    having = np.searchsorted(-length[order], -np.arange(int(length.max(initial=0))), "left")
    together = int(np.count_nonzero(having > _FEW))
    for position, lists in enumerate(having[:together].tolist()):
        code = items[first[:lists] + position].astype(np.uint64)
        hashes[:lists] = _mix(hashes[:lists] + code + np.uint64(1))
    for number, left in enumerate(np.maximum(0, length[order][:_FEW] - together).tolist()):
        start = int(first[number]) + together
        hashes[number] = _mix_one_by_one(int(hashes[number]), items[start : start + left].tolist())
    by_list = np.empty_like(hashes)
    by_list[order] = hashes
    return by_list


def copy_offsets(hashes: Words, copy: Integers) -> Floats:
    """The offset of each copy, in [0, 1): golden-ratio steps spread the copies of one sequence evenly."""
    return ((hashes + copy.astype(np.uint64) * _GOLDEN) >> _DROPPED).astype(np.float64) * _UNIT


def _mix(words: Words) -> Words:
    """Mix the bits of words; every step can be undone."""
    words = (words ^ (words >> _SHIFTS[0])) * _FIRST
    words = (words ^ (words >> _SHIFTS[1])) * _SECOND
    return words ^ (words >> _SHIFTS[2])


def _mix_one_by_one(word: int, codes: list[int]) -> int:
    """Go on with the hash of one list; the same as `_mix`, on a Python number."""
    first, second = int(_FIRST), int(_SECOND)
    for code in codes:
        word = (word + code + 1) & _WORD
        word = (word ^ (word >> 30)) * first & _WORD
        word = (word ^ (word >> 27)) * second & _WORD
        word ^= word >> 31
    return word
