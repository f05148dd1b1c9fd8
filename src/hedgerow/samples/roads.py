"""Generated roads: the crossings of a city, and how many seconds each road between two of them takes."""

from __future__ import annotations

import numpy as np

#: rows and columns of crossings, and the seconds between two neighbours without traffic
_ROWS, _COLUMNS, _SECONDS = 16, 20, 40.0
#: the share of neighbours that have no road between them, and how much traffic differs from road to road
_MISSING, _TRAFFIC = 0.12, 0.5
#: one in so many rows and columns is an avenue, which is faster
_AVENUE, _FASTER = 5, 0.6

#: crossings between which everybody must know the quickest ways
HOSPITALS = ("2nd-c", "5th-q", "9th-f", "12th-k", "15th-s")


def crossings() -> list[str]:
    """List the crossings of the city, street by street.

    Examples
    --------
    >>> len(crossings()), crossings()[:3]
    (320, ['1st-a', '1st-b', '1st-c'])
    """
    first = {1: "1st", 2: "2nd", 3: "3rd"}
    streets = [first.get(row, f"{row}th") for row in range(1, _ROWS + 1)]
    return [f"{street}-{chr(ord('a') + column)}" for street in streets for column in range(_COLUMNS)]


def roads(*, seed: int = 2024) -> list[tuple[str, str, float]]:
    """List the roads with the seconds that each takes; the same seed gives the same ones.

    Examples
    --------
    >>> made = roads()
    >>> len(made), made[0]
    (529, ('1st-a', '1st-b', 40.1))
    """
    draw, names = np.random.default_rng(seed), crossings()
    number = np.arange(_ROWS * _COLUMNS).reshape(_ROWS, _COLUMNS)
    along = np.column_stack((number[:, :-1].ravel(), number[:, 1:].ravel()))
    across = np.column_stack((number[:-1].ravel(), number[1:].ravel()))
    avenue = np.concatenate((along[:, 0] // _COLUMNS % _AVENUE == 0, across[:, 0] % _COLUMNS % _AVENUE == 0))
    ends = np.concatenate((along, across))
    seconds = _SECONDS * np.exp(_TRAFFIC * draw.standard_normal(len(ends))) * np.where(avenue, _FASTER, 1.0)
    open_road = draw.random(len(ends)) >= _MISSING
    made = zip(ends[open_road].tolist(), np.round(seconds[open_road], 1).tolist(), strict=True)
    return [(names[one], names[other], weight) for (one, other), weight in made]
