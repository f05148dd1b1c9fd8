"""The registry of kinds of data: one row per kind, and one folder, `hedgerow.kinds.<kind>`.

Rows are texts, so that lists and help texts import nothing. The modules of a kind have the same names in each folder,
and are imported on demand: `data` has its class, `files` how it is read and written, `measures` what is measured of it,
`charts` what is drawn of it, and `cases` its test cases. A kind may also have `attacks`, `query`, which counts what
matches conditions, and `known_attacks`: what a statement says about methods that promise nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

from hedgerow.errors import ParameterError

Part: TypeAlias = Literal[
    "data",
    "files",
    "measures",
    "charts",
    "cases",
    "attacks",
    "answers",
    "query",
    "schema_draft",
    "known_attacks",
    "merged_weights",
]


class Kind(NamedTuple):
    """One kind of data: its name, its class and a short description.

    Neighbouring data sets differ by one unit, which is added or removed; units in `changed` are always present, and
    neighbours differ by the content of one of them. Units in `stepped` are such numbers that differ by one step only.
    `folder` is where its modules are, if it is not named after the kind.
    """

    name: str
    type_name: str
    summary: str
    changed: tuple[str, ...] = ()
    stepped: tuple[str, ...] = ()
    folder: str = ""

    def module(self, part: Part) -> Any:
        """Import a module of this kind.

        Examples
        --------
        >>> find_kind("sets").module("data").__name__
        'hedgerow.kinds.sets.data'
        """
        return import_module(f"hedgerow.kinds.{self.folder or self.name}.{part}")

    def has(self, part: Part) -> bool:
        """Whether this kind has such a module; every kind has all but `attacks`.

        Examples
        --------
        >>> find_kind("matrices").has("attacks"), find_kind("sets").has("attacks")
        (True, False)
        """
        return find_spec(f"hedgerow.kinds.{self.folder or self.name}.{part}") is not None

    @property
    def type(self) -> Any:
        """The class of data sets of this kind."""
        return getattr(self.module("data"), self.type_name)


def _table(*rows: Kind) -> dict[str, Kind]:
    return {row.name: row for row in rows}


KINDS: dict[str, Kind] = _table(
    Kind("sets", "Sets", "records that are sets of items: baskets, diagnoses"),
    Kind("sequences", "Sequences", "records that are items in order: click paths, events"),
    Kind("trajectories", "Trajectories", "records of visits to places at times, with sensitive attributes"),
    Kind("graphs", "Graph", "who is linked to whom: a network on public vertices, also with weights or directions"),
    Kind("records", "Records", "nested records: one tree per person, as JSON, XML or joined tables"),
    Kind(
        "matrices",
        "Matrix",
        "tables of numbers: one row per person, one column per measurement",
        changed=("cell", "count"),
        stepped=("count",),
    ),
    Kind("streams", "Stream", "events in order, each a bit or a number, from a file or a pipe", changed=("event",)),
)
#: kinds that are only published, in addition to other data, and never private; they have `data` and `files` only
OUTPUT_ONLY_KINDS: dict[str, Kind] = _table(
    Kind("ngrams", "NGrams", "noisy counts of n-grams, published with sequences", folder="sequences.ngrams"),
)


def find_kind(name: str) -> Kind:
    """Return the kind of private data with this name.

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
    """Return the kind with this name, also one that is only published."""
    return OUTPUT_ONLY_KINDS.get(name) or find_kind(name)


def differs_by_change(unit: str) -> bool:
    """Whether neighbours differ by changing one of these units, not by adding or removing one."""
    return any(unit in row.changed for row in KINDS.values())


def differs_by_step(unit: str) -> bool:
    """Whether neighbours differ by one step of one of these units, such as a count that a person is in or not."""
    return any(unit in row.stepped for row in KINDS.values())
