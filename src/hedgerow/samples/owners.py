"""The owners of records of test data: some persons own more records than the domain declares."""

from __future__ import annotations

#: the maximum that the domains of test data declare
RECORDS_PER_PERSON = 2


def owners(records: int) -> list[int]:
    """Number the owners of records: persons own 1, 2, 3, 1, 2, 3, ... of them in turn."""
    return [person for person in range(records) for _ in range(1 + person % 3)][:records]
