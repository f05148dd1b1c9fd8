"""Check the records of a long table: a bad one is refused or dropped, whatever the others hold."""

from __future__ import annotations

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.formats.long_table import LongTable, codes_of, number_groups
from hedgerow.numerics.arrays import Flags, Integers


class RecordChecker:
    """The lines of a long table by record, and which records were dropped so far.

    An error is visible to everyone who waits for the release, so it must be possible to have none: with the reading
    option `on_bad=drop` every check drops the record that fails it, and what happens to one record never depends on
    another.

    `row` is the number of the record that each line belongs to, by first occurrence.
    """

    def __init__(self, table: LongTable) -> None:
        self.table = _with_owners(_with_units(table))
        self.row: Integers = _records(self.table)
        self.records = int(self.row.max(initial=-1)) + 1
        self._dropped = np.zeros(self.records, np.bool_)
        request = self.table.request
        for role, column in self.table.columns.items():
            if role in request.nullable:
                continue  # the kind decides what an empty or unreadable cell means
            name = request.columns.get(role, role)
            if role in self.table.unreadable:
                what = f"column {name!r} must hold text or whole numbers; correct it"
                self.refuse(self.table.unreadable[role], what)
            if column.null_count() and not request.may_be_empty(role):
                self.refuse(column.is_null().to_numpy(), f"column {name!r} is empty; fill it in")

    def refuse(self, bad: Flags, what: str) -> None:
        """Raise an error for the first of these lines, or drop their records."""
        if not bad.any():
            return
        if not self.table.request.drop_bad:
            line = int(self.table.line[np.argmax(bad)])
            more = "or drop such records with the reading option on_bad=drop"
            raise self.table.error_at(line, f"{what}, {more}")
        self._dropped[self.row[bad]] = True

    def refuse_records(self, bad: Flags, what: str) -> None:
        """Raise an error for the first of these records, or drop them."""
        if bad.any():
            self.refuse(bad[self.row], what)

    def refuse_two_values(self, column: pl.Series, what: str) -> None:
        """Raise an error for the first record with two values in a column, or drop such records."""
        pairs = pl.DataFrame({"row": self.row, "value": column}).drop_nulls().unique()
        several = pairs.group_by("row").len().filter(pl.col("len") > 1)["row"].to_numpy()
        bad = np.zeros(self.records, np.bool_)
        bad[several] = True
        self.refuse_records(bad, what)

    def owners(self) -> Integers | None:
        """Number the owner of each record, where owners are read."""
        if "person" not in self.table.columns:
            return None
        person = self.table.columns["person"]
        if not self.table.request.drop_bad:
            self.refuse_two_values(person, "the record on this line has two owners; correct it")
        return self.one_per_record(codes_of(person))

    def one_per_record(self, codes: Integers, *, last: bool = False) -> Integers:
        """Return the first code of each record, or the last; -1 if all of its lines have -1."""
        known = np.flatnonzero(codes >= 0)
        known = known if last else known[::-1]
        one = np.full(self.records, -1, np.int64)
        one[self.row[known]] = codes[known]  # of several, the one written last stays
        return one

    def kept(self) -> Flags:
        """Return which records are kept, and count the dropped ones for the owner."""
        progress.count("records dropped", int(self._dropped.sum()))
        return ~self._dropped


def _with_units(table: LongTable) -> LongTable:
    """Refuse lines without a unit, or drop them."""
    return _without_gaps(table, "unit")


def _with_owners(table: LongTable) -> LongTable:
    """Refuse lines without an owner, or drop them.

    The lines are dropped, not their records: otherwise a line of one person could remove a record of another.
    """
    return _without_gaps(table, "person") if "person" in table.columns else table


def _without_gaps(table: LongTable, role: str) -> LongTable:
    gaps = table.columns[role].is_null().to_numpy()
    if not gaps.any():
        return table
    if not table.request.drop_bad:
        name = table.request.columns[role]
        empty = not table.unreadable.get(role, gaps & False)[gaps].any()
        what = "is empty; fill it in" if empty else "must hold text or whole numbers; correct it"
        more = "or drop such lines with the reading option on_bad=drop"
        raise table.error_at(int(table.line[np.argmax(gaps)]), f"column {name!r} {what}, {more}")
    progress.count("lines without a record or an owner", int(gaps.sum()))
    columns = {name: column.filter(pl.Series(~gaps)) for name, column in table.columns.items()}
    unreadable = {name: bad[~gaps] for name, bad in table.unreadable.items()}
    return LongTable(table.where, table.request, columns, table.line[~gaps], table.empty, unreadable)


def _records(table: LongTable) -> Integers:
    """Number the record of each line.

    Where owners are read and bad records are dropped, lines of two persons with the same unit are two records, so
    that neither person can spoil the record of the other.
    """
    units = number_groups(table.columns["unit"])
    if "person" not in table.columns or not table.request.drop_bad:
        return units
    owner = number_groups(table.columns["person"])
    return number_groups(pl.Series(units * (int(owner.max(initial=0)) + 1) + owner))
