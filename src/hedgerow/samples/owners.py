"""Edge cases of every kind of data, by name: random data rarely shows what breaks a method."""

from __future__ import annotations

#: the maximum that the domains of test data declare; some persons own more
RECORDS_PER_PERSON = 2


def owners(records: int) -> list[int]:
    """Number the owners of records: persons own 1, 2, 3, 1, 2, 3, ... of them in turn."""
    return [person for person in range(records) for _ in range(1 + person % 3)][:records]
