"""Sets and sequences from long tables, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from hedgerow.data import Domain, Lists, Source, Value
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ReadError
from hedgerow.io.codec import Codec
from hedgerow.io.long import Long, Wanted, codes_of
from hedgerow.io.long_table import long_table_codec
from hedgerow.io.options import choice
from hedgerow.io.rows import Rows
from hedgerow.io.screen import Screen

__all__ = ["list_codec"]

ROLE = "item"

_COLUMNS = {
    "unit": "which record a line is of",
    ROLE: "an item of that record",
    "person": "who owns the record, for unit person",
}
_OPTIONS = {
    "on_unknown": "an item outside the domain: error, or drop the item",
    "on_empty": "a record without items: error, or drop the record",
}


def list_codec(kind: type[Lists]) -> Codec:
    """How records that are lists of items are read and written."""
    return long_table_codec(
        Wanted(kind.kind, ROLE, ("unit", ROLE), ("person",), {}),
        columns=_COLUMNS,
        written=("unit", ROLE),
        options=_OPTIONS,
        make=partial(_make, kind),
        lay_out=_lay_out,
    )


def _make(
    kind: type[Lists],
    long: Long,
    domain: Domain | None,
    source: Source,
    options: Mapping[str, str],
) -> Lists:
    """Make data of the records of a long table."""
    drop_items = choice(options, "on_unknown", "error", "drop") == "drop"
    drop_empty = choice(options, "on_empty", "error", "drop") == "drop" or long.wanted.drop
    if len(long.empty) and not drop_empty:
        what = "a record without items; remove it, or pass the reading option on_empty=drop"
        raise long.fail(int(long.empty[0]), what)
    screen = Screen(long)
    long, row = screen.long, screen.row
    column = long.columns[ROLE]
    domain = domain or _seen(column.drop_nulls().unique().to_list(), source)
    item = codes_of(column, domain.axis(ROLE))
    known = item >= 0
    if not drop_items:
        what = "an item is not in the domain; declare it, pass the reading option on_unknown=drop"
        screen.refuse(~known, what)
    elif not drop_empty:
        emptied = np.bincount(row[known], minlength=screen.records) == 0
        what = "a record without items of the domain; pass the reading option on_empty=drop as well"
        screen.refuse_records(emptied, what)
    persons = screen.owners()
    kept = known & screen.kept()[row]
    if not kept.all():
        row, item = row[kept], item[kept]
    for column in (row, item):
        column.flags.writeable = False  # nobody else has them: they need not be copied
    return kind.from_columns(row=row, item=item, domain=domain, persons=persons)


def _lay_out(data: Lists) -> Rows:
    """Lay out what is published: distinct rows and how many records are each."""
    starts, items, weights = data.arrays()
    return Rows(ROLE, data.domain.values(ROLE), starts, items, weights)


def _seen(values: list[Value], source: Source) -> Domain:
    """Take the items seen."""
    if not values:
        msg = "there are no records, so the items cannot be read off them; declare a domain"
        raise ReadError(msg)
    return Domain(((ROLE, infer_axis(values)),), source)
