"""(K,C)_L-privacy: limits what an attacker who knows a few visits can learn from the records that match.

The check is independent: it examines every sequence of up to L visits that occurs, and shares no code with the
methods that keep the promise.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Dataset, Domain, Source, Trajectories
from hedgerow.data.coarse_trajectories import CoarseTrajectories
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.privacy.criteria import Criterion
from hedgerow.privacy.guarantee import Plain
from hedgerow.privacy.label_criterion import count_label_faults, count_label_steps
from hedgerow.privacy.numbers import NumberLike, read_number, show

__all__ = ["KCL", "count_violations"]

Integers: TypeAlias = NDArray[np.int64]
#: a column and a value in it
SensitiveValue: TypeAlias = tuple[str, str]

#: how many sequences are examined at once, and in total
_AT_ONCE = 30_000_000
_MOST = 20_000_000_000
#: k and l have at most this many digits, so that they fit int64
_DIGITS = 18
#: the cost of one step of the check, in sequences
_STEP = 1_500


@dataclass(frozen=True, init=False, repr=False)
class KCL(Criterion):
    r"""$(K, C)_L$-privacy of trajectories [1]_.

    An attacker who knows up to $L$ visits of a person in the data finds at least $K$ matching records, or none; and
    among the matching records no sensitive value is more frequent than $C$.

    Examples
    --------
    >>> KCL(k=30, c="60%", l=3, sensitive=[("diagnosis", "HIV")]).c
    Fraction(3, 5)

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013.
    """

    name: ClassVar[str] = "KCL"
    kinds: ClassVar = (Trajectories,)

    k: int
    c: Fraction
    l: int  # noqa: E741 - the letter of the paper
    sensitive: tuple[SensitiveValue, ...]

    def __init__(
        self,
        *,
        k: int | str,
        l: int | str,  # noqa: E741 - the letter of the paper
        c: NumberLike | None = None,
        sensitive: Any = (),
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
        if not isinstance(data, CoarseTrajectories):
            super().require(data)
        [visits] = _trajectories({"": data})
        _require_in_domain(visits, self.sensitive)

    def require_records(self, data: Dataset) -> None:
        """Refuse several records per person: records are counted."""
        [visits] = _trajectories({"": data})
        _require_one_record_each(visits)

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
        sequences = sum(_count_sequences(lengths, self.l) for lengths in sizes)
        # one step per record length, per sequence length and per position of the first visit
        steps = sum(min(self.l, int(n)) * int(n) for lengths in sizes for n in np.unique(lengths))
        pairs = sum(count_label_steps(data) for data in outputs.values() if isinstance(data, CoarseTrajectories))
        return (sequences + _STEP) * max(1, len(self.sensitive)) + _STEP * steps + pairs

    def violations(self, outputs: Mapping[str, Dataset]) -> Mapping[str, int]:
        """Count the sequences that break the promise, by their length."""
        counts: Counter[str] = Counter()
        for data in _trajectories(outputs):
            for size, (few, frequent) in count_violations(data, self).items():
                what = f"sequences of {size} visit{'s' if size > 1 else ''}"
                counts[f"{what} in fewer than {self.k} records"] += few
                counts[f"{what} with a sensitive value beyond {show(self.c)}"] += frequent
            if isinstance(data, CoarseTrajectories):
                counts.update(count_label_faults(data))
        return counts

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
        matches = (
            f"Anyone who knows {visits} (place and time) of a person in the data finds at least {self.k} published "
            "records that match, or none"
        )
        if not self.sensitive or self.c == 1:
            return f"{matches} ((K,C)_L-privacy with K = {self.k}, L = {self.l})."
        return (
            f"{matches}, and each of these sensitive values occurs in at most {share} of the records that match: "
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
            f"missing may conclude that the visit matched too few records{too_frequent}."
        )
        return (
            f"Anyone who knows more than {self.l} visits, or where a person was not, or another release of this data.",
            "How many records there are, and how frequent each sensitive value is in the data as a whole.",
            "Sensitive values other than those named.",
            *(
                f"The column {name!r}: it is published unchanged, and anyone who knows a person's value in it can tell "
                "records apart by it."
                for name in unchanged
            ),
            "How the release was made: this is a property of the published data, not of the method.",
            minimality,
        )

    def fields(self) -> dict[str, Plain]:
        """The numbers of the promise, and the sensitive values, each as column and value."""
        numbers: dict[str, Plain] = {"k": str(self.k), "l": str(self.l)}
        if not self.sensitive:
            return numbers
        return {**numbers, "c": str(self.c), "sensitive": [list(pair) for pair in self.sensitive]}


def _trajectories(outputs: Mapping[str, Dataset]) -> list[Trajectories]:
    """Return the outputs as trajectories: `Guarantee.require` refuses other kinds."""
    return cast("list[Trajectories]", list(outputs.values()))


def _require_in_domain(data: Trajectories, sensitive: tuple[SensitiveValue, ...]) -> None:
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


def _require_one_record_each(data: Trajectories) -> None:
    if data.persons is not None and data.count_units("person") != len(data):
        msg = "a person owns several records, and (K,C)_L-privacy counts records; merge them into one record per person"
        raise DomainError(msg)


def count_violations(data: Trajectories, promise: KCL) -> dict[int, tuple[int, int]]:
    """Count, by length, the sequences in too few records, and those with too frequent values."""
    starts, pairs, traits = data.arrays()
    flags = np.stack(
        [data.records_with(traits, column, value) for column, value in promise.sensitive]
        or [np.zeros(len(data), np.bool_)]
    )
    sizes = np.diff(starts)
    total = _count_sequences(sizes, promise.l)
    if total > _MOST:
        msg = f"verifying the promise would take {total:,} sequences; choose a smaller l or fewer visits"
        raise ParameterError(msg)
    records = np.bincount(sizes).tolist()  # how many records have each number of visits
    numbers = {
        size: sum(number * math.comb(length, size) for length, number in enumerate(records))
        for size in range(1, min(promise.l, len(records) - 1) + 1)
    }
    return {
        size: _count(starts, pairs, flags, promise, size, -(-number // _AT_ONCE)) for size, number in numbers.items()
    }


def _count_sequences(sizes: Integers, most: int) -> int:
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
        counted = table.with_columns(marks).group_by(keys).agg(pl.len().cast(pl.Int64), *sums)
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


def _whole(name: str, value: int | str) -> int:
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


def _read_sensitive(typed: Any) -> SensitiveValue:
    """Read a column and a value, or COLUMN=VALUE; values are texts, since files do not tell numbers from texts."""
    column, value = typed.partition("=")[::2] if isinstance(typed, str) else _pair(typed)
    if not column or not isinstance(column, str) or not isinstance(value, (str, Integral)) or typed == column:
        msg = f"a sensitive value must be given as COLUMN=VALUE; got {typed!r}"
        raise ParameterError(msg)
    return column, str(value)


def _pair(typed: Any) -> tuple[Any, Any]:
    pair = tuple(cast("list[Any]", typed)) if isinstance(typed, (tuple, list)) else ()
    return pair if len(pair) == 2 else ("", "")  # noqa: PLR2004
