"""NumPy files (`.npy`): an array of numbers, never a pickle; columns have no names."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.lattice import shortest_decimals
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.number_table import MatrixRequest, NumberTable, OutputRows

_KINDS = "fiu"
_DIMENSIONS = 2
#: an array without rows can announce any number of columns in a few bytes
_MOST_COLUMNS = 100_000
#: the bytes of a header: the names and types of a structured array could be long, but those are not read
_LONGEST_HEADER = 4096


def read(where: str, content: bytes, request: MatrixRequest, most: int) -> NumberTable:
    """Read an array without copying it."""
    del most
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        headers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, fortran, dtype = headers[version](file, max_header_size=_LONGEST_HEADER)
    except Exception:  # noqa: BLE001 - a damaged header may raise anything
        msg = f"{where} is not a NumPy file, or its header is damaged"
        raise ReadError(msg) from None
    if dtype.kind not in _KINDS or dtype.itemsize > 8:  # noqa: PLR2004 - 64 bits
        msg = (
            f"{where} must hold numbers of at most 64 bits; its type is {dtype.kind}{dtype.itemsize}, which is not read"
        )
        raise ReadError(msg)
    size = int(np.prod(shape, dtype=object))
    if len(content) - file.tell() != size * dtype.itemsize:
        msg = f"{where} is cut off or damaged: its header announces another size"
        raise ReadError(msg)
    flat = np.frombuffer(content, dtype, offset=file.tell())
    return array_table(where, flat.reshape(shape, order="F" if fortran else "C"), request)


def array_table(where: str, array: NDArray[Any], request: MatrixRequest) -> NumberTable:
    """Take an array with one row per record; an array of one dimension is one column."""
    if array.dtype.kind not in _KINDS or array.dtype.itemsize > 8:  # noqa: PLR2004 - 64 bits
        msg = f"{where} must hold numbers of at most 64 bits; its type is {array.dtype.name}, which is not read"
        raise ReadError(msg)
    if array.ndim not in {1, _DIMENSIONS}:
        msg = f"{where} must have rows and columns; it has {array.ndim} dimensions"
        raise ReadError(msg)
    array = array[:, None] if array.ndim == 1 else array
    if array.shape[1] > _MOST_COLUMNS:
        msg = f"{where} has {array.shape[1]:,} columns, more than {_MOST_COLUMNS:,}; transpose it"
        raise ReadError(msg)
    if np.ma.is_masked(array):
        if request.rule.instead is None and not request.drop_bad:
            msg = (
                f"{where} has masked cells, and a missing number is not filled in; leave the rows out, or put a number "
                "in the place of such cells with on_bad=NUMBER"
            )
            raise ReadError(msg)
        array = np.where(np.ma.getmaskarray(array), np.nan, shortest_decimals(np.ma.getdata(array)))
    names = request.names or default_names(array.shape[1])
    if len(names) != array.shape[1]:
        msg = f"{where} has {array.shape[1]} columns, and {len(names)} names are given; name each column"
        raise ReadError(msg)
    request.require_dropped(where, names)
    return NumberTable(where, request, names, array)


def default_names(columns: int) -> tuple[str, ...]:
    """Return the names of columns of an array that has none: c1, c2, ..."""
    return tuple(f"c{number}" for number in range(1, columns + 1))


def write(rows: OutputRows, columns: Mapping[str, str]) -> bytes:
    """Write the numbers; an array has no place for names and labels of rows."""
    del columns
    if rows.labels is not None or rows.ids is not None:
        msg = "a NumPy file has no place for names and labels of rows; leave them out, or write CSV or Parquet"
        raise ParameterError(msg)
    if any("," in name or name != name.strip() for name in rows.columns):
        msg = "the columns of a NumPy file cannot have names with commas or spaces around them; write CSV or Parquet"
        raise ParameterError(msg)
    values = np.ascontiguousarray(rows.values, "<f8")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(values))
    return b"".join((header.getvalue(), values.data.cast("B"))) if values.size else header.getvalue()
