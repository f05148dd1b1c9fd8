"""Regions in which flows are compared, if a domain has too many places to compare all pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Axis

__all__ = ["Regions", "evaluation_regions"]

Integers: TypeAlias = NDArray[np.int64]

#: from this number of places on, flows are compared between regions
_MOST = 1_000
_DOUBLINGS = 40


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of places: the number of the region of each place, and the names of the regions."""

    of_place: Integers
    names: tuple[str, ...]
    #: what the regions are: places, groups of them, or cells of a grid
    called: str


def evaluation_regions(axis: Axis, most: int = _MOST) -> Regions:
    """The regions in which flows are compared: each place by itself, unless there are too many.

    Regions are public: the narrowest groups of the declared paths of which there are few enough, or cells of a grid
    over the coordinates, of the smallest size 0.005, 0.01, 0.02, ... degrees that has few enough of them.

    Examples
    --------
    >>> axis = Axis(("a", "b", "c"), coordinates=((2.30, 48.80), (2.301, 48.801), (2.4, 48.9)))
    >>> regions = evaluation_regions(axis, most=2)
    >>> regions.of_place.tolist(), regions.names, regions.called
    ([0, 0, 1], ('48.8,2.3', '48.9,2.4'), 'cells of 0.005 degrees')
    """
    if len(axis) > most and axis.paths:
        for level in range(max(map(len, axis.paths)), 0, -1):
            regions = _numbered(["/".join(path[:level]) for path in axis.paths], "groups of places")
            if len(regions.names) <= most:
                return regions
    size = Fraction(1, 200)
    for _ in range(_DOUBLINGS if len(axis) > most and axis.coordinates else 0):
        names = [",".join(_lower(degree, size) for degree in reversed(pair)) for pair in axis.coordinates]
        regions = _numbered(names, f"cells of {float(size):g} degrees")
        if len(regions.names) <= most:
            return regions
        size *= 2
    return Regions(np.arange(len(axis)), tuple(map(str, axis.values)), "places")


def _lower(degree: float, size: Fraction) -> str:
    """The lower bound of the cell of a degree, as a text."""
    return f"{float(floor(Fraction(repr(degree)) / size) * size):g}"


def _numbered(names: Sequence[str], called: str) -> Regions:
    """Number names in the order in which they first occur."""
    numbers: dict[str, int] = {}
    of_place = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    return Regions(of_place, tuple(numbers), called)
