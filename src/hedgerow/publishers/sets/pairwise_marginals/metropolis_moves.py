"""Metropolis-Hastings moves of all records at once: swap an item of the head, add one, or give one up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.pair_model import PairModel
from hedgerow.publishers.sets.pairwise_marginals.population import SizeClass
from hedgerow.steps.coarse_grid import on_grid

__all__ = ["ADD", "REMOVE", "SWAP", "Proposals", "Step", "log_acceptance", "move"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

SWAP, ADD, REMOVE = range(3)
#: the probability of a swap; adding and giving up are equally likely
_SWAPS = 0.34


@dataclass(frozen=True, eq=False)
class Proposals:
    r"""How an item $b$ is proposed for a record with the other head items $R$.

    With $q(b \mid R) = \frac12 w_b / \sum w + \frac12 \text{mean}_{c \in R} Q_c(b)$,
    $Q_c(b) \propto w_b e^{\theta_{bc}}$, $Q_c(c) = 0$; by weight alone if $R$ is empty.
    """

    by_weight: Floats
    #: `near[b, c]` is $Q_c(b)$; 0 for padding
    near: Floats
    #: cumulative probabilities: by weight; and those of each $Q_c$ plus $c$, one after the other
    running: Floats
    running_near: Floats

    @classmethod
    def from_model(cls, model: PairModel) -> Proposals:
        """Take the present weights and interactions."""
        head = len(model.log_weights) - 1
        weights = on_grid(np.exp(model.log_weights[:head] - model.log_weights[:head].max()))
        table = weights * on_grid(np.exp(model.interactions[:head, :head]))
        np.fill_diagonal(table, 0.0)
        table /= table.sum(axis=1, keepdims=True)
        near = np.zeros((head + 1, head + 1))
        near[:head, :head] = table.T
        by_weight = weights / weights.sum()
        running_near = np.cumsum(table, axis=1) + np.arange(head, dtype=np.float64)[:, None]
        return cls(np.append(by_weight, 1.0), near, np.cumsum(by_weight), running_near.ravel())

    def draw(self, rest: Integers, size: Integers, coins: np.random.Generator) -> Integers:
        """Propose an item for each record; `rest` are its other head items, `size` of them."""
        head, records = len(self.running), len(size)
        position = coins.random(records)
        item = np.minimum(np.searchsorted(self.running, position, "right"), head - 1)
        rows = np.flatnonzero((coins.random(records) < 1 / 2) & (size > 0))
        other = rest[rows, (coins.random(len(rows)) * size[rows]).astype(np.int64)]
        at = np.searchsorted(self.running_near, position[rows] + other, "right")
        item[rows] = np.clip(at - other * head, 0, head - 1)
        return item

    def log_chance(self, item: Integers, near: Floats, size: Integers) -> Floats:
        """The logarithm of the probability of proposing an item; `near` is the sum of Q over the other items."""
        by_weight = self.by_weight[item]
        mixed = (by_weight + near / np.maximum(size, 1)) / 2
        return np.log(np.where(size > 0, mixed, by_weight))


@dataclass(frozen=True, eq=False)
class Step:
    """A kind of move for each record, the item that leaves (padding: none), and what is left of its head part."""

    kind: Integers
    leaving: Integers
    rest: Integers
    size: Integers
    allowed: Flags

    @classmethod
    def of(cls, records: SizeClass, kind: Integers, place: Integers, model: PairModel) -> Step:
        """Take the item at `place` out of the head part, unless the move adds one."""
        padding = len(model.log_weights) - 1
        taken = kind != ADD
        allowed = np.where(taken, records.counts > 0, records.counts < records.sizes)
        # the tail has no more items than these
        allowed &= (kind != REMOVE) | (records.sizes - records.counts < model.tail_items)
        rest, leaving, size = records.heads.copy(), np.full(len(kind), padding), records.counts.copy()
        rows = np.flatnonzero(taken & allowed)
        leaving[rows] = rest[rows, place[rows]]
        size[rows] -= 1
        rest[rows, place[rows]] = rest[rows, size[rows]]
        rest[rows, size[rows]] = padding
        return cls(kind, leaving, rest, size, allowed)


def move(records: SizeClass, model: PairModel, proposals: Proposals, coins: np.random.Generator) -> None:
    """Move every record once."""
    draws = coins.random((3, len(records.sizes)))
    kind = np.full(len(records.sizes), SWAP)
    if model.tail_items:
        kind[draws[0] >= _SWAPS] = ADD
        kind[draws[0] >= (1 + _SWAPS) / 2] = REMOVE
    step = Step.of(records, kind, (draws[1] * records.counts).astype(np.int64), model)
    entering = proposals.draw(step.rest, step.size, coins)
    chance, inner = log_acceptance(records, step, entering, model, proposals)
    rows = np.flatnonzero(np.log1p(-draws[2]) < chance)
    enters = rows[kind[rows] != REMOVE]
    records.heads[rows] = step.rest[rows]
    records.heads[enters, step.size[enters]] = entering[enters]
    records.counts = records.counts.copy()
    records.counts[rows] = step.size[rows]
    records.counts[enters] += 1
    records.inner[rows] = inner[rows]


def log_acceptance(
    records: SizeClass, step: Step, entering: Integers, model: PairModel, proposals: Proposals
) -> tuple[Floats, Floats]:
    """The logarithm of the probability that each move is accepted, and the interactions inside the new head part."""
    kind, rest, size = step.kind, step.rest, step.size
    leaving_cells, entering_cells = (item[:, None] * len(model.log_weights) + rest for item in (step.leaving, entering))
    leaving_sum, entering_sum = (_sum_of(model.interactions, cells) for cells in (leaving_cells, entering_cells))
    inner = records.inner - leaving_sum  # of the rest

    def score(item: Integers, cells: Integers, interactions: Floats) -> Floats:
        """How much more likely an item makes the record, relative to the probability of proposing it."""
        gain = model.log_weights[item] + model.damping[size + 1] * (inner + interactions) - model.damping[size] * inner
        return gain - proposals.log_chance(item, _sum_of(proposals.near, cells), size)

    before, after = score(step.leaving, leaving_cells, leaving_sum), score(entering, entering_cells, entering_sum)
    room = np.log(np.maximum(records.sizes - size, 1)) - np.log(size + 1.0) - model.log_tail
    chance = np.where(kind == SWAP, after - before, np.where(kind == ADD, after + room, -before - room))
    refused = ~step.allowed | ((kind != REMOVE) & np.any(rest == entering[:, None], axis=1))
    return np.where(refused, -np.inf, chance), np.where(kind == REMOVE, inner, inner + entering_sum)


def _sum_of(table: Floats, cells: Integers) -> Floats:
    return table.take(cells).sum(axis=1)
