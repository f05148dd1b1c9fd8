"""What we promise: the base of all guarantees, of those that anyone can verify, and several of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

from hedgerow.data import Dataset, Domain
from hedgerow.errors import ParameterError, UnsupportedGuarantee
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.numbers import is_number, read_number, show
from hedgerow.privacy.questions import Answers

#: how many promises can be combined
_MOST_PARTS = 16
#: the owner of each record of each output, as numbers; None where they are not known
Owners: TypeAlias = "Mapping[str, Integers | None]"
#: a promise as plain data: texts, and lists and tables of texts
Plain: TypeAlias = "str | Sequence[Plain] | Mapping[str, Plain]"


@dataclass(frozen=True)
class Verdict:
    """The result of verifying an output: how it was checked, and the number of violations of each kind.

    `assumed` lists what the check had to assume about those who read the output, as limits of the promise.
    """

    checked: str
    violations: Mapping[str, int]
    assumed: tuple[str, ...] = ()

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
    #: the kinds of data it is about, by name; all if there are none
    kinds: ClassVar[tuple[str, ...]] = ()

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
    def budget_name(self) -> str:
        """What the budget is, in terms of the fields of the promise."""
        return "epsilon"

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
        if self.kinds and data.kind not in self.kinds:
            msg = f"{self.name} is a promise about {', '.join(self.kinds)}; got {data.kind}"
            raise ParameterError(msg)

    def about(self, data: Dataset) -> Guarantee:
        """The promise as it is made about this data: one that counts records may count their owners, if it has any."""
        del data
        return self

    def worded_for(self, outputs: Mapping[str, Dataset]) -> Guarantee:
        """The same promise in the words for what is published, if the form of it makes a difference."""
        del outputs
        return self

    def worded_as(self, form: str) -> Guarantee:
        """The same promise in the words for a form of published data, by the name that its kind has for it."""
        del form
        return self

    def foresee(self, data: Dataset, beside: Sequence[Guarantee] = (), *, read: bool = False) -> None:
        """Refuse, or warn about, what this promise must come to on such data, together with those `beside` it.

        It is called twice: before records are read, with none of them and with those axes that are declared, and when
        they are `read`, with them. Then it may depend on private records, like `require_records`, so it is for a
        promise without a budget.
        """
        del data, beside, read

    def bound(self, data: Dataset) -> Dataset:
        """Keep at most the declared number of records per unit that it protects."""
        for unit in self.units:
            data = data.bounded(unit)
        return data

    def verify_owners(self, outputs: Mapping[str, Dataset], owners: Owners) -> Verdict | None:
        """Check what takes the owners of the published records; None if nothing does.

        The owner of the data can do this, and does it before publishing. A receiver cannot: see `unchecked`.
        """
        del outputs, owners
        return None

    def unchecked(self, domain: Domain) -> str:
        """What nobody can check from published data over this domain without their owners; empty if nothing."""
        del domain
        return ""

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
            self.foresee(data, read=True)
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

    @final
    def show_budget(self) -> str:
        """The budget as people read it; with its name where that is not simply epsilon."""
        number = show(self.budget or Fraction(0))
        return number if self.budget_name == "epsilon" else f"{number} ({self.budget_name})"

    def parts(self) -> tuple[Guarantee, ...]:
        """The promises that this one combines."""
        return (self,)

    def to_plain(self) -> dict[str, Plain]:
        """Return the promise as plain data for `release.json`; `hedgerow.privacy.parsing` reads it back."""
        return {"name": self.name, **self.fields()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in self.fields().items())})"


class Criterion(Guarantee):
    """A promise about the output itself, which anyone can verify; it is verified before anything is released.

    A criterion shares no code with the methods that keep it, and reads the output as a receiver would.
    """

    @abstractmethod
    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the violations of each kind; never quote the data."""

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the output as published."""
        for data in outputs.values():
            self.require(data)
        return Verdict("checked on the published data", self.violations(outputs))


@dataclass(frozen=True, init=False, repr=False, eq=False)
class All(Guarantee):
    """Several promises at once, checked part by part; at most one of them spends a budget.

    Examples
    --------
    >>> from hedgerow.privacy import PureDP
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
    def budget_name(self) -> str:
        """The name that the part with a budget gives to it."""
        return next((part.budget_name for part in self.guarantees if part.budget is not None), super().budget_name)

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

    def about(self, data: Dataset) -> Guarantee:
        """All promises as they are made about this data."""
        return All(*(part.about(data) for part in self.guarantees))

    def worded_for(self, outputs: Mapping[str, Dataset]) -> Guarantee:
        """All promises in the words for what is published."""
        return All(*(part.worded_for(outputs) for part in self.guarantees))

    def worded_as(self, form: str) -> Guarantee:
        """All promises in the words for a form of published data."""
        return All(*(part.worded_as(form) for part in self.guarantees))

    def foresee(self, data: Dataset, beside: Sequence[Guarantee] = (), *, read: bool = False) -> None:
        """Let each part see all of them."""
        del beside
        for part in self.guarantees:
            part.foresee(data, self.guarantees, read=read)

    def bound(self, data: Dataset) -> Dataset:
        """Keep at most the declared number of records per unit of every part."""
        for part in self.guarantees:
            data = part.bound(data)
        return data

    def verify_owners(self, outputs: Mapping[str, Dataset], owners: Owners) -> Verdict | None:
        """Check part by part."""
        verdicts = [part.verify_owners(outputs, owners) for part in self.guarantees]
        made = [verdict for verdict in verdicts if verdict is not None]
        violations: Counter[str] = Counter()
        for verdict in made:
            violations.update(verdict.violations)
        return Verdict("; ".join(verdict.checked for verdict in made), dict(violations)) if made else None

    def unchecked(self, domain: Domain) -> str:
        """What cannot be checked of any part."""
        return "; ".join(filter(None, (part.unchecked(domain) for part in self.guarantees)))

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
        checked = "; ".join(f"{name}: {verdict.checked}" for name, verdict in verdicts)
        assumed = dict.fromkeys(limit for _, verdict in verdicts for limit in verdict.assumed)
        return Verdict(checked, dict(violations), tuple(assumed))

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
