"""Which records can be used: one that cannot is refused or dropped, blind to all others."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.io.long import Integers, Long, first_seen

__all__ = ["Screen"]


class Screen:
    """The lines of a long table by record, and which records were dropped so far.

    A refusal is visible to whoever waits for the release, so it must be possible to have none:
    under the reading option `on_bad=drop` every one of them drops the record it is about, and
    what happens to one record never depends on another.

    `row` numbers the record of each line as they first occur.
    """

    def __init__(self, long: Long) -> None:
        self.long = _with_units(long)
        self.row: Integers = first_seen(self.long.columns["unit"])
        self.records = int(self.row.max(initial=-1)) + 1
        self._dropped = np.zeros(self.records, np.bool_)
        wanted = self.long.wanted
        for role, column in self.long.columns.items():
            name = wanted.columns.get(role, role)
            if role in self.long.unreadable:
                self.refuse(
                    self.long.unreadable[role],
                    f"column {name!r} must hold texts or whole numbers; correct it",
                )
            if column.null_count() and not wanted.may_be_empty(role):
                self.refuse(column.is_null().to_numpy(), f"column {name!r} is empty; fill it in")

    def refuse(self, bad: NDArray[np.bool_], what: str) -> None:
        """Refuse the data for these lines, or drop their records."""
        if not bad.any():
            return
        if not self.long.wanted.drop:
            line = int(self.long.line[np.argmax(bad)])
            more = "or leave out such records by the reading option on_bad=drop"
            raise self.long.fail(line, f"{what}, {more}")
        self._dropped[self.row[bad]] = True

    def refuse_records(self, bad: NDArray[np.bool_], what: str) -> None:
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

    def one_per_record(self, codes: Integers, *, last: bool = False) -> Integers:
        """Return the first code of each record, or the last; -1 where all of its lines have -1."""
        known = np.flatnonzero(codes >= 0)
        known = known if last else known[::-1]
        one = np.full(self.records, -1, np.int64)
        one[self.row[known]] = codes[known]  # the one written last stays
        return one

    def kept(self) -> NDArray[np.bool_]:
        """Say which records are used; the owner is told how many are not."""
        progress.count("records dropped", int(self._dropped.sum()))
        return ~self._dropped


def _with_units(long: Long) -> Long:
    """Refuse lines that do not say whose they are, or drop them: they are of no record."""
    unit = long.columns["unit"]
    if not unit.null_count():
        return long
    name = long.wanted.columns["unit"]
    lost = unit.is_null().to_numpy()
    if not long.wanted.drop:
        what = f"column {name!r} is empty; fill it in, or leave out such lines by on_bad=drop"
        raise long.fail(int(long.line[np.argmax(lost)]), what)
    progress.count("lines without a record", int(lost.sum()))
    columns = {role: column.filter(pl.Series(~lost)) for role, column in long.columns.items()}
    unreadable = {role: bad[~lost] for role, bad in long.unreadable.items()}
    return Long(long.where, long.wanted, columns, long.line[~lost], long.empty, unreadable)
