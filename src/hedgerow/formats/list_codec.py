"""The codec of sets and sequences: records that are lists of items, one record per line or one item per row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from hedgerow.data import Domain, Lists, Source, Value
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ReadError
from hedgerow.formats import blank_separated, jsonl, spmf
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.long_table import LongTable, OutputRecords, ReadRequest, codes_of
from hedgerow.formats.long_table_codec import explain_columns, from_memory, request_of, table_formats
from hedgerow.formats.options import read_choice
from hedgerow.formats.record_checker import RecordChecker

ROLE = "item"
_COLUMNS = {
    "unit": "the record that a line belongs to",
    ROLE: "an item of that record",
    "person": "the owner of the record; needed for unit person",
}
_OPTIONS = {
    "on_unknown": "if an item is not in the domain: error (the default), or drop the item",
    "on_empty": "if a record has no items: error (the default), or drop the record",
}
_TABLES = table_formats("value", ", with the record it belongs to")
#: one record per line, or one value per line of a table
FORMATS: dict[str, Format[ReadRequest, LongTable, OutputRecords]] = {
    "lines": Format(
        endings=("dat", "txt", "seq"),
        layout="one record per line, its values separated by blanks",
        read=blank_separated.read,
        check=blank_separated.check,
        write=blank_separated.write,
    ),
    "spmf": Format(
        endings=("spmf",),
        layout="one record per line, -1 after each value and -2 at the end (SPMF)",
        read=spmf.read,
        check=spmf.check,
        write=spmf.write,
    ),
    "csv": _TABLES["csv"],
    "jsonl": Format(
        endings=("jsonl", "ndjson"),
        layout="one record per line, a JSON array of its values",
        read=jsonl.read,
        write=jsonl.write,
    ),
    "parquet": _TABLES["parquet"],
}


def list_codec(kind: type[Lists]) -> Codec[ReadRequest, LongTable, Lists, OutputRecords]:
    """Make the codec of a kind whose records are lists of items."""
    request = ReadRequest(kind.kind, list_role=ROLE, required=("unit", ROLE), optional=("person",), columns={})
    return Codec(
        kind=kind.kind,
        columns=_COLUMNS,
        written=("unit", ROLE),
        options=_OPTIONS,
        formats=FORMATS,
        request=request_of(request),
        from_memory=from_memory,
        make=partial(_make, kind),
        lay_out=_lay_out,
        explain=explain_columns(FORMATS),
    )


def _make(
    kind: type[Lists],
    table: LongTable,
    domain: Domain | None,
    source: Source,
    options: Mapping[str, str],
) -> Lists:
    """Make the data set of a long table."""
    drop_items = read_choice(options, "on_unknown", "error", "drop") == "drop"
    drop_empty = read_choice(options, "on_empty", "error", "drop") == "drop" or table.request.drop_bad
    if len(table.empty) and not drop_empty:
        what = "the record has no items; remove it, or pass the reading option on_empty=drop"
        raise table.error_at(int(table.empty[0]), what)
    checker = RecordChecker(table)
    table, row = checker.table, checker.row
    column = table.columns[ROLE]
    domain = domain or _infer_domain(column.drop_nulls().unique().to_list(), source)
    item = codes_of(column, domain.axis(ROLE))
    known = item >= 0
    if not drop_items:
        declare = "an item is not in the domain; declare it (blanks around it count)"
        what = f"{declare}, drop such items with the reading option on_unknown=drop"
        checker.refuse(~known, what)
    elif not drop_empty:
        emptied = np.bincount(row[known], minlength=checker.records) == 0
        what = "the record has no items of the domain; pass the reading option on_empty=drop as well"
        checker.refuse_records(emptied, what)
    persons = checker.owners()
    kept = known & checker.kept()[row]
    if not kept.all():
        row, item = row[kept], item[kept]
    for column in (row, item):
        column.flags.writeable = False  # no one else uses them, so they need not be copied
    return kind.from_columns(row=row, item=item, domain=domain, persons=persons)


def _lay_out(data: Lists) -> OutputRecords:
    """Lay out published data: the distinct records, and how often each occurs."""
    starts, items, weights = data.arrays()
    return OutputRecords(ROLE, data.domain.values(ROLE), starts, items, weights)


def _infer_domain(values: list[Value], source: Source) -> Domain:
    """Make a domain of the items that occur."""
    if not values:
        msg = "there are no records to infer the items from; declare a domain"
        raise ReadError(msg)
    return Domain(((ROLE, infer_axis(values)),), source)
