"""What a labelling keeps: visits and moves, weighted by how precise their labels are. A private number."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits, Labelling

__all__ = ["OBJECTIVES", "measure_utility"]

Floats: TypeAlias = NDArray[np.float64]

#: the weight of visits in each objective; the rest is the weight of moves
OBJECTIVES = {"balanced": 0.5, "visits": 1.0, "trips": 0.0}


def measure_utility(visits: FineVisits, labelling: Labelling, objective: str, time_weight: float) -> float:
    """The mean precision of visits and of moves, where what is lost counts as 0; between 0 and 1."""
    if not len(visits):
        return 0.0
    slot = np.maximum(labelling.slot, 0)
    kept = labelling.slot >= 0
    place_level, region, time_level, _ = visits.levels.split(np.maximum(labelling.label[slot], 0))
    sizes = np.concatenate([level.sizes for level in visits.levels.places])
    firsts = np.cumsum([0, *(len(level.regions) for level in visits.levels.places)])
    widths = np.array(visits.levels.times.widths, np.float64)
    place = _bits_kept(sizes[firsts[place_level] + region], len(visits.levels.places[0].regions))
    time = _bits_kept(widths[time_level] / widths[0], widths[-1] / widths[0])
    precision = np.where(kept, (1 - time_weight) * place + time_weight * time, 0.0)
    of_visits = float(precision.sum()) / len(visits)
    move = (visits.record[1:] == visits.record[:-1]) & (visits.place[1:] != visits.place[:-1])
    if not move.any():
        return of_visits
    coarser = np.maximum(place_level[1:], place_level[:-1])
    apart = np.zeros(len(move), np.bool_)
    levels: list[int] = np.unique(coarser).tolist()
    for level in levels:
        here, column = coarser == level, visits.regions[level]
        apart[here] = column[1:][here] != column[:-1][here]
    seen = move & kept[1:] & kept[:-1] & apart
    of_moves = float((precision[1:] + precision[:-1])[seen].sum()) / 2 / int(move.sum())
    weight = OBJECTIVES[objective]
    return weight * of_visits + (1 - weight) * of_moves


def _bits_kept(size: NDArray[np.integer] | Floats, whole: float) -> Floats:
    """The share of the bits of "where", or of "when", that a region or bin of this size keeps."""
    return 1 - np.log(size) / np.log(whole) if whole > 1 else np.ones(len(size))
