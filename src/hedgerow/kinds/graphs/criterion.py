r"""mu-weighted k-anonymity of the arcs of a network, verified on the published weights alone.

An *arc* leads from one vertex to another; an edge without direction is two of them, of equal weight. The check compares
every arc with the arcs beside it, and decides each comparison exactly: a weight is the decimal number that is written
for it, as `0.1` is 1/10 in a promise. So no rounding of a difference decides. First, the distinct weights are sorted;
for each of them a search in double precision tells which others are certainly near and which certainly are not, and the
few within some units of rounding are compared as fractions. From then on only ranks of weights are counted.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar, NamedTuple, cast

import numpy as np

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.privacy.guarantee import Criterion, Plain, Verdict
from hedgerow.privacy.numbers import NumberLike, read_number, read_whole, show
from hedgerow.promises import PROMISES

#: more arcs than any network has, and small enough for int64
_MOST = 10**15
#: a difference of two weights is off by at most so many units of rounding of the larger one
_SLACK = 8
#: steps of the check per arc: it is sorted, and searched for a few times
_STEPS = 16
#: logarithms are compared with so many digits; a quotient of decimals never equals e to the power of a fraction
_PRECISE = Context(prec=60)
NEIGHBOURHOODS = ("out", "in", "both")
_EXACT = (
    "Exact weights: arcs that were anonymous before, and arcs that could not be moved, stand with the weight that they "
    "have in the original. Digits may show which ones were moved: those that have more of them than most, or fewer."
)
_LENGTHS = (
    "Lengths: whoever knows between which vertices shortest paths were kept knows that each of these paths was no "
    "longer than any other way in the original, which bounds the original weights."
)
_TOPOLOGY = "Which vertices there are, and which of them are joined: all of it is published as it is."
_KNOWLEDGE = (
    "Anyone who knows some of the original weights, or another release of this data. This is not differential privacy."
)
_WORDS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, init=False, repr=False)
class MuWeightedKAnonymity(Criterion):
    r"""$\mu$-weighted $k$-anonymity of the arcs of a weighted network [1]_.

    An arc is anonymous if at least $k$ of the arcs that leave the same vertex, itself among them, have weights within
    $\mu$ of its own. At least the declared share of all arcs is anonymous in what is published. An edge without
    direction is two arcs.

    A vertex with fewer than $k$ arcs needs others: its arc is anonymous if all arcs of the vertex are within $\mu$ of
    it, and as many arcs elsewhere as are missing to $k$; the same edge in the other direction is not one of them.

    Parameters
    ----------
    mu
        How far apart weights may be to count as alike.
    k
        How many arcs must be alike.
    share
        Which share of all arcs is anonymous, at least.
    neighbourhood
        Beside which arcs an arc is hidden: those that leave the same vertex, those that arrive at the same one, or
        beside both.
    relative
        Whether `mu` is about the logarithms of weights.
    small_degree
        Whether vertices with fewer than `k` arcs may have anonymous ones, by arcs elsewhere.

    Examples
    --------
    >>> MuWeightedKAnonymity(mu=10, k=3, share="90%")
    MuWeightedKAnonymity(mu=10, k=3, share=0.9)
    >>> network = Graph.from_edges(
    ...     [("a", "b"), ("a", "c")], weights=[10, 20], directed=True, domain=Domain.declare(vertex=["a", "b", "c"])
    ... )
    >>> MuWeightedKAnonymity(mu=10, k=2, share=1).verify({"": network}).checked
    'checked on the published data: 2 of 2 arcs (100 %) are anonymous'

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 5.
    """

    name: ClassVar[str] = "MuWeightedKAnonymity"
    kinds: ClassVar[tuple[str, ...]] = PROMISES[name].kinds

    mu: Fraction
    k: int
    share: Fraction
    neighbourhood: str
    relative: bool
    small_degree: bool

    def __init__(
        self,
        *,
        mu: NumberLike,
        k: int | str,
        share: NumberLike,
        neighbourhood: str = "out",
        relative: bool | str = False,
        small_degree: bool | str = True,
    ) -> None:
        reach, least = read_number("mu", mu), read_number("share", share)
        if reach <= 0:
            msg = f"mu must be more than 0; got {mu}"
            raise ParameterError(msg)
        if not 0 < least <= 1:
            msg = f"share must be more than 0 and at most 1; got {share}"
            raise ParameterError(msg)
        if neighbourhood not in NEIGHBOURHOODS:
            msg = f"neighbourhood must be one of {', '.join(NEIGHBOURHOODS)}; got {neighbourhood!r}"
            raise ParameterError(msg)
        object.__setattr__(self, "mu", reach)
        object.__setattr__(self, "k", read_whole("k", k, most=_MOST, remedy="no network has more arcs"))
        object.__setattr__(self, "share", least)
        object.__setattr__(self, "neighbourhood", neighbourhood)
        object.__setattr__(self, "relative", _read_flag("relative", relative))
        object.__setattr__(self, "small_degree", _read_flag("small_degree", small_degree))

    def require(self, data: Dataset) -> None:
        """Also refuse networks without weights."""
        super().require(data)
        cast("Graph", data).require_weights()

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count the arcs, each of which is sorted and searched for."""
        return sum(2 * _STEPS * data.count_units("edge") for data in outputs.values())

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the networks whose share of anonymous arcs is too small; further ones are violations, too."""
        counts: Counter[str] = Counter()
        if len(outputs) > 1:
            counts["further networks, which could be combined with the first"] = len(outputs) - 1
        for data in outputs.values():
            anonymous, arcs = count_anonymous(cast("Graph", data), self)
            counts[f"a share of anonymous arcs below {show(self.share)}"] += anonymous < self.share * arcs
        return counts

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the weights as published, and say how many arcs are anonymous: anyone can count them."""
        verdict = super().verify(outputs)
        counted = [count_anonymous(cast("Graph", data), self) for data in outputs.values()]
        shares = "; ".join(
            f"{anonymous:,} of {arcs:,} arcs ({_as_percent(anonymous, arcs)}) are anonymous"
            for anonymous, arcs in counted
        )
        exposed = sum(arcs - anonymous for anonymous, arcs in counted)
        assumed = (
            f"The {exposed:,} arcs that are not anonymous: anyone who computes the definition on what is published "
            "finds them, and their weights may be exact."
        )
        return Verdict(f"{verdict.checked}: {shares}", verdict.violations, (assumed,) if exposed else ())

    def warn_about(self, data: Dataset) -> None:
        """Warn about a promise that holds whatever the weights are, and about one that few arcs can keep."""
        network = cast("Graph", data)
        weights = network.require_weights()
        if not len(weights):
            return
        if _are_near(float(weights.max()), float(weights.min()), self):
            warnings.warn(
                "mu is at least the difference of any two weights of the data: every arc with enough arcs beside it is "
                "anonymous as it is; take a smaller mu",
                stacklevel=3,
            )
        most = max(int(np.bincount(beside).max()) for beside in _arcs_of(network).besides(self.neighbourhood))
        if self.k > most:
            rest = "only arcs elsewhere can make any anonymous" if self.small_degree else "no arc can be anonymous"
            warnings.warn(f"k = {self.k} is more than any vertex has arcs: {rest}; take a smaller k", stacklevel=3)

    def sentence(self) -> str:
        """State the promise in words."""
        unit = "of the logarithms of the weights" if self.relative else "of the weights"
        beside = {
            "out": "the arcs that leave the same vertex",
            "in": "the arcs that arrive at the same vertex",
            "both": "the arcs that leave the same vertex, and of those that arrive at the same vertex",
        }[self.neighbourhood]
        small = (
            f"Where a vertex has fewer than {self.k:,} arcs, all of them are that near, and as many arcs elsewhere as "
            f"are missing to {self.k:,}."
            if self.small_degree
            else f"Arcs of a vertex with fewer than {self.k:,} of them do not count as anonymous."
        )
        return (
            f"At least {show(100 * self.share)} % of the arcs of the network are anonymous: among {beside}, at least "
            f"{self.k:,}, the arc itself included, have published weights that differ from its own by at most "
            f"{show(self.mu)} (difference {unit}; mu-weighted k-anonymity with mu = {show(self.mu)} and "
            f"k = {self.k:,}). An edge without direction is two arcs. {small}"
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover."""
        del domain
        near = f"a factor of e^{show(self.mu)}" if self.relative else show(self.mu)
        others = {
            "out": ("Anyone who looks at the arcs that arrive at a vertex: only those that leave it are alike.",),
            "in": ("Anyone who looks at the arcs that leave a vertex: only those that arrive at it are alike.",),
            "both": (),
        }[self.neighbourhood]
        homogeneity = (
            "How large a weight is (homogeneity): the published weights of arcs that are alike tell each of them to "
            f"within {near}. What is hidden is which arc is special, not what its weight is."
        )
        return (homogeneity, _EXACT, *others, _LENGTHS, _TOPOLOGY, _KNOWLEDGE)

    def fields(self) -> dict[str, Plain]:
        """The numbers of the promise, and what differs from the definition as printed."""
        fields: dict[str, Plain] = {"mu": str(self.mu), "k": str(self.k), "share": str(self.share)}
        if self.neighbourhood != NEIGHBOURHOODS[0]:
            fields["neighbourhood"] = self.neighbourhood
        if self.relative:
            fields["relative"] = "yes"
        if not self.small_degree:
            fields["small_degree"] = "no"
        return fields


def _read_flag(what: str, value: bool | str) -> bool:  # noqa: FBT001 - as it is typed
    if isinstance(value, bool):
        return value
    if value.lower() not in _WORDS:
        msg = f"{what} must be yes or no; got {value[:40]!r}"
        raise ParameterError(msg)
    return _WORDS[value.lower()]


def _as_percent(part: int, whole: int) -> str:
    """A share, rounded down, so that it is never more than what is."""
    return f"{(1000 * part // whole) / 10:g} %" if whole else "100 %"


# ---- the check


class _Arcs(NamedTuple):
    """The arcs of a network: from where, to where, and the weight; `twinned` if each has one in the other direction."""

    source: Integers
    target: Integers
    weights: Floats
    twinned: bool

    def besides(self, neighbourhood: str) -> tuple[Integers, ...]:
        """By which vertex arcs stand beside each other."""
        return {"out": (self.source,), "in": (self.target,), "both": (self.source, self.target)}[neighbourhood]


def count_anonymous(network: Graph, promise: MuWeightedKAnonymity) -> tuple[int, int]:
    """Count the anonymous arcs of a network, and all of them."""
    anonymous = find_anonymous(network, promise)
    return int(np.count_nonzero(anonymous)), len(anonymous)


def find_anonymous(network: Graph, promise: MuWeightedKAnonymity) -> Flags:
    """Which arcs are anonymous; without directions, edges from the smaller to the larger code come first, then back."""
    arcs = _arcs_of(network)
    values, rank = np.unique(arcs.weights, return_inverse=True)
    lowest = _find_lowest_near(values, promise)
    # nearness is mutual: the last value that is near to a value is the last one for which this one is not too low
    highest = np.searchsorted(lowest, np.arange(len(values)), side="right") - 1
    flags = np.ones(len(rank), np.bool_)
    for beside in arcs.besides(promise.neighbourhood):
        flags &= _are_anonymous(beside, rank, (lowest, highest), promise, twinned=arcs.twinned)
    return flags


def _arcs_of(network: Graph) -> _Arcs:
    source, target = network.first.astype(np.int64), network.second.astype(np.int64)
    weights = network.require_weights()
    if network.directed:
        return _Arcs(source, target, weights, twinned=False)
    both = np.concatenate
    return _Arcs(both((source, target)), both((target, source)), both((weights, weights)), twinned=True)


def _are_anonymous(
    beside: Integers, rank: Integers, near: tuple[Integers, Integers], promise: MuWeightedKAnonymity, *, twinned: bool
) -> Flags:
    """Whether enough arcs beside each arc have values of near rank."""
    if not len(rank):
        return np.ones(0, np.bool_)
    lowest, highest = near[0][rank], near[1][rank]
    size = len(near[0])
    keys = np.sort(beside * size + rank)
    first = np.searchsorted(keys, beside * size + lowest, side="left")
    within = np.searchsorted(keys, beside * size + highest, side="right") - first
    if not promise.small_degree:
        return within >= promise.k
    # arcs of a vertex with too few of them: all must be near, and enough elsewhere but for the same edge backwards
    degree = np.bincount(beside)[beside]
    upto = np.concatenate(([0], np.cumsum(np.bincount(rank, minlength=size))))
    elsewhere = upto[highest + 1] - upto[lowest] - within - twinned
    helped = (degree < promise.k) & (within == degree) & (elsewhere >= promise.k - degree)
    return (within >= promise.k) | helped


def _find_lowest_near(values: Floats, promise: MuWeightedKAnonymity) -> Integers:
    """The position of the smallest value that is near to each of these distinct, ascending values."""
    scale = np.log(values) if promise.relative else values
    mu = float(promise.mu)
    slack = _SLACK * np.spacing(np.maximum(np.abs(scale), max(mu, 1.0 if promise.relative else 0.0)))
    certain = np.minimum(np.searchsorted(scale, scale - mu + slack), np.arange(len(values)))
    possible = np.minimum(np.searchsorted(scale, scale - mu - slack), certain)
    for number in np.flatnonzero(possible < certain).tolist():
        low, high, value = int(possible[number]), int(certain[number]), float(values[number])
        while low < high:
            middle = (low + high) // 2
            if _are_near(value, float(values[middle]), promise):
                high = middle
            else:
                low = middle + 1
        certain[number] = low
    return certain


def _are_near(larger: float, smaller: float, promise: MuWeightedKAnonymity) -> bool:
    """Whether two weights, as decimals, are within mu, exactly."""
    if promise.relative:
        quotient = _PRECISE.divide(Decimal(repr(larger)), Decimal(repr(smaller))).ln(_PRECISE)
        return quotient <= _PRECISE.divide(Decimal(promise.mu.numerator), Decimal(promise.mu.denominator))
    return Fraction(repr(larger)) - Fraction(repr(smaller)) <= promise.mu
