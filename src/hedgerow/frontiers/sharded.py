"""A frontier in several shards on one machine, which simulates a cluster for tests.

Records are assigned to shards at random, all symbols of a record to one shard. A rule is sent to each shard as bytes,
as it would be to another machine; the tables are sent back and added up. A method that depends on the order of rows
gives different answers on this engine.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.frontiers.base import Counts, Engine, Frontier
from hedgerow.frontiers.local import LOCAL, LocalCounts, LocalFrontier, total_by_key
from hedgerow.frontiers.rows import Rule, SymbolLists
from hedgerow.numerics.arrays import Integers


@dataclass(frozen=True, eq=False, repr=False)
class ShardedFrontier(Frontier):
    """One local frontier per shard, all with the same cells."""

    shards: tuple[LocalFrontier, ...]

    def count(self, rule: Rule) -> ShardedCounts:
        """Count on each shard, and add up the tables."""
        message = pickle.dumps(rule)
        # pickled one line above, so it is safe to load
        counted = tuple(shard.count(pickle.loads(message)) for shard in self.shards)  # noqa: S301
        keys = np.concatenate([part.cells * rule.size + part.codes for part in counted])
        counts = np.concatenate([part.counts for part in counted])
        present, totals = total_by_key(keys, counts, self.shards[0].cells * rule.size)
        return ShardedCounts(rule.size, *np.divmod(present, rule.size), totals, counted)

    def weigh_pairs(self, symbols: Integers, weights: Integers) -> Integers:
        """Weigh the pairs of each shard, and add up the tables."""
        return np.sum([shard.weigh_pairs(symbols, weights) for shard in self.shards], axis=0)


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
        # the assignment changes no count; a fixed seed keeps tests repeatable
        self._generator = np.random.default_rng(shards)

    def open_records(self, lists: SymbolLists) -> ShardedFrontier:
        """Assign the records to shards, and open a frontier of one row per record on each."""
        return self._open(lists, LOCAL.open_records)

    def open_symbols(self, lists: SymbolLists) -> ShardedFrontier:
        """Assign the records to shards, and open a frontier of one row per symbol on each."""
        return self._open(lists, LOCAL.open_symbols)

    def _open(self, lists: SymbolLists, open_: Callable[[SymbolLists], LocalFrontier]) -> ShardedFrontier:
        order = self._generator.permutation(len(lists.ends))
        shard = self._generator.integers(0, self._shards, len(order))
        return ShardedFrontier(tuple(open_(lists.take(order[shard == number])) for number in range(self._shards)))
