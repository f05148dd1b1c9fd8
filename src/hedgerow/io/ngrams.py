"""Grams and their counts as a table, and back; written beside the sequences of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from hedgerow.data import Domain, NGrams, Source
from hedgerow.errors import ReadError
from hedgerow.io.codec import Format
from hedgerow.io.long import Long, Wanted, codes_of
from hedgerow.io.long_table import long_table_codec
from hedgerow.io.rows import Laid

__all__ = ["CODEC"]

#: counts that no data has
_MOST = 1 << 53


def _make(long: Long, domain: Domain | None, source: Source, options: Mapping[str, str]) -> NGrams:
    """Make data of a table of grams: one per row, its items in a list."""
    del options, source
    if domain is None or not {"ends", "count"} <= set(long.columns):
        msg = f"{long.where} is no table of grams"
        raise ReadError(msg)
    whole = all(long.columns[name].dtype == pl.Int64 for name in ("ends", "count"))
    gaps = any(column.null_count() for column in long.columns.values())
    if not whole or gaps or len(long.empty):
        msg = f"{long.where} is no table of grams: ends and count are whole numbers, item a list"
        raise ReadError(msg)
    item = codes_of(long.columns["item"], domain.axis("item"))
    row = long.columns["unit"].to_numpy()
    first = np.ones(len(row), np.bool_)
    first[1:] = row[1:] != row[:-1]
    ends, counts = (long.columns[name].to_numpy()[first] for name in ("ends", "count"))
    strange = np.any((ends != 0) & (ends != 1)) or np.any((counts < 1) | (counts > _MOST))
    if np.any(item < 0) or strange:
        msg = f"{long.where} is no table of grams over this domain"
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
        msg = f"{long.where} has a gram twice"
        raise ReadError(msg)
    return grams


@dataclass(frozen=True, eq=False)
class _Laid(Laid):
    data: NGrams

    def frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one gram a row."""
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


_TABLE = Format(
    "hedgerow.io.parquet",
    ("parquet",),
    "a Parquet table: one gram per row, its items in the list `item`, in `ends` whether a "
    "sequence ends there (1) or not (0), in `count` the noisy number of its occurrences",
)

CODEC = long_table_codec(
    Wanted("ngrams", "item", ("unit", "item"), ("ends", "count"), {}),
    columns={
        "unit": "which gram a line is of",
        "item": "its items",
        "ends": "whether a sequence ends there",
        "count": "how often it occurs",
    },
    written=("item", "ends", "count"),
    options={},
    make=_make,
    lay_out=_Laid,
    formats={"parquet": _TABLE},
)
