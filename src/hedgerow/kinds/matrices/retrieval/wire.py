"""Noisy queries as bytes, as they are sent to whoever answers: whole numbers, bits, or pairs of places and values.

Numbers of a noisy query are whole steps of a public lattice, so that no bits of a floating-point number disclose what
noise was added to. They are sent in as few bytes each as the largest of them needs. Bits are packed. Places of a sparse
query are ascending, and sent as differences of seven bits per byte; values are 4-byte floating-point numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.errors import ParameterError, ReadError
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.haar import orthonormal

_WIDTHS = (1, 2, 4, 8)
_PLACE = np.dtype("<u4")
_VALUE = np.dtype("<f4")
#: seven bits of a difference per byte; the eighth says that more follow
_BITS, _MORE = 7, 128
_LONGEST = 5
_MOST_PLACES = 2**32


def encode_steps(steps: Integers) -> bytes:
    """Write whole numbers, all with as many bytes as the largest needs; the first byte says how many.

    Examples
    --------
    >>> len(encode_steps(np.array([3, -2, 120]))), len(encode_steps(np.array([3, -2, 128])))
    (4, 7)
    """
    most = max(int(steps.max(initial=0)), -1 - int(steps.min(initial=0)))
    width = next(width for width in _WIDTHS if most < 2 ** (8 * width - 1))
    return bytes([width]) + steps.astype(f"<i{width}").tobytes()


def decode_steps(message: bytes) -> Integers:
    """Read what `encode_steps` wrote."""
    if not message or message[0] not in _WIDTHS or (len(message) - 1) % message[0]:
        raise _damaged()
    return np.frombuffer(message, f"<i{message[0]}", offset=1).astype(np.int64)


def encode_bits(bits: Integers) -> bytes:
    """Write bits, eight per byte.

    Examples
    --------
    >>> len(encode_bits(np.ones(1024, np.int64)))
    128
    """
    return np.packbits(bits.astype(np.uint8)).tobytes()


def decode_bits(message: bytes, length: int) -> Integers:
    """Read so many bits; those that fill up the last byte are 0."""
    bits = np.unpackbits(np.frombuffer(message, np.uint8))
    if len(message) != -(-length // 8) or bits[length:].any():
        raise _damaged()
    return bits[:length].astype(np.int64)


def encode_sparse(query: SparseQuery) -> bytes:
    """Write how many coefficients there are and how many are kept, then places, then values.

    Examples
    --------
    >>> query = SparseQuery(1024, np.array([0, 3, 1000]), np.array([2.5, -1.0, 0.25]), 0.0)
    >>> len(encode_sparse(query)), decode_sparse(encode_sparse(query)).places.tolist()
    (24, [0, 3, 1000])
    """
    if query.length > _MOST_PLACES:
        msg = f"a sparse query has at most 2^32 coefficients; got {query.length:,}"
        raise ParameterError(msg)
    head = np.array([query.length - 1, len(query.places)], _PLACE).tobytes()
    return head + _encode_differences(np.diff(query.places, prepend=0)) + query.values.astype(_VALUE).tobytes()


def decode_sparse(message: bytes) -> SparseQuery:
    """Read what `encode_sparse` wrote; anyone may have sent it. What was dropped is not sent, and 0 here."""
    start = 2 * _PLACE.itemsize
    if len(message) < start:
        raise _damaged()
    last, kept = np.frombuffer(message, _PLACE, 2).tolist()
    end = len(message) - kept * _VALUE.itemsize
    if end < start:
        raise _damaged()
    places = np.cumsum(_decode_differences(message[start:end], kept))
    values = np.frombuffer(message, _VALUE, offset=end).astype(np.float64)
    if (kept and (np.any(np.diff(places) <= 0) or places[-1] > last)) or not np.isfinite(values).all():
        raise _damaged()
    return SparseQuery(last + 1, places, values, 0.0)


def _encode_differences(differences: Integers) -> bytes:
    groups = differences[:, None] >> (_BITS * np.arange(_LONGEST))
    used = np.maximum(1, (groups > 0).sum(1))
    here = np.arange(_LONGEST) < used[:, None]
    more = np.arange(_LONGEST) < used[:, None] - 1
    return ((groups & (_MORE - 1)) | (_MORE * more))[here].astype(np.uint8).tobytes()


def _decode_differences(content: bytes, number: int) -> Integers:
    groups = np.frombuffer(content, np.uint8).astype(np.int64)
    ends = np.flatnonzero(groups < _MORE)
    lengths = np.diff(ends, prepend=-1)
    if len(ends) != number or (ends[-1] + 1 if number else 0) != len(groups) or lengths.max(initial=0) > _LONGEST:
        raise _damaged()
    if not number:
        return np.zeros(0, np.int64)
    starts = ends - lengths + 1
    place = np.arange(len(groups)) - np.repeat(starts, lengths)
    return np.add.reduceat((groups & (_MORE - 1)) << (_BITS * place), starts)


def _damaged() -> ReadError:
    return ReadError("the message of a query is damaged; let it be sent again")


# A noisy query as a few of its Haar coefficients.


@dataclass(frozen=True, eq=False)
class SparseQuery:
    """The coefficients that are sent: ascending `places`, counted from 0, among `length`, and their `values`.

    `dropped` is the Euclidean norm of those that are not; the sender knows it.
    """

    length: int
    places: Integers
    values: Floats
    dropped: float


def sparsify(noisy_query: Floats, factor: float = 1.0) -> SparseQuery:
    """Keep the coefficients of a noisy query of at least `factor` times their mean absolute value.

    The Haar basis is orthonormal, so inner products are those of coefficients. The threshold is computed from the
    *noisy* query: one computed from the exact query would disclose it. The mean of the signed coefficients, which the
    thesis [1]_ prints, is near 0 and drops nothing.

    Examples
    --------
    >>> query = sparsify(np.array([0.285, 1.875, 0.951, 2.871, -0.91, 0.123]))
    >>> query.places.tolist(), query.values.round(4).tolist()
    ([0, 1, 4, 5], [1.8367, 2.3932, -1.1243, -1.3576])

    References
    ----------
    .. [1] L. Liu. "Privacy preserving data mining for numerical matrices, social networks, and big data". PhD thesis,
       University of Kentucky, 2015, chapter 9.
    """
    coefficients = orthonormal(noisy_query)
    sizes = np.abs(coefficients)
    kept = (sizes >= factor * sizes.mean()) & (sizes > 0)
    dropped = float(np.linalg.norm(coefficients[~kept]))
    return SparseQuery(len(coefficients), np.flatnonzero(kept), coefficients[kept], dropped)


def multiply(coefficients: Floats, query: SparseQuery) -> float:
    """Return the inner product of the coefficients of a vector with a sparse query: as many products as were sent."""
    return float(coefficients[query.places] @ query.values)


def truncation_bound(coefficients: Floats, query: SparseQuery) -> float:
    """Return how much the dropped coefficients can change the inner product: the product of both norms."""
    return float(np.linalg.norm(coefficients)) * query.dropped
