"""Trajectories: who was where and when, and what is sensitive about them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Axis, Domain, Source, Value
from hedgerow.data.labels import Labels
from hedgerow.data.positions import Positions
from hedgerow.data.records import number_owners, require_owners
from hedgerow.engines import Engine, LocalEngine, Table
from hedgerow.engines.sorting import order_of_lists
from hedgerow.errors import DomainError, ParameterError

__all__ = ["Trajectories"]

Integers: TypeAlias = NDArray[np.int64]
Visit: TypeAlias = tuple[Value, Value]

#: what the tables of trajectories call their own columns
_RESERVED = ("row", "person", "pair", "time", "place")


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Dataset):
    """Records of visits, each at a place and a time, no two at one time unless said otherwise.

    A visit is a *pair* of place and time, coded as one number in the order of time and then of
    place. Where times increase strictly, a subsequence is a subset of pairs.

    Two tables: `rows` has one line a record (`row`, a code for each sensitive axis, -1 where
    nothing is known, and `person` where owners are known), `visits` one line a visit (`row`,
    `pair`, and `at`, its place in the record, where several may be at one time). A record may have
    no visit.

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

    rows: Table
    visits: Table
    engine: Engine

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
        """Hold records given as collections of (place, time).

        Parameters
        ----------
        records
            Visits of each record, in any order; the same visit twice counts once, unless `several`.
        sensitive
            For each sensitive attribute its value in every record; None where there is none.
        domain
            Public axes `place` and `time` and one for each sensitive attribute; without it what is
            seen is taken, and marked as inferred.
        persons
            The owner of each record.
        several
            Whether a record may have several visits at one time, in the order they are given.
        """
        held: list[list[Visit]] = [[(p, t) for p, t in record] for record in records]
        traits = {name: list(values) for name, values in (sensitive or {}).items()}
        domain = domain or _seen(held, traits)
        place, time = (domain.axis(name).by_text for name in ("place", "time"))
        row = [number for number, record in enumerate(held) for _ in record]
        try:
            places = [place[str(visit[0])] for record in held for visit in record]
            times = [time[str(visit[1])] for record in held for visit in record]
            codes = {name: _trait_codes(values, domain.axis(name)) for name, values in traits.items()}
        except KeyError:
            msg = "a record holds a value that is not in the domain; declare it"
            raise DomainError(msg) from None
        return cls.from_columns(
            records=len(held),
            row=np.array(row, np.int64),
            time=np.array(times, np.int64),
            place=np.array(places, np.int64),
            sensitive={name: np.array(values, np.int64) for name, values in codes.items()},
            domain=domain,
            persons=None if persons is None else number_owners(persons, len(held)),
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
        engine: Engine | None = None,
    ) -> Trajectories:
        """Hold a long table: record number `row` was at `place` at `time`, both as codes.

        With `several`, visits of a record at one time stand in their order; else there is one.
        """
        for name, codes in sensitive.items():
            if name in _RESERVED:
                msg = f"an attribute of records cannot be called {name!r}; rename it"
                raise ParameterError(msg)
            if len(codes) != records:
                msg = f"sensitive attribute {name!r} must have one value a record"
                raise ParameterError(msg)
        engine = engine or LocalEngine()
        pair = time * domain.size("place") + place
        if several:
            order = np.lexsort((time, row))
            held = {"row": row[order], "pair": pair[order], "at": np.arange(len(row))}
            visits: Table = engine.table(held)
        else:
            visits = engine.distinct(engine.table({"row": row, "pair": pair}), ["row", "pair"])
            _require_one_place(engine, visits, domain.size("place"))
        columns = {"row": np.arange(records, dtype=np.int64), **sensitive}
        if persons is not None:
            columns["person"] = persons
        return cls(domain, engine.table(columns), visits, engine)

    def __len__(self) -> int:
        """Count the records."""
        return self.engine.rows(self.rows)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive attributes."""
        return tuple(name for name in self.rows.names if name not in {"row", "person"})

    @property
    def axes(self) -> tuple[str, ...]:
        """Times, places and the attributes of records."""
        return ("time", "place", *self.sensitive)

    @property
    def several(self) -> bool:
        """Whether a record may have several visits at one time."""
        return "at" in self.visits.names

    @property
    def _order(self) -> tuple[str, str]:
        """The columns by which visits are in order."""
        return ("row", "at") if self.several else ("row", "pair")

    def arrays(self) -> tuple[Integers, Integers, dict[str, Integers]]:
        """Return where the visits of each record start, their pairs, and the sensitive codes."""
        rows = self.engine.collect(self.rows, order=["row"])
        visits = self.engine.collect(self.visits, order=self._order)
        starts = np.append(np.searchsorted(visits["row"], rows["row"]), len(visits["row"]))
        return starts, visits["pair"], {name: rows[name] for name in self.sensitive}

    def holders(self, traits: Mapping[str, Integers], column: str, value: Value) -> NDArray[np.bool_]:
        """Say which records have a sensitive value, by its text."""
        if column not in traits:
            msg = f"the data has no sensitive column {column!r}"
            raise DomainError(msg)
        return traits[column] == self.domain.axis(column).by_text.get(str(value), -2)

    def keep_visits(self, kept: NDArray[np.bool_]) -> Trajectories:
        """Keep these of the visits, in the order of `arrays`; records stay, even emptied ones."""
        visits = self.engine.collect(self.visits, order=self._order)
        table = {name: column[kept] for name, column in visits.items()}
        return replace(self, visits=self.engine.table(table))

    def records(self) -> list[tuple[tuple[Visit, ...], tuple[Value | None, ...]]]:
        """List the visits and the sensitive values of every record, in canonical order."""
        starts, pairs, traits = self.canonical().arrays()
        visits = self.named(pairs)
        held: list[tuple[Value | None, ...]] = [() for _ in range(len(starts) - 1)]
        for name, codes in traits.items():
            values = self.domain.values(name)
            column: list[Value | None] = [None if code < 0 else values[code] for code in codes.tolist()]
            held = [(*known, value) for known, value in zip(held, column, strict=True)]
        ends = itertools.pairwise(starts.tolist())
        return [(tuple(visits[start:end]), known) for (start, end), known in zip(ends, held, strict=True)]

    def named(self, pairs: Integers) -> list[Visit]:
        """Return place and time of pairs."""
        places, times = self.domain.values("place"), self.domain.values("time")
        size = len(places)
        return [(places[pair % size], times[pair // size]) for pair in pairs.tolist()]

    def count_units(self, unit: str) -> int:
        """Count the records, or the persons."""
        self.require_unit(unit)
        if unit == "trajectory":
            return len(self)
        require_owners(self.rows)
        return self.engine.rows(self.engine.distinct(self.rows, ["person"]))

    def without(self, index: int, *, unit: str) -> Trajectories:
        """Return this data set without its record, or person, number `index`."""
        self.require_unit(unit)
        held = self.engine.collect(self.rows, order=["row"])
        if unit == "person":
            require_owners(self.rows)
            kept = held["person"] != np.unique(held["person"])[index]
        else:
            kept = np.arange(len(held["row"])) != index
        return self._only(self.engine.table({name: held[name][kept] for name in held}))

    def bounded(self, unit: str) -> Trajectories:
        """Keep the first records of each person, as many as declared, in the order they came."""
        most = self.records_per(unit)
        if unit != "person":
            return self
        require_owners(self.rows)
        ranked = self.engine.rank(self.rows, "person", "row", "nth")
        return self._only(self.engine.keep(ranked, lambda held: held["nth"] < most))

    def canonical(self) -> Trajectories:
        """Sort records by their visits and sensitive values, number them afresh, forget owners."""
        starts, pairs, traits = self.arrays()
        order = _sorted_records(starts, pairs, list(traits.values()))
        sizes = np.diff(starts)[order]
        shift = starts[:-1][order] - (np.cumsum(sizes) - sizes)
        row = np.repeat(np.arange(len(order), dtype=np.int64), sizes)
        pair = pairs[np.arange(len(row)) + shift[row]]
        rows = {"row": np.arange(len(order), dtype=np.int64)}
        rows |= {name: codes[order] for name, codes in traits.items()}
        visits = {"row": row, "pair": pair}
        if self.several:
            visits["at"] = np.arange(len(row))
        return replace(self, rows=self.engine.table(rows), visits=self.engine.table(visits))

    def truncated(self, longest: int) -> Trajectories:
        """Keep the first visits of each record: a rule for each alone."""
        starts, pairs, _ = self.arrays()
        place = np.arange(len(pairs)) - np.repeat(starts[:-1], np.diff(starts))
        return self.keep_visits(place < longest)

    def positions(self, longest: int) -> Positions:
        """Line up the first visits of all records, each with an end marker, to count them in.

        A record without visits is only an end.
        """
        starts, pairs, _ = self.truncated(longest).arrays()
        size = self.domain.size("place") * self.domain.size("time")
        return Positions.of(starts, pairs, np.ones(len(self), np.int64), size)

    @property
    def labels(self) -> Labels:
        """Labels are places at times; two visits of a record are at different times unless several may be at one."""
        return Labels("place", self.domain.size("place"), self.domain.size("time"), gap=0 if self.several else 1)

    def from_labels(self, table: NDArray[np.integer], counts: Integers) -> Trajectories:
        """Make other records over the same domain: one per row of labels, filled up with -1, so many of each."""
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

    def bare(self) -> Trajectories:
        """Leave out the sensitive attributes, and all axes but time and place."""
        kept = [name for name in self.rows.names if name not in self.sensitive]
        rows = self.engine.select(self.rows, kept)
        return replace(self, domain=self.domain.only(("time", "place")), rows=rows)

    def narrowed(self) -> Trajectories:
        """Return the same records over what occurs in them: an inferred domain is private."""
        rows = self.engine.collect(self.rows, order=["row"])
        visits = self.engine.collect(self.visits, order=self._order)
        size = self.domain.size("place")
        times, time = np.unique(visits["pair"] // size, return_inverse=True)
        places, place = np.unique(visits["pair"] % size, return_inverse=True)
        kept = {"time": times, "place": places}
        for name in self.sensitive:
            kept[name] = np.unique(rows[name][rows[name] >= 0])
            known = np.searchsorted(kept[name], rows[name])
            rows[name] = np.where(rows[name] < 0, -1, known)
        pair = (time * max(1, len(places)) + place).astype(np.int64)
        return replace(
            self,
            domain=self.domain.narrowed(**kept),
            rows=self.engine.table(rows),
            visits=self.engine.table({**visits, "pair": pair}),
        )

    def shuffled(self, order: np.random.Generator) -> Trajectories:
        """Return the same records in another order, each person under another number."""
        held = self.engine.collect(self.rows, order=["row"])
        size = int(held["row"].max(initial=-1)) + 1
        numbers = order.permutation(size).astype(np.int64)
        rows = self.engine.derive(self.rows, "row", lambda held: numbers[held["row"]])
        visits = self.engine.derive(self.visits, "row", lambda held: numbers[held["row"]])
        if "person" in held:
            owners = order.permutation(int(held["person"].max(initial=-1)) + 1).astype(np.int64)
            rows = self.engine.derive(rows, "person", lambda held: owners[held["person"]])
        return replace(self, rows=rows, visits=visits)

    def to_bytes(self) -> bytes:
        """Everything held, in the order it is held."""
        axes = [(name, axis.values, axis.paths) for name, axis in self.domain.axes]
        rows = self.engine.collect(self.rows, order=["row"])
        visits = self.engine.collect(self.visits, order=self._order)
        held = [{name: table[name].tolist() for name in table} for table in (rows, visits)]
        return msgspec.json.encode([self.kind, axes, self.domain.source.value, held])

    def _only(self, rows: Table) -> Trajectories:
        rows = self.engine.select(rows, self.rows.names)
        visits = self.engine.join(self.visits, self.engine.select(rows, ["row"]), "row")
        return replace(self, rows=rows, visits=visits)


def _require_one_place(engine: Engine, visits: Table, places: int) -> None:
    """Refuse a record that is at two places at one time."""
    timed = engine.derive(visits, "time", lambda held: held["pair"] // places)
    if engine.rows(engine.distinct(timed, ["row", "time"])) != engine.rows(visits):
        msg = (
            "a record is at two places at one time; say which one counts "
            "(the reading option collisions=first, last or keep), or take finer times"
        )
        raise DomainError(msg)


def _seen(records: list[list[Visit]], traits: Mapping[str, list[Value | None]]) -> Domain:
    """Take what occurs as the domain: inferred, which a syntactic promise accepts."""
    columns: dict[str, set[Value]] = {
        "time": {visit[1] for record in records for visit in record},
        "place": {visit[0] for record in records for visit in record},
        **{name: {v for v in values if v is not None} for name, values in traits.items()},
    }
    axes = tuple((name, Axis(_in_order(values))) for name, values in columns.items())
    return Domain(axes, Source.INFERRED)


def _trait_codes(values: Sequence[Value | None], axis: Axis) -> list[int]:
    return [-1 if value is None else axis.by_text[str(value)] for value in values]


def _in_order(values: set[Value]) -> tuple[Value, ...]:
    if not values:
        return ("none",)
    if any(isinstance(value, float) for value in values):
        msg = "times and places must be whole numbers or texts; round them, or put them into bins"
        raise ParameterError(msg)
    if all(isinstance(value, int) for value in values):
        return tuple(sorted(values))
    return tuple(sorted(str(value) for value in values))


def _sorted_records(starts: Integers, pairs: Integers, traits: list[Integers]) -> Integers:
    """Order records by length, then by their pairs, then by their sensitive values."""
    sizes = np.diff(starts)
    order = [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        if traits and len(members) > 1:
            members = members[np.lexsort([codes[members] for codes in reversed(traits)])]
        if size:
            members = members[order_of_lists(pairs[starts[members][:, None] + np.arange(size)])]
        order.append(members)
    return np.concatenate(order)
