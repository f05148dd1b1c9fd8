"""Blocks of a matrix that have a wavelet each."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from hedgerow.errors import ParameterError

__all__ = ["Block", "cut_blocks"]

_SMALLEST = 2


class Block(NamedTuple):
    """Some rows and columns, and the name of their wavelet."""

    rows: slice
    columns: slice
    wavelet: str


def cut_blocks(shape: tuple[int, int], partition: str, wavelets: str) -> list[Block]:
    """Cut rows or columns into blocks: one per wavelet, of equal size unless it is said where to cut.

    Examples
    --------
    >>> [(block.columns, block.wavelet) for block in cut_blocks((8, 5), "columns", "haar,db2")]
    [(slice(0, 2, None), 'haar'), (slice(2, 5, None), 'db2')]
    >>> [block.rows for block in cut_blocks((8, 5), "rows:5", "haar,db2")]
    [slice(0, 5, None), slice(5, 8, None)]
    """
    along, _, text = partition.partition(":")
    names = [name.strip() for name in wavelets.split(",")]
    if along not in {"none", "rows", "columns"} or (along == "none" and (text or len(names) > 1)):
        msg = (
            "Wavelet.partition must be rows or columns, with a wavelet for each block and optionally where to cut, as "
            f"in rows:100,200, or none with one wavelet; got {partition[:40]!r} and {len(names)} wavelets"
        )
        raise ParameterError(msg)
    size = shape[1] if along == "columns" else shape[0]
    cuts = _parse(text, size, len(names)) if text else [size * part // len(names) for part in range(1, len(names))]
    ends = [0, *cuts, size]
    if any(high - low < _SMALLEST for low, high in pairwise(ends)):
        msg = f"Wavelet.partition must leave at least {_SMALLEST} {along} in every block; got {partition[:40]!r}"
        raise ParameterError(msg)
    spans = [slice(low, high) for low, high in pairwise(ends)]
    whole = (slice(0, shape[0]), slice(0, shape[1]))
    if along == "columns":
        return [Block(whole[0], span, name) for span, name in zip(spans, names, strict=True)]
    return [Block(span, whole[1], name) for span, name in zip(spans, names, strict=True)]


def _parse(text: str, size: int, blocks: int) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    cuts = [int(part) if part.isascii() and part.isdigit() and len(part) <= len(str(size)) else size for part in parts]
    if len(cuts) != blocks - 1 or any(second <= first for first, second in pairwise([0, *cuts, size])):
        msg = (
            f"Wavelet.partition needs {blocks - 1} ascending places to cut for {blocks} wavelets, between 0 and {size}"
            f"; got {text[:40]!r}"
        )
        raise ParameterError(msg)
    return cuts
