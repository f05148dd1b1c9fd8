"""What we promise: the base of all guarantees, and the differentially private ones."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds import is_changed
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.questions import Answers

__all__ = [
    "All",
    "Exactly",
    "Guarantee",
    "PureDP",
    "Verdict",
    "fits",
    "read_number",
    "show",
]

_SAYING = 14
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,400}/[0-9]{1,400}"
    r"|(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,2})?%?)"
)
#: from here on a promise allows much, and says so
_MODERATE, _WEAK = 1, 10
_EXTREME = Fraction(10**9)

Exactly: TypeAlias = int | Fraction | Decimal | float | str


@dataclass(frozen=True)
class Verdict:
    """The result of checking an output: how it was checked, and how often it fails."""

    checked: str
    violations: Mapping[str, int]

    @property
    def satisfied(self) -> bool:
        """Whether nothing fails."""
        return not any(self.violations.values())


class Guarantee(ABC):
    """A promise and its unit."""

    name: ClassVar[str]
    #: its fields as options of the command line, with what they mean
    options: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: those that must be given; None: all
    required: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open a ledger with what this promise allows to spend on the data."""

    @abstractmethod
    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check on the output what can be checked there."""

    @abstractmethod
    def sentence(self) -> str:
        """Say the promise in words a lawyer and an engineer both accept."""

    @abstractmethod
    def fields(self) -> dict[str, str]:
        """The numbers of the promise, exactly, as text."""

    def effort(self, outputs: Mapping[str, Dataset]) -> int:
        """How many cases `verify` looks at: a small file can ask for more than anyone can wait."""
        del outputs
        return 0

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Say what the promise does not cover of data over a domain, a sentence each."""
        del domain
        return ()

    def notice(self, data: Dataset) -> None:
        """Warn of what is no error in the data, but seldom meant."""
        del data

    @property
    def units(self) -> tuple[str, ...]:
        """The units the promise speaks of."""
        return ()

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises this one is made of."""
        return (self,)


#: how neighbours differ, in a sentence and in two words
_ADDED = ("left out of the data or put into it", "add or remove")
_CHANGED = ("another than it is", "change")


@dataclass(frozen=True, init=False)
class PureDP(Guarantee):
    r"""$\varepsilon$-differential privacy for a unit, by adding or removing one, or by changing one.

    Neither has a default: what protects people is stated by whoever publishes.

    Examples
    --------
    >>> PureDP(epsilon=0.1, unit="record").epsilon
    Fraction(1, 10)
    """

    name: ClassVar[str] = "PureDP"
    options: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "epsilon": "how much any outcome may depend on one unit; smaller protects more",
            "unit": "who or what is protected: record, sequence or person",
        }
    )

    epsilon: Fraction
    unit: str

    def __init__(self, *, epsilon: Exactly, unit: str) -> None:
        value = read_number("epsilon", epsilon)
        if value <= 0:
            msg = f"epsilon must be greater than 0; got {epsilon}"
            raise ParameterError(msg)
        if not 1 / _EXTREME <= value <= _EXTREME:
            msg = f"epsilon must be between 1e-9 and 1e9; got {epsilon}"
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", value)
        object.__setattr__(self, "unit", unit)

    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open a ledger of epsilon over the number of records a unit may own (group privacy)."""
        records = data.records_per(self.unit)
        return Ledger(self.epsilon / records, answers, records=records, promises=(self,))

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Nothing about differential privacy can be seen in an output: the ledger kept it."""
        del outputs
        return Verdict("kept by the ledger; nothing to be seen in the output", {})

    def sentence(self) -> str:
        """Say the promise in words."""
        epsilon = show(self.epsilon)
        # a factor beyond a million says nothing, and beyond 700 no float holds it
        about = f" (about {math.exp(self.epsilon):.3g})" if self.epsilon < _SAYING else ""
        near = "nearly the same probability" if self.epsilon <= _MODERATE else "a probability"
        weak = " An epsilon above 10 promises little." if self.epsilon > _WEAK else ""
        limited = "" if self.epsilon <= _MODERATE else " that is limited by what follows"
        other, step = _CHANGED if is_changed(self.unit) else _ADDED
        return (
            "Whatever anyone concludes from this release, they would have concluded it with "
            f"{near}{limited} had any one {self.unit} been {other}"
            f": no outcome is more than e^{epsilon}{about} times as likely one way as "
            f"the other ({epsilon}-differential privacy for one {self.unit}, {step}).{weak}"
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Say what differential privacy does not cover."""
        del domain
        return (
            "What is true of people in general, and so of each, in the data or not.",
            "Other releases. The epsilons of all releases made of the same data add up.",
            "What is public anyway: the domain, the method and its parameters.",
            "Whether a record could not be read, where such records are refused and not dropped.",
        )

    def fields(self) -> dict[str, str]:
        """Epsilon and the unit."""
        return {"epsilon": str(self.epsilon), "unit": self.unit}

    @property
    def units(self) -> tuple[str, ...]:
        """The one unit."""
        return (self.unit,)


@dataclass(frozen=True, init=False)
class All(Guarantee):
    """Several promises at once, checked part by part; at most one of them spends a budget."""

    name: ClassVar[str] = "All"

    guarantees: tuple[Guarantee, ...]

    def __init__(self, *guarantees: Guarantee) -> None:
        if not guarantees:
            msg = "All needs at least one guarantee"
            raise ParameterError(msg)
        if not all(isinstance(part, Guarantee) for part in guarantees):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = "All takes guarantees"
            raise ParameterError(msg)
        guarantees = tuple(part for held in guarantees for part in held.parts())
        if sum(isinstance(part, PureDP) for part in guarantees) > 1:
            msg = "All takes at most one differentially private guarantee; state the stronger one"
            raise ParameterError(msg)
        object.__setattr__(self, "guarantees", guarantees)

    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open the ledger of the part that has a budget, or an empty one."""
        ledgers = [part.open(data, answers) for part in self.guarantees]
        private = [ledger for ledger in ledgers if ledger.budget > 0]
        return (private or ledgers)[0].promising(self.guarantees)

    def effort(self, outputs: Mapping[str, Dataset]) -> int:
        """How many cases all parts look at."""
        return sum(part.effort(outputs) for part in self.guarantees)

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check part by part."""
        verdicts = [(part.name, part.verify(outputs)) for part in self.guarantees]
        return Verdict(
            "; ".join(f"{name}: {verdict.checked}" for name, verdict in verdicts),
            {f"{name}: {what}": number for name, verdict in verdicts for what, number in verdict.violations.items()},
        )

    def sentence(self) -> str:
        """Say all promises."""
        return " ".join(part.sentence() for part in self.guarantees)

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Say what none of the promises covers."""
        found = [limit for part in self.guarantees for limit in part.limits(domain)]
        return tuple(dict.fromkeys(found))

    def fields(self) -> dict[str, str]:
        """The numbers of all parts."""
        return {f"{part.name}.{name}": value for part in self.guarantees for name, value in part.fields().items()}

    @property
    def units(self) -> tuple[str, ...]:
        """The units of all parts."""
        return tuple(dict.fromkeys(unit for part in self.guarantees for unit in part.units))

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises this one is made of."""
        return self.guarantees


def fits(kind: type[Guarantee], given: Iterable[str]) -> bool:
    """Whether just these options make a promise of a kind."""
    needed = kind.options if kind.required is None else kind.required
    return set(needed) <= set(given) <= set(kind.options)


def read_number(what: str, value: object) -> Fraction:
    """Read a number of a promise as it was written: 0.1 is 1/10, "60%" is 3/5.

    A float is read by its shortest text, which is what was typed, not by its binary value.
    """
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, Decimal, float, str)):
        msg = f"{what} must be a number; got {value!r}"
        raise ParameterError(msg)
    text = str(value).strip()
    # long numbers and large exponents are refused before they are computed
    if not _NUMBER.fullmatch(text) or set(text.partition("/")[2]) == {"0"}:
        msg = f"{what} must be a finite number; got {text[:40]}"
        raise ParameterError(msg)
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


def show(value: Fraction) -> str:
    """Write a fraction as people do: a decimal where it is a short one."""
    if value > _EXTREME**2:
        return str(value)
    decimal = float(value)
    return f"{decimal:g}" if Fraction(f"{decimal:g}") == value else str(value)
