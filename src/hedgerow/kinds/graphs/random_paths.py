r"""Randomised shortest paths: how probable each path of a weighted network is for a walker who prefers short ones.

From vertex $i$ a walker goes to $j$ with probability $p_{ij} \propto 1 / w_{ij}$, and a walk $r$ that ends where it
first meets its destination $t$ has weight $e^{-\theta E(r)} \bar P(r)$, with its length $E(r)$ and the product
$\bar P(r)$ of its probabilities. These are divided by $Z_{st}$, the sum over all walks from $s$ to $t$. With large
$\theta$ only the shortest path is left; with any other, the most probable path need not be the shortest one.

All of it is diagnostic: methods keep true shortest paths. $\theta$ is per unit of weight: `scale_theta` turns one
without a unit into such a one. Sums are computed by their logarithms, since $e^{-\theta w}$ is 0 in double precision
for the $\theta = 20$ and weights up to 100 of the literature [1]_.

References
----------
.. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
   University of Kentucky, 2015, chapter 5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow.data import Value
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Floats, Integers

#: logarithms that change by less are as good as they get
_STILL = 1e-13
#: rounds until then, at most: walks of more arcs than this have no weight worth counting
_MOST_ROUNDS = 100_000


class ProbablePath(NamedTuple):
    """A path, by its vertices, and its probability among all walks."""

    vertices: tuple[Value, ...]
    probability: float


def scale_theta(graph: Graph, theta: float) -> float:
    """Return theta per unit of weight, of one that is meant for weights with median 1."""
    return theta / float(np.median(graph.require_weights()))


def most_probable_path(graph: Graph, source: Value, target: Value, theta: float) -> ProbablePath:
    """Return the most probable path from one vertex to another.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> arcs, weights = [(0, 3), (0, 1), (0, 2), (1, 3), (1, 2), (2, 3)], [1, 0.3, 0.2, 0.65, 0.05, 5]
    >>> graph = Graph.from_edges(arcs, weights=weights, directed=True, domain=Domain.declare(vertex=range(4)))
    >>> [most_probable_path(graph, 0, 3, theta).vertices for theta in (1, 200)]
    [(0, 3), (0, 1, 3)]
    """
    from scipy.sparse import csgraph, csr_array  # noqa: PLC0415 - takes a while

    start, end = (_code_of(graph, vertex) for vertex in (source, target))
    walks = RandomWalks.to(graph, end, theta)
    # of all walks the most probable one is a path: each arc costs more than nothing
    costs = csr_array((-walks.log_steps, (walks.tail, walks.head)), shape=(walks.size, walks.size))
    _, before = cast("Any", csgraph).dijkstra(costs, indices=start, return_predecessors=True)
    if not np.isfinite(walks.log_sums[start]):
        msg = "no path leads from the first vertex to the second one"
        raise ParameterError(msg)
    path = [end]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    values = graph.domain.values("vertex")
    return ProbablePath(tuple(values[code] for code in reversed(path)), walks.probability(path[::-1]))


def _code_of(graph: Graph, vertex: Value) -> int:
    code = graph.domain.axis("vertex").codes.get(vertex)
    if code is None:
        msg = f"{vertex!r} is not a vertex of the domain"
        raise ParameterError(msg)
    return code


@dataclass(frozen=True, eq=False)
class RandomWalks:
    r"""All walks to one destination: the logarithm of each step's weight, and of the sum of walks from each vertex.

    Parameters
    ----------
    tail, head, weights
        The arcs, without those that leave the destination.
    log_steps
        $\ln p_{ij} - \theta w_{ij}$ of each arc.
    log_sums
        $\ln Z_{st}$ for each vertex $s$; minus infinity where no walk leads to the destination.
    """

    tail: Integers
    head: Integers
    weights: Floats
    log_steps: Floats
    log_sums: Floats

    @classmethod
    def to(cls, graph: Graph, target: int, theta: float) -> RandomWalks:
        """Sum over all walks to a vertex, given by its code, by soft-minimum shortest paths in Bellman's way."""
        if not (theta > 0 and math.isfinite(theta)):
            msg = f"theta must be a number above 0; got {theta!r}"
            raise ParameterError(msg)
        graph.require_weights()
        matrix: Any = graph.to_matrix()
        table: Any = matrix.tocoo()
        tail, head = table.row.astype(np.int64), table.col.astype(np.int64)
        weights: Floats = table.data
        shares = 1 / weights
        shares /= np.bincount(tail, shares, minlength=matrix.shape[0])[tail]
        onward = tail != target
        tail, head, weights = tail[onward], head[onward], weights[onward]
        steps = np.log(shares[onward]) - theta * weights
        return cls(tail, head, weights, steps, _sum_walks(tail, head, steps, matrix.shape[0], target))

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.log_sums)

    def probability(self, path: Sequence[int]) -> float:
        """The probability of a walk, given by the codes of its vertices."""
        arcs = zip(self.tail.tolist(), self.head.tolist(), strict=True)
        steps = dict(zip(arcs, self.log_steps.tolist(), strict=True))
        walked = sum(steps[arc] for arc in itertools.pairwise(path))
        return math.exp(walked - self.log_sums[path[0]])

    def expected_lengths(self) -> Floats:
        """The mean length of a walk from each vertex to the destination; infinite where there is none.

        A walker who is bound for the destination takes arc $(i, j)$ with probability $q_{ij} Z_j / Z_i$, and mean
        lengths satisfy one linear equation per vertex.
        """
        from scipy import sparse  # noqa: PLC0415 - takes a while
        from scipy.sparse import linalg  # noqa: PLC0415 - takes a while

        leads = np.isfinite(self.log_sums)
        used = leads[self.tail] & leads[self.head]
        tail, head = self.tail[used], self.head[used]
        chance = np.exp(self.log_steps[used] + self.log_sums[head] - self.log_sums[tail])
        diagonal = np.arange(self.size)
        rows, columns = np.concatenate((diagonal, tail)), np.concatenate((diagonal, head))
        values = np.concatenate((np.ones(self.size), -chance))
        left = sparse.csc_array((values, (rows, columns)), shape=(self.size, self.size))
        right = np.bincount(tail, chance * self.weights[used], minlength=self.size)
        mean = cast("Any", linalg).spsolve(left, right)
        return np.where(leads, np.array(mean, np.float64), np.inf)


def _sum_walks(tail: Integers, head: Integers, steps: Floats, size: int, target: int) -> Floats:
    """The logarithm of the sum of the walks from each vertex: those of one more arc in each round."""
    sums = np.full(size, -np.inf)
    sums[target] = 0.0
    order = np.argsort(tail, kind="stable")
    tail, head, steps = tail[order], head[order], steps[order]
    starts = np.flatnonzero(np.diff(tail, prepend=-1))
    for _ in range(_MOST_ROUNDS if len(tail) else 0):
        values = steps + sums[head]
        highest = np.maximum.reduceat(values, starts)
        base = np.where(np.isfinite(highest), highest, 0.0)
        counts = np.add.reduceat(np.exp(values - np.repeat(base, np.diff(starts, append=len(tail)))), starts)
        new = sums.copy()
        with np.errstate(divide="ignore"):
            new[tail[starts]] = base + np.log(counts)
        leads = np.isfinite(new)
        still = np.array_equal(leads, np.isfinite(sums)) and np.all(np.abs(new[leads] - sums[leads]) <= _STILL)
        sums = new
        if still:
            break
    return sums


# ---- the matrix of all walks, and what a change of one row does to it


def sum_walks_between(steps: Floats) -> Floats:
    r"""Return $Z = (I - Q)^{-1}$ of a small matrix of steps $Q$, whose row of the destination is 0."""
    return np.array(np.linalg.inv(np.eye(len(steps)) - steps), np.float64)


def update_row(sums: Floats, row: int, change: Floats) -> Floats:
    r"""Return $Z$ after a change of one row of $Q$: the change is of rank one (Sherman and Morrison).

    A new weight of one arc changes the whole row of the vertex that it leaves, since its probabilities add up to 1.

    Examples
    --------
    >>> steps = np.array([[0, 0.5, 0.2], [0.1, 0, 0.3], [0, 0, 0]])
    >>> change = np.array([0, -0.1, 0.2])
    >>> updated = update_row(sum_walks_between(steps), 0, change)
    >>> steps[0] += change
    >>> bool(np.allclose(updated, sum_walks_between(steps)))
    True
    """
    led: Floats = change @ sums
    return sums + np.outer(sums[:, row], led) / (1 - led[row])
