"""What promises must come to, as far as schema and domain tell: said before records are read where they are declared.

The data may have no records, and a domain without the axes that are not declared: then only what is declared is judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction

from hedgerow.data import Axis, Source
from hedgerow.errors import DomainError
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.schema import RecordSchema, VertexType

#: a decimal this far below a multiple of 1/l is likely to be meant as that
_NEAR = Fraction(5, 1_000)


def foresee_diversity(data: Records, l: int) -> None:  # noqa: E741 - the letter of the paper
    """Refuse l-diversity without sensitive values, and say where too few are declared."""
    axes = dict(data.domain.axes)
    if not any(kind.sensitive for kind in data.schema.types):
        msg = "the schema has no sensitive field, and l-diversity is about them; declare one, or promise k-anonymity"
        raise DomainError(msg)
    sensitive = [kind for kind in data.schema.types if kind.sensitive]
    counts = {kind: _count_apart(axes[name]) for kind in sensitive if (name := kind.sensitive_axis or "") in axes}
    few = {kind: count for kind, count in counts.items() if count < l}
    for kind, count in few.items():
        has = f"{kind.sensitive_axis!r} has {count} values or buckets that differ, fewer than l = {l:,}"
        if kind.parent is None or len(few) == len(sensitive):
            what = "record" if kind.parent is None else "sensitive value"
            msg = f"{has}, so no {what} can be published; take a smaller l, or drop the field"
            raise DomainError(msg)
        _warn(f"{has}: every {kind.name} with such a value will be left out")


def foresee_rules(
    data: Records,
    rules: Sequence[Rule],
    l: int | None,  # noqa: E741 - the letter of the paper
    *,
    read: bool,
) -> None:
    """Refuse rules about an attribute or a value that there is not; warn about those that do nothing, or leave nothing.

    Parameters
    ----------
    l
        That of l-diversity, if it is promised beside them.
    read
        Whether the records are read, so that all values are known.
    """
    axes = dict(data.domain.axes)
    sensitive = {kind.sensitive_axis: kind for kind in data.schema.types if kind.sensitive_axis}
    for rule in rules:
        if rule.attribute not in sensitive:
            listed = ", ".join(map(str, sensitive)) or "none"
            msg = f"{rule.where} names {rule.attribute!r}, which is not a sensitive field; there are: {listed}"
            raise DomainError(msg)
        axis = axes.get(rule.attribute)
        # before reading, of numbers in buckets only the buckets are known
        if axis is not None and (read or not axis.paths):
            _require_values(rule, axis, declared=data.domain.source is not Source.INFERRED)
        most = 1 if _at_most_one(sensitive[rule.attribute], data.schema) else None
        _warn_about(rule, l, most)


def _require_values(rule: Rule, axis: Axis, *, declared: bool) -> None:
    known = {str(value) for value in axis.values} | {path[0] for path in axis.paths if path}
    for value in rule.values:
        if value not in known:
            remedy = "correct it" if declared else "correct it, or declare the values in the schema"
            what = "is not a value or a bucket of" if declared else "is no value that occurs of"
            msg = f"{rule.where} names {value!r}, which {what} {rule.attribute!r}; {remedy}"
            raise DomainError(msg)


def _warn_about(rule: Rule, l: int | None, most: int | None) -> None:  # noqa: E741 - the letter of the paper
    """Warn about a rule that cannot bind, and about one that leaves no room."""
    if rule.p == 1:
        _warn(f"{rule.where} does nothing: p = 1 allows everything")
    elif most is not None and rule.m > most:
        _warn(
            f"{rule.where} does nothing: no record has {rule.m:,} vertices with {rule.attribute!r}, but {most} at most"
        )
    elif l is not None and rule.p * l < 1:
        leaves = (
            "its values cannot be published in groups of l records"
            if rule.m == 1
            else f"published tree by tree, no record in a group of l records may have {rule.m:,} of its values"
        )
        _warn(f"{rule.where}: p = {rule.p} is less than 1/l = 1/{l}, so {leaves}{_or_meant(rule, l)}")
    elif l is not None and _or_meant(rule, l):
        _warn(f"{rule.where}: p = {rule.p} is just below a multiple of 1/l = 1/{l}{_or_meant(rule, l)}")


def _or_meant(rule: Rule, l: int) -> str:  # noqa: E741 - the letter of the paper
    """Suggest the fraction that a decimal may stand for.

    Examples
    --------
    >>> _or_meant(Rule("visit.diagnosis", (), 2, Fraction(33, 100)), 3)
    '; if 1/3 is meant, write p = "1/3"'
    """
    above = Fraction(-(-rule.p * l // 1), l)
    is_decimal = 1_000_000 % rule.p.denominator == 0
    if not is_decimal or not 0 < above - rule.p < _NEAR:
        return ""
    return f'; if {above} is meant, write p = "{above}"'


def _count_apart(axis: Axis) -> int:
    """Count the values that count as different: those of one declared bucket do not."""
    if not axis.paths:
        return len(axis)
    return len({path[0] if path else str(value) for value, path in zip(axis.values, axis.paths, strict=True)})


def _at_most_one(kind: VertexType, schema: RecordSchema) -> bool:
    """Whether a record has one vertex of this type at most: the schema has no list on the way to it."""
    while kind.parent is not None:
        if not kind.path or "[" in kind.path or kind.key or kind.parent_key:
            return False
        kind = schema.types[schema.numbers[kind.parent]]
    return True


def _warn(text: str) -> None:
    # from one place, so that what is said before reading is not said again after it
    warnings.warn(text, stacklevel=1)
