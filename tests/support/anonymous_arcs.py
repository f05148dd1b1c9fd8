"""Anonymous arcs word by word: the definition, arc by arc, on fractions."""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from hedgerow import Domain, Graph

_PRECISE = Context(prec=50)

__all__ = ["anonymous_by_definition", "network", "random_network", "reweighted"]


def network(arcs, weights, *, vertices=None, directed=True):
    """A network on the vertices 0, 1, ..."""
    size = vertices or 1 + max(max(arc) for arc in arcs)
    return Graph.from_edges(arcs, weights=weights, directed=directed, domain=Domain.declare(vertex=range(size)))


def random_network(seed, *, directed, vertices=7, ties=True):
    """A random network, with few different weights or with many."""
    draw = np.random.default_rng(seed)
    size = int(draw.integers(3, vertices + 1))
    cells = np.argwhere(~np.eye(size, dtype=bool) if directed else np.triu(np.ones((size, size), bool), 1))
    chosen = cells[draw.random(len(cells)) < draw.uniform(0.3, 1)]
    chosen = chosen if len(chosen) else cells[:1]
    weights = draw.integers(1, 12, len(chosen)) / 2 if ties else draw.uniform(1, 10, len(chosen))
    return network(chosen.tolist(), weights.tolist(), vertices=size, directed=directed)


@cache
def _are_near(one, other, mu, relative):
    if relative:
        return abs(_PRECISE.ln(Decimal(str(one))) - _PRECISE.ln(Decimal(str(other)))) <= Decimal(
            mu.numerator
        ) / Decimal(mu.denominator)
    return abs(Fraction(str(one)) - Fraction(str(other))) <= mu


def anonymous_by_definition(data, promise):
    """Which arcs are anonymous, by the words of the definition; edges, then edges backwards."""
    ends = list(zip(data.first.tolist(), data.second.tolist(), strict=True))
    weights = data.weights.tolist()
    arcs = [(*arc, weight) for arc, weight in zip(ends, weights, strict=True)]
    if not data.directed:
        arcs += [(target, source, weight) for source, target, weight in arcs]

    def near(one, other):
        return _are_near(one, other, promise.mu, promise.relative)

    def anonymous(arc, end):
        beside = [other for other in arcs if other[end] == arc[end]]
        alike = [other for other in beside if near(other[2], arc[2])]
        if len(beside) >= promise.k:
            return len(alike) >= promise.k
        twin = (arc[1], arc[0], arc[2])
        outside = [other for other in arcs if other[end] != arc[end] and (data.directed or other != twin)]
        helping = [other for other in outside if near(other[2], arc[2])]
        return promise.small_degree and len(alike) == len(beside) and len(helping) >= promise.k - len(beside)

    which = {"out": (0,), "in": (1,), "both": (0, 1)}[promise.neighbourhood]
    return [all(anonymous(arc, end) for end in which) for arc in arcs]


def reweighted(data, weights):
    """The same edges with other weights."""
    return replace(data, weights=np.array(weights, float))
