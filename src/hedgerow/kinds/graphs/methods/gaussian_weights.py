"""Weights of a network, each multiplied by a random factor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.short_decimals import round_to_digits
from hedgerow.privacy import Ledger
from hedgerow.privacy.distortion import Distortion
from hedgerow.privacy.keyed_coins import KeyedCoins, Term, length_prefixed
from hedgerow.publisher import Publisher, param

#: standard normal numbers for some of the edges, a row each with one column per end that draws, at the n-th attempt
Normals: TypeAlias = Callable[[Integers, int], Floats]

#: beyond this deviation, weights say little, and the floor cuts off what cannot be neglected
_WIDE = 0.25
#: the largest of published weights; the reciprocal is the smallest
_LARGEST = 1e280


@dataclass(frozen=True, kw_only=True)
class GaussianWeights(Publisher[Graph]):
    r"""Publish $w (1 - x)$ for every weight $w$, where $x$ is normal: vertices and edges stay as they are [1]_.

    With directions, the source of an edge draws $x \sim N(0, \sigma^2)$. Without, both ends draw, and the mean of the
    two is taken, which has a deviation of $\sigma / \sqrt 2$; `calibrated`, each draws with $\sigma \sqrt 2$, so that
    the mean has $\sigma$. Every single draw is repeated until $1 - x \ge$ `floor`, so that weights stay above 0.
    Weights are published with seven digits: the last bits of a product would tell its factors. The relative length of
    a path changes by less than a weight does (`hedgerow.PathBands`).

    *Without a global view*, every owner of edges publishes a file of its own with `owner="one"`: one draw per edge. The
    mean of the two files that have an edge (`hedgerow.merge_weights`) has the law of one program that draws for both.

    *Growing networks* are published with a key of the owner, which draws by a keyed hash of the edge, by the names of
    its ends, and its exact weight: a weight that is unchanged keeps its published value, and a changed one gets a fresh
    factor. Without a key, the mean of $R$ releases has a deviation of $\sigma / \sqrt R$.

    Privacy
    -------
    None. Nothing is asked of the ledger, and nothing is promised. Factors are drawn from secret coins of the run, or by
    the key of the owner. The number of repeated draws is disclosed: it is a function of the coins alone, or of a keyed
    hash that is not told from coins without the key, and says nothing about weights.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> roads = Graph.from_edges([("ann", "bob"), ("bob", "cleo")], weights=[2, 30], domain=domain)
    >>> release = GaussianWeights(sigma=0.1).publish(roads, Distortion(), seed=1)
    >>> release.data.edges(), release.data.weights.round(2).tolist()
    ([('ann', 'bob'), ('bob', 'cleo')], [1.88, 28.62])

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 4.
    """

    name: ClassVar[str] = "gaussian-weights"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (Distortion,)
    units: ClassVar = ()
    uses: ClassVar = ("weights", "directions")
    needs: ClassVar = ("weights",)
    undone_by: ClassVar = ("factor interval",)
    reads_all_records: ClassVar[bool] = True

    sigma: float = param(0.1, "deviation of each draw, relative to the weight; 0.1 to 0.2 is usual", gt=0)
    floor: float = param(0.05, "no weight is multiplied by less than this", gt=0, lt=1)
    calibrated: bool = param(False, "without directions, draw so that the mean of both ends has deviation sigma")
    owner: str = param(
        "both",
        "who draws for an edge without direction: both of its ends, or one, for a file to merge with that of the other",
        choices=("both", "one"),
    )
    network: str = param("", "with a key: the public name of the network that grows, which the key is for")

    def key_terms(self, data: Graph) -> Mapping[str, Term]:
        """The network, and all that decides about the law of its factors."""
        if not self.network:
            msg = "a key is for one network; give it a public name with --set network=NAME"
            raise ParameterError(msg)
        terms = {name: getattr(self, name) for name in ("network", "sigma", "floor", "calibrated", "owner")}
        return {**terms, "directed": data.directed}

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Draw a factor per edge, and multiply."""
        weights = data.require_weights()
        if self.sigma > _WIDE:
            warnings.warn(f"sigma is {self.sigma:g}; above {_WIDE} weights and paths say little", stacklevel=2)
        ends = 1 if data.directed or self.owner == "one" else 2
        keyed = ledger.keyed_coins()
        if keyed is None and self.network:
            msg = "a network that grows is published with its key: give it with --key FILE, or omit network"
            raise ParameterError(msg)
        normals = fresh_normals(ledger.coins(), ends) if keyed is None else keyed_normals(keyed, data, ends)
        factors, repeated = draw_factors(normals, len(data), self.deviation(directed=data.directed), self.floor)
        ledger.disclose("draws below the floor, which were repeated", repeated)
        return data.weighted(multiply(weights, factors))

    def deviation(self, *, directed: bool) -> float:
        """The deviation of a single draw."""
        return self.sigma * math.sqrt(2) if self.calibrated and not directed else self.sigma


def draw_factors(normals: Normals, edges: int, deviation: float, floor: float) -> tuple[Floats, int]:
    r"""Draw the factor $1 - x$ of each edge, the mean over its ends, and count the draws that were repeated.

    Each draw is repeated by itself until it is at least the floor: then the mean is, and has the same law whether one
    program draws for both ends or two owners draw apart. At least every second draw is good, whatever the deviation is.
    """
    drawn = 1 - deviation * normals(np.arange(edges), 0)
    attempt = repeated = 0
    low = drawn < floor
    while low.any():
        attempt += 1
        repeated += int(low.sum())
        rows = np.flatnonzero(low.any(axis=1))
        drawn[rows] = np.where(low[rows], 1 - deviation * normals(rows, attempt), drawn[rows])
        low = drawn < floor
    return drawn.mean(axis=1), repeated


def fresh_normals(coins: np.random.Generator, ends: int) -> Normals:
    """Draw from the coins of this run."""

    def normals(rows: Integers, attempt: int) -> Floats:
        del attempt
        return coins.standard_normal((len(rows), ends))

    return normals


def keyed_normals(coins: KeyedCoins, data: Graph, ends: int) -> Normals:
    """Draw by a key: from edge, exact weight and attempt alone, so that unchanged edges keep their draws.

    Vertices have their names, since codes change while a network grows; without directions, the smaller name comes
    first. One hash has the draws of both ends.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while, and listing the methods imports this module

    names = [length_prefixed(str(value)) for value in data.domain.values("vertex")]
    rank = np.empty(len(names), np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    turned = np.zeros(len(data), np.bool_) if data.directed else rank[data.first] > rank[data.second]
    low, high = np.where(turned, data.second, data.first), np.where(turned, data.first, data.second)
    content = data.require_weights().astype(">f8").tobytes()

    def messages(rows: Integers, attempt: int) -> Iterator[bytes]:
        count = attempt.to_bytes(4, "big")
        for row, one, other in zip(rows.tolist(), low[rows].tolist(), high[rows].tolist(), strict=True):
            yield names[one] + names[other] + content[8 * row : 8 * row + 8] + count

    return lambda rows, attempt: ndtri(coins.uniforms(messages(rows, attempt), ends))


def multiply(weights: Floats, factors: Floats) -> Floats:
    """Multiply, and round up to a few digits; refuse weights at the limits of floating-point numbers.

    The last bits of a product tell its factors: only every third number or so is 3 times another one, so that whole
    weights, of which two or three are likely, would be told apart. Rounding up keeps the floor.
    """
    with np.errstate(over="ignore", under="ignore"):
        moved = weights * factors
    if not np.all((moved > 1 / _LARGEST) & (moved < _LARGEST)):
        msg = "a weight is too large or too small to be multiplied; give all weights in another unit"
        raise ParameterError(msg)
    return round_to_digits(moved, up=True)
