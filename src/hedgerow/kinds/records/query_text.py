"""Queries as people write them: `course.grade in (A, "B+")`, `student.born in [1990, 1995)`, `course#2.id = CS301`.

Errors quote what was typed, and list what the schema and its domain declare: never what data has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow.data import Axis
from hedgerow.data.number_axis import read_exact
from hedgerow.errors import ParameterError
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.kinds.records.tree_pattern import ANYTHING, Asked, Named, Pattern, build_pattern
from hedgerow.numerics.arrays import Flags

#: what is counted unless a type is named
RECORD = "record"
#: the most vertices of one type: what is kept of them grows with the families of their sets
_MOST_OF_A_TYPE = 4
#: names that an error lists
_LISTED = 12
_SHAPE = 'TYPE.field in (a, b), TYPE.field in [low, high) or TYPE.field = a, such as "course.grade in (A, B)"'
_OPERATOR = re.compile(r"\s*(?:=\s*(?P<one>.*\S)|in\s*(?P<open>[(\[])(?P<inner>.*)(?P<close>[)\]]))\s*", re.DOTALL)
#: one value: in quotes, doubled inside, or anything without a comma
_VALUE = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|([^,"']*[^,]*))\s*(,|$)""", re.DOTALL)


class Vocabulary(NamedTuple):
    """What a query may name: the types, the axis of each attribute, and whether sensitive values are public."""

    schema: RecordSchema
    axes: Mapping[str, Axis]
    public: bool


class _Range(NamedTuple):
    low: Fraction | None
    high: Fraction | None
    with_low: bool
    with_high: bool

    def has(self, number: Fraction) -> bool:
        above = self.low is None or number > self.low or (self.with_low and number == self.low)
        return above and (self.high is None or number < self.high or (self.with_high and number == self.high))


def parse_query(where: Iterable[str], count: str, words: Vocabulary) -> Pattern:
    """Read conditions, and what is counted.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of, SCHEMA
    >>> domain = records_of([]).domain
    >>> words = Vocabulary(SCHEMA, dict(domain.axes), public=True)
    >>> asked = ["course.id = CS", "course.grade in (A, B)", "student.born in [1990, 1992)"]
    >>> pattern = parse_query(asked, "record", words)
    >>> [node.asked.values.tolist() if node.asked.values is not None else None for node in pattern.nodes]
    [None, [True, True, False, False]]
    >>> pattern.nodes[1].asked.labels[0].tolist(), pattern.nodes[0].asked.labels[1].tolist()
    ([True, True, True, False], [True, True, False, False])
    """
    named: dict[Named, Asked] = {}
    for text in where:
        name, asked = _parse_condition(text, words)
        named[name] = named.get(name, ANYTHING).and_also(asked)
    counted = (0, 1) if count.strip() == RECORD else _find_type(count.strip(), words)
    return build_pattern(words.schema, named, counted)


def _find_type(text: str, words: Vocabulary) -> Named:
    """Read `course`, or `course#2`."""
    name, sign, number = text.partition("#") if text not in words.schema.numbers else (text, "", "")
    if name not in words.schema.numbers:
        msg = f"there is no type {name!r} to count; there are: {_list([RECORD, *words.schema.numbers])}"
        raise ParameterError(msg)
    return words.schema.numbers[name], _read_number(name, number, words) if sign else 1


def _read_number(name: str, text: str, words: Vocabulary) -> int:
    if not re.fullmatch(rf"[1-{_MOST_OF_A_TYPE}]", text):
        msg = f"{name}#{text}: vertices of one type are numbered from 1 to {_MOST_OF_A_TYPE}"
        raise ParameterError(msg)
    if int(text) > 1 and words.schema.numbers[name] == 0:
        msg = f"{name}#{text}: a record has one {name}; ask all of {name}"
        raise ParameterError(msg)
    return int(text)


def _parse_condition(text: str, words: Vocabulary) -> tuple[Named, Asked]:
    name, kind, attribute, rest = _find_field(text, words)
    matched = _OPERATOR.fullmatch(rest)
    if matched is None:
        msg = f"{text!r} is not a condition; write {_SHAPE}"
        raise ParameterError(msg)
    if matched["one"] is not None:
        given: Sequence[str] | _Range = _split_values(text, matched["one"], most=1)
    elif (matched["open"], matched["close"]) == ("(", ")"):
        given = _split_values(text, matched["inner"])
    else:
        given = _read_range(text, matched["inner"], with_low=matched["open"] == "[", with_high=matched["close"] == "]")
    axis = words.axes[f"{kind.name}.{attribute}"]
    if attribute == kind.sensitive:
        return name, Asked(values=_find_values(kind, attribute, axis, given, public=words.public))
    return name, Asked({kind.quasi.index(attribute): _find_labels(kind, attribute, axis, given)})


def _find_field(text: str, words: Vocabulary) -> tuple[Named, VertexType, str, str]:
    """Split a condition into the vertex and the attribute that it is about, and the rest.

    Attributes may have any sign in their names, so that the longest name of the schema that fits is taken.
    """
    stripped = text.strip()
    best: tuple[Named, VertexType, str, str] | None = None
    for number, kind in enumerate(words.schema.types):
        begun = re.match(rf"{re.escape(kind.name)}(?:#(\w*))?\.", stripped)
        for attribute in kind.attributes if begun else ():
            rest = stripped[begun.end() :] if begun else ""
            if rest.startswith(attribute) and re.match(r"\s*(=|in\b)", rest[len(attribute) :]):
                which = 1 if begun is None or begun[1] is None else _read_number(kind.name, begun[1], words)
                candidate = (number, which), kind, attribute, rest[len(attribute) :]
                best = candidate if best is None or len(candidate[3]) < len(best[3]) else best
    if best is None:
        raise ParameterError(_explain_field(text, words))
    return best


def _explain_field(text: str, words: Vocabulary) -> str:
    """Say what is wrong with a condition that is about no attribute of the schema."""
    typed = re.match(r"\s*(?P<type>[^.#\s=]+)(?:#\w*)?\.(?P<field>.+?)\s*(=|\bin\b)", text)
    if typed is None:
        return f"{text!r} is not a condition; write {_SHAPE}"
    if typed["type"] not in words.schema.numbers:
        return f"there is no type {typed['type']!r}; there are: {_list(list(words.schema.numbers))}"
    kind = words.schema.types[words.schema.numbers[typed["type"]]]
    return f"type {kind.name!r} has no field {typed['field']!r}; it has: {_list(kind.attributes)}"


def _split_values(text: str, inner: str, most: int | None = None) -> list[str]:
    """Split values at commas; values with commas, quotes or blanks at an end stand in quotes."""
    if most == 1 and not inner.startswith(('"', "'")):
        return [inner.strip()]
    values: list[str] = []
    at, more = 0, True
    while more:
        matched = _VALUE.match(inner, at)
        if matched is None:
            break
        double, single, plain, end = matched.groups()
        value = double.replace('""', '"') if double is not None else single and single.replace("''", "'")
        value = plain.strip() if value is None else value
        if not value or (plain and plain.lstrip()[:1] in "\"'"):
            break
        values.append(value)
        at, more = matched.end(), end == ","
    if more or at < len(inner) or (most is not None and len(values) > most):
        msg = f"{text!r} does not list values separated by commas; put a value that has commas or quotes into quotes"
        raise ParameterError(msg)
    return values


def _read_range(text: str, inner: str, *, with_low: bool, with_high: bool) -> _Range:
    low, comma, high = (part.strip() for part in inner.partition(","))
    ends = [read_exact(end) if end else None for end in (low, high)]
    if not comma or any(end and number is None for end, number in zip((low, high), ends, strict=True)):
        msg = f"{text!r} does not give a range of numbers; write [low, high), where an end may be left out"
        raise ParameterError(msg)
    return _Range(ends[0], ends[1], with_low, with_high)


def _find_labels(kind: VertexType, attribute: str, axis: Axis, given: Sequence[str] | _Range) -> Flags:
    """The values of an axis that are asked for: by themselves, by groups of the hierarchy, or by a range."""
    if isinstance(given, _Range):
        return _in_range(kind, attribute, axis, given)
    tree = Hierarchy.from_axis(axis)
    wanted = np.zeros(len(axis), np.bool_)
    codes = {name: code for code, name in enumerate(tree.names)}
    for value in given:
        if value not in codes:
            groups = tree.names[tree.leaves : -1]
            known = f"{_list(tree.names[: tree.leaves])}{f', and groups: {_list(groups)}' if groups else ''}"
            msg = f"{kind.name}.{attribute} has no value {value!r} in its hierarchy; it has: {known}"
            raise ParameterError(msg)
        wanted |= (tree.ancestors[: tree.leaves] == codes[value]).any(axis=1)
    return wanted


def _find_values(kind: VertexType, attribute: str, axis: Axis, given: Sequence[str] | _Range, *, public: bool) -> Flags:
    """The sensitive values that are asked for: by themselves, by buckets, or by a range."""
    if isinstance(given, _Range):
        return _in_range(kind, attribute, axis, given)
    buckets = [path[0] if path else "" for path in axis.paths or ((),) * len(axis)]
    wanted = np.zeros(len(axis), np.bool_)
    for value in given:
        among = np.array([each == value for each in buckets])
        if value in axis.by_text:
            among[axis.by_text[value]] = True
        if not among.any():
            shown = [*map(str, axis.values)] if not any(buckets) else list(dict.fromkeys(filter(None, buckets)))
            known = f"; it has: {_list(shown)}" if public else "; the schema does not declare its values"
            msg = f"{kind.name}.{attribute} has no value {value!r}{known}"
            raise ParameterError(msg)
        wanted |= among
    return wanted


def _in_range(kind: VertexType, attribute: str, axis: Axis, given: _Range) -> Flags:
    numbers = [read_exact(value) for value in axis.values]
    if all(number is None for number in numbers):
        msg = f"the values of {kind.name}.{attribute} are not numbers; list them: {kind.name}.{attribute} in (a, b)"
        raise ParameterError(msg)
    return np.array([number is not None and given.has(number) for number in numbers])


def _list(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")
