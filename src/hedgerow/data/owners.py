"""Owners of records: numbered as they come, required for unit `person`, and counted to bound contributions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from hedgerow.errors import DomainError, ParameterError
from hedgerow.numerics.arrays import Integers


def number_owners(persons: Iterable[Hashable], records: int) -> Integers:
    """Number the owners in order of first appearance; every record must have one."""
    owners = list(persons)
    if len(owners) != records:
        msg = f"persons must name one owner per record; got {len(owners)} for {records}"
        raise ParameterError(msg)
    if not all(type(owner) in {str, int} or isinstance(owner, np.integer) for owner in owners):
        # `1 == True == 1.0`: whether these are one owner would depend on the other owners
        msg = "persons must be texts or whole numbers, one for every record"
        raise ParameterError(msg)
    texts = [str(owner) for owner in owners]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return np.array([numbers[text] for text in texts], np.int64)


def require_owners(persons: Integers | None) -> Integers:
    """Return the owners of records; refuse unit `person` if they are not known."""
    if persons is None:
        msg = "unit 'person' needs the owner of each record; pass persons=..., or --columns person=NAME"
        raise DomainError(msg)
    return persons


def count_earlier_records(persons: Integers) -> Integers:
    """Count the earlier records of each record's owner.

    Examples
    --------
    >>> count_earlier_records(np.array([7, 4, 7, 7, 4])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(persons, kind="stable")
    number = np.arange(len(persons))
    new = np.ones(len(persons), np.bool_)
    new[1:] = persons[order][1:] != persons[order][:-1]
    before = np.empty(len(persons), np.int64)
    before[order] = number - np.maximum.accumulate(np.where(new, number, 0))
    return before


def renumber_at_random(numbers: Integers, order: np.random.Generator) -> Integers:
    """Replace each number by another at random, equal numbers by the same one."""
    return order.permutation(int(numbers.max(initial=-1)) + 1).astype(np.int64)[numbers]
