"""Which records can be used: one that cannot is refused or dropped, blind to all others."""

from __future__ import annotations

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.io.long import Flags, Integers, Long, codes_of, first_seen

__all__ = ["Screen"]


class Screen:
    """The lines of a long table by record, and which records were dropped so far.

    A refusal is visible to whoever waits for the release, so it must be possible to have none:
    under the reading option `on_bad=drop` every one of them drops the record it is about, and
    what happens to one record never depends on another.

    `row` numbers the record of each line as they first occur.
    """

    def __init__(self, long: Long) -> None:
        self.long = _with_owners(_with_units(long))
        self.row: Integers = _records(self.long)
        self.records = int(self.row.max(initial=-1)) + 1
        self._dropped = np.zeros(self.records, np.bool_)
        wanted = self.long.wanted
        for role, column in self.long.columns.items():
            if role in wanted.blank:
                continue  # the kind says what an empty or unreadable cell is
            name = wanted.columns.get(role, role)
            if role in self.long.unreadable:
                self.refuse(
                    self.long.unreadable[role],
                    f"column {name!r} must hold texts or whole numbers; correct it",
                )
            if column.null_count() and not wanted.may_be_empty(role):
                self.refuse(column.is_null().to_numpy(), f"column {name!r} is empty; fill it in")

    def refuse(self, bad: Flags, what: str) -> None:
        """Refuse the data for these lines, or drop their records."""
        if not bad.any():
            return
        if not self.long.wanted.drop:
            line = int(self.long.line[np.argmax(bad)])
            more = "or leave out such records by the reading option on_bad=drop"
            raise self.long.fail(line, f"{what}, {more}")
        self._dropped[self.row[bad]] = True

    def refuse_records(self, bad: Flags, what: str) -> None:
        """Refuse the data for these records, or drop them."""
        if bad.any():
            self.refuse(bad[self.row], what)

    def refuse_two_values(self, column: pl.Series, what: str) -> None:
        """Refuse the data for records with two values in a column, or drop them."""
        pairs = pl.DataFrame({"row": self.row, "value": column}).drop_nulls().unique()
        several = pairs.group_by("row").len().filter(pl.col("len") > 1)["row"].to_numpy()
        bad = np.zeros(self.records, np.bool_)
        bad[several] = True
        self.refuse_records(bad, what)

    def owners(self) -> Integers | None:
        """Number the owner of each record, where owners are read."""
        if "person" not in self.long.columns:
            return None
        person = self.long.columns["person"]
        if not self.long.wanted.drop:
            self.refuse_two_values(person, "the record that stands here has two owners; correct it")
        return self.one_per_record(codes_of(person))

    def one_per_record(self, codes: Integers, *, last: bool = False) -> Integers:
        """Return the first code of each record, or the last; -1 where all of its lines have -1."""
        known = np.flatnonzero(codes >= 0)
        known = known if last else known[::-1]
        one = np.full(self.records, -1, np.int64)
        one[self.row[known]] = codes[known]  # the one written last stays
        return one

    def kept(self) -> Flags:
        """Say which records are used; the owner is told how many are not."""
        progress.count("records dropped", int(self._dropped.sum()))
        return ~self._dropped


def _with_units(long: Long) -> Long:
    """Refuse lines that do not say which record they are of, or drop them."""
    return _filled(long, "unit")


def _with_owners(long: Long) -> Long:
    """Refuse lines that do not say whose they are, or drop them.

    Were their records dropped instead, one person's line could take another person's record along.
    """
    return _filled(long, "person") if "person" in long.columns else long


def _filled(long: Long, role: str) -> Long:
    lost = long.columns[role].is_null().to_numpy()
    if not lost.any():
        return long
    if not long.wanted.drop:
        name = long.wanted.columns[role]
        empty = not long.unreadable.get(role, lost & False)[lost].any()
        what = "is empty; fill it in" if empty else "must hold texts or whole numbers; correct it"
        more = "or leave out such lines by the reading option on_bad=drop"
        raise long.fail(int(long.line[np.argmax(lost)]), f"column {name!r} {what}, {more}")
    progress.count("lines without a record or an owner", int(lost.sum()))
    columns = {name: column.filter(pl.Series(~lost)) for name, column in long.columns.items()}
    unreadable = {name: bad[~lost] for name, bad in long.unreadable.items()}
    return Long(long.where, long.wanted, columns, long.line[~lost], long.empty, unreadable)


def _records(long: Long) -> Integers:
    """Number the record of each line.

    Where owners are read and bad records are dropped, what two persons say of one unit is two
    records: neither can spoil the other's.
    """
    units = first_seen(long.columns["unit"])
    if "person" not in long.columns or not long.wanted.drop:
        return units
    owner = first_seen(long.columns["person"])
    return first_seen(pl.Series(units * (int(owner.max(initial=0)) + 1) + owner))
