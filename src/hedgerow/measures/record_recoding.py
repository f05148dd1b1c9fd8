"""Published nested records with the codes of the original, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.hierarchy import Hierarchy
from hedgerow.data.records import Records, VertexTable
from hedgerow.errors import ParameterError

__all__ = ["recode_records"]


def recode_records(released: Records, original: Records) -> Records:
    """Return the release with the domain of the original: labels and sensitive values are matched by their names.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("person", None, ("town",)),))
    >>> towns = ["Bonn", "Rome"], ["Rome", "Bonn"]
    >>> one, other = (
    ...     Records.from_trees([("person", ["Rome"], None, [])], schema, Domain.declare(**{"person.town": names}))
    ...     for names in towns
    ... )
    >>> recode_records(one, other).tables[0].labels.tolist()
    [[0]]
    """
    if released.schema != original.schema:
        msg = "the release and the original have different schemas; read the original with the schema of the release"
        raise ParameterError(msg)
    tables: list[VertexTable] = []
    for number, table in enumerate(released.tables):
        kind = original.schema.types[number]
        columns = [
            _recoded(labels, released.domain.axis(axis), original.domain.axis(axis), _label_names)
            for axis, labels in zip(kind.quasi_axes, table.labels.T, strict=True)
        ]
        labels = np.stack(columns, axis=1) if columns else table.labels
        sensitive = table.sensitive
        if kind.sensitive_axis is not None:
            before, after = (data.domain.axis(kind.sensitive_axis) for data in (released, original))
            sensitive = _recoded(sensitive, before, after, _value_names)
        tables.append(VertexTable(table.parent, labels, sensitive))
    return replace(released, domain=original.domain, tables=tuple(tables))


def _recoded(codes: NDArray[np.int64], own: Any, other: Any, names: Any) -> NDArray[np.int64]:
    """Replace the codes of one axis by those of another; -1 stays."""
    if own == other:
        return codes
    known = {name: code for code, name in enumerate(names(other))}
    missing = -2
    table = np.array([*(known.get(name, missing) for name in names(own)), -1], np.int64)
    recoded = table[codes]
    if np.any(recoded == missing):
        msg = (
            "the release has labels or values that the domain of the original does not have; "
            "read the original with the schema of the release"
        )
        raise ParameterError(msg)
    return recoded


def _label_names(axis: Any) -> Sequence[str]:
    return Hierarchy.from_axis(axis).names


def _value_names(axis: Any) -> Sequence[str]:
    return [str(value) for value in axis.values]
