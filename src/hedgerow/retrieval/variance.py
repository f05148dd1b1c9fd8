r"""The exact error laws of inner products of noisy vectors, and a bound that always holds.

With independent unbiased noise $e_x$ and $e_y$ of variances $v_x$ and $v_y$ per coordinate, $\tilde x = x + e_x$ and
$\tilde y = y + e_y$, the error of every mode is $c \cdot e_y + e_x \cdot y$ for a vector $c$ that is known from
$\tilde x$: $\tilde x$ itself (naive), $\tilde x$ minus its mean (centred), 0 (local).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["centred_variance", "error_bound", "local_variance", "naive_variance"]

Floats: TypeAlias = NDArray[np.float64]


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
