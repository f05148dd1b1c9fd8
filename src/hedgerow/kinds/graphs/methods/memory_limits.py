"""Limits of what is drawn and published: with a small budget noise alone may be more than fits in memory."""

from __future__ import annotations

import math

from hedgerow.errors import ParameterError

#: methods take up to about 120 bytes per edge, or per pair that is listed
_EDGES = 1 << 26
#: as many empty candidates as a ledger draws
_DRAWN = 1 << 25


def expected_edges(noise: float, pairs: int) -> int:
    """Return how many edges so much noise alone may make; refuse more than fit in memory, before anything is asked.

    Examples
    --------
    >>> expected_edges(80.5, 10), expected_edges(80.5, 1000)
    (10, 81)
    """
    edges = min(math.ceil(noise), pairs)
    require_few_edges(edges)
    return edges


def possible_edges(noisy: int, pairs: int) -> int:
    """Clip a noisy number of edges to what is possible; refuse to publish more edges than fit in memory.

    Examples
    --------
    >>> possible_edges(-3, 10), possible_edges(7, 10), possible_edges(12, 10)
    (0, 7, 10)
    """
    edges = min(max(noisy, 0), pairs)
    require_few_edges(edges)
    return edges


def require_few_edges(edges: int) -> None:
    """Refuse to publish more edges than fit in memory.

    Examples
    --------
    >>> require_few_edges(10_000_000)
    """
    if edges > _EDGES:
        msg = f"about {edges:.2g} edges would be published, and at most {_EDGES:,} fit in memory; give a larger epsilon"
        raise ParameterError(msg)


def require_few_pairs(pairs: int) -> None:
    """Refuse to list more pairs of vertices than fit in memory: those of blocks in which many pairs are linked.

    Examples
    --------
    >>> require_few_pairs(10_000_000)
    """
    if pairs > _EDGES:
        msg = (
            f"about {pairs:.2g} pairs would be listed to link many of them, and at most {_EDGES:,} fit in memory; "
            "give a larger epsilon, or use der"
        )
        raise ParameterError(msg)


def require_few(method: str, pairs: int, exponent: float) -> None:
    r"""Refuse to draw more pairs that are no edges than fit in memory; each is drawn with probability $e^{-exponent}$.

    Examples
    --------
    >>> require_few("laplace-graph", 50_000_000, 0.5)
    """
    drawn = pairs * math.exp(-exponent)
    if drawn > _DRAWN:
        msg = (
            f"{method} would draw about {drawn:.2g} pairs that are no edges, and at most {_DRAWN:,} fit in memory; "
            "give a larger epsilon, or use random-graph"
        )
        raise ParameterError(msg)
