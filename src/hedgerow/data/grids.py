"""Proposals of regions: nested grids over places with coordinates.

A proposal is made of public values only, for the owner to edit: districts that people know are better than cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.data.axis import Axis

#: the smallest cells that are proposed, in degrees: about 500 metres
_FINEST = Fraction(1, 200)
_MOST_DOUBLINGS = 20
#: levels are proposed from half as many cells as places down to a few cells
_FEW_CELLS = 4
_MOST_LEVELS = 6


@dataclass(frozen=True)
class GridLevel:
    """Cells of one size: the size in degrees, and the name of the cell of each place, by its lower bounds."""

    size: str
    cells: tuple[str, ...]

    @property
    def regions(self) -> int:
        """How many cells have a place."""
        return len(set(self.cells))


def propose_grids(axis: Axis) -> list[GridLevel]:
    """Propose cells of sizes that double, the finest first; none without coordinates, or if places are few.

    Sizes are 0.005, 0.01, 0.02, ... degrees: from the first that puts two places into a cell on average, up to the
    first that has at most four cells, and at most six of them. Cells nest: each lies in one cell of the next size.

    Examples
    --------
    >>> places = Axis(tuple(range(16)), coordinates=tuple((2 + n % 4 * 0.004, 48 + n // 4 * 0.004) for n in range(16)))
    >>> [(level.size, level.regions) for level in propose_grids(places)]
    [('0.01', 4)]
    """
    levels: list[GridLevel] = []
    size = _FINEST
    for _ in range(_MOST_DOUBLINGS if len(axis.coordinates) > _FEW_CELLS else 0):
        level = GridLevel(_decimal(size), tuple(_cell(pair, size) for pair in axis.coordinates))
        if 2 * level.regions <= len(axis):
            levels.append(level)
            if level.regions <= _FEW_CELLS:
                break
        size *= 2
    return levels[:_MOST_LEVELS]


def propose_paths(axis: Axis) -> tuple[tuple[str, ...], ...]:
    """The proposed cells of each place as a path, the widest first; () if there is no proposal.

    Examples
    --------
    >>> places = Axis(tuple("abcde"), coordinates=((2, 48), (2.001, 48), (2.002, 48), (2.02, 48), (2.021, 48)))
    >>> propose_paths(places)[3]
    ('48,2.02 (0.005)',)
    """
    levels = propose_grids(axis)
    named = [[f"{cell} ({level.size})" for cell in level.cells] for level in reversed(levels)]
    return tuple(zip(*named, strict=True)) if named else ()


def _cell(pair: tuple[float, float], size: Fraction) -> str:
    """The name of the cell of a longitude and latitude: its lower bounds, latitude first."""
    return ",".join(_decimal(math.floor(Fraction(repr(degrees)) / size) * size) for degrees in reversed(pair))


def _decimal(number: Fraction) -> str:
    """Write a multiple of a thousandth."""
    return f"{float(number):.3f}".rstrip("0").rstrip(".") or "0"
