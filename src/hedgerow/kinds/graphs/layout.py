"""Where the vertices of a small drawing of a network go: the same graph is always drawn the same way."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers

Points: TypeAlias = Floats
_ROUNDS = 300
#: pull to the centre, which keeps parts that are not connected in the picture
_GRAVITY = 1.0
_ATTRACTION = 3.0


def lay_out(vertices: int, first: Integers, second: Integers) -> Points:
    """Place vertices by force-directed placement [1]_, from a spiral: joined ones attract, all repel each other.

    The same graph is always drawn the same way. Returns one point per vertex, within a square from -1 to 1. For a few
    hundred vertices at most: all pairs are compared.

    References
    ----------
    .. [1] T. M. J. Fruchterman, E. M. Reingold. "Graph drawing by force-directed placement". Software: Practice and
       Experience 21(11), 1991.

    Examples
    --------
    >>> points = lay_out(3, np.array([0]), np.array([1]))
    >>> near, far = np.linalg.norm(points[0] - points[1]), np.linalg.norm(points[0] - points[2])
    >>> bool(near < far), float(np.abs(points).max())
    (True, 1.0)
    """
    angle = 2 * np.pi * np.arange(vertices) / max(1, vertices)
    # a spiral, not a circle: from a symmetric start some graphs would never unfold
    radius = np.linspace(0.7, 1, vertices)
    points = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
    ideal = 2 / np.sqrt(max(1, vertices))
    degrees = np.bincount(first, minlength=vertices) + np.bincount(second, minlength=vertices)
    # weaker between vertices of many edges: they would end up in one spot
    strength = _ATTRACTION / (ideal * np.sqrt(degrees[first] * degrees[second]))
    for heat in np.linspace(0.2, 0.002, _ROUNDS):
        forces = _repulsion(points, ideal) - _GRAVITY * points
        pull = points[second] - points[first]
        pull *= (strength * np.linalg.norm(pull, axis=1))[:, None]
        np.add.at(forces, first, pull)
        np.subtract.at(forces, second, pull)
        length = np.linalg.norm(forces, axis=1)[:, None]
        points = points + forces * np.minimum(1, heat / np.maximum(length, 1e-9))
    return _fit(points)


def _repulsion(points: Points, ideal: float) -> Points:
    apart = points[:, None] - points[None]
    squared = np.maximum((apart**2).sum(2), 1e-6)
    return (apart * (ideal**2 / squared)[:, :, None]).sum(1)


def _fit(points: Points) -> Points:
    """Centre the points, and stretch each direction to the whole square."""
    if not len(points):
        return points
    low, high = points.min(0), points.max(0)
    return (2 * points - low - high) / np.maximum(high - low, 1e-9)
