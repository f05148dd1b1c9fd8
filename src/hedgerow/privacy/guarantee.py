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
from hedgerow.errors import ParameterError, UnsupportedGuarantee
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
#: epsilons above these are weaker promises, and the sentence says so
_MODERATE, _WEAK = 1, 10
_EXTREME = Fraction(10**9)

#: how many promises can be combined
_MOST_PARTS = 16

#: a promise as plain data: texts, and lists and tables of texts
Plain: TypeAlias = "str | Sequence[Plain] | Mapping[str, Plain]"


@dataclass(frozen=True)
class Verdict:
    """The result of verifying an output: how it was checked, and the number of violations of each kind."""

    checked: str
    violations: Mapping[str, int]

    @property
    def satisfied(self) -> bool:
        """Whether there is no violation."""
        return not any(self.violations.values())

    @property
    def failures(self) -> str:
        """The violations in one line, each with its number."""
        return ", ".join(f"{number} x {what}" for what, number in self.violations.items() if number)


class Guarantee(ABC):
    """A promise. It states itself what it spends, needs, reads and publishes, so callers need not know its class."""

    #: its name in `release.json`, and in the table of promises (`hedgerow.promises`)
    name: ClassVar[str]
    #: the kinds of data it is about
    kinds: ClassVar[tuple[type[Dataset], ...]] = (Dataset,)

    @abstractmethod
    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the promise on the output, as far as that is possible."""

    @abstractmethod
    def sentence(self) -> str:
        """State the promise in words that a lawyer and an engineer both accept."""

    @abstractmethod
    def fields(self) -> Mapping[str, Plain]:
        """The arguments that rebuild this promise; exact numbers as texts."""

    @property
    def budget(self) -> Fraction | None:
        """The epsilon that may be spent on one unit; None for a promise without a budget."""
        return None

    @property
    def needs_public_domain(self) -> bool:
        """Whether the domain must not come from the data, and no further column may be published unchanged."""
        return False

    @property
    def verifiable_from_data(self) -> bool:
        """Whether it can be verified from published data alone."""
        return True

    @property
    def units(self) -> tuple[str, ...]:
        """The units that it protects."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in addition to those of the kind."""
        return ()

    def records_per_unit(self, data: Dataset) -> int:
        """The maximum number of records that depend on one unit."""
        del data
        return 1

    def require(self, data: Dataset) -> None:
        """Refuse data that the promise cannot be made about."""
        if not isinstance(data, self.kinds):
            kinds = ", ".join(kind.kind for kind in self.kinds)
            msg = f"{self.name} is a promise about {kinds}; got {data.kind}"
            raise ParameterError(msg)

    def require_records(self, data: Dataset) -> None:
        """Refuse records that the promise cannot be made about.

        A refusal depends on private records, so this is called only for a promise without a budget.
        """
        del data

    def require_with_budget(self, data: Dataset) -> None:
        """Refuse, by public facts alone, data about which this cannot be promised together with a budget."""
        del data
        if self.columns:
            msg = f"a differentially private release has no sensitive columns: {self.name} cannot be promised about one"
            raise UnsupportedGuarantee(msg)

    @final
    def open(self, data: Dataset, answers: Answers) -> Ledger:
        """Open a ledger with the budget divided by the records per unit (group privacy), or with no budget."""
        self.require(data)
        if self.budget is None:
            self.require_records(data)
        records = self.records_per_unit(data)
        return Ledger((self.budget or Fraction(0)) / records, answers, records=records, promises=self.parts())

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count the cases that `verify` examines: even a small file can need more than is feasible."""
        del outputs
        return 0

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover, one sentence each, for data over this domain."""
        del domain
        return ()

    def warn_about(self, data: Dataset) -> None:
        """Warn about what is not an error in the data, but rarely intended."""
        del data

    def figures(self) -> list[tuple[str, str]]:
        """Its numbers as a report shows them, each with its name; lists appear in the sentence only."""
        return [(name, value) for name, value in self.fields().items() if isinstance(value, str)]

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises that this one combines."""
        return (self,)

    def to_plain(self) -> dict[str, Plain]:
        """Return the promise as plain data for `release.json`; `hedgerow.privacy.parsing` reads it back."""
        return {"name": self.name, **self.fields()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in self.fields().items())})"


#: how neighbouring data sets differ, in the sentence and in its short form
_ADDED = ("removed from the data or added to it", "add or remove")
_CHANGED = ("changed", "change")


@dataclass(frozen=True, init=False, repr=False)
class PureDP(Guarantee):
    r"""$\varepsilon$-differential privacy for a unit: neighbours differ by one unit, added or removed.

    Units that cannot be left out, such as the cells of a table, are changed instead; the statement says which it is.

    Neither epsilon nor the unit has a default: the publisher states them.

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
        if not isinstance(unit, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from an untrusted file
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

    def sentence(self) -> str:
        """State the promise in words."""
        epsilon = show(self.epsilon)
        # a factor beyond a million says nothing, and beyond 700 no float holds it
        about = f" (about {math.exp(self.epsilon):.3g})" if self.epsilon < _SAYING else ""
        near = "nearly the same probability" if self.epsilon <= _MODERATE else "a probability"
        weak = " An epsilon above 10 promises little." if self.epsilon > _WEAK else ""
        limited = "" if self.epsilon <= _MODERATE else " limited as follows"
        difference, step = _CHANGED if differs_by_change(self.unit) else _ADDED
        return (
            f"Whatever anyone concludes from this release, they would have concluded it with {near}{limited} if any "
            f"one {self.unit} had been {difference}: no outcome is more than e^{epsilon}{about} times as likely in one "
            f"case as in the other ({epsilon}-differential privacy for one {self.unit}, {step}).{weak}"
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what differential privacy does not cover."""
        del domain
        return (
            "Facts about people in general, which apply to each person whether or not they are in the data.",
            "Other releases. The epsilons of all releases made from the same data add up.",
            "What is public in any case: the domain, the method and its parameters.",
            "Whether a record could not be read, if such records stop the publication and are not dropped.",
        )

    def fields(self) -> dict[str, Plain]:
        """Epsilon and the unit."""
        return {"epsilon": str(self.epsilon), "unit": self.unit}

    def figures(self) -> list[tuple[str, str]]:
        """Epsilon as a decimal where it is a short one, and the unit."""
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
            msg = "All takes guarantees such as PureDP"
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
        """Whether any part needs it."""
        return any(part.needs_public_domain for part in self.guarantees)

    @property
    def verifiable_from_data(self) -> bool:
        """Whether all parts can be verified so."""
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
        """The number that the part with the budget states."""
        return next((part.records_per_unit(data) for part in self.guarantees if part.budget is not None), 1)

    def require(self, data: Dataset) -> None:
        """Refuse data that any part refuses, or that it cannot be combined with a budget about."""
        for part in self.guarantees:
            part.require(data)
            if self.budget is not None and part.budget is None:
                part.require_with_budget(data)

    def require_records(self, data: Dataset) -> None:
        """Refuse records that any part refuses."""
        for part in self.guarantees:
            part.require_records(data)

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count the cases of all parts."""
        return sum(part.count_cases(outputs) for part in self.guarantees)

    def warn_about(self, data: Dataset) -> None:
        """Pass on the warnings of all parts."""
        for part in self.guarantees:
            part.warn_about(data)

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check part by part."""
        verdicts = [(part.name, part.verify(outputs)) for part in self.guarantees]
        violations: Counter[str] = Counter()  # two parts may use the same name for what they count
        for name, verdict in verdicts:
            violations.update({f"{name}: {what}": number for what, number in verdict.violations.items()})
        return Verdict("; ".join(f"{name}: {verdict.checked}" for name, verdict in verdicts), dict(violations))

    def sentence(self) -> str:
        """State all promises."""
        return " ".join(part.sentence() for part in self.guarantees)

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List the limits of all promises, each once."""
        return tuple(dict.fromkeys(limit for part in self.guarantees for limit in part.limits(domain)))

    def fields(self) -> dict[str, Plain]:
        """The parts."""
        return {"parts": [part.to_plain() for part in self.guarantees]}

    def figures(self) -> list[tuple[str, str]]:
        """The numbers of all parts."""
        return [figure for part in self.guarantees for figure in part.figures()]

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises that this one combines."""
        return self.guarantees

    def __eq__(self, other: object) -> bool:
        """Whether the same is promised, in any order."""
        return isinstance(other, All) and Counter(self.guarantees) == Counter(other.guarantees)

    def __hash__(self) -> int:
        return hash(frozenset(self.guarantees))

    def __repr__(self) -> str:
        return f"All({', '.join(map(repr, self.guarantees))})"


def _shown(value: Plain) -> str:
    """Write a field as it is typed: a short decimal as a number, anything else quoted."""
    if not isinstance(value, str) or not is_number(value):
        return repr(value)
    text = value if value.isdigit() else show(read_number("number", value))
    return repr(text) if "/" in text else text
