"""Trajectories: visits to places at times, with sensitive attributes per record."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Axis, Value
from hedgerow.data.domain import Domain, Source
from hedgerow.data.encoding import codes_over, infer_axis, narrow_axis
from hedgerow.data.owners import count_earlier_records, number_owners, renumber_at_random, require_owners
from hedgerow.errors import DomainError, ParameterError
from hedgerow.frontiers import Frontier, SymbolLists
from hedgerow.kinds.sequences.labels import Labels
from hedgerow.kinds.trajectories.visit_records import VisitRecords, order_of_records
from hedgerow.numerics.arrays import Flags, Integers, cut_lists, read_only, take_lists
from hedgerow.numerics.sorting import Codes, distinct_rows

Visit: TypeAlias = tuple[Value, Value]
#: column names of the tables of trajectories, not available for attributes
_RESERVED = ("row", "person", "pair", "time", "place")


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(VisitRecords):
    """Records of visits, each at a place and a time; no two at the same time unless `several` is set.

    A visit is a *pair* of place and time, coded as one number in the order of time and then of
    place. Where times increase strictly, a subsequence is a subset of pairs.

    Record `r` has the visits `pairs[starts[r] : starts[r + 1]]`, possibly none, in the order of time; several visits at
    the same time keep their order. `traits` has a code for each sensitive attribute, -1 if its value is unknown. The
    record number is `numbers[r]`, in ascending order, and the owner `persons[r]`, if owners are known.

    Examples
    --------
    >>> data = Trajectories.from_records(
    ...     [[("home", 8), ("work", 9)], [("home", 8)]], sensitive={"diagnosis": ["flu", "fever"]}
    ... )
    >>> len(data), data.records()[0]
    (2, ((('home', 8),), ('fever',)))
    """

    kind: ClassVar[str] = "trajectories"
    units: ClassVar[tuple[str, ...]] = ("trajectory", "person")

    numbers: Integers
    starts: Integers
    pairs: Integers
    traits: Mapping[str, Integers]
    persons: Integers | None = None
    several: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for codes in self.traits.values():
            codes.flags.writeable = False

    @classmethod
    def from_records(
        cls,
        records: Iterable[Iterable[Visit]],
        *,
        sensitive: Mapping[str, Sequence[Value | None]] | None = None,
        domain: Domain | None = None,
        persons: Iterable[Hashable] | None = None,
        several: bool = False,
    ) -> Trajectories:
        """Make a data set of records given as collections of (place, time).

        Parameters
        ----------
        records
            The visits of each record, in any order; a repeated visit counts once, unless `several`.
        sensitive
            For each sensitive attribute its value in every record; None if there is none.
        domain
            Public axes `place` and `time` and one for each sensitive attribute. Without it, the domain is made of the
            values that occur, and marked as inferred.
        persons
            The owner of each record.
        several
            Whether a record may have several visits at the same time, in the given order.
        """
        listed: list[list[Visit]] = [[(p, t) for p, t in record] for record in records]
        traits = {name: list(values) for name, values in (sensitive or {}).items()}
        domain = domain or _infer_domain(listed, traits)
        row = [number for number, record in enumerate(listed) for _ in record]
        visits = [visit for record in listed for visit in record]
        return cls.from_columns(
            records=len(listed),
            row=np.array(row, np.int64),
            time=_codes(domain, "time", [time for _, time in visits]),
            place=_codes(domain, "place", [place for place, _ in visits]),
            sensitive={name: _codes(domain, name, values, missing=True) for name, values in traits.items()},
            domain=domain,
            persons=None if persons is None else number_owners(persons, len(listed)),
            several=several,
        )

    @classmethod
    def from_columns(
        cls,
        *,
        records: int,
        row: Integers,
        time: Integers,
        place: Integers,
        sensitive: Mapping[str, Integers],
        domain: Domain,
        persons: Integers | None = None,
        several: bool = False,
    ) -> Trajectories:
        """Make a data set of a long table: record number `row` was at `place` at `time`, both as codes.

        With `several`, visits of a record at the same time keep their order; otherwise there must be only one.
        """
        for name, codes in sensitive.items():
            if name in _RESERVED:
                msg = f"an attribute of records cannot be called {name!r}; rename it"
                raise ParameterError(msg)
            if len(codes) != records:
                msg = f"sensitive attribute {name!r} must have one value per record"
                raise ParameterError(msg)
        for name, codes in (("time", time), ("place", place)):
            if len(codes) and (codes.min() < 0 or codes.max() >= domain.size(name)):
                msg = f"a {name} code is outside the domain; codes are positions in its values"
                raise DomainError(msg)
        pair = time * domain.size("place") + place
        if several:
            order = np.lexsort((time, row))
            rows, pairs = row[order], pair[order]
        else:
            rows, pairs = distinct_rows([row, pair])
            _require_one_place(rows, pairs, domain.size("place"))
        numbers = np.arange(records, dtype=np.int64)
        starts = np.searchsorted(rows, np.arange(records + 1))
        traits = {name: read_only(codes) for name, codes in sensitive.items()}
        owners = None if persons is None else read_only(persons)
        return cls(domain, numbers, starts, pairs.astype(np.int64, copy=False), traits, owners, several)

    def arrays(self) -> tuple[Integers, Integers, dict[str, Integers]]:
        """Return where the visits of each record start, their pairs, and the sensitive codes."""
        return self.starts, self.pairs, dict(self.traits)

    def keep_visits(self, kept: Flags) -> Trajectories:
        """Keep the flagged visits, in the order of `arrays`; records without visits are kept."""
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept)))
        return replace(self, starts=before[self.starts], pairs=self.pairs[kept])

    def as_sets(self) -> Trajectories:
        """Keep each visit of a record once, in the order of time and then of place."""
        if not self.several:
            return self  # times increase
        record = np.repeat(np.arange(len(self)), np.diff(self.starts))
        record, pairs = distinct_rows([record, self.pairs])
        starts = np.searchsorted(record, np.arange(len(self) + 1))
        return replace(self, starts=starts, pairs=pairs.astype(np.int64, copy=False))

    def records(self) -> list[tuple[tuple[Visit, ...], tuple[Value | None, ...]]]:
        """List the visits and the sensitive values of every record, in canonical order."""
        starts, pairs, traits = self.canonical().arrays()
        visits = self.decode_pairs(pairs)
        values_of: list[tuple[Value | None, ...]] = [() for _ in range(len(starts) - 1)]
        for name, codes in traits.items():
            values = self.domain.values(name)
            column: list[Value | None] = [None if code < 0 else values[code] for code in codes.tolist()]
            values_of = [(*known, value) for known, value in zip(values_of, column, strict=True)]
        ends = itertools.pairwise(starts.tolist())
        return [(tuple(visits[start:end]), known) for (start, end), known in zip(ends, values_of, strict=True)]

    def decode_pairs(self, pairs: Integers) -> list[Visit]:
        """Return the place and time of each pair."""
        places, times = self.domain.values("place"), self.domain.values("time")
        size = len(places)
        return [(places[pair % size], times[pair // size]) for pair in pairs.tolist()]

    def bounded(self, unit: str) -> Trajectories:
        """Keep the first records of each person, as many as declared, in their order."""
        most = self.records_per(unit)
        return self.only(count_earlier_records(require_owners(self.persons)) < most) if unit == "person" else self

    def sorted(self) -> Trajectories:
        """Sort records by their visits and sensitive values, and renumber them; owners stay."""
        ordered = self.only(order_of_records(self.starts, self.pairs, self.traits))
        return replace(ordered, numbers=np.arange(len(self), dtype=np.int64))

    def truncated(self, longest: int) -> Trajectories:
        """Keep the first `longest` visits of each record, whatever the other records are."""
        starts, pairs = cut_lists(self.starts, self.pairs, longest)
        return replace(self, starts=starts, pairs=pairs)

    def positions(self, longest: int) -> Frontier:
        """Open a frontier on the first `longest` visits of every record."""
        short, size = self.truncated(longest), self.domain.size("place") * self.domain.size("time")
        lists = SymbolLists.from_arrays(short.starts, short.pairs, np.ones(len(self), np.int64), size)
        return self.engine.open_symbols(lists)

    @property
    def labels(self) -> Labels:
        """Places at times as labels; two visits of a record are at different times unless `several`."""
        return Labels("place", self.domain.size("place"), self.domain.size("time"), gap=0 if self.several else 1)

    def from_labels(self, table: NDArray[np.integer], counts: Integers) -> Trajectories:
        """Make records over the same domain: each row of labels, padded with -1, `counts` times."""
        table = np.repeat(table, counts, axis=0)
        row, at = np.nonzero(table >= 0)
        time, place = np.divmod(table[row, at].astype(np.int64), self.domain.size("place"))
        return self.from_columns(
            records=len(table),
            row=row,
            time=time,
            place=place,
            sensitive={},
            domain=self.domain,
            several=self.several,
        )

    def without_attributes(self) -> Trajectories:
        """Drop the sensitive attributes, and all axes but time and place."""
        return replace(self, domain=self.domain.only(("time", "place")), traits={})

    def narrowed(self) -> Trajectories:
        """Return the same records over what occurs in them: an inferred domain is private."""
        axes: dict[str, Axis] = {}
        time, place = np.divmod(self.pairs, self.domain.size("place"))
        numbers = isinstance(self.domain.values("time")[0], int)  # that is declared, as in files
        axes["time"], time = narrow_axis(self.domain.axis("time"), time, numbers=numbers)
        axes["place"], place = narrow_axis(self.domain.axis("place"), place)
        traits: dict[str, Integers] = {}
        for name, codes in self.traits.items():
            axes[name], traits[name] = narrow_axis(self.domain.axis(name), codes)
        pairs = time * len(axes["place"]) + place
        return replace(self, domain=self.domain.with_axes(axes), pairs=pairs, traits=traits)

    def shuffled(self, order: np.random.Generator) -> Trajectories:
        """Return the same records in another order, each person under another number."""
        numbers = renumber_at_random(self.numbers, order)
        rows = self.only(np.argsort(numbers))
        persons = None if rows.persons is None else renumber_at_random(rows.persons, order)
        return replace(rows, numbers=np.sort(numbers), persons=persons)

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, *axis.content()) for name, axis in self.domain.axes]
        columns = {"number": self.numbers, "start": self.starts, "pair": self.pairs, **self.traits}
        if self.persons is not None:
            columns["person"] = self.persons
        private = [(name, column.tolist()) for name, column in columns.items()]
        return msgspec.json.encode([self.kind, axes, self.domain.source.value, self.several, private])

    def only(self, chosen: Flags | Integers) -> Trajectories:
        """Keep the chosen records, by number or by a flag for each."""
        starts, pairs = take_lists(self.starts, self.pairs, chosen)
        traits = {name: codes[chosen] for name, codes in self.traits.items()}
        persons = None if self.persons is None else self.persons[chosen]
        numbers = self.numbers[chosen]
        return replace(self, numbers=numbers, starts=starts, pairs=pairs, traits=traits, persons=persons)


def _require_one_place(row: Codes, pair: Codes, places: int) -> None:
    """Refuse a record that is at two places at one time; rows and their pairs ascend."""
    time = pair // places
    if np.any((row[1:] == row[:-1]) & (time[1:] == time[:-1])):
        msg = (
            "a record is at two places at one time; say which one counts "
            "(the reading option collisions=first, last or keep), or take finer times"
        )
        raise DomainError(msg)


def _infer_domain(records: list[list[Visit]], traits: Mapping[str, list[Value | None]]) -> Domain:
    """Make a domain of the values that occur: inferred, which syntactic promises accept."""
    columns = {
        "time": [visit[1] for record in records for visit in record],
        "place": [visit[0] for record in records for visit in record],
        **{name: [value for value in values if value is not None] for name, values in traits.items()},
    }
    return Domain(tuple((name, infer_axis(values)) for name, values in columns.items()), Source.INFERRED)


def _codes(domain: Domain, name: str, values: Sequence[Value | None], *, missing: bool = False) -> Integers:
    """Look up values in the domain; -1 for None, where values may be missing."""
    codes = codes_over(domain.axis(name), values)
    if any(values[number] is not None or not missing for number in np.flatnonzero(codes < 0).tolist()):
        msg = "a record has a value that is not in the domain; declare it"
        raise DomainError(msg)
    return codes
