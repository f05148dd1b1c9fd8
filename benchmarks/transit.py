"""Synthetic journeys like those of a transit agency: home, work, and sometimes elsewhere.

This is not the agency's data: only the sizes of the paper's two data sets are the same (places, mean length,
number of records). The lines are the taxonomy of the stops.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import Domain, Sequences, Trajectories

Integers: TypeAlias = NDArray[np.int64]

HOURS = 24


class Network(NamedTuple):
    """A network: number of lines, stops per line, records, and the mean length of their sequences."""

    lines: int
    stops: int
    records: int
    mean: float

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.lines * self.stops


METRO = Network(4, 17, 847_668, 4.21)
BUS = Network(59, 16, 778_724, 5.67)


def sequences(network: Network, records: int = 0, seed: int = 2012) -> Sequences:
    """Sequences of stops."""
    row, place, _ = journeys(network, records or network.records, seed)
    return Sequences.from_columns(row=row, item=place, domain=_domain(network, "item"))


def trajectories(network: Network, records: int = 0, seed: int = 2012) -> Trajectories:
    """The journeys of a day: stops with hours; an hour may have several visits."""
    records = records or network.records
    row, place, hour = journeys(network, records, seed)
    kept = hour < HOURS
    return Trajectories.from_columns(
        records=records,
        row=row[kept],
        time=hour[kept],
        place=place[kept],
        sensitive={},
        domain=_domain(network, "place", time=range(HOURS)),
        several=True,
    )


def _domain(network: Network, axis: str, **others: range) -> Domain:
    names = [f"{line}-{stop}" for line in range(network.lines) for stop in range(network.stops)]
    paths = [[name.split("-", maxsplit=1)[0]] for name in names]
    return Domain.declare(**{axis: names}, **others).with_paths(axis, paths)


def journeys(network: Network, records: int, seed: int) -> tuple[Integers, Integers, Integers]:
    """The record, the stop and the hour of every visit.

    Each person has a home and a place of work, both drawn by the popularity of stops and lines. The next visit is work
    after home, and home otherwise; with probability 0.2 it is another stop.
    """
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.geometric(1 / network.mean, records), 121)
    popular = 1 / np.arange(1, network.stops + 1) ** 1.2
    lines = 1 / np.arange(1, network.lines + 1)
    home = _stops(rng, lines, popular, records)
    work = _stops(rng, lines, popular, records)
    starts = np.cumsum(sizes) - sizes
    place, hour = np.empty(int(sizes.sum()), np.int64), np.empty(int(sizes.sum()), np.int64)
    now, clock = home.copy(), np.clip(rng.normal(8, 1.5, records), 4, 20).astype(np.int64)
    for step in range(int(sizes.max())):
        active = np.flatnonzero(sizes > step)
        if step:
            other = rng.random(len(active)) < 0.2
            goes = np.where(now[active] == home[active], work[active], home[active])
            now[active] = np.where(other, _stops(rng, lines, popular, len(active)), goes)
            clock[active] += np.where(other, rng.integers(0, 3, len(active)), rng.integers(1, 10, len(active)))
        place[starts[active] + step] = now[active]
        hour[starts[active] + step] = clock[active]
    return np.repeat(np.arange(records), sizes), place, hour


def _stops(
    rng: np.random.Generator,
    lines: NDArray[np.float64],
    stops: NDArray[np.float64],
    many: int,
) -> Integers:
    weights = np.outer(lines, stops).ravel()
    return rng.choice(len(weights), many, p=weights / weights.sum())
