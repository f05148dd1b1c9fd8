"""Count queries on data sets and on releases: one function, so that what it answers can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.errors import ParameterError
from hedgerow.kind_registry import KINDS, find_kind
from hedgerow.release import Release
from hedgerow.score import CountEstimate


def query(
    source: Release[Any] | Dataset, where: Sequence[str] = (), *, count: str = "record", seed: int | None = None
) -> CountEstimate:
    """Estimate how many records, or vertices of a type, have what is asked for.

    Asking costs no privacy: a release is public, and the count of a data set is exact and for its owner only.

    Parameters
    ----------
    source
        A release, or a data set.
    where
        Conditions, all of which must hold: `"course.grade in (A, B)"`, `"student.born in [1990, 1995)"` or
        `"course.id = CS301"`. Those on one type are about one vertex; a second one is written `course#2`.
    count
        `record`, or the name of a type to count the vertices of.
    seed
        Repeats the worlds that an interval is drawn from, where it is not computed.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of
    >>> courses = [("course", ["CS201"], "A", []), ("course", ["CS301"], "B", [])]
    >>> data = records_of([("student", ["CS", 1990], "2.1", courses)] * 3)
    >>> query(data, ["course.grade in (A, B)"], count="course").estimate
    6.0
    """
    kind, released = source.kind, isinstance(source, Release)
    if not find_kind(kind).has("query"):
        able = ", ".join(name for name, row in KINDS.items() if row.has("query"))
        msg = f"{kind} cannot be queried by conditions yet; kinds that can: {able}"
        raise ParameterError(msg)
    if isinstance(where, str):
        msg = 'where is a list of conditions, such as ["course.grade = A"]; got one text'
        raise ParameterError(msg)
    outputs = source.outputs if isinstance(source, Release) else {"": source}
    return find_kind(kind).module("query").query(outputs, where, count, np.random.default_rng(seed), released=released)
