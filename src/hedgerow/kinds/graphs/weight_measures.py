"""Utility of released weights: how much they changed, what order they tell, and what became of shortest paths.

All of these compare with the original: they are for the owner only, and no guarantee covers them. Beside them are the
same figures of the simplest alternatives: weights left out, one constant added, all multiplied, exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from hedgerow import progress
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity, count_anonymous
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.path_lengths import Compared, Pairs, compare_paths, kept_pairs, sample_pairs, share_unique
from hedgerow.measures.scoring import compared_score
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.score import Score

Graphs: TypeAlias = Mapping[str, Graph]
#: charts that the report draws in its own way
WEIGHTS_WITHIN, LENGTHS_WITHIN = "weights within a relative change", "lengths of paths within a relative change"
RATIOS = "ratio of the lengths of paths, after to before"
LEVELS = "weights before and after"
DRAWING = "heaviest part of the network"
#: relative changes at which shares are counted
CHANGES = (0.05, 0.1, 0.15, 0.2, 0.4)
#: edges of the histogram of ratios
_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 2.0, np.inf)
#: weights in equal groups, and vertices and edges of the drawing
_GROUPS = 12
_VERTICES, _EDGES = 40, 80
_EXCHANGED = "weights exchanged"
_ORIGINAL = "original"


def weight_controls(original: Graph) -> dict[str, Graph]:
    """The alternatives of the literature: weights left out, a constant added to all, all multiplied by one."""
    weights = original.require_weights()
    middle = float(np.median(weights)) if len(weights) else 1.0
    return {
        "weights left out": original.weighted(np.ones(len(weights))),
        "median added to all": original.weighted(weights + middle),
        "all doubled": original.weighted(2 * weights),
    }


def measure_weights(
    original: Graph,
    released: Graph,
    controls: Graphs,
    rng: np.random.Generator,
    *,
    promise: MuWeightedKAnonymity | None = None,
) -> list[Score]:
    """Compare the weights of a released network with the original ones, and with the controls.

    Parameters
    ----------
    rng
        Draws the sources of paths, and exchanges the weights of a control.
    promise
        What was promised about the arcs, if anything.
    """
    exchanged = original.weighted(original.require_weights()[rng.permutation(len(original))])
    graphs = {"": released, **controls, _EXCHANGED: exchanged}
    scores = [*_change_scores(original, graphs), *_order_scores(original, graphs)]
    if promise is not None:
        counts = {name: count_anonymous(graph, promise) for name, graph in {**graphs, _ORIGINAL: original}.items()}
        shares = {name: anonymous / max(1, arcs) for name, (anonymous, arcs) in counts.items()}
        scores.append(compared_score("arcs that are anonymous", shares, better="higher"))
    drawn = draw(original, released)
    return [*drawn, *scores, *_path_scores(original, graphs, rng), *_level_scores(original, graphs)]


def relative_changes(before: Floats, after: Floats) -> Floats:
    """By how much each weight changed, relative to what it was."""
    return np.abs(after - before) / before


def _change_scores(original: Graph, graphs: Graphs) -> list[Score]:
    before = original.require_weights()
    changes = {name: relative_changes(before, graph.require_weights()) for name, graph in graphs.items()}
    scores = [
        compared_score("weights changed", {name: _share(each > 0) for name, each in changes.items()}),
        compared_score("mean relative change of weights", {name: float(each.mean()) for name, each in changes.items()}),
    ]
    for change in CHANGES:
        shares = {name: _share(each <= change * (1 + 1e-12)) for name, each in changes.items()}
        name = f"{WEIGHTS_WITHIN}: {100 * change:g} %"
        scores.append(compared_score(name, shares, chart=WEIGHTS_WITHIN, at=f"{change:g}"))
    return scores


def _order_scores(original: Graph, graphs: Graphs) -> list[Score]:
    before = original.require_weights()
    orders = {name: kendall_tau(before, graph.require_weights()) for name, graph in graphs.items()}
    scores = [compared_score("order of weights that is told (Kendall's tau)", orders)]
    for which, sign in (("heaviest", 1.0), ("lightest", -1.0)):
        stayed = {name: extremes_kept(original, graph, sign) for name, graph in graphs.items()}
        scores.append(compared_score(f"arcs that are the {which} of their vertex, and still seem so", stayed))
    return scores


def _path_scores(original: Graph, graphs: Graphs, rng: np.random.Generator) -> list[Score]:
    """Between the pairs whose paths must stay, if the data has them, and between sampled ones."""
    sampled, listed = sample_pairs(original, rng), kept_pairs(original, rng)
    workloads: dict[str, Pairs] = {} if listed is None else {"pairs whose paths must stay": listed}
    workloads["sampled pairs"] = sampled
    scores: list[Score] = []
    for number, (group, pairs) in enumerate(workloads.items()):
        compared: dict[str, Compared] = {}
        for done, (name, graph) in enumerate(graphs.items()):
            progress.tell(f"comparing paths, {group}", done, len(graphs))
            compared[name] = compare_paths(original, graph, pairs)
        kept = {name: each.kept_share for name, each in compared.items()}
        scores.append(compared_score(f"shortest paths kept, {group}", kept, better="higher"))
        unique = {"": share_unique(graphs[""], pairs), _ORIGINAL: share_unique(original, pairs)}
        scores.append(compared_score(f"pairs with one shortest path only, {group}", unique))
        errors = {name: each.mean_change for name, each in compared.items()}
        scores.append(compared_score(f"mean relative change of lengths, {group}", errors, better="lower"))
        if not number:  # the charts are of those that matter most
            scores += _length_scores(compared)
    return scores


def _length_scores(compared: Mapping[str, Compared]) -> list[Score]:
    scores = [
        compared_score(
            f"{LENGTHS_WITHIN}: {100 * change:g} %",
            {name: each.within(change) for name, each in compared.items()},
            better="higher",
            chart=LENGTHS_WITHIN,
            at=f"{change:g}",
        )
        for change in CHANGES
    ]
    ratios = {name: each.ratios for name, each in compared.items() if len(each.ratios)}
    if "" not in ratios:
        return scores
    for level in (0.05, 0.5, 0.95):
        values = {name: float(np.quantile(each, level)) for name, each in ratios.items()}
        scores.append(compared_score(f"{RATIOS}: {100 * level:g} % quantile", values))
    counts = np.histogram(ratios[""], _BINS)[0] / len(ratios[""])
    for low, high, share in zip(_BINS, _BINS[1:], counts.tolist(), strict=False):
        at = f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"
        scores.append(compared_score(f"{RATIOS}: {at}", {"": share}, chart=RATIOS, at=at))
    return scores


def _level_scores(original: Graph, graphs: Graphs) -> list[Score]:
    """The middle of the released weights of groups of edges, sorted by their original weights, and where 90 % lie."""
    before, after = original.require_weights(), graphs[""].require_weights()
    groups = np.array_split(np.argsort(before, kind="stable"), min(_GROUPS, len(before)))
    scores: list[Score] = []
    for number, group in enumerate(each for each in groups if len(each)):
        low, middle, high = np.quantile(after[group], (0.05, 0.5, 0.95)).tolist()
        told = float(np.median(before[group]))
        scores.append(
            Score(
                name=f"weights of group {number + 1}, by original weight",
                value=middle,
                low=low,
                high=high,
                better="neither",
                scope="owner",
                controls=((_ORIGINAL, told),),
                chart=LEVELS,
                at=f"{told:.6g}",
            )
        )
    return scores


def draw(original: Graph, released: Graph) -> list[Score]:
    """Weights before and after in the part of the network where they are largest: one score per edge that is drawn."""
    before, after = original.require_weights(), released.require_weights()
    size = original.domain.size("vertex")
    strength = np.bincount(original.first, before, size) + np.bincount(original.second, before, size)
    shown = np.zeros(size, np.bool_)
    shown[np.argsort(-strength, kind="stable")[:_VERTICES]] = True
    inside = np.flatnonzero(shown[original.first] & shown[original.second])
    chosen: list[int] = np.sort(inside[np.argsort(-before[inside], kind="stable")[:_EDGES]]).tolist()
    values = original.domain.values("vertex")
    first: list[int] = original.first[chosen].tolist()
    second: list[int] = original.second[chosen].tolist()
    return [
        compared_score(
            f"weight {values[one]} {'to' if original.directed else 'and'} {values[other]}",
            {"": float(after[edge]), _ORIGINAL: float(before[edge])},
            chart=DRAWING,
            at=str(values[one]),
            across=str(values[other]),
        )
        for edge, one, other in zip(chosen, first, second, strict=True)
    ]


# The order of weights.


def kendall_tau(before: Floats, after: Floats) -> float:
    """Kendall's tau-b of two lists of numbers: 1 for the same order, 0 if one of them tells none.

    Examples
    --------
    >>> round(kendall_tau(np.array([1.0, 2, 3, 3]), np.array([1.0, 3, 2, 4])), 4)
    0.5477
    >>> kendall_tau(np.array([1.0, 2, 3]), np.ones(3))
    0.0
    """
    size = len(before)
    one, other = (_codes_of(values) for values in (before, after))
    order = np.lexsort((other, one))
    pairs = size * (size - 1) // 2
    ties = [_tied(np.bincount(codes)) for codes in (one, other)] if size else [0, 0]
    together = _tied(np.unique(one * size + other, return_counts=True)[1])
    against = count_inversions(other[order])
    distinct = (pairs - ties[0]) * float(pairs - ties[1])
    if distinct <= 0:
        return 0.0
    return float((pairs - ties[0] - ties[1] + together - 2 * against) / np.sqrt(distinct))


def _codes_of(values: Floats) -> Integers:
    return np.asarray(np.unique(values, return_inverse=True)[1], np.int64)


def _tied(counts: Integers) -> int:
    return int((counts.astype(np.int64) * (counts - 1) // 2).sum())


def count_inversions(codes: Integers) -> int:
    """Count the pairs that are out of order in a list of codes from 0 on: bit by bit, from the highest.

    Examples
    --------
    >>> count_inversions(np.array([2, 0, 1, 1]))
    3
    """
    codes, total = codes.astype(np.int64), 0
    for bit in range(int(codes.max(initial=0)).bit_length() - 1, -1, -1):
        # codes stand in groups that agree in all higher bits, in their order
        groups = codes >> (bit + 1)
        ones = codes >> bit & 1
        before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1])[: len(groups)])
        base = np.repeat(before[starts], np.diff(np.append(starts, len(groups))))
        total += int((before - base)[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return total


def extremes_kept(original: Graph, released: Graph, sign: float) -> float:
    """How often the arc of largest weight (or smallest, by the sign) that leaves a vertex is still that one.

    Vertices with two arcs or more, and one arc that is the largest, count. Where several are the largest in the
    release, each of them is as likely as the others to be taken for it.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=range(3))
    >>> graph = Graph.from_edges([(0, 1), (0, 2)], weights=[1, 2], domain=domain, directed=True)
    >>> extremes_kept(graph, graph, 1.0), extremes_kept(graph, graph.weighted(np.ones(2)), 1.0)
    (1.0, 0.5)
    """
    rows, edges = rows_of(original)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])[: len(rows)])
    if not len(starts):
        return 0.0
    widths = np.diff(np.append(starts, len(rows)))
    tops: list[Flags] = []
    counts: list[Integers] = []
    for graph in (original, released):
        weights = sign * graph.require_weights()[edges]
        top = weights == np.repeat(np.maximum.reduceat(weights, starts), widths)
        tops.append(top)
        counts.append(np.add.reduceat(top.astype(np.int64), starts))
    judged = (widths > 1) & (counts[0] == 1)
    hits = np.add.reduceat((tops[0] & tops[1]).astype(np.float64), starts) / counts[1]
    return float(hits[judged].mean()) if judged.any() else 0.0


def rows_of(graph: Graph) -> tuple[Integers, Integers]:
    """The arcs that leave each vertex: the vertex, ascending, and the edge; without directions an edge leaves both."""
    count = np.arange(len(graph))
    rows, edges = graph.first.astype(np.int64), count
    if not graph.directed:
        rows, edges = np.concatenate((rows, graph.second)).astype(np.int64), np.concatenate((count, count))
    order = np.argsort(rows, kind="stable")
    return rows[order], edges[order]


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0
