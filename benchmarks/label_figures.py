"""What labels keep of the visits they stand for: exact figures, since here it is known which visit is which."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hedgerow.kinds.trajectories.methods.kcl_generalisation.labelling import Labelling
from hedgerow.kinds.trajectories.methods.kcl_generalisation.search import measure_utility
from hedgerow.kinds.trajectories.methods.kcl_generalisation.support import FineVisits

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

#: hours of the day that times are compared in
HOURS = 24


def figures(visits: FineVisits, labelling: Labelling, compared: int) -> dict[str, float]:
    """Visits, moves, records with two labels, precision, and total variation of hours, places and flows.

    Labels are spread evenly over the times of their bin and over the places of their region; places and flows are
    compared on one level of places. The direction of a move can be seen if the bins of its labels are disjoint; else it
    counts as half a move either way.
    """
    levels, slot = visits.levels, labelling.slot
    kept = np.flatnonzero(slot >= 0)
    place_level, region, time_level, number = levels.split(labelling.label[slot[kept]])
    sizes = np.array([levels.places[i].sizes[r] for i, r in zip(place_level.tolist(), region.tolist(), strict=True)])
    widths = np.array(levels.times.widths, np.float64)
    place = 1 - np.log(np.maximum(1, sizes)) / np.log(len(levels.places[0].regions))
    time = 1 - np.log(widths[time_level] / widths[0]) / np.log(widths[-1] / widths[0])
    same = visits.record[1:] == visits.record[:-1]
    move = same & (visits.place[1:] != visits.place[:-1])
    level = np.full(len(visits), -1, np.int64)
    level[kept] = place_level
    seen = _apart(visits, level) & move
    directed = seen & _one_after_the_other(visits, labelling)
    fine = np.bincount(visits.record, minlength=len(visits.owner))
    labels = np.bincount(visits.record[labelling.label >= 0], minlength=len(visits.owner))
    spread = _spread_places(visits, compared)
    return {
        "visits": len(kept) / len(visits),
        "moves": float(seen.sum() / max(1, move.sum())),
        "directed": float(directed.sum() / max(1, move.sum())),
        "records with two": float((labels >= 2).sum() / max(1, (fine >= 2).sum())),
        "precision of places": float(place.mean()) if len(kept) else 0.0,
        "precision of times": float(time.mean()) if len(kept) else 0.0,
        "U": measure_utility(visits, labelling, "balanced", 0.25),
        "hour TV": _hours_apart(visits, time_level, number),
        "place TV": _places_apart(visits, spread, place_level, region, compared),
        "flow TV": _flows_apart(visits, labelling, spread, compared, move, seen, directed),
    }


def _apart(visits: FineVisits, level: Integers) -> NDArray[np.bool_]:
    """Whether the labels of consecutive visits are there, and of disjoint regions."""
    coarser = np.maximum(level[1:], level[:-1])
    both = (level[1:] >= 0) & (level[:-1] >= 0)
    apart = np.zeros(len(both), np.bool_)
    for number, column in enumerate(visits.regions):
        here = both & (coarser == number)
        apart[here] = column[1:][here] != column[:-1][here]
    return apart


def _one_after_the_other(visits: FineVisits, labelling: Labelling) -> NDArray[np.bool_]:
    """Whether the bins of the labels of consecutive visits are disjoint."""
    _, _, time_level, number = visits.levels.split(np.maximum(labelling.label[np.maximum(labelling.slot, 0)], 0))
    widths = np.array(visits.levels.times.widths, np.int64)[time_level]
    return (number + 1)[:-1] * widths[:-1] <= number[1:] * widths[1:]


def _spread_places(visits: FineVisits, compared: int) -> list[Any]:
    """For each level, the share of each region in the regions of the compared level."""
    target, spread = visits.levels.places[compared], []
    for level in visits.levels.places:
        weights = 1 / level.sizes[level.of_place]
        shape = (len(level.regions), len(target.regions))
        spread.append(sparse.csr_array((weights, (level.of_place, target.of_place)), shape=shape))
    return spread


def _distance(first: Any, second: Any) -> float:
    one, other = first.sum(), second.sum()
    if not one or not other:
        return float(bool(one) != bool(other))
    return 0.5 * float(abs(first / one - second / other).sum())


def _hours_apart(visits: FineVisits, time_level: Integers, number: Integers) -> float:
    times = visits.levels.times
    steps = times.widths[-1] // times.widths[0]
    fine = np.bincount(visits.bins[0], minlength=steps).astype(float)
    coarse = np.zeros(steps + 1)
    per_bin = np.array(times.widths) // times.widths[0]
    start = number * per_bin[time_level]
    np.add.at(coarse, start, 1 / per_bin[time_level])
    np.add.at(coarse, start + per_bin[time_level], -1 / per_bin[time_level])
    hour = np.arange(steps) * HOURS // steps if steps > HOURS else np.arange(steps)
    return _distance(np.bincount(hour, fine), np.bincount(hour, np.cumsum(coarse)[:-1]))


def _places_apart(visits: FineVisits, spread: list[Any], level: Integers, region: Integers, compared: int) -> float:
    fine = np.bincount(visits.regions[compared], minlength=len(visits.levels.places[compared].regions)).astype(float)
    coarse = np.zeros(len(fine))
    for number, matrix in enumerate(spread):
        coarse += np.bincount(region[level == number], minlength=matrix.shape[0]) @ matrix
    return _distance(fine, coarse)


def _flows_apart(
    visits: FineVisits,
    labelling: Labelling,
    spread: list[Any],
    compared: int,
    move: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    directed: NDArray[np.bool_],
) -> float:
    regions, size = visits.regions[compared], len(visits.levels.places[compared].regions)
    ends = np.flatnonzero(move)
    ones = np.ones(len(ends))
    fine = sparse.csr_array((ones, (regions[ends], regions[ends + 1])), shape=(size, size))
    either = _flows(visits, labelling, spread, np.flatnonzero(seen & ~directed), size)
    coarse = _flows(visits, labelling, spread, np.flatnonzero(directed), size) + (either + either.T) / 2
    return _distance(fine, coarse)


def _flows(visits: FineVisits, labelling: Labelling, spread: list[Any], at: Integers, size: int) -> Any:
    """Moves from the visits at these positions to the next ones, by their labels, on the compared level."""
    flows = sparse.csr_array((size, size))
    origin, goal = (visits.levels.split(labelling.label[labelling.slot[each]])[:2] for each in (at, at + 1))
    for i, one in enumerate(spread):
        for j, other in enumerate(spread):
            here = (origin[0] == i) & (goal[0] == j)
            if here.any():
                shape = (one.shape[0], other.shape[0])
                counts = sparse.csr_array((np.ones(int(here.sum())), (origin[1][here], goal[1][here])), shape=shape)
                flows = flows + one.T @ counts @ other
    return flows
