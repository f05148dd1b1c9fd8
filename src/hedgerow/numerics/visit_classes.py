"""Records of timed visits: classes of the time between two visits, and types of steps from one to the next."""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Integers

#: types of steps from one visit to the next, in the order of precedence
STAY, BACK, SEEN, NEW = range(4)
#: steps are numbered from 0; the last number stands for all further steps
STEP_POSITIONS = 4
#: where classes of durations begin, in hours of a day; and additional ones if there are more than 24 times
_DAY, _BOUNDS, _SHORT = 24, (1, 2, 3, 5, 7, 9, 11, 13, 16), (1, 2, 3, 5)


def duration_classes(times: int) -> Integers:
    """The class of each difference between two times: fine for short ones, coarse for long ones.

    Examples
    --------
    >>> duration_classes(24).tolist()
    [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9]
    """
    bounds = {max(1, int(hour * times / _DAY + 0.5)) for hour in _BOUNDS}
    bounds |= {*_SHORT} if times > _DAY else set()
    kept = sorted(bound for bound in bounds if bound < max(2, times))
    return np.searchsorted(kept, np.arange(times), side="right")
