"""Every kind of data there is: one row each, and a module of its name in each layer.

Rows are texts, so that lists and help texts cost nothing. What a layer knows of a kind is imported when it is asked
for: its class from `hedgerow.data`, how it is read and written from `hedgerow.io`, what is measured of it from
`hedgerow.measures`, its charts from `hedgerow.report` and its test cases from `hedgerow.testing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from hedgerow.errors import ParameterError

__all__ = ["KINDS", "OUTPUT_ONLY_KINDS", "Kind", "Layer", "differs_by_change", "find_kind", "find_output_kind"]

Layer: TypeAlias = Literal["data", "io", "measures", "report", "testing"]


class Kind(NamedTuple):
    """One kind of data: its name, its class and what it is, in a few words.

    Units in `changed` are always there: between neighbours one of them is another, and none is left out.
    """

    name: str
    type_name: str
    summary: str
    changed: tuple[str, ...] = ()

    def module(self, layer: Layer) -> Any:
        """Import what a layer knows of this kind.

        Examples
        --------
        >>> find_kind("sets").module("data").__name__
        'hedgerow.data.sets'
        """
        return import_module(f"hedgerow.{layer}.{self.name}")

    @property
    def type(self) -> Any:
        """The class of data sets of this kind."""
        return getattr(self.module("data"), self.type_name)


def _table(*rows: Kind) -> dict[str, Kind]:
    return {row.name: row for row in rows}


KINDS: dict[str, Kind] = _table(
    Kind("sets", "Sets", "records that are sets of items: baskets, diagnoses"),
    Kind("sequences", "Sequences", "records that are items in order: click paths, events"),
    Kind("trajectories", "Trajectories", "records of visits to places at times, with what is sensitive beside them"),
)

#: what is published beside data of a kind, and is never private data itself; it has `data` and `io` only
OUTPUT_ONLY_KINDS: dict[str, Kind] = _table(
    Kind("ngrams", "NGrams", "noisy counts of items in a row, beside sequences"),
)


def find_kind(name: str) -> Kind:
    """Return the kind of private data of this name.

    Examples
    --------
    >>> find_kind("sets").type_name
    'Sets'
    """
    if name not in KINDS:
        msg = f"there is no kind {name!r} of data; there are: {', '.join(KINDS)}"
        raise ParameterError(msg)
    return KINDS[name]


def find_output_kind(name: str) -> Kind:
    """Return the kind of this name, also one that is only published beside data."""
    return OUTPUT_ONLY_KINDS.get(name) or find_kind(name)


def differs_by_change(unit: str) -> bool:
    """Whether neighbours differ by a change of this unit, and not by leaving one out."""
    return any(unit in row.changed for row in KINDS.values())
