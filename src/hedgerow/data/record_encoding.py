"""Records of items as callers pass them: checked, and encoded over the domain.

No message shows a value of the data: an error is read by people who may not see it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from hedgerow.data.axis import Value
from hedgerow.data.domain import Domain, Source
from hedgerow.data.encoding import codes_over, infer_axis
from hedgerow.errors import DomainError, ParameterError
from hedgerow.numerics.arrays import Codes, Integers


def require_record(number: int, record: Iterable[Value]) -> list[Value]:
    """Return a record as a list; refuse a text, which is not a collection of items."""
    if isinstance(record, str) or not hasattr(record, "__iter__"):
        msg = f"record {number} must be a collection of items; got {type(record).__name__}"
        raise ParameterError(msg)
    return list(record)


def infer_domain(records: Sequence[Sequence[Value]], source: Source) -> Domain:
    """Make a domain of the items that occur, with this source."""
    items = [item for record in records for item in record]
    if not items:
        msg = "there are no records to take the items from; declare the domain"
        raise DomainError(msg)
    return Domain((("item", infer_axis(items)),), source)


def encode_records(records: Sequence[Sequence[Value]], domain: Domain, *, drop: bool) -> list[list[int]]:
    """Return the codes of the items of each record; unknown items are refused or dropped."""
    codes: list[int] = codes_over(domain.axis("item"), (item for record in records for item in record)).tolist()
    ends = itertools.accumulate(map(len, records), initial=0)
    coded = [codes[start:end] for start, end in itertools.pairwise(ends)]
    if not drop and -1 in codes:
        number = next(number for number, record in enumerate(coded, start=1) if -1 in record)
        msg = f"record {number} holds an item that is not in the domain; declare the item or pass on_unknown='drop'"
        raise DomainError(msg)
    return [[code for code in record if code >= 0] for record in coded]


def require_columns(row: Integers, item: Codes, persons: Integers | None) -> None:
    """Refuse columns that are not whole numbers, or do not fit each other."""
    columns: list[tuple[str, Codes]] = [("row", row), ("item", item)]
    if persons is not None:
        columns.append(("persons", persons))
    for name, column in columns:
        if getattr(getattr(column, "dtype", None), "kind", "") not in "iu" or column.ndim != 1:
            msg = f"column {name!r} must be an array of whole numbers"
            raise ParameterError(msg)
    if len(row) != len(item):
        msg = f"columns 'row' and 'item' must be equally long; got {len(row)} and {len(item)}"
        raise ParameterError(msg)
    if len(row) and row.min() < 0:
        msg = "record numbers must not be negative"
        raise ParameterError(msg)
    if persons is not None and len(row) and row.max() >= len(persons):
        msg = "persons must have one owner for every record number"
        raise ParameterError(msg)
