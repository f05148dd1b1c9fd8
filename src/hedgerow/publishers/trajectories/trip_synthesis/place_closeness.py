"""Public facts about places and times: classes of distances, the order of places, and groups of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Axis
from hedgerow.errors import DomainError
from hedgerow.steps.coarse_grid import on_count_grid, on_grid

__all__ = ["CLOSENESS", "Closeness", "closeness_by_coordinates", "closeness_by_paths", "group_by_weight"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: where the closeness of places comes from
CLOSENESS = ("auto", "coordinates", "declared", "none")
#: classes of distances, the quantile of distances at which they begin, and the weight of an empty item in a group
_CLASSES, _NEAREST, _LITTLE = 10, 0.002, 1e-9


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close places are, from the domain alone.

    `classes` has the class of every pair of places; class 0 is the same place. `order` puts close places next to each
    other; None if nothing is known about places.
    """

    classes: Integers
    order: Integers | None

    @classmethod
    def of(cls, axis: Axis, source: str) -> Closeness:
        """Take coordinates, declared paths or nothing; `auto` takes the first of these that the domain has."""
        points = np.array(axis.coordinates, np.float64).reshape(-1, 2)
        if source == "coordinates" and not len(points):
            msg = "the places have no coordinates; declare them, or take closeness=auto"
            raise DomainError(msg)
        if source == "declared" and not axis.paths:
            msg = "the places have no declared paths; declare them, or take closeness=auto"
            raise DomainError(msg)
        if len(points) and source in {"auto", "coordinates"}:
            points = points * np.array([np.cos(np.radians(points[:, 1].mean())), 1.0])
            return cls(closeness_by_coordinates(points), _morton_order(points))
        if axis.paths and source in {"auto", "declared"}:
            order = sorted(range(len(axis)), key=lambda place: axis.paths[place])
            return cls(closeness_by_paths(axis.paths), np.array(order, np.int64))
        return cls(_same_or_not(len(axis)), None)

    def ordered(self, popularity: Floats) -> Integers:
        """The order of places: close ones next to each other, or by falling popularity if nothing is known."""
        return np.argsort(-on_grid(popularity), kind="stable") if self.order is None else self.order


def closeness_by_coordinates(points: Floats, classes: int = _CLASSES) -> Integers:
    """The class of the distance of every pair of points: 0 for a place itself, then on a logarithmic scale.

    Examples
    --------
    >>> closeness_by_coordinates(np.array([[0.0, 0], [1, 0], [2, 0], [4, 0], [8, 0]]))[0].tolist()
    [0, 1, 4, 7, 9]
    """
    east, north = (points[:, axis][:, None] - points[:, axis] for axis in (0, 1))
    distance = on_grid(np.hypot(east, north))
    pairs = distance[np.triu_indices(len(points), 1)]
    if not pairs.any():
        return _same_or_not(len(points))
    nearest = float(np.quantile(pairs, _NEAREST)) or float(pairs[pairs > 0].min())
    bounds = on_grid(np.geomspace(nearest, float(pairs.max()), classes - 1)[:-1])
    return np.where(np.eye(len(points), dtype=np.bool_), 0, 1 + np.searchsorted(bounds, distance))


def closeness_by_paths(paths: tuple[tuple[str, ...], ...]) -> Integers:
    """The class of every pair of places by the depth of their lowest common group, the deepest first.

    Examples
    --------
    >>> closeness_by_paths((("north", "a"), ("north", "a"), ("north", "b"), ("south",)))[0].tolist()
    [0, 1, 2, 3]
    """
    shared = np.zeros((len(paths), len(paths)), np.int64)
    for depth in range(1, 1 + max(map(len, paths))):
        numbers: dict[tuple[str, ...], int] = {}
        # a path that ends above this depth shares nothing at it
        group = [numbers.setdefault(path[:depth], len(numbers)) if len(path) >= depth else -1 for path in paths]
        number = np.array(group, np.int64)
        shared += (number[:, None] == number) & (number >= 0)
    np.fill_diagonal(shared, -1)
    depths = np.unique(shared[shared >= 0])
    return np.where(shared < 0, 0, len(depths) - np.searchsorted(depths, shared))


def _same_or_not(places: int) -> Integers:
    return 1 - np.eye(places, dtype=np.int64)


def _morton_order(points: Floats) -> Integers:
    """Order points along the Z-order curve of their ranks; points at one place keep their order."""
    code = np.zeros(len(points), np.int64)
    for axis in (0, 1):
        rank = np.unique(points[:, axis], return_inverse=True)[1].reshape(-1)
        for bit in range(int(rank.max(initial=0)).bit_length()):
            code |= (rank >> bit & 1) << (2 * bit + axis)
    return np.argsort(code, kind="stable")


def group_by_weight(weight: Floats, order: NDArray[Any], most: int) -> Integers:
    """Cut items, in an order, into at most `most` groups of about equal weight; a heavy item is a group by itself.

    Examples
    --------
    >>> group_by_weight(np.array([8.0, 1, 1, 1, 1, 4]), np.arange(6), 4).tolist()
    [0, 1, 1, 1, 1, 2]
    """
    items = len(weight)
    if most >= items:
        return np.arange(items)
    total = float(weight.sum())
    mass = weight[order] + _LITTLE * total if total > 0 else np.ones(items)
    upto = np.cumsum(mass)
    at = np.minimum(np.floor(on_count_grid(most * (upto - mass / 2) / upto[-1])), most - 1)
    groups = np.empty(items, np.int64)
    groups[order] = np.unique(at, return_inverse=True)[1].reshape(-1)
    return groups
