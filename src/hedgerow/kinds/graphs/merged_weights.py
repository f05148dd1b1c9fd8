"""One network of the files of several owners, each of whom has published the weights of the own edges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hedgerow.data import Domain, Source
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.short_decimals import DIGITS
from hedgerow.release import Recipe

#: digits of the mean of two weights that have one digit less
_DIGITS = DIGITS + 1
#: what the releases of all owners must have in common
_COMMON = ("method", "owner", "sigma", "floor", "calibrated")


def merge_weights(*graphs: Graph) -> Graph:
    """Merge what owners published by `gaussian-weights` with `owner="one"`.

    An edge without direction must be in exactly two files, those of its two ends; its weight is the mean of the two,
    as if one program had drawn for both. An edge with a direction must be in exactly one, that of its source.

    Examples
    --------
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> ann = Graph.from_edges([("ann", "bob"), ("ann", "cleo")], weights=[2.1, 29], domain=domain)
    >>> others = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], weights=[1.9, 32], domain=domain)
    >>> merge_weights(ann, others).weights.tolist()
    [2.0, 30.5]
    """
    if len(graphs) < 2:  # noqa: PLR2004 - an owner and another one
        msg = "merge the files of at least two owners"
        raise ParameterError(msg)
    directed = graphs[0].directed
    if any(graph.directed != directed for graph in graphs):
        msg = "some files have directions and some have none; read all of them alike"
        raise ParameterError(msg)
    domain = _joint_domain(graphs)
    ends = [_ends_in(graph, domain) for graph in graphs]
    source, target = (np.concatenate([each[side] for each in ends]) for side in (0, 1))
    weights = np.concatenate([graph.require_weights() for graph in graphs])
    keys, place, times = _edges(source, target, domain.size("vertex"), directed=directed)
    _require_times(times, directed=directed)
    # halves first: the sum of two large weights would overflow
    merged: Floats = np.zeros(len(keys))
    np.add.at(merged, place, weights if directed else weights / 2)
    if not directed:
        _require_two_draws(weights, place)
        merged = np.array([float(f"{weight:.{_DIGITS}g}") for weight in merged.tolist()], np.float64)
    size = domain.size("vertex")
    return Graph.from_columns(source=keys // size, target=keys % size, domain=domain, weights=merged, directed=directed)


def _joint_domain(graphs: tuple[Graph, ...]) -> Domain:
    """The domain of all files; where they name different vertices, that of all vertices that any of them has."""
    axes = [graph.domain.axis("vertex") for graph in graphs]
    if all(axis.values == axes[0].values for axis in axes):
        return graphs[0].domain
    values = dict.fromkeys(str(value) for axis in axes for value in axis.values)
    return Domain((("vertex", infer_axis(list(values))),), Source.INFERRED)


def _ends_in(graph: Graph, domain: Domain) -> tuple[Integers, Integers]:
    codes = domain.axis("vertex").by_text
    place = np.array([codes[str(value)] for value in graph.domain.values("vertex")], np.int64)
    return place[graph.first], place[graph.second]


def _edges(source: Integers, target: Integers, vertices: int, *, directed: bool) -> tuple[Integers, Integers, Integers]:
    """Number the edges; return them, which of them each row is, and how often it is listed."""
    low, high = (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
    return np.unique(low * vertices + high, return_inverse=True, return_counts=True)


def require_parts(recipes: Mapping[str, Recipe]) -> None:
    """Refuse releases that are not the parts of owners, all by one law; they are named by the place they are read from.

    Examples
    --------
    >>> require_parts({"ours": Recipe("gaussian-weights", (("owner", "both"),))})
    Traceback (most recent call last):
    ...
    hedgerow.errors.ParameterError: ours is not the part of one owner; publish it by gaussian-weights with owner=one
    """
    laws: dict[str, tuple[object, ...]] = {}
    for place, recipe in recipes.items():
        facts = {"method": recipe.method, **dict(recipe.parameters)}
        if (facts["method"], facts.get("owner")) != ("gaussian-weights", "one"):
            msg = f"{place} is not the part of one owner; publish it by gaussian-weights with owner=one"
            raise ParameterError(msg)
        laws[place] = tuple(facts.get(name) for name in _COMMON)
    for place, law in laws.items():
        first = next(iter(laws))
        if law != laws[first]:
            msg = f"{place} and {first} have another sigma, floor or calibration; all owners take the same"
            raise ParameterError(msg)


def _require_two_draws(weights: Floats, place: Integers) -> None:
    """Refuse one file that is given twice: two owners do not draw the same for all edges."""
    order = np.argsort(place, kind="stable")
    one, other = weights[order[::2]], weights[order[1::2]]
    if len(one) and np.array_equal(one, other):
        msg = "both weights of every edge are the same: one file is given twice; give the files of both ends"
        raise ParameterError(msg)


def _require_times(times: Integers, *, directed: bool) -> None:
    wanted = 1 if directed else 2
    wrong = int((times != wanted).sum())
    if wrong:
        rule = "exactly one file, that of its source" if directed else "exactly two files, those of its ends"
        more = int((times > wanted).sum())
        msg = f"each edge must be in {rule}; {wrong - more:,} are in fewer, and {more:,} in more; nothing was merged"
        raise ParameterError(msg)
