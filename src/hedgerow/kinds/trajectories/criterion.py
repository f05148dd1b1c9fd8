"""(K,C)_L-privacy: limits what an attacker who knows a few visits can learn from the records that match.

The promise, then its check. The check is independent: it examines every sequence of up to L visits that occurs, and
shares no code with the methods that keep the promise. What else holds for labels is checked by `label_criterion`.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import ClassVar, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Dataset, Domain, Source, Value
from hedgerow.data.owners import require_owners
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.label_criterion import count_label_faults, count_label_steps
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy.guarantee import Criterion, Owners, Plain, Verdict
from hedgerow.privacy.numbers import NumberLike, read_number, show

Visits: TypeAlias = Trajectories | CoarseTrajectories
#: a column and a value in it
SensitiveValue: TypeAlias = tuple[str, str]
_RECORD, _PERSON = "trajectory", "person"
_RECORDS_CHECKED = "records checked on the published data, which does not show persons"
_BY_VISITS = (
    "; an earlier version published its labels in the order of visits, which tells more than the labels: "
    "withdraw it and publish again"
)
_ONE_PLACE = ", also for those who know that nobody is at two places at one time"
_ONE_EACH_CHECKED = "checked on the published data, in which each person has one record, as the publisher declares"
_REPEATS = "records with a visit twice, or with visits at one time that are not in the order of places"
#: k and l have at most this many digits, so that they fit int64
_DIGITS = 18
#: the cost of one step of the check, in sequences
_STEP = 1_500


@dataclass(frozen=True, init=False, repr=False)
class KCL(Criterion):
    r"""$(K, C)_L$-privacy of trajectories [1]_.

    An attacker who knows up to $L$ visits of a person in the data finds at least $K$ matching records, or none; and
    among the matching records no sensitive value is more frequent than $C$.

    If records have owners, persons are counted instead: at least $K$ of them own the matching records, and at most the
    share $C$ of them own a matching record with the sensitive value. `unit` is then `person`, whatever was typed, and
    the domain must declare a maximum of records per person. The published data has no owners: unless that maximum is 1,
    a receiver can count records only, of which there must be $K$ as well.

    Examples
    --------
    >>> KCL(k=30, c="60%", l=3, sensitive=[("diagnosis", "HIV")]).c
    Fraction(3, 5)
    >>> KCL(k=2, l=1, unit="person").counts_persons
    True

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013.
    """

    name: ClassVar[str] = "KCL"
    kinds: ClassVar = ("trajectories",)

    k: int
    c: Fraction
    l: int  # noqa: E741 - the letter of the paper
    sensitive: tuple[SensitiveValue, ...]
    unit: str

    def __init__(
        self,
        *,
        k: int | str,
        l: int | str,  # noqa: E741 - the letter of the paper
        c: NumberLike | None = None,
        sensitive: Sequence[str | tuple[str, Value]] = (),
        unit: str = _RECORD,
    ) -> None:
        if (c is None) != (len(sensitive) == 0):
            msg = (
                "c and sensitive belong together: c is how frequent a sensitive value may be, and sensitive names "
                "these values; give both or neither"
            )
            raise ParameterError(msg)
        share = Fraction(1) if c is None else read_number("c", c)
        if not 0 <= share <= 1:
            msg = f"c must be between 0 and 1; got {c}"
            raise ParameterError(msg)
        if unit not in (_RECORD, _PERSON):
            msg = f"KCL counts each {_RECORD} or each {_PERSON}; got unit {unit!r}"
            raise UnsupportedGuarantee(msg)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "k", _whole("k", k))
        object.__setattr__(self, "c", share)
        object.__setattr__(self, "l", _whole("l", l))
        object.__setattr__(self, "sensitive", tuple(map(_read_sensitive, sensitive)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the sensitive values."""
        return tuple(dict.fromkeys(column for column, _ in self.sensitive))

    def require(self, data: Dataset) -> None:
        """Also refuse sensitive values that are not in the domain; labels are trajectories as well."""
        super().require(data)
        [visits] = _trajectories({"": data})
        _require_in_domain(visits, self.sensitive)

    @property
    def counts_persons(self) -> bool:
        """Whether K and C are about persons, and not about records."""
        return self.unit == _PERSON

    def about(self, data: Dataset) -> KCL:
        """Count persons if records have owners; refuse to count them otherwise."""
        if data.kind not in self.kinds:
            return self  # `require` refuses it
        [visits] = _trajectories({"": data})
        if visits.persons is None and not self.counts_persons:
            return self
        require_owners(visits.persons)
        c = self.c if self.sensitive else None
        return KCL(k=self.k, l=self.l, c=c, sensitive=self.sensitive, unit=_PERSON)

    def bound(self, data: Dataset) -> Dataset:
        """Keep at most the declared number of records per person, if persons are counted."""
        return data.bounded(_PERSON) if self.counts_persons else data

    def unchecked(self, domain: Domain) -> str:
        """Persons, unless each of them owns one record: the published data has no owners."""
        if not self.counts_persons or domain.records_per_person == 1:
            return ""
        return f"that {self.k} persons match wherever records do takes the owners of the records"

    def require_with_budget(self, data: Dataset) -> None:
        """Also refuse records with owners: whether somebody owns several is private."""
        super().require_with_budget(data)
        [visits] = _trajectories({"": data})
        if visits.persons is not None:
            msg = "KCL with a budget needs records without owners, since it counts records; leave the person column out"
            raise UnsupportedGuarantee(msg)

    def count_cases(self, outputs: Mapping[str, Dataset]) -> int:
        """Count the sequences of up to L visits that occur, once per sensitive value.

        Each step of the check, and each sensitive value, counts as some thousand sequences.
        """
        sizes = [np.diff(data.arrays()[0]) for data in _trajectories(outputs)]
        sequences = sum(count_sequences(lengths, self.l) for lengths in sizes)
        # one step per record length, per sequence length and per position of the first visit
        steps = sum(min(self.l, int(n)) * int(n) for lengths in sizes for n in np.unique(lengths))
        pairs = sum(count_label_steps(data) for data in outputs.values() if isinstance(data, CoarseTrajectories))
        return (sequences + _STEP) * max(1, len(self.sensitive)) + _STEP * steps + pairs

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the sequences that break the promise, by their length.

        Where persons are counted and the owners are not known, a sequence must still have K records; its share of
        sensitive values is not counted then, since it tells nothing about the share of persons.
        """
        counts: Counter[str] = Counter()
        for data in _trajectories(outputs):
            owned = self.counts_persons and data.persons is not None
            fewer = f"of fewer than {self.k} persons" if owned else f"in fewer than {self.k} records"
            visits = data
            if not isinstance(data, CoarseTrajectories):
                # who knows visits at one time knows neither their order nor how often they stand in the record
                visits = data.as_sets()
                counts[_REPEATS] += count_repeats(data)
            for size, (few, frequent) in count_violations(visits, self, persons=owned).items():
                what = f"sequences of {size} visit{'s' if size > 1 else ''}"
                counts[f"{what} {fewer}"] += few
                if owned or not self.unchecked(data.domain):
                    counts[f"{what} with a sensitive value beyond {show(self.c)}"] += frequent
            if isinstance(data, CoarseTrajectories):
                shared = self.c < 1 and bool(self.unchecked(data.domain))
                counts.update(count_label_faults(data, longest=self.l, shared=shared))
        return counts

    def verify(self, outputs: Mapping[str, Dataset]) -> Verdict:
        """Check the output as published; where persons are counted, as far as that is possible."""
        verdict = super().verify(outputs)
        checked = verdict.checked
        ownerless = [data for data in _trajectories(outputs) if data.persons is None]
        if self.counts_persons and ownerless:
            unchecked = any(self.unchecked(data.domain) for data in ownerless)
            checked = _RECORDS_CHECKED if unchecked else _ONE_EACH_CHECKED
        labels = [data for data in outputs.values() if isinstance(data, CoarseTrajectories)]
        if any(data.by_visits for data in labels):
            checked += _BY_VISITS
        elif labels and all(data.one_place for data in labels):
            checked += _ONE_PLACE
        assumed = dict.fromkeys(_assumption(data) for data in labels if not data.one_place)
        return Verdict(checked, verdict.violations, tuple(assumed))

    def verify_owners(self, outputs: Mapping[str, Dataset], owners: Owners) -> Verdict | None:
        """Count the persons of every sequence."""
        if not self.counts_persons:
            return None
        named = zip(outputs, _trajectories(outputs), strict=True)
        owned = {name: replace(data, persons=require_owners(owners.get(name))) for name, data in named}
        return Verdict("persons counted by their owners", self.violations(owned))

    def warn_about(self, data: Dataset) -> None:
        """Warn about a sensitive value that no record has: it may be misspelt."""
        [visits] = _trajectories({"": data})
        _, _, traits = visits.arrays()
        for column, value in self.sensitive:
            if not visits.records_with(traits, column, value).any():
                warnings.warn(
                    f"no record has the sensitive value {value!r} of {column!r}; check how it is written", stacklevel=3
                )

    def sentence(self) -> str:
        """State the promise in words."""
        visits = "one visit" if self.l == 1 else f"up to {self.l} visits"
        exact = Fraction(f"{float(100 * self.c):g}") == 100 * self.c
        share = f"{float(100 * self.c):g}%" if exact else f"{self.c}"
        protected = ", ".join(f"{column} = {value}" for column, value in self.sensitive)
        if self.counts_persons:
            matches = (
                f"Anyone who knows {visits} (place and time) of a person in the data, in one record, finds published "
                f"records of at least {self.k} persons that match, or none"
            )
            frequency = f"is held by at most {share} of the persons whose records match"
        else:
            matches = (
                f"Anyone who knows {visits} (place and time) of a person in the data finds at least {self.k} published "
                "records that match, or none"
            )
            frequency = f"occurs in at most {share} of the records that match"
        if not self.sensitive or self.c == 1:
            return f"{matches} ((K,C)_L-privacy with K = {self.k}, L = {self.l})."
        return (
            f"{matches}, and each of these sensitive values {frequency}: "
            f"{protected} ((K,C)_L-privacy with K = {self.k}, C = {share}, L = {self.l})."
        )

    def limits(self, domain: Domain) -> tuple[str, ...]:
        """List what the promise does not cover, and name the columns that are published unchanged."""
        covered = {"time", "place", *(column for column, _ in self.sensitive if self.c < 1)}
        unchanged = [name for name, _ in domain.axes if name not in covered]
        bounded = self.sensitive and self.c < 1
        too_frequent = ", or too many of those who made it have a sensitive value" if bounded else ""
        minimality = (
            "Conclusions from what is missing (the minimality attack): anyone who knows the method and a visit that is "
            f"missing may conclude that the visit matched too few {_counted(self)}{too_frequent}."
        )
        coarser = (
            "Anyone who knows less than a visit, such as a district and a part of the day: among the "
            f"{_counted(self)} that match a sensitive value may be more frequent than promised."
        )
        elsewhere = (
            "Anyone who knows a visit that no record shows, and that nobody is at two places at one time: records with "
            f"another place at that time are ruled out, and fewer than {self.k} may be left."
        )
        return (
            *_limits_of_persons(self, domain),
            *((coarser,) if bounded else ()),
            f"Anyone who knows more than {self.l} visits, or where a person was not, or another release of this data.",
            "How many records there are, and how frequent each sensitive value is in the data as a whole.",
            "Sensitive values other than those named.",
            *(
                f"The column {name!r}: it is published unchanged, and anyone who knows a person's value in it can tell "
                "records apart by it."
                for name in unchanged
            ),
            "How the release was made: this is a property of the published data, not of the method.",
            elsewhere,
            minimality,
        )

    def fields(self) -> dict[str, Plain]:
        """The numbers of the promise, and the sensitive values, each as column and value."""
        fields: dict[str, Plain] = {"k": str(self.k), "l": str(self.l)}
        if self.sensitive:
            fields |= {"c": str(self.c), "sensitive": [list(pair) for pair in self.sensitive]}
        return {**fields, "unit": self.unit} if self.counts_persons else fields


def _counted(promise: KCL) -> str:
    """What K and C are about."""
    return "persons" if promise.counts_persons else "records"


def _limits_of_persons(promise: KCL, domain: Domain) -> tuple[str, ...]:
    """What counting persons does not cover, if a person may own several records."""
    most = domain.records_per_person
    if not promise.counts_persons:
        return ()
    left_out = f"At most {most} records per person are published: others were left out, whatever they contain."
    if most == 1:
        return (left_out,)
    unchecked = (
        f"That {promise.k} persons match cannot be checked from the published data, which has no owners; that as many "
        "records match can."
    )
    return (
        left_out,
        unchecked,
        "Visits of several records of a person: whoever knows some of them may combine what each tells.",
        "How many of the records that match are one person's: it may be most of them.",
    )


def _assumption(data: CoarseTrajectories) -> str:
    """What labels rest on that do not bear the stricter rule: who knows better can rule out records by the labels."""
    return (
        f"Anyone who knows that nobody is at two places within {data.levels.times.widths[0]} of the declared times "
        "(the finest bin): the publisher assumes that people can be."
    )


def _trajectories(outputs: Mapping[str, Dataset]) -> list[Visits]:
    """Return the outputs as trajectories, exact or coarser; other kinds are refused, as `Guarantee.require` does."""
    visits: list[Visits] = []
    for data in outputs.values():
        if not isinstance(data, (Trajectories, CoarseTrajectories)):
            msg = f"KCL is about trajectories; got {data.kind}"
            raise UnsupportedGuarantee(msg)
        visits.append(data)
    return visits


def _require_in_domain(data: Visits, sensitive: tuple[SensitiveValue, ...]) -> None:
    """Refuse a value that cannot occur: it is misspelt, and the intended one would not be covered."""
    if data.domain.source is Source.INFERRED:
        return  # `warn_about` warns: a value that does not occur may still exist
    for column, value in sensitive:
        if column in data.sensitive and value not in data.domain.axis(column).by_text:
            msg = (
                f"the domain has no value {value!r} of the sensitive column {column!r}; "
                "check how it is written, or declare it"
            )
            raise DomainError(msg)


def _whole(name: str, value: int | str) -> int:
    """Read a positive whole number as it was typed."""
    # a number that is too long is refused before it is converted or printed
    huge = isinstance(value, int) and value >= 10**_DIGITS
    text = "" if huge else str(value).strip()
    digits = text.isascii() and text.isdigit() and not isinstance(value, bool)
    if huge or (digits and len(text) > _DIGITS):
        msg = f"{name} must be below 10^{_DIGITS}; no data has that many records or visits"
        raise ParameterError(msg)
    if not digits or int(text) < 1:
        msg = f"{name} must be a whole number of at least 1; got {value!r}"
        raise ParameterError(msg)
    return int(text)


def _read_sensitive(typed: object) -> SensitiveValue:
    """Read a column and a value, or COLUMN=VALUE; values are texts, since files do not tell numbers from texts."""
    match typed:
        case str() if "=" in typed:
            column, _, value = typed.partition("=")
        case (str() as column, str() | Integral() as value):
            pass
        case _:
            column = value = ""
    if not column:
        msg = f"a sensitive value must be given as COLUMN=VALUE; got {typed!r}"
        raise ParameterError(msg)
    return column, str(value)


# ---- the check: count the sequences of visits that break the promise, by records or by persons

#: how many sequences are examined at once, and in total
_AT_ONCE = 30_000_000
_MOST = 20_000_000_000


def count_violations(data: Visits, promise: KCL, *, persons: bool = False) -> dict[int, tuple[int, int]]:
    """Count, by length, the sequences in too few records, and those with too frequent values.

    The visits of a record are a set: one that stood twice would count its record twice (see `count_repeats`).

    With `persons`, the distinct owners of the records are counted, and those of the records with a sensitive value.
    """
    starts, pairs, traits = data.arrays()
    flags = np.stack(
        [data.records_with(traits, column, value) for column, value in promise.sensitive]
        or [np.zeros(len(data), np.bool_)]
    )
    sizes = np.diff(starts)
    owners = require_owners(data.persons) if persons else None
    total = count_sequences(sizes, promise.l)
    if total > _MOST:
        msg = f"verifying the promise would take {total:,} sequences; choose a smaller l or fewer visits"
        raise ParameterError(msg)
    records = np.bincount(sizes).tolist()  # how many records have each number of visits
    numbers = {
        size: sum(number * math.comb(length, size) for length, number in enumerate(records))
        for size in range(1, min(promise.l, len(records) - 1) + 1)
    }
    return {
        size: _count(starts, pairs, flags, owners, promise, size, -(-number // _AT_ONCE))
        for size, number in numbers.items()
    }


def count_repeats(data: Trajectories) -> int:
    """Count the records whose visits are not a set in canonical order: by time and then by place, each visit once.

    Only data with several visits at one time has such records. How often a visit stands there, and which of two at one
    time stands first, says more than the visits do.
    """
    starts, pairs, _ = data.arrays()
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    beyond = (record[1:] == record[:-1]) & (pairs[1:] <= pairs[:-1])
    return len(np.unique(record[1:][beyond]))


def count_sequences(sizes: Integers, most: int) -> int:
    """Count the sequences of up to `most` visits in records of these sizes.

    It stops beyond the number that is ever examined: for a long record the numbers themselves are too long.
    """
    total = 0
    lengths, records = np.unique(sizes, return_counts=True)
    for length, number in zip(lengths.tolist(), records.tolist(), strict=True):
        for size in range(1, min(most, length) + 1):
            total += number * math.comb(length, size)
            if total > _MOST:
                return total
    return total


def _count(
    starts: Integers,
    pairs: Integers,
    flags: NDArray[np.bool_],
    owners: Integers | None,
    promise: KCL,
    size: int,
    parts: int,
) -> tuple[int, int]:
    """Group the occurrences of all sequences of one length, part by part of their first visit."""
    few = frequent = 0
    for part in range(parts):
        tables = [
            pl.DataFrame({"record": record, **{f"p{n}": visits[:, n] for n in range(size)}})
            for record, visits in _occurrences(starts, pairs, size, part, parts)
        ]
        if not tables:
            continue
        table = pl.concat(tables)
        keys = [f"p{n}" for n in range(size)]
        marks = [pl.Series(f"s{number}", flag[table["record"].to_numpy()]) for number, flag in enumerate(flags)]
        sums = [pl.col(mark.name).sum().cast(pl.Int64) for mark in marks]
        table = table.with_columns(marks)
        if owners is not None:  # each person once, with a mark if one of their records has it
            table = table.with_columns(pl.Series("person", owners[table["record"].to_numpy()]))
            table = table.group_by([*keys, "person"]).agg(pl.col(mark.name).any() for mark in marks)
        counted = table.group_by(keys).agg(pl.len().cast(pl.Int64), *sums)
        few += counted.filter(pl.col("len") < min(promise.k, _MOST)).height
        # in exact integers, so that a share of just 50 % does not exceed 50 %
        totals = counted["len"].unique()
        most = [int(total) * promise.c.numerator // promise.c.denominator for total in totals]
        most_marked = counted["len"].replace_strict(totals, pl.Series(most, dtype=pl.Int64))
        beyond = [counted[mark.name] > most_marked for mark in marks]
        frequent += int(np.logical_or.reduce([flag.to_numpy() for flag in beyond]).sum())
    return few, frequent


def _occurrences(
    starts: Integers, pairs: Integers, size: int, part: int, parts: int
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the record and the visits of every sequence of a length, by the length of records."""
    sizes = np.diff(starts)
    for length in np.unique(sizes[sizes >= size]).tolist():
        members = np.flatnonzero(sizes == length)
        visits = pairs[starts[members][:, None] + np.arange(length)]
        for first in range(length - size + 1):
            mine = np.flatnonzero(visits[:, first] % parts == part)
            later = list(itertools.combinations(range(first + 1, length), size - 1))
            rest = np.array(later, np.int64).reshape(len(later), size - 1)
            places = np.hstack([np.full((len(rest), 1), first), rest])
            yield np.repeat(members[mine], len(places)), visits[mine][:, places].reshape(-1, size)
