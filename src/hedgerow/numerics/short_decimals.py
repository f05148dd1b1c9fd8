"""Numbers with a few digits: the last bits of a product or of a sum tell what it was made of.

Only every third number or so is 3 times another one in floating point. Of a weight that was a small whole number, the
last bits of what is published would exclude some of the two or three numbers that it may have been.
"""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Floats

#: digits of what is published
DIGITS = 7
#: digits that any number can be written with
_ALL = 17


def round_to_digits(numbers: Floats, *, up: bool) -> Floats:
    """Round positive numbers up or down to a few digits.

    Examples
    --------
    >>> round_to_digits(np.array([1 / 3, 1234567.8]), up=True).tolist()
    [0.3333334, 1234568.0]
    """
    places = DIGITS - 1 - np.floor(np.log10(numbers))
    # powers of ten are exact where it matters, so that quotients are the nearest numbers to short decimals
    more, less = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    scaled = numbers * more / less
    return (np.ceil(scaled) if up else np.floor(scaled)) / more * less


def shorten_within(number: float, low: float, high: float) -> float:
    """Round a number to as few digits, from `DIGITS` on, as keep it within bounds.

    Examples
    --------
    >>> shorten_within(1.23456789012, 1.0, 2.0), shorten_within(1.23456789012, 1.2345678, 1.23456789015)
    (1.234568, 1.23456789)
    """
    for digits in range(DIGITS, _ALL):
        short = float(f"{number:.{digits}g}")
        if low <= short <= high:
            return short
    return number
