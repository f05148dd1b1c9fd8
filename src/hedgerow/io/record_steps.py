"""Places in documents of nested records: keys joined by dots, some of them lists.

`courses[]` is a list: all of its elements if it is the last step of a type, and else its only element.
`entry[resource.resourceType=Patient]` are the elements of a list that have this text there, so that one list can have
vertices of several types; beside it `entry[]` means all other elements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from hedgerow.io.record_values import text_of_field

__all__ = ["Step", "split_place", "text_at", "text_at_place"]

#: what closes a namespace or a condition, in which dots do not end a step
_CLOSING = {"{": "}", "[": "]"}
_LIST = re.compile(r"(?P<name>[^\[\]]+)\[(?:(?P<where>[^\[\]=]+)=(?P<wanted>[^\[\]]+))?\]")


class Step(NamedTuple):
    """One step of a place: a key, whether it is a list, and the condition of the elements that are meant."""

    name: str
    listed: bool = False
    where: tuple[str, ...] = ()
    wanted: str = ""

    def __str__(self) -> str:
        """The step as a schema file has it."""
        condition = f"{'.'.join(self.where)}={self.wanted}" if self.where else ""
        return f"{self.name}[{condition}]" if self.listed else self.name

    def matches(self, element: Any) -> bool:
        """Whether an element of the list is meant."""
        return not self.where or text_at(element, self.where) == self.wanted

    def into(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the object at this step of a document, a new one if it has none."""
        if not self.listed:
            return document.setdefault(self.name, {})
        elements: list[dict[str, Any]] = document.setdefault(self.name, [])
        for element in elements:
            if self.matches(element):
                return element
        return self.append({}, document)

    def append(self, element: Any, document: dict[str, Any]) -> Any:
        """Add an element to the list of a document; it gets the text that tells it from others."""
        if self.where:
            inner: dict[str, Any] = element
            for step in self.where[:-1]:
                inner = inner.setdefault(step, {})
            inner[self.where[-1]] = self.wanted
        document.setdefault(self.name, []).append(element)
        return element


def text_at(element: Any, keys: Sequence[str]) -> str | None:
    """Return the text at some keys of an element, each within the one before; None if there is none."""
    for key in keys:
        element = _only(element)
        element = cast("dict[str, Any]", element).get(key) if isinstance(element, dict) else None
    try:
        return text_of_field(_only(element))
    except (TypeError, ValueError):
        return None


def text_at_place(document: Any, place: str) -> str | None:
    """Return the text at a place of a document; None if there is none, or if there are several."""
    for step in split_place(place):
        document = _only(document)
        document = cast("dict[str, Any]", document).get(step.name) if isinstance(document, dict) else None
        if step.listed and isinstance(document, list):
            document = [element for element in cast("list[Any]", document) if step.matches(element)]
    return text_at(document, ())


def _only(value: Any) -> Any:
    """What a list of one element contains, since every element of XML is a list."""
    values = cast("list[Any]", value if isinstance(value, list) else [value])
    return values[0] if len(values) == 1 else values


def split_place(place: str) -> list[Step]:
    """Split a place into its steps.

    Examples
    --------
    >>> [str(step) for step in split_place("address.{urn:a.b}city")]
    ['address', '{urn:a.b}city']
    >>> split_place("entry[resource.type=Patient].name[]")[0]
    Step(name='entry', listed=True, where=('resource', 'type'), wanted='Patient')
    """
    starts, inside = [0], ""
    for position, sign in enumerate(place):
        if inside:
            inside = "" if sign == inside else inside
        elif sign == ".":
            starts.append(position + 1)
        else:
            inside = _CLOSING.get(sign, "")
    return [_step(place[start : end - 1]) for start, end in pairwise([*starts, len(place) + 1])]


def _step(text: str) -> Step:
    parsed = _LIST.fullmatch(text)
    if parsed is None:
        return Step(text)  # a key may have any name
    where = tuple(parsed["where"].split(".")) if parsed["where"] else ()
    return Step(parsed["name"], listed=True, where=where, wanted=parsed["wanted"] or "")
