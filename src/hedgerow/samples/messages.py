"""Generated messages: who writes to whom in a company of several departments."""

from __future__ import annotations

import numpy as np

#: the departments and the number of people in each, in the order of their rooms
DEPARTMENTS = {"sales": 120, "support": 90, "design": 40, "engineering": 150, "finance": 30, "warehouse": 70}
#: the mean number of contacts within a department and outside it; some people have many more than others
_INSIDE, _OUTSIDE = 12.0, 3.0
_SPREAD = 0.8


def staff() -> list[str]:
    """List the people of the company in the order of their desks, which is public.

    Examples
    --------
    >>> len(staff()), staff()[119:121]
    (500, ['sales-120', 'support-001'])
    """
    return [f"{name}-{number:03d}" for name, people in DEPARTMENTS.items() for number in range(1, people + 1)]


def messages(*, seed: int = 2024) -> list[tuple[str, str]]:
    """List the pairs of people who wrote to each other; the same seed gives the same ones.

    Examples
    --------
    >>> pairs = messages()
    >>> len(pairs), pairs[0]
    (3292, ('sales-001', 'sales-003'))
    """
    draw, people = np.random.default_rng(seed), staff()
    room = np.repeat(np.arange(len(DEPARTMENTS)), list(DEPARTMENTS.values()))
    sociable = np.exp(_SPREAD * draw.standard_normal(len(people)))
    sociable /= sociable.mean()
    first, second = np.triu_indices(len(people), 1)
    same = room[first] == room[second]
    chance = np.where(same, _INSIDE / np.bincount(room)[room[first]], _OUTSIDE / len(people))
    linked = draw.random(len(first)) < chance * sociable[first] * sociable[second]
    pairs = zip(first[linked].tolist(), second[linked].tolist(), strict=True)
    return [(people[one], people[other]) for one, other in pairs]
