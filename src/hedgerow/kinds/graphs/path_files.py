"""Files that say between which vertices shortest paths must stay: pairs, and vertices between all of which they must.

They are the caller's own, as the data is: named on the command line, from anywhere, and not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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

_ENDS = ("source", "target")
_REQUEST = ReadRequest("graphs", list_role=None, required=_ENDS, optional=(), columns={end: end for end in _ENDS})
_UNKNOWN = "a vertex is not in the network (blanks around it count); correct it"
_LEFT_OUT = "pairs and vertices of paths left out"


class _Files(NamedTuple):
    """How files of paths are read: whether bad lines are dropped, and the most bytes a file may unpack to."""

    drop_bad: bool
    most: int | None

    def refuse(self, where: str, line: Integers, bad: Flags, what: str) -> Flags:
        """Raise an error for the first of these lines; return the others where bad lines are dropped."""
        if bad.any() and not self.drop_bad:
            at = int(line[np.argmax(bad)])
            msg = f"{where}:{at}: {what}, or drop such lines with the reading option on_bad=drop"
            raise ReadError(msg)
        progress.count(_LEFT_OUT, int(bad.sum()))
        return ~bad


def read_paths(options: Mapping[str, str], domain: Domain, *, directed: bool) -> KeptPaths | None:
    """Read the files that the options `paths` and `between` name; None without them.

    Pairs and vertices that are listed twice count once; without directions, in either order.
    """
    if not {"paths", "between"} & options.keys():
        return None
    files = _Files(options.get("on_bad") == "drop", read_whole_number(options, "most_bytes", "bytes"))
    listed = _read_pairs(Path(options["paths"]), domain, files) if "paths" in options else np.zeros((0, 2), np.int64)
    if not directed:
        listed = np.sort(listed, axis=1)
    between = _read_vertices(Path(options["between"]), domain, files) if "between" in options else np.zeros(0, np.int64)
    return KeptPaths(np.unique(listed, axis=0), np.unique(between))


def _read_pairs(path: Path, domain: Domain, files: _Files) -> Integers:
    """Read pairs of different vertices from an edge list or a table."""
    content = _read_columns(path, files)
    table = content.table if isinstance(content, EdgeTable) else content
    where = str(path)
    if isinstance(content, EdgeTable) and content.further.any():
        line = int(table.line[np.argmax(content.further)])
        msg = f"{where}:{line}: the line has more than two fields, and a pair is two vertices; remove the others"
        raise ReadError(msg)
    if table.others:
        msg = f"{where} has columns besides source and target; remove them"
        raise ReadError(msg)
    source, target = (codes_of(table.columns[end], domain.axis("vertex")) for end in _ENDS)
    unknown = (source < 0) | (target < 0)
    kept = files.refuse(where, table.line, unknown, _UNKNOWN)
    itself = kept & (source == target)
    kept &= files.refuse(where, table.line, itself, "a path joins a vertex to itself; remove it")
    return np.stack((source[kept], target[kept]), axis=1)


def _read_columns(path: Path, files: _Files) -> EdgeTable | LongTable:
    form, most = ending_of(path).form, files.most or MOST_BYTES
    request = _REQUEST._replace(drop_bad=files.drop_bad)
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
    return readers[form](str(path), read_bytes(path, most=files.most), request, most)


def _read_vertices(path: Path, domain: Domain, files: _Files) -> Integers:
    """Read one vertex per line; blank lines are none."""
    request = _REQUEST._replace(drop_bad=files.drop_bad)
    lines = split_lines(str(path), read_bytes(path, most=files.most), request)
    texts = [text.decode() for text in lines.content.split(b"\n")[:-1]]
    filled = np.array([bool(text.strip()) for text in texts], np.bool_)
    codes = codes_of(pl.Series(texts, dtype=pl.String), domain.axis("vertex"))
    return codes[filled & files.refuse(str(path), lines.numbers, filled & (codes < 0), _UNKNOWN)]
