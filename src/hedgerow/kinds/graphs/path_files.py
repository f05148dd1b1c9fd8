"""Files that say between which vertices shortest paths must stay: pairs, and vertices between all of which they must.

They are the caller's own, as the data is: named on the command line, from anywhere, and not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Domain
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats import csv_table, edge_list, parquet
from hedgerow.formats.edge_table import EdgeTable
from hedgerow.formats.files import MOST_BYTES, ending_of, read_bytes
from hedgerow.formats.long_table import LongTable, ReadRequest, codes_of
from hedgerow.formats.options import read_whole_number
from hedgerow.formats.text_lines import split_lines
from hedgerow.kinds.graphs.data import KeptPaths
from hedgerow.numerics.arrays import Flags, Integers

_REQUEST = ReadRequest(
    "graphs",
    list_role=None,
    required=("source", "target"),
    optional=(),
    columns={"source": "source", "target": "target"},
)
_UNKNOWN = "a vertex is not in the network (blanks around it count); correct it"
_LEFT_OUT = "pairs and vertices of paths left out"


def read_paths(options: Mapping[str, str], domain: Domain, *, directed: bool) -> KeptPaths:
    """Read the files that the options `paths` and `between` name.

    Pairs and vertices that are listed twice count once; without directions, in either order.
    """
    most = read_whole_number(options, "most_bytes", "bytes")
    request = _REQUEST._replace(drop_bad=options.get("on_bad") == "drop")
    paths = KeptPaths()
    if "paths" in options:
        listed = _read_pairs(Path(options["paths"]), domain, request, most)
        # in the order of the file: a pair without a path is named by its number
        alike = np.unique(listed if directed else np.sort(listed, axis=1), axis=0, return_index=True)[1]
        paths = replace(paths, listed=listed[np.sort(alike)])
    if "between" in options:
        between = _read_vertices(Path(options["between"]), domain, request, most)
        paths = replace(paths, between=np.unique(between))
    return paths


def _read_pairs(path: Path, domain: Domain, request: ReadRequest, most: int | None) -> Integers:
    """Read pairs of different vertices from an edge list or a table."""
    content = _read_columns(path, request, most)
    table = content.table if isinstance(content, EdgeTable) else content
    if table.others:
        msg = f"{path} has columns besides source and target; remove them"
        raise ReadError(msg)
    source, target = (codes_of(table.columns[end], domain.axis("vertex")) for end in ("source", "target"))
    further = content.further if isinstance(content, EdgeTable) else np.zeros(len(source), np.bool_)
    what = "the line has more than two fields, and a pair is two vertices; remove the others"
    lines = f"{path}", table.line
    kept = _refuse(*lines, further, what, request)
    kept &= _refuse(*lines, kept & ((source < 0) | (target < 0)), _UNKNOWN, request)
    kept &= _refuse(*lines, kept & (source == target), "a path joins a vertex to itself; remove it", request)
    return np.stack((source[kept], target[kept]), axis=1)


def _read_columns(path: Path, request: ReadRequest, most: int | None) -> EdgeTable | LongTable:
    form = ending_of(path).form
    readers = {
        "csv": csv_table.read,
        "parquet": parquet.read,
        **dict.fromkeys(("edges", "edgelist", "txt"), edge_list.read),
    }
    if form not in readers:
        msg = (
            f"{path}: pairs of vertices are read from files that end in {', '.join(f'.{ending}' for ending in readers)}"
        )
        raise ParameterError(msg)
    return readers[form](str(path), read_bytes(path, most=most), request, most or MOST_BYTES)


def _read_vertices(path: Path, domain: Domain, request: ReadRequest, most: int | None) -> Integers:
    """Read one vertex per line; blank lines are none."""
    lines = split_lines(str(path), read_bytes(path, most=most), request)
    texts = [text.decode() for text in lines.content.split(b"\n")[:-1]]
    filled = np.array([bool(text.strip()) for text in texts], np.bool_)
    codes = codes_of(pl.Series(texts, dtype=pl.String), domain.axis("vertex"))
    return codes[filled & _refuse(str(path), lines.numbers, filled & (codes < 0), _UNKNOWN, request)]


def _refuse(where: str, line: Integers, bad: Flags, what: str, request: ReadRequest) -> Flags:
    """Raise an error for the first of these lines; return the others where bad lines are dropped."""
    if bad.any() and not request.drop_bad:
        at = int(line[np.argmax(bad)])
        msg = f"{where}:{at}: {what}, or drop such lines with the reading option on_bad=drop"
        raise ReadError(msg)
    progress.count(_LEFT_OUT, int(bad.sum()))
    return ~bad
