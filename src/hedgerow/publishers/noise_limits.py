"""The most that noise alone may publish: a small budget makes noisy counts, and with them releases, of any size.

The limit depends on the budget, the parameters and the domain only, and is checked before anything is asked: nothing is
spent on a release that would not fit in memory.
"""

from __future__ import annotations

import math

from hedgerow.errors import ParameterError

__all__ = ["SCALES", "expected_noise", "require_little_noise"]

#: values, such as the items of all records, that noise alone may publish: more may not fit in two gigabytes
_MOST = 10_000_000
#: scales of its noise that a single count is reckoned to have: more have a probability of 1 in 3,000
SCALES = 8
#: a logarithm beyond every limit
_FAR = 99.0


def require_little_noise(values: float, what: str, remedy: str) -> None:
    """Refuse to publish if noise alone may produce more values than this.

    Examples
    --------
    >>> require_little_noise(1e6, "items", "take a larger epsilon")
    >>> require_little_noise(1e9, "items", "take more")
    Traceback (most recent call last):
    ...
    hedgerow.errors.ParameterError: noise alone may produce about 1e+09 items, more than 10,000,000; take more
    """
    if values > _MOST:
        msg = f"noise alone may produce about {values:.1g} {what}, more than {_MOST:,}; {remedy}"
        raise ParameterError(msg)


def expected_noise(candidates: int, scale: float, cutoff: float) -> float:
    """What empty candidates publish if counts of this noise scale are kept from a cutoff on: expected, or one of them.

    Examples
    --------
    >>> round(expected_noise(1000, 10.0, 30.0)), round(expected_noise(1, 10.0, 30.0))
    (996, 80)
    """
    reach = math.exp(min(math.log(candidates) - cutoff / scale, _FAR)) / 2
    return max(SCALES * scale, reach * (cutoff + scale))
