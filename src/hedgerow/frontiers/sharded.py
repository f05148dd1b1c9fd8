"""A frontier in several pieces on one machine: what a cluster does to a method, without a cluster.

Records are dealt to shards at random, all symbols of a record to one shard. A rule travels to each shard as bytes, as
it would to another machine; tables travel back, and are added up. A method that leaned on the order of rows gives
other answers on this engine.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers.base import Counts, Engine, Frontier
from hedgerow.frontiers.local import LOCAL, LocalCounts, LocalFrontier, total_by_key
from hedgerow.frontiers.rows import Rule, SymbolLists

__all__ = ["ShardedEngine", "ShardedFrontier"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class ShardedFrontier(Frontier):
    """One local frontier per shard, all with the same cells."""

    shards: tuple[LocalFrontier, ...]

    def count(self, rule: Rule) -> ShardedCounts:
        """Count on each shard, and add up the tables."""
        message = pickle.dumps(rule)
        # the message is our own, made one line above
        counted = tuple(shard.count(pickle.loads(message)) for shard in self.shards)  # noqa: S301
        keys = np.concatenate([part.cells * rule.size + part.codes for part in counted])
        counts = np.concatenate([part.counts for part in counted])
        present, totals = total_by_key(keys, counts, self.shards[0].cells * rule.size)
        return ShardedCounts(rule.size, *np.divmod(present, rule.size), totals, counted)


@dataclass(frozen=True, eq=False, repr=False)
class ShardedCounts(Counts):
    """The sum of the counts of all shards."""

    shards: tuple[LocalCounts, ...]

    def move(self, cells: Integers, codes: Integers) -> ShardedFrontier:
        """Move the rows of each shard."""
        return ShardedFrontier(tuple(shard.move(cells, codes) for shard in self.shards))


class ShardedEngine(Engine):
    """Count on several shards that never see each other's rows."""

    name: ClassVar[str] = "sharded"

    def __init__(self, shards: int = 3) -> None:
        self._shards = shards
        # which shard gets a record decides no count; a fixed stream keeps the tests repeatable
        self._dealer = np.random.default_rng(shards)

    def open_records(self, lists: SymbolLists) -> ShardedFrontier:
        """Deal the records, and open a frontier of one row per record on each shard."""
        return self._open(lists, LOCAL.open_records)

    def open_symbols(self, lists: SymbolLists) -> ShardedFrontier:
        """Deal the records, and open a frontier of one row per symbol on each shard."""
        return self._open(lists, LOCAL.open_symbols)

    def _open(self, lists: SymbolLists, open_: Callable[[SymbolLists], LocalFrontier]) -> ShardedFrontier:
        order = self._dealer.permutation(len(lists.ends))
        shard = self._dealer.integers(0, self._shards, len(order))
        return ShardedFrontier(tuple(open_(lists.take(order[shard == number])) for number in range(self._shards)))
