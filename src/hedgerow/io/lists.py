"""Sets and sequences from long tables, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from hedgerow.data import Domain, Lists, Source, Value
from hedgerow.errors import ParameterError, ReadError
from hedgerow.io.long import Integers, Long, Wanted, first_seen, numbered
from hedgerow.io.rows import Rows

__all__ = ["OPTIONS", "lists_from", "rows_of", "wanted"]

ROLE = "item"

#: what may be said by the reading options, beyond what every kind has
OPTIONS = {
    "on_unknown": "an item outside the domain: error, or drop the item",
    "on_empty": "a record without items: error, or drop the record",
}


def wanted(kind: str) -> Wanted:
    """What such a kind wants of a file."""
    return Wanted(kind, ROLE, ("unit", ROLE), ("person",), {})


def lists_from(
    kind: type[Lists],
    long: Long,
    domain: Domain | None,
    source: Source,
    options: Mapping[str, str],
) -> Lists:
    """Hold the records of a long table.

    Parameters
    ----------
    kind
        Sets or sequences.
    long
        What was read, with the roles `unit` and `item`, and `person` where owners are known.
    domain
        Public knowledge, or None to take the items seen.
    source
        Who says so, if they are taken.
    options
        `on_unknown` and `on_empty`, each `error` or `drop`.
    """
    for name in OPTIONS:
        if options.get(name, "error") not in {"error", "drop"}:
            msg = f"{name} must be error or drop; got {options[name]!r}"
            raise ParameterError(msg)
    if len(long.empty) and options.get("on_empty") != "drop":
        what = "a record without items; remove it, or pass the reading option on_empty=drop"
        raise long.fail(int(long.empty[0]), what)
    codes, values = numbered(long.columns[ROLE])
    domain = domain or _seen(values, source)
    known = _codes(values, domain)
    item = known[codes]
    row = first_seen(long.columns["unit"])
    kept = item >= 0
    if not kept.all() and options.get("on_unknown") != "drop":
        what = (
            "an item is not in the domain; declare it, or pass the reading option on_unknown=drop"
        )
        raise long.fail(int(long.line[np.argmin(kept)]), what)
    emptied = row[:0] if kept.all() else np.setdiff1d(row, row[kept])
    if len(emptied) and options.get("on_empty") != "drop":
        what = "a record without items of the domain; pass the reading option on_empty=drop as well"
        raise long.fail(int(long.line[np.argmax(row == emptied[0])]), what)
    persons = _owners(long, row) if "person" in long.columns else None
    if not kept.all():
        row, item = row[kept], item[kept]
    for column in (row, item):
        column.flags.writeable = False  # nobody else has them: they need not be copied
    return kind.from_columns(row=row, item=item, domain=domain, persons=persons)


def rows_of(data: Lists) -> Rows:
    """Lay out what is published: distinct rows and how many records are each."""
    starts, items, weights = data.arrays()
    return Rows(ROLE, data.domain.values(ROLE), starts, items, weights)


def _seen(values: list[Value], source: Source) -> Domain:
    """Take the items seen, in a public order: by number if all are numbers, else by text."""
    if not values:
        msg = "there are no records, so the items cannot be read off them; declare a domain"
        raise ReadError(msg)
    texts = [str(value) for value in values]
    numbers = all(_is_number(text) for text in texts)
    return Domain.declare(item=sorted(map(int, texts)) if numbers else sorted(texts)).said_by(
        source
    )


def _is_number(text: str) -> bool:
    """Whether a text is just how a whole number is written."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(text)) == text  # noqa: PLR2004


def _codes(values: list[Value], domain: Domain) -> Integers:
    """The code of each value in the domain, by its text; -1 for unknown ones."""
    known = domain.axis(ROLE).by_text
    return np.array([known.get(str(value), -1) for value in values] or [-1], np.int64)


def _owners(long: Long, row: Integers) -> Integers:
    """Number the owner of each record; two owners of one are refused."""
    person = first_seen(long.columns["person"])
    held = pl.DataFrame({"row": row, "person": person}).unique()
    if len(held) != held["row"].n_unique():
        twice = held["row"].filter(held["row"].is_duplicated()).min()
        at = int(long.line[np.argmax(row == twice)])
        raise long.fail(at, "the record that stands here has two owners")
    return held.sort("row")["person"].to_numpy()
