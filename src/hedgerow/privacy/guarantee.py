"""What we promise: the base of all guarantees, and the differentially private ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds import differs_by_change
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.numbers import NumberLike, is_number, read_number, show
from hedgerow.privacy.questions import Answers

__all__ = [
    "All",
    "Guarantee",
    "Plain",
    "PureDP",
    "Verdict",
]

_SAYING = 14
#: from here on a promise allows much, and says so
_MODERATE, _WEAK = 1, 10
_EXTREME = Fraction(10**9)

#: so many promises may be made at once
_MOST_PARTS = 16

#: what a promise is written as: texts, and lists and tables of them
Plain: TypeAlias = "str | Sequence[Plain] | Mapping[str, Plain]"


@dataclass(frozen=True)
class Verdict:
    """The result of checking an output: how it was checked, and how often it fails."""

    checked: str
    violations: Mapping[str, int]

    @property
    def satisfied(self) -> bool:
        """Whether nothing fails."""
        return not any(self.violations.values())

    @property
    def failures(self) -> str:
        """What fails, and how often, in a line."""
        return ", ".join(f"{number} x {what}" for what, number in self.violations.items() if number)


class Guarantee(ABC):
    """A promise. It says for itself what it spends, needs, reads and publishes: nobody asks which one it is."""

    #: its name in `release.json`, and in the table of promises (`hedgerow.promises`)
    name: ClassVar[str]
    #: the kinds of data it speaks of
    kinds: ClassVar[tuple[type[Dataset], ...]] = (Dataset,)

    @abstractmethod
    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check on the output what can be checked there."""

    @abstractmethod
    def sentence(self) -> str:
        """Say the promise in words a lawyer and an engineer both accept."""

    @abstractmethod
    def fields(self) -> Mapping[str, Plain]:
        """All that makes it this promise: what the class is made with again; exact numbers as texts."""

    @property
    def budget(self) -> Fraction | None:
        """The epsilon it allows to spend on one unit; None for a promise that spends nothing."""
        return None

    @property
    def needs_public_domain(self) -> bool:
        """Whether not even the values that exist may be taken from the data, nor a column be carried along."""
        return False

    @property
    def verifiable_from_data(self) -> bool:
        """Whether published data alone shows that it is kept."""
        return True

    @property
    def units(self) -> tuple[str, ...]:
        """The units it speaks of."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, besides those of the kind."""
        return ()

    def records_per_unit(self, data: Dataset) -> int:
        """How many records of the data depend on one unit at most."""
        del data
        return 1

    def require(self, data: Dataset) -> None:
        """Refuse data that the promise says nothing about."""
        if not isinstance(data, self.kinds):
            kinds = ", ".join(kind.kind for kind in self.kinds)
            msg = f"{self.name} is a promise about {kinds}; got {data.kind}"
            raise ParameterError(msg)

    @final
    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open a ledger: of the budget over the records that depend on one unit (group privacy), or of nothing."""
        self.require(data)
        records = self.records_per_unit(data)
        return Ledger((self.budget or Fraction(0)) / records, answers, records=records, promises=self.parts())

    def effort(self, outputs: Mapping[str, Dataset]) -> int:
        """How many cases `verify` looks at: a small file can ask for more than anyone can wait."""
        del outputs
        return 0

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Say what the promise does not cover of data over a domain, a sentence each."""
        del domain
        return ()

    def warn_about(self, data: Dataset) -> None:
        """Warn of what is no error in the data, but seldom meant."""
        del data

    def figures(self) -> list[tuple[str, str]]:
        """Its numbers as a page shows them, each with what it is called; lists are left to the sentence."""
        return [(name, value) for name, value in self.fields().items() if isinstance(value, str)]

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises this one is made of."""
        return (self,)

    def to_plain(self) -> dict[str, Plain]:
        """Lay the promise out as `release.json` holds it; `hedgerow.privacy.parsing` takes it back."""
        return {"name": self.name, **self.fields()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in self.fields().items())})"


#: how neighbours differ, in a sentence and in two words
_ADDED = ("left out of the data or put into it", "add or remove")
_CHANGED = ("another than it is", "change")


@dataclass(frozen=True, init=False, repr=False)
class PureDP(Guarantee):
    r"""$\varepsilon$-differential privacy for a unit, by adding or removing one, or by changing one.

    Neither has a default: what protects people is stated by whoever publishes.

    Examples
    --------
    >>> PureDP(epsilon=0.1, unit="record").epsilon
    Fraction(1, 10)
    """

    name: ClassVar[str] = "PureDP"
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
        if not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a stranger may have written it
            msg = f"unit must be a text; got {unit!r}"
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", value)
        object.__setattr__(self, "unit", unit)

    @property
    def budget(self) -> Fraction:
        """Epsilon."""
        return self.epsilon

    @property
    def needs_public_domain(self) -> bool:
        """Which values occur is as private as who has them."""
        return True

    @property
    def verifiable_from_data(self) -> bool:
        """It is about how data was made."""
        return False

    @property
    def units(self) -> tuple[str, ...]:
        """The one unit."""
        return (self.unit,)

    def records_per_unit(self, data: Dataset) -> int:
        """One, or what the domain declares for a person."""
        return data.records_per(self.unit)

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
        other, step = _CHANGED if differs_by_change(self.unit) else _ADDED
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

    def fields(self) -> dict[str, Plain]:
        """Epsilon and the unit."""
        return {"epsilon": str(self.epsilon), "unit": self.unit}

    def figures(self) -> list[tuple[str, str]]:
        """Epsilon as people write it, and the unit."""
        return [("epsilon", show(self.epsilon)), ("unit", self.unit)]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class All(Guarantee):
    """Several promises at once, checked part by part; at most one of them spends a budget.

    Examples
    --------
    >>> All(PureDP(epsilon="1/2", unit="record")).to_plain()
    {'name': 'All', 'parts': [{'name': 'PureDP', 'epsilon': '1/2', 'unit': 'record'}]}
    """

    name: ClassVar[str] = "All"

    guarantees: tuple[Guarantee, ...]

    def __init__(self, *guarantees: Guarantee) -> None:
        if not guarantees:
            msg = "All needs at least one guarantee"
            raise ParameterError(msg)
        if not all(isinstance(part, Guarantee) for part in guarantees):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = "All takes guarantees"
            raise ParameterError(msg)
        parts = tuple(part for guarantee in guarantees for part in guarantee.parts())
        if sum(part.budget is not None for part in parts) > 1:
            msg = "All takes at most one differentially private guarantee; state the stronger one"
            raise ParameterError(msg)
        if len(parts) > _MOST_PARTS:
            msg = f"All takes at most {_MOST_PARTS} guarantees; got {len(parts)}"
            raise ParameterError(msg)
        object.__setattr__(self, "guarantees", parts)

    @property
    def budget(self) -> Fraction | None:
        """The budget of the part that has one."""
        return next((part.budget for part in self.guarantees if part.budget is not None), None)

    @property
    def needs_public_domain(self) -> bool:
        """Whether a part does."""
        return any(part.needs_public_domain for part in self.guarantees)

    @property
    def verifiable_from_data(self) -> bool:
        """Whether all parts are."""
        return all(part.verifiable_from_data for part in self.guarantees)

    @property
    def units(self) -> tuple[str, ...]:
        """The units of all parts."""
        return tuple(dict.fromkeys(unit for part in self.guarantees for unit in part.units))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all parts."""
        return tuple(dict.fromkeys(column for part in self.guarantees for column in part.columns))

    def records_per_unit(self, data: Dataset) -> int:
        """As many as the part with the budget says."""
        return next((part.records_per_unit(data) for part in self.guarantees if part.budget is not None), 1)

    def require(self, data: Dataset) -> None:
        """Refuse what any part refuses."""
        for part in self.guarantees:
            part.require(data)

    def effort(self, outputs: Mapping[str, Dataset]) -> int:
        """How many cases all parts look at."""
        return sum(part.effort(outputs) for part in self.guarantees)

    def warn_about(self, data: Dataset) -> None:
        """Warn of what any part warns of."""
        for part in self.guarantees:
            part.warn_about(data)

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check part by part."""
        verdicts = [(part.name, part.verify(outputs)) for part in self.guarantees]
        violations: Counter[str] = Counter()  # two parts may call what they count the same
        for name, verdict in verdicts:
            violations.update({f"{name}: {what}": number for what, number in verdict.violations.items()})
        return Verdict("; ".join(f"{name}: {verdict.checked}" for name, verdict in verdicts), dict(violations))

    def sentence(self) -> str:
        """Say all promises."""
        return " ".join(part.sentence() for part in self.guarantees)

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """Say what none of the promises covers."""
        return tuple(dict.fromkeys(limit for part in self.guarantees for limit in part.limits(domain)))

    def fields(self) -> dict[str, Plain]:
        """The parts."""
        return {"parts": [part.to_plain() for part in self.guarantees]}

    def figures(self) -> list[tuple[str, str]]:
        """The numbers of all parts."""
        return [figure for part in self.guarantees for figure in part.figures()]

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises this one is made of."""
        return self.guarantees

    def __eq__(self, other: object) -> bool:
        """Whether the same is promised, in whatever order."""
        return isinstance(other, All) and Counter(self.guarantees) == Counter(other.guarantees)

    def __hash__(self) -> int:
        return hash(frozenset(self.guarantees))

    def __repr__(self) -> str:
        return f"All({', '.join(map(repr, self.guarantees))})"


def _shown(value: Plain) -> str:
    """Write a field as it is typed: a number bare where it is a short decimal, anything else quoted."""
    if not isinstance(value, str) or not is_number(value):
        return repr(value)
    text = value if value.isdigit() else show(read_number("number", value))
    return repr(text) if "/" in text else text
