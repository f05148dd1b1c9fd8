"""The law of the model of pairwise-marginals by enumeration, and the matrix of its moves from the shipped functions."""

from __future__ import annotations

import itertools
import math

import numpy as np

from hedgerow.kinds.sets.methods.pairwise_marginals import pairs_model
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import PairModel, SizeClass

__all__ = ["head_parts", "law", "records_of", "some_model", "transitions"]


def some_model(items: int, head: int, exponent: float, seed: int) -> PairModel:
    """A model with random weights and interactions."""
    draw = np.random.default_rng(seed)
    odds = draw.dirichlet(np.ones(items))
    model = PairModel.independent(odds, np.arange(head), exponent)
    table = np.triu(draw.normal(0, 1.5, (head + 1, head + 1)), 1)
    table[:, head] = 0
    model.interactions[:] = table + table.T
    return model


def head_parts(model: PairModel, size: int) -> list[tuple[int, ...]]:
    """Every head part that a record of this size may have."""
    head = len(model.log_weights) - 1
    least = max(0, size - model.tail_items)
    return [part for s in range(least, min(size, head) + 1) for part in itertools.combinations(range(head), s)]


def law(model: PairModel, size: int) -> np.ndarray:
    """The probability of each head part, from the definition."""
    tail = math.exp(model.log_tail) if model.tail_items else 1.0
    chances = []
    for part in head_parts(model, size):
        s = len(part)
        inside = sum(model.interactions[i, j] for i, j in itertools.combinations(part, 2))
        weight = math.exp(sum(model.log_weights[item] for item in part) + model.damping[s] * inside)
        chances.append(weight * tail ** (size - s) / math.factorial(size - s))
    return np.array(chances) / sum(chances)


def records_of(model: PairModel, size: int, parts: list[tuple[int, ...]]) -> SizeClass:
    """Records with these head parts."""
    head = len(model.log_weights) - 1
    heads = np.full((len(parts), min(size, head)), head, np.int64)
    for row, part in enumerate(parts):
        heads[row, : len(part)] = part
    counts = np.array([len(part) for part in parts], np.int64)
    records = SizeClass(np.full(len(parts), size, np.int64), heads, counts, np.zeros(len(parts)))
    records.inner = records.sum_inside(model.interactions)
    return records


def transitions(model: PairModel, size: int, proposals: pairs_model.Proposals) -> np.ndarray:
    """The probability of every move between head parts: choices by hand, acceptance by the shipped functions."""
    parts = head_parts(model, size)
    head = len(model.log_weights) - 1
    kinds = (
        {pairs_model.SWAP: 0.34, pairs_model.ADD: 0.33, pairs_model.REMOVE: 0.33}
        if model.tail_items
        else {pairs_model.SWAP: 1.0}
    )
    matrix = np.zeros((len(parts), len(parts)))
    for at, part in enumerate(parts):
        for kind, chance in kinds.items():
            places = range(len(part)) if kind != pairs_model.ADD and part else [0]
            for place, item in itertools.product(places, range(head)):
                rest = tuple(x for x in part if kind == pairs_model.ADD or x != part[place]) if part else ()
                proposed = _proposal(proposals, rest, item)
                accepted, new = _accept(model, size, part, kind, place, item, proposals)
                moved = chance / len(places) * proposed * accepted
                if accepted > 0:
                    matrix[at, parts.index(new)] += moved
                matrix[at, at] += chance / len(places) * proposed - moved
    return matrix


def _proposal(proposals: pairs_model.Proposals, rest: tuple[int, ...], item: int) -> float:
    """The definition of the proposal, from the tables that were made of another model."""
    by_weight = proposals.by_weight[item]
    if not rest:
        return by_weight
    return (by_weight + np.mean([proposals.near[item, other] for other in rest])) / 2


def _accept(model, size, part, kind, place, item, proposals):
    records = records_of(model, size, [part])
    step = pairs_model.Step.of(records, np.array([kind]), np.array([place]), model)
    chance, _ = pairs_model.log_acceptance(records, step, np.array([item]), model, proposals)
    left = [int(x) for x in step.rest[0] if x < len(model.log_weights) - 1]
    new = left if kind == pairs_model.REMOVE else [*left, item]
    return math.exp(min(0.0, chance[0])), tuple(sorted(new))
