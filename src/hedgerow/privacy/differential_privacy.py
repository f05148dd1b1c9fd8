"""Differential privacy: for one unit (`PureDP`), and for several edges of a network together (`CorrelatedDP`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError
from hedgerow.kind_registry import differs_by_change, differs_by_step
from hedgerow.privacy.guarantee import Guarantee, Plain, Verdict
from hedgerow.privacy.numbers import NumberLike, read_number, read_whole, show
from hedgerow.promises import PROMISES

_SAYING = 14
#: epsilons above these are weaker promises, and the sentence says so
_MODERATE, _WEAK = 1, 10
_EXTREME = Fraction(10**9)
_MOST_EDGES = 10**6
#: how neighbouring data sets differ, in the sentence and in its short form
_ADDED = ("removed from the data or added to it", "add or remove")
_CHANGED = ("changed", "change")
_STEPPED = ("changed by one step", "change by one step")


@dataclass(frozen=True, init=False, repr=False)
class DifferentialPrivacy(Guarantee):
    """A bound on how much any outcome may depend on one unit; the ledger enforces it during publication."""

    epsilon: Fraction
    unit: str

    def __init__(self, *, epsilon: NumberLike, unit: str) -> None:
        value = read_number("epsilon", epsilon)
        if value <= 0:
            msg = f"epsilon must be greater than 0; got {epsilon}"
            raise ParameterError(msg)
        if not 1 / _EXTREME <= value <= _EXTREME:
            msg = f"epsilon must be between 1e-9 and 1e9; got {epsilon}"
            raise ParameterError(msg)
        if not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from an untrusted file
            msg = f"unit must be a text; got {unit!r}"
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", value)
        object.__setattr__(self, "unit", unit)

    @property
    def needs_public_domain(self) -> bool:
        """Always: which values occur is private as well."""
        return True

    @property
    def verifiable_from_data(self) -> bool:
        """Never: it is a promise about how the data was made."""
        return False

    @property
    def units(self) -> tuple[str, ...]:
        """The one unit."""
        return (self.unit,)

    def records_per_unit(self, data: Dataset) -> int:
        """One, or what the domain declares for a person."""
        return data.records_per(self.unit)

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Report no violation: the ledger enforced the promise, and an output cannot show it."""
        del outputs
        return Verdict("enforced by the privacy ledger during publication; it cannot be verified from the output", {})

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what differential privacy does not cover."""
        del domain
        public = "how many there are, and in which order, is public."
        always = [f"Everything but the content of one {self.unit}: {public}"] if differs_by_change(self.unit) else []
        if differs_by_step(self.unit):
            always = [
                f"A {self.unit} that changes by several steps: m steps are protected with m times epsilon only.",
                f"Everything but single steps of one {self.unit}: {public}",
            ]
        return (
            *always,
            "Facts about people in general, which apply to each person whether or not they are in the data.",
            "Other releases. The epsilons of all releases made from the same data add up.",
            "What is public in any case: the domain, the method and its parameters.",
            "Whether a record could not be read, if such records stop the publication and are not dropped.",
        )


@dataclass(frozen=True, init=False, repr=False)
class PureDP(DifferentialPrivacy):
    r"""$\varepsilon$-differential privacy for a unit: neighbours differ by one unit, added or removed.

    Units that cannot be left out, such as the cells of a table, are changed instead: to anything within their bounds,
    or by one step (unit `count`); the statement says which it is.

    Neither epsilon nor the unit has a default: the publisher states them.

    Examples
    --------
    >>> PureDP(epsilon=0.1, unit="record").epsilon
    Fraction(1, 10)
    """

    name: ClassVar[str] = "PureDP"

    @property
    def budget(self) -> Fraction:
        """Epsilon."""
        return self.epsilon

    def sentence(self) -> str:
        """State the promise in words."""
        epsilon = show(self.epsilon)
        near = "nearly the same probability" if self.epsilon <= _MODERATE else "a probability"
        weak = " An epsilon above 10 promises little." if self.epsilon > _WEAK else ""
        limited = "" if self.epsilon <= _MODERATE else " limited as follows"
        difference, step = _CHANGED if differs_by_change(self.unit) else _ADDED
        if differs_by_step(self.unit):
            difference, step = _STEPPED
        return (
            f"Whatever anyone concludes from this release, they would have concluded it with {near}{limited} if any "
            f"one {self.unit} had been {difference}: no outcome is more than {_factor(self.epsilon)} times as likely "
            f"in one case as in the other ({epsilon}-differential privacy for one {self.unit}, {step}).{weak}"
        )

    def fields(self) -> dict[str, Plain]:
        """Epsilon and the unit."""
        return {"epsilon": str(self.epsilon), "unit": self.unit}

    def figures(self) -> list[tuple[str, str]]:
        """Epsilon as a decimal where it is a short one, and the unit."""
        return [("epsilon", show(self.epsilon)), ("unit", self.unit)]


@dataclass(frozen=True, init=False, repr=False)
class CorrelatedDP(DifferentialPrivacy):
    r"""$(\varepsilon, k)$-differential privacy of networks [1]_: $\varepsilon$ for any $k$ edges together.

    Formally this is $\varepsilon / k$-differential privacy for one edge, added or removed: the ledger is opened with
    $\varepsilon / k$. Any $k$ edges are protected together at $\varepsilon$, since removing them one by one costs
    $\varepsilon / k$ each (group privacy). It is not node privacy: a vertex with more than $k$ edges is not hidden.

    Releases compose by adding up $\varepsilon_i / k_i$. That is at most $\sum \varepsilon_i / \min k_i$, so together
    they are $(\sum \varepsilon_i, \min k_i)$-differentially private. With $k = 1$ it is `PureDP` for one edge.

    Examples
    --------
    >>> promise = CorrelatedDP(epsilon=1, k=10, unit="edge")
    >>> promise.budget, promise
    (Fraction(1, 10), CorrelatedDP(epsilon=1, k=10, unit='edge'))

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, P. S. Yu, B. C. Desai. "Correlated network data publication via differential
       privacy". VLDB Journal 23(4), 2014.
    """

    name: ClassVar[str] = "CorrelatedDP"
    kinds: ClassVar = PROMISES[name].kinds

    k: int

    def __init__(self, *, epsilon: NumberLike, k: int | str, unit: str) -> None:
        super().__init__(epsilon=epsilon, unit=unit)
        edges = read_whole("k", k, most=_MOST_EDGES, remedy="it is how many edges are protected together")
        if unit != "edge":
            msg = f"CorrelatedDP protects edges: unit must be 'edge'; got {unit!r}"
            raise ParameterError(msg)
        object.__setattr__(self, "k", edges)

    @property
    def budget(self) -> Fraction:
        """Epsilon / k: what may be spent on one edge."""
        return self.epsilon / self.k

    @property
    def budget_name(self) -> str:
        """The epsilon of one edge."""
        return "epsilon / k"

    def sentence(self) -> str:
        """State in one sentence what the promise is and what it is not."""
        one, together = show(self.budget), show(self.epsilon)
        several = several_too = ""
        if self.k > 1:
            several = f", nor by a factor above {_factor(self.epsilon)} if any {self.k:,} edges had been"
            several_too = f", and by group privacy {together} for any {self.k:,} edges together"
        weak = f" An {self.budget_name} above 10 promises little." if self.budget > _WEAK else ""
        return (
            f"No outcome of this release would be more or less likely by a factor above {_factor(self.budget)} if "
            f"any one edge had been {_ADDED[0]}{several} ({one}-differential privacy for one edge, "
            f"{_ADDED[1]}{several_too}), but this is not node privacy, which would hide all edges of a vertex, and it "
            f"promises nothing about other correlations between edges.{weak}"
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Also list what this promise is often taken for."""
        more = "one edge" if self.k == 1 else f"{self.k:,} edges"
        return (
            f"A vertex with more than {more}: that it is well connected, and to which part of the network, may show.",
            "Correlations between edges in general: what many edges together say about another one may be inferred.",
            *super().limits(domain),
        )

    def fields(self) -> dict[str, Plain]:
        """Epsilon, k and the unit."""
        return {"epsilon": str(self.epsilon), "k": str(self.k), "unit": self.unit}

    def figures(self) -> list[tuple[str, str]]:
        """Epsilon, k, what they are for one edge, and the unit."""
        numbers = [("epsilon", show(self.epsilon)), ("k", str(self.k)), (self.budget_name, show(self.budget))]
        return [*numbers, ("unit", self.unit)]


def _factor(epsilon: Fraction) -> str:
    """Write e to the epsilon, and as a number where that says something: beyond a million it does not."""
    about = f" (about {math.exp(epsilon):.3g})" if epsilon < _SAYING else ""
    return f"e^{show(epsilon)}{about}"
