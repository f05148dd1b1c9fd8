"""The search for the levels to recode to, and what labels keep, by which levels are compared.

Estimates do not count sensitive values: the levels then tell nothing about them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import Labelling, Node
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits
from hedgerow.numerics.arrays import Flags, Floats
from hedgerow.numerics.rounding import on_count_grid

#: finer place, finer time, coarser place, coarser time: the first of equally good neighbours is taken
_STEPS: tuple[Node, ...] = ((-1, 0), (0, -1), (1, 0), (0, 1))


def find_best_node(estimate: Callable[[Node], float], coarsest: Node) -> tuple[Node, dict[Node, float]]:
    """Go from the coarsest levels to the best neighbour as long as it is better; also return all estimates.

    Examples
    --------
    >>> node, estimates = find_best_node(lambda node: -abs(node[0] - 1) - abs(node[1] - 2), (2, 3))
    >>> node, len(estimates)
    ((1, 2), 7)
    """
    estimates = {coarsest: estimate(coarsest)}
    node = coarsest
    while True:
        neighbours = [(node[0] + place, node[1] + time) for place, time in _STEPS]
        inside = [(i, j) for i, j in neighbours if 0 <= i <= coarsest[0] and 0 <= j <= coarsest[1]]
        for each in inside:
            if each not in estimates:
                estimates[each] = estimate(each)
        best = max(inside, key=lambda each: estimates[each], default=node)
        if estimates[best] <= estimates[node]:
            return node, estimates
        node = best


# ---- what a labelling keeps: visits and moves, by how precise their labels are; private numbers

#: the weight of visits in each objective; the rest is the weight of moves
OBJECTIVES = {"balanced": 0.5, "visits": 1.0, "trips": 0.0}


class Kept(NamedTuple):
    """What is kept.

    The share of visits with a label, of moves between disjoint regions, and of records with two labels among those with
    two visits; and how precise the places and times of labels are, on average over the visits they stand for.
    """

    visits: float
    moves: float
    trips: float
    place: float
    time: float


def measure_kept(visits: FineVisits, labelling: Labelling) -> Kept:
    """What labels keep, in the figures that people understand."""
    kept, place, time = _precision(visits, labelling)
    move, seen = _moves(visits, labelling)
    fine = np.bincount(visits.record, minlength=len(visits.owner))
    labels = np.bincount(visits.record[labelling.label >= 0], minlength=len(visits.owner))
    return Kept(
        float(kept.mean()) if len(visits) else 0.0,
        int(seen.sum()) / max(1, int(move.sum())),
        int((labels > 1).sum()) / max(1, int((fine > 1).sum())),
        float(place[kept].mean()) if kept.any() else 0.0,
        float(time[kept].mean()) if kept.any() else 0.0,
    )


def measure_utility(visits: FineVisits, labelling: Labelling, objective: str, time_weight: float) -> float:
    """The mean precision of visits and of moves, where what is lost counts as 0; between 0 and 1."""
    if not len(visits):
        return 0.0
    kept, place, time = _precision(visits, labelling)
    precision = np.where(kept, (1 - time_weight) * place + time_weight * time, 0.0)
    of_visits = float(precision.sum()) / len(visits)
    move, seen = _moves(visits, labelling)
    if not move.any():
        return of_visits
    of_moves = float((precision[1:] + precision[:-1])[seen].sum()) / 2 / int(move.sum())
    weight = OBJECTIVES[objective]
    return weight * of_visits + (1 - weight) * of_moves


def _precision(visits: FineVisits, labelling: Labelling) -> tuple[Flags, Floats, Floats]:
    """Whether each visit has a label, and the precision of its place and time; of any label where it has none."""
    levels, slot = visits.levels, np.maximum(labelling.slot, 0)
    place_level, region, time_level, _ = levels.split(np.maximum(labelling.label[slot], 0))
    sizes = np.concatenate([level.sizes for level in levels.places])
    firsts = np.cumsum([0, *(len(level.regions) for level in levels.places)])
    widths = np.array(levels.times.widths, np.float64)
    place = _bits_kept(sizes[firsts[place_level] + region], len(levels.places[0].regions))
    time = _bits_kept(widths[time_level] / widths[0], widths[-1] / widths[0])
    return labelling.slot >= 0, place, time


def _moves(visits: FineVisits, labelling: Labelling) -> tuple[Flags, Flags]:
    """Which consecutive visits of a record change place, and which of them have labels of disjoint regions."""
    move = (visits.record[1:] == visits.record[:-1]) & (visits.place[1:] != visits.place[:-1])
    kept = labelling.slot >= 0
    place_level, *_ = visits.levels.split(np.maximum(labelling.label[np.maximum(labelling.slot, 0)], 0))
    coarser = np.maximum(place_level[1:], place_level[:-1])
    apart = np.zeros(len(move), np.bool_)
    for level, column in enumerate(visits.regions):
        here = coarser == level
        apart[here] = column[1:][here] != column[:-1][here]
    return move, move & kept[1:] & kept[:-1] & apart


def _bits_kept(size: NDArray[np.integer] | Floats, whole: float) -> Floats:
    """The share of the bits of "where", or of "when", that a region or bin of this size keeps."""
    return on_count_grid(1 - np.log(size) / np.log(whole)) if whole > 1 else np.ones(len(size))
