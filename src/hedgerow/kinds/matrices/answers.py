r"""Inner products of a noisy vector with a query, in four modes, with what is known of their error.

With independent unbiased noise $e_x$ and $e_y$ of variances $v_x$ and $v_y$ per coordinate, $\tilde x = x + e_x$ and
$\tilde y = y + e_y$, the error of every mode is $c \cdot e_y + e_x \cdot y$ for a vector $c$ that is known from
$\tilde x$: $\tilde x$ itself (naive), $\tilde x$ minus its mean (centred), 0 (local). Whoever knows $\tilde x$ knows
$c$, and whoever knows the query knows $y$, so that both parts are weighted sums of noise with known weights. Without
the query, its declared bounds are used instead. Everything here is computed from releases and from what the one who
asks knows: it costs no privacy. The exact query does not leave the machine of whoever asks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.retrieval.vectors import NoisyVector, vectors_of
from hedgerow.kinds.matrices.retrieval.wire import (
    decode_sparse,
    encode_bits,
    encode_sparse,
    encode_steps,
    multiply,
    sparsify,
    truncation_bound,
)
from hedgerow.numerics.arrays import Floats
from hedgerow.numerics.haar import orthonormal
from hedgerow.release import Release

#: how the inner product is computed, with what each needs of the query
MODES = {
    "local": "the exact query, here; nothing is sent",
    "centred": "the noisy query; whoever asks adds a part with the sum of the exact one, which is not sent",
    "naive": "the noisy query",
    "sparse": "the noisy query, by its largest Haar coefficients",
}
CONFIDENCE = 0.95
#: how the exact query is read, unless whoever asks says otherwise
READ_OPTIONS: Mapping[str, str] = MappingProxyType({"rows": "numbered"})
#: how the probability of a larger error is divided: noise of the query is nearly always the larger part. The division
#: is fixed, since a choice by the answer would depend on the noise that it is about
_QUERY_SHARE = 0.8


@dataclass(frozen=True)
class Answer:
    """An estimate of an inner product, and how far off it may be.

    Parameters
    ----------
    estimate
        The estimate; unbiased, but for what `sparse` drops.
    standard_error
        The estimated standard deviation of its error, without what was dropped.
    half_width
        The error is at most this, with probability `CONFIDENCE` or more, whatever the vectors are.
    coordinates
        How many coordinates the vectors have.
    sent
        How many bytes are sent to whoever answers.
    kept
        How many numbers they contain.
    dropped
        The most that the dropped coefficients, and the rounding of those sent, can change; part of `half_width`.
    to_add
        How many times the sum of the exact query whoever asks has to add to the estimate: the mean of the noisy vector,
        if the mode is `centred` and the exact query was not given.
    """

    estimate: float
    standard_error: float
    half_width: float
    coordinates: int
    sent: int
    kept: int
    dropped: float = 0.0
    to_add: float = 0.0


def answer(
    mode: str, x: NoisyVector, query: NoisyVector | None, exact: Floats | None = None, *, threshold: float = 1.0
) -> Answer:
    """Answer in one of `MODES`; refuse what a mode cannot be computed from.

    Parameters
    ----------
    x
        The noisy vector that is asked.
    query
        The noisy query; not needed if the mode is `local`.
    exact
        The exact query; needed if the mode is `local`. If it is `centred`, its sum is used; else the error only.
    threshold
        For `sparse`: multiples of the mean absolute coefficient that are kept.
    """
    if mode not in MODES:
        msg = f"there is no mode {mode!r}; choose from {', '.join(MODES)}"
        raise ParameterError(msg)
    for what, vector in (("noisy", query), ("exact", exact)):
        if vector is not None and len(vector) != len(x):
            msg = f"the {what} query has {len(vector):,} numbers, and the vector {len(x):,}; give both the same length"
            raise ParameterError(msg)
    if not (math.isfinite(threshold) and threshold >= 0):
        msg = f"the threshold must be a number of at least 0; got {threshold}"
        raise ParameterError(msg)
    if mode == "local":
        if exact is None:
            msg = "mode local needs the exact query, which stays on this machine; give it, or take another mode"
            raise ParameterError(msg)
        return answer_locally(x, exact)
    if query is None:
        msg = f"mode {mode} needs a release of the query; give one, or take local"
        raise ParameterError(msg)
    if mode == "centred":
        return answer_centred(x, query, exact)
    return answer_naively(x, query, exact) if mode == "naive" else answer_sparsely(x, query, exact, factor=threshold)


def open_vectors(release: Release[Any], place: str) -> dict[str, NoisyVector]:
    """Return the noisy vectors of a release, by the names of its columns; errors name the place it was read from."""
    try:
        return vectors_of(release)
    except ParameterError as error:
        msg = f"{place}: {error}"
        raise ParameterError(msg) from None


def exact_vectors(query: Matrix, unit: str | None = None) -> dict[str, Floats]:
    """Return the columns of an exact query, moved into their bounds if it was published, as it was then."""
    bounded = query if unit is None else query.bounded(unit)
    return dict(zip(bounded.columns, bounded.values.T, strict=True))


def answer_locally(x: NoisyVector, exact: Floats) -> Answer:
    """Multiply the noisy vector by the exact query, on the machine of whoever asks: nobody learns the query.

    Examples
    --------
    >>> from hedgerow.kinds.matrices.retrieval.noise_laws import LaplaceNoise
    >>> numbers = np.array([172, 179, 125, 140, 140, 98])
    >>> x = NoisyVector(numbers.astype(float), LaplaceNoise(1.0), 200.0, numbers)
    >>> local = answer_locally(x, np.array([1, 1, 0, 1, 0, 0.0]))
    >>> local.estimate, round(local.standard_error, 2), local.half_width, local.sent
    (491.0, 2.35, 5.0, 0)
    """
    deviation = math.sqrt(x.noise.variance * float(exact @ exact))
    return Answer(float(x.values @ exact), deviation, x.noise.half_width(exact, 1 - CONFIDENCE), len(x), 0, 0)


def answer_naively(x: NoisyVector, query: NoisyVector, exact: Floats | None = None) -> Answer:
    """Multiply the noisy vector by the noisy query."""
    return _with_error(float(x.values @ query.values), x.values, x, query, exact)


def answer_centred(x: NoisyVector, query: NoisyVector, exact: Floats | None = None) -> Answer:
    """Multiply the noisy vector minus its mean by the noisy query; whoever asks adds the mean times the exact sum.

    What the mean of the vector adds to the noise is avoided: most of it, if the numbers are alike. Whoever holds the
    vector does not have the exact query: then the mean is returned, too, for whoever asks.
    """
    mean = float(x.values.mean()) if len(x) else 0.0
    centred = x.values - mean
    product = float(centred @ query.values)
    if exact is None:
        return replace(_with_error(product, centred, x, query, None), to_add=mean)
    return _with_error(product + mean * float(exact.sum()), centred, x, query, exact)


def answer_sparsely(x: NoisyVector, query: NoisyVector, exact: Floats | None = None, *, factor: float = 1.0) -> Answer:
    """Multiply Haar coefficients, of the query only those that reach `factor` times their mean absolute value."""
    sparse = sparsify(query.values, factor)
    message = encode_sparse(sparse)
    sent = decode_sparse(message)
    coefficients = orthonormal(x.values)
    naive = answer_naively(x, query, exact)
    # what is sent is rounded, which loses a little more
    lost = math.hypot(sparse.dropped, float(np.linalg.norm(sparse.values - sent.values)))
    dropped = truncation_bound(coefficients, replace(sparse, dropped=lost))
    return Answer(
        multiply(coefficients, sent),
        naive.standard_error,
        naive.half_width + dropped,
        len(x),
        len(message),
        len(sparse.places),
        dropped,
    )


def _with_error(estimate: float, weights: Floats, x: NoisyVector, query: NoisyVector, exact: Floats | None) -> Answer:
    """Add what is known of the error, and the size of the message."""
    data, noise, miss = x.noise, query.noise, 1 - CONFIDENCE
    asked = exact if exact is not None else np.full(len(x), query.largest)
    # the squares of the noisy query are too large by the variance of its noise
    squares = float(query.values @ query.values) - len(x) * noise.variance if exact is None else float(exact @ exact)
    variance = noise.variance * float(weights @ weights) + data.variance * max(0.0, squares)
    width = noise.half_width(weights, _QUERY_SHARE * miss) + data.half_width(asked, (1 - _QUERY_SHARE) * miss)
    message = encode_bits(query.steps) if query.sent_as_bits else encode_steps(query.steps)
    return Answer(estimate, math.sqrt(variance), width, len(x), len(message), len(x))


# The exact laws of these errors, and a bound that always holds.


def naive_variance(x: Floats, y: Floats, data_variance: float, query_variance: float) -> float:
    r"""Return the variance of $\tilde x \cdot \tilde y$: $v_y |x|^2 + v_x |y|^2 + N v_x v_y$.

    Examples
    --------
    >>> x, y = np.array([167, 182, 143, 135, 151, 109.0]), np.array([1, 1, 0, 1, 0, 0.0])
    >>> naive_variance(x, y, 2.0, 2.0)
    268768.0
    """
    return float(query_variance * (x @ x + len(x) * data_variance) + data_variance * (y @ y))


def centred_variance(x: Floats, y: Floats, data_variance: float, query_variance: float) -> float:
    r"""Return the variance of $(\tilde x - m) \cdot \tilde y + m \sum y$, with $m$ the mean of $\tilde x$.

    It is $v_y (|x - \bar x|^2 + (N - 1) v_x) + v_x |y|^2$: how large the numbers are does not matter, only how they
    differ.

    Examples
    --------
    >>> x, y = np.array([167, 182, 143, 135, 151, 109.0]), np.array([1, 1, 0, 1, 0, 0.0])
    >>> round(centred_variance(x, y, 2.0, 2.0), 1)
    6507.7
    """
    spread = x - x.mean()
    return float(query_variance * (spread @ spread + (len(x) - 1) * data_variance) + data_variance * (y @ y))


def local_variance(y: Floats, data_variance: float) -> float:
    r"""Return the variance of $\tilde x \cdot y$: $v_x |y|^2$.

    Examples
    --------
    >>> local_variance(np.array([1, 1, 0, 1, 0, 0.0]), 2.0)
    6.0
    """
    return float(data_variance * (y @ y))


def error_bound(x: Floats, y: Floats, noisy_x: Floats, noisy_y: Floats) -> float:
    r"""Return a bound on $|\tilde x \cdot \tilde y - x \cdot y|$ that always holds: $|x| |e_y| + |e_x| |\tilde y|$.

    It needs the exact vectors, so it is for the owner of both.

    Examples
    --------
    >>> error_bound(np.array([3.0, 4.0]), np.array([1.0, 0.0]), np.array([3.0, 4.0]), np.array([1.0, 1.0]))
    5.0
    """
    norm = np.linalg.norm
    return float(norm(x) * norm(noisy_y - y) + norm(noisy_x - x) * norm(noisy_y))
