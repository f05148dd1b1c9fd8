"""How n-grams and their noisy counts are written next to the sequences of a release, and read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from hedgerow.data import Domain, Source
from hedgerow.errors import ReadError
from hedgerow.formats import parquet
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.long_table import LongTable, OutputTable, ReadRequest, codes_of
from hedgerow.formats.long_table_codec import explain_columns, from_memory, request_of
from hedgerow.kinds.sequences.ngrams.data import NGrams

#: larger counts are refused
_MOST = 1 << 53


def _make(table: LongTable, domain: Domain | None, source: Source, options: Mapping[str, str]) -> NGrams:
    """Make the n-grams of a table with one n-gram per row, its items in a list."""
    del options, source
    if domain is None or not {"ends", "count"} <= set(table.columns):
        msg = f"{table.where} is not a table of n-grams"
        raise ReadError(msg)
    whole = all(table.columns[name].dtype == pl.Int64 for name in ("ends", "count"))
    gaps = any(column.null_count() for column in table.columns.values())
    if not whole or gaps or len(table.empty):
        msg = f"{table.where} is not a table of n-grams: ends and count must be whole numbers, and item a list"
        raise ReadError(msg)
    item = codes_of(table.columns["item"], domain.axis("item"))
    row = table.columns["unit"].to_numpy()
    first = np.ones(len(row), np.bool_)
    first[1:] = row[1:] != row[:-1]
    ends, counts = (table.columns[name].to_numpy()[first] for name in ("ends", "count"))
    strange = np.any((ends != 0) & (ends != 1)) or np.any((counts < 1) | (counts > _MOST))
    if np.any(item < 0) or strange:
        msg = f"{table.where} is not a table of n-grams over this domain"
        raise ReadError(msg)
    closing = np.flatnonzero(ends)
    order = np.argsort(np.concatenate((row, closing)), kind="stable")
    marker = np.full(len(closing), domain.size("item"))
    grams = NGrams.from_columns(
        row=np.concatenate((row, closing))[order],
        item=np.concatenate((item, marker))[order],
        counts=counts,
        domain=domain,
    )
    if len(grams.canonical().weights) != len(counts):
        msg = f"{table.where} has an n-gram twice"
        raise ReadError(msg)
    return grams


@dataclass(frozen=True, eq=False)
class _NGramTable(OutputTable):
    data: NGrams

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one n-gram per row."""
        starts, items, weights = self.data.arrays()
        size, values = self.data.domain.size("item"), self.data.domain.values("item")
        ends = items[starts[1:] - 1] == size
        lengths = np.diff(starts) - ends
        named = pl.Series(list(values)).gather(items[items < size])
        unit = np.repeat(np.arange(len(lengths)), lengths)
        lists = pl.DataFrame({"unit": unit, "item": named}).group_by("unit", maintain_order=True).agg("item")
        return pl.DataFrame(
            {
                names["item"]: lists["item"],
                names["ends"]: ends.astype(np.int64),
                names["count"]: weights,
            }
        )


_REQUEST = ReadRequest("ngrams", list_role="item", required=("unit", "item"), optional=("ends", "count"), columns={})
_FORMATS = {
    "parquet": Format(
        endings=("parquet",),
        layout="a Parquet table: one n-gram per row; `item` is the list of its items, `ends` is 1 if a sequence ends "
        "after it and 0 if not, and `count` is the noisy number of its occurrences",
        read=parquet.read,
        write=parquet.write,
    )
}
CODEC = Codec(
    kind="ngrams",
    columns={
        "unit": "the n-gram that a line belongs to",
        "item": "its items",
        "ends": "whether a sequence ends after it",
        "count": "how often it occurs",
    },
    written=("item", "ends", "count"),
    options={},
    formats=_FORMATS,
    request=request_of(_REQUEST),
    from_memory=from_memory,
    make=_make,
    lay_out=_NGramTable,
    explain=explain_columns(_FORMATS),
)
