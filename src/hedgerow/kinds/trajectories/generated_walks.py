"""Generated trajectories: walks through a city and rides on a transit network, hour by hour.

They resemble the two data sets of the paper on local suppression, which are not public: a skewed start, a random walk
on a graph of small degree, distinct hours, and one sensitive attribute of five values, each in a fifth of the records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.data import Domain
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.numerics.arrays import Integers

_DEGREE = 4
_STAY = 0.3
_SKEW = 1.0
_SHARES = (0.2, 0.2, 0.2, 0.2, 0.2)


@dataclass(frozen=True)
class Walks:
    """Parameters of generated walks: number of records, places and hours, mean length, and seed."""

    records: int
    places: int
    hours: int
    mean: float = 6.0
    seed: int = 2013


CITY = Walks(80_000, 26, 24)
TRANSIT = Walks(460_000, 68, 48)


def walks(plan: Walks) -> Trajectories:
    """Generate walks; the same parameters give the same ones.

    Examples
    --------
    >>> data = walks(Walks(100, 5, 12))
    >>> len(data), data.sensitive, data.domain.size("place")
    (100, ('diagnosis',), 5)
    """
    draw = np.random.default_rng(plan.seed)
    sizes = 1 + np.minimum(draw.poisson(plan.mean - 1, plan.records), plan.hours - 1)
    # distinct hours: the first ones of a random order, sorted
    order = np.argsort(draw.random((plan.records, plan.hours), np.float32), axis=1)
    chosen = np.arange(plan.hours) < sizes[:, None]
    hours = np.sort(np.where(chosen, order, plan.hours), axis=1)
    place = _walk(plan, draw)
    row, step = np.nonzero(hours < plan.hours)
    traits = draw.choice(len(_SHARES), plan.records, p=_SHARES).astype(np.int64)
    domain = Domain.declare(
        place=[f"p{number}" for number in range(plan.places)],
        time=range(plan.hours),
        diagnosis=["flu", "fever", "cold", "asthma", "HIV"],
    )
    return Trajectories.from_columns(
        records=plan.records,
        row=row.astype(np.int64),
        time=hours[row, step].astype(np.int64),
        place=place[row, step],
        sensitive={"diagnosis": traits},
        domain=domain,
    )


def _walk(plan: Walks, draw: np.random.Generator) -> Integers:
    """Draw random walks: a skewed start, then at every step a neighbour, or the same place."""
    weights = 1 / np.arange(1, plan.places + 1) ** _SKEW
    near = draw.integers(0, plan.places, (plan.places, _DEGREE))
    place = np.empty((plan.records, plan.hours), np.int64)
    place[:, 0] = draw.choice(plan.places, plan.records, p=weights / weights.sum())
    for step in range(1, plan.hours):
        before = place[:, step - 1]
        onward = near[before, draw.integers(0, _DEGREE, plan.records)]
        place[:, step] = np.where(draw.random(plan.records) < _STAY, before, onward)
    return place
