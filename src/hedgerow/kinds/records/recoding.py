"""A release with the codes of the original, so that the two can be compared: all is matched by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hedgerow.data.axis import Axis
from hedgerow.errors import ParameterError
from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.query_sources import original_schema
from hedgerow.numerics.arrays import Integers

_OTHER_SCHEMA = "the release and the original have different schemas; read the original with the schema of the release"


def recode_records(released: Records, original: Records) -> Records:
    """Return the release with the domain of the original: labels and sensitive values are matched by their names.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
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
        raise ParameterError(_OTHER_SCHEMA)
    return _with_axes(released, dict(original.domain.axes))


def recode_parts(parts: Mapping[str, Records], original: Records) -> dict[str, Records]:
    """Return the two parts of an anatomised release with the axes of the original, where it has them."""
    if original_schema(parts[QUASI].schema, parts[SENSITIVE].schema).axes != original.schema.axes:
        raise ParameterError(_OTHER_SCHEMA)
    return {name: _with_axes(part, dict(original.domain.axes)) for name, part in parts.items()}


def _with_axes(data: Records, axes: Mapping[str, Axis]) -> Records:
    """Replace the axes of data by others of the same names, and all codes with them."""
    tables: list[VertexTable] = []
    new = {name: axes.get(name, axis) for name, axis in data.domain.axes}
    new |= {name: axes[name] for name in data.schema.axes if name in axes}
    for kind, table in zip(data.schema.types, data.tables, strict=True):
        columns = [
            _recoded(labels, data.domain.axis(axis), new[axis], _label_names)
            for axis, labels in zip(kind.quasi_axes, table.labels.T, strict=True)
        ]
        labels = np.stack(columns, axis=1) if columns else table.labels
        sensitive = table.sensitive
        if kind.sensitive_axis is not None:
            sensitive = _recoded(
                sensitive, data.domain.axis(kind.sensitive_axis), new[kind.sensitive_axis], _value_names
            )
        tables.append(VertexTable(table.parent, labels, sensitive))
    return replace(data, domain=replace(data.domain, axes=tuple(new.items())), tables=tuple(tables))


def _recoded(codes: Integers, own: Axis, other: Axis, names: Callable[[Axis], Sequence[str]]) -> Integers:
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


def _label_names(axis: Axis) -> Sequence[str]:
    return Hierarchy.from_axis(axis).names


def _value_names(axis: Axis) -> Sequence[str]:
    return [str(value) for value in axis.values]
