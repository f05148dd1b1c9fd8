"""Edge inference: what an attacker learns from a release about whether two vertices are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.structure import NeighbourLists
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.vertex_pairs import rank_pairs, unrank_pairs
from hedgerow.score import Score

_TARGETS = 2_000
_NORMAL = 1.96
_DRAWS = 20
_AREA, _ADVANTAGE = "area under the ROC curve", "advantage of believing the release"


class Rate(NamedTuple):
    """A rate with its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Targets(NamedTuple):
    """Pairs of vertices that the attacker is asked about, by number: edges of the original, and pairs that are none."""

    edges: Integers
    others: Integers


def measure_inference(
    original: Graph,
    released: Graph,
    controls: Mapping[str, Graph],
    rng: np.random.Generator,
    *,
    targets: int = _TARGETS,
) -> list[Score]:
    """Attack by edge inference.

    The attacker holds the release, and is asked about pairs of vertices, half of which are edges of the original. In
    the first setting the other half are random pairs that are no edges; in the second, harder one they are pairs at
    distance two, which look like edges to whoever knows the neighbourhood. The attacker ranks the pairs: those that
    are edges of the release first, then by the neighbours that both share in the release, then by the product of
    their degrees in the release. Success is the area under the ROC curve: the probability that an edge is ranked
    above another pair, 0.5 for guessing. The advantage of believing the release is how much more often an edge than
    another pair is an edge of the release.

    Beside it stand the baselines without a release (guessing; ranking by the product of the true degrees), the same
    attack on the controls, and on the original from which the edges in question were removed: what can be inferred
    from all other edges is no disclosure of this one. The intervals have 95 % coverage of the draw of pairs, with the
    release as it is (for areas by DeLong's variance).
    """
    scores: list[Score] = []
    for setting, chosen in draw_targets(original, rng, most=targets // 2).items():
        rest = without_targets(original, chosen)
        # a graph without edges leaves the attacker guessing, which is a baseline already
        others = {name: graph for name, graph in controls.items() if len(graph)}
        graphs = {"": released, **others, "original without these pairs": rest}
        areas = {name: area_under_curve(*_rank(graph, chosen)) for name, graph in graphs.items()}
        degrees = original.degrees()
        known = [_multiply_degrees(degrees, ranks) for ranks in chosen]
        baselines = {"guessing": 0.5, "true degrees alone": area_under_curve(*known).value}
        scores.append(_score(_AREA, setting, areas, baselines))
        believed = {name: _advantage(graph, chosen) for name, graph in graphs.items() if graph is not rest}
        scores.append(_score(_ADVANTAGE, setting, believed, {"guessing": 0.0}))
    return scores


def draw_targets(original: Graph, rng: np.random.Generator, *, most: int) -> dict[str, Targets]:
    """Draw edges, and as many pairs that are none: at random, and at distance two.

    At most a quarter of the edges are drawn, so that the others still describe the graph. A setting that the graph has
    no pairs for is left out.
    """
    ranks, pairs = original.ranks(), original.pairs
    settings: dict[str, Targets] = {}
    for setting, draw in (("random pairs", _draw_pairs), ("pairs at distance two", _draw_at_distance_two)):
        count = min(most, -(-len(ranks) // 4), pairs - len(ranks))
        others = draw(original, count, rng) if count else ranks[:0]
        count = len(others)
        if count:
            settings[setting] = Targets(np.sort(rng.choice(ranks, count, replace=False)), others)
    return settings


def without_targets(original: Graph, targets: Targets) -> Graph:
    """The original without the edges that the attacker is asked about."""
    return Graph.from_ranks(np.setdiff1d(original.ranks(), targets.edges, assume_unique=True), original.domain)


def score_pairs(graph: Graph, ranks: Integers) -> Floats:
    """Rank pairs as the attacker does: edges first, then by common neighbours, then by the product of the degrees.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (0, 2), (0, 3)], domain=Domain.declare(vertex=range(5)))
    >>> np.argsort(-score_pairs(graph, np.arange(10)), kind="stable").tolist()
    [0, 1, 2, 4, 5, 7, 3, 6, 8, 9]
    """
    lists = NeighbourLists.of(graph)
    one, other = unrank_pairs(ranks, lists.vertices)
    keys = (_multiply_degrees(lists.degrees(), ranks), lists.count_common(one, other), lists.contain(one, other))
    order = np.lexsort(keys)
    new = np.zeros(len(ranks), np.bool_)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    scores = np.empty(len(ranks))
    scores[order] = np.cumsum(new)
    return scores


def area_under_curve(edges: Floats, others: Floats) -> Rate:
    """The probability that an edge has a higher score than another pair, equal ones counted half.

    The interval uses the variance of DeLong [1]_.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson. "Comparing the areas under two or more correlated receiver
       operating characteristic curves". Biometrics 44(3), 1988.

    Examples
    --------
    >>> area_under_curve(np.array([3.0, 2.0]), np.array([1.0, 2.0])).value
    0.875
    """
    above = _share_below(np.sort(others), edges)
    below = 1 - _share_below(np.sort(edges), others)
    variance = above.var() / len(edges) + below.var() / len(others)
    return _rate(float(above.mean()), float(variance), 0.0)


def _advantage(graph: Graph, targets: Targets) -> Rate:
    """How much more often the release has an edge at an edge of the original than at another pair."""
    true, false = (np.isin(ranks, graph.ranks(), assume_unique=True) for ranks in targets)
    variance = true.var() / len(true) + false.var() / len(false)
    return _rate(float(true.mean() - false.mean()), float(variance), -1.0)


def _rank(graph: Graph, targets: Targets) -> tuple[Floats, Floats]:
    scores = score_pairs(graph, np.concatenate(targets))
    return scores[: len(targets.edges)], scores[len(targets.edges) :]


def _rate(value: float, variance: float, least: float) -> Rate:
    margin = _NORMAL * variance**0.5
    return Rate(value, max(least, value - margin), min(1.0, value + margin))


def _share_below(ordered: Floats, values: Floats) -> Floats:
    """The share of the ordered numbers that are below each value, equal ones counted half."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * len(ordered))


def _multiply_degrees(degrees: Integers, ranks: Integers) -> Floats:
    one, other = unrank_pairs(ranks, len(degrees))
    return (degrees[one] * degrees[other]).astype(np.float64)


def _draw_pairs(original: Graph, count: int, rng: np.random.Generator) -> Integers:
    """Draw different pairs that are no edges; fewer than asked for if they are rare."""
    ranks = original.ranks()
    drawn = np.zeros(0, np.int64)
    for _ in range(_DRAWS):
        more = np.setdiff1d(rng.integers(0, original.pairs, 2 * count), ranks)
        drawn = np.union1d(drawn, more)
        if len(drawn) >= count:
            break
    return np.sort(rng.permutation(drawn)[:count])


def _draw_at_distance_two(original: Graph, count: int, rng: np.random.Generator) -> Integers:
    """Draw different pairs that share a neighbour and are no edges, by a random edge and a random edge next to it."""
    lists = NeighbourLists.of(original)
    degrees = lists.degrees()
    drawn = np.zeros(0, np.int64)
    for _ in range(_DRAWS):
        place = rng.integers(0, len(lists.neighbours), 4 * count)
        centre = np.searchsorted(lists.starts, place, "right") - 1
        one = lists.neighbours[place].astype(np.int64)
        other = lists.neighbours[lists.starts[centre] + rng.integers(0, degrees[centre])].astype(np.int64)
        apart = (one != other) & ~lists.contain(one, other)
        one, other = one[apart], other[apart]
        drawn = np.union1d(drawn, rank_pairs(np.minimum(one, other), np.maximum(one, other), lists.vertices))
        if len(drawn) >= count:
            break
    return np.sort(rng.permutation(drawn)[:count])


def _score(what: str, setting: str, rates: Mapping[str, Rate], others: Mapping[str, float]) -> Score:
    ours = rates[""]
    return Score(
        name=f"edge inference, {setting}: {what}",
        value=ours.value,
        low=ours.low,
        high=ours.high,
        better="lower",
        scope="owner",
        controls=(*((name, rate.value) for name, rate in rates.items() if name), *others.items()),
        chart=f"edge inference: {what}",
        at=setting,
    )
