"""One way to read: a file, a table or plain lists in, a data set out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from hedgerow.data import (
    Dataset,
    Domain,
    Lists,
    NGrams,
    Sequences,
    Sets,
    Source,
    Trajectories,
    Value,
)
from hedgerow.errors import ParameterError, ReadError
from hedgerow.io import lists, ngrams, trajectories
from hedgerow.io.cells import lists_of
from hedgerow.io.files import MOST_BYTES, Ending, ending_of, read_bytes
from hedgerow.io.long import Long, Wanted
from hedgerow.io.options import choice, whole
from hedgerow.io.rows import Laid
from hedgerow.io.tables import as_table, long_from

__all__ = [
    "BESIDE",
    "COMMON_OPTIONS",
    "FORMATS",
    "KINDS",
    "Format",
    "Kind",
    "any_kind",
    "find_kind",
    "format_of",
    "read",
]


class Format(Protocol):
    """How a file is laid out: a module with these three."""

    def read(self, where: str, content: bytes, wanted: Wanted, most: int) -> Long:
        """Turn bytes into a long table; what it unfolds may take `most` bytes."""
        ...

    def check(self, values: Sequence[Value]) -> None:
        """Refuse values that cannot be written."""
        ...

    def write(self, rows: Laid, columns: Mapping[str, str]) -> bytes:
        """Turn rows into bytes."""
        ...


class Kind(NamedTuple):
    """How a kind of data is made of a long table, and laid out again.

    `written` are the roles of the columns that are written; `further` names more of them by the
    reading options, and `again` says with which reading options what was written is read.
    """

    data: type[Dataset]
    wanted: Wanted
    written: tuple[str, ...]
    options: Mapping[str, str]
    further: Callable[[Mapping[str, str]], tuple[str, ...]]
    again: Callable[[Any], dict[str, str]]
    make: Callable[[Long, Domain | None, Source, Mapping[str, str]], Dataset]
    rows: Callable[[Any], Laid]
    #: the only layout it is written in
    format: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles a column may have."""
        return (*self.wanted.needed, *self.wanted.optional)


def _no_further(options: Mapping[str, str]) -> tuple[str, ...]:
    del options
    return ()


def _nothing_more(data: Any) -> dict[str, str]:
    del data
    return {}


def _lists(data: type[Lists]) -> Kind:
    return Kind(
        data=data,
        wanted=lists.wanted(data.kind),
        written=("unit", "item"),
        options=lists.OPTIONS,
        further=_no_further,
        again=_nothing_more,
        make=partial(lists.lists_from, data),
        rows=lists.rows_of,
    )


KINDS: dict[str, Kind] = {
    "sets": _lists(Sets),
    "sequences": _lists(Sequences),
    "trajectories": Kind(
        data=Trajectories,
        wanted=trajectories.WANTED,
        written=("unit", "time", "place"),
        options=trajectories.OPTIONS,
        further=trajectories.trait_columns,
        again=trajectories.again,
        make=trajectories.trajectories_from,
        rows=trajectories.rows_of,
    ),
}

#: what is written beside data, and never private data itself
BESIDE: dict[str, Kind] = {
    "ngrams": Kind(
        data=NGrams,
        wanted=ngrams.WANTED,
        written=("item", "ends", "count"),
        options={},
        further=_no_further,
        again=_nothing_more,
        make=ngrams.ngrams_from,
        rows=ngrams.rows_of,
        format="parquet",
    ),
}

#: every layout, the endings that mean it first
FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lines": ("hedgerow.io.lines", ("dat", "txt", "seq")),
    "spmf": ("hedgerow.io.spmf", ("spmf",)),
    "csv": ("hedgerow.io.delimited", ("csv",)),
    "jsonl": ("hedgerow.io.jsonl", ("jsonl", "ndjson")),
    "parquet": ("hedgerow.io.parquet", ("parquet",)),
}

COMMON_OPTIONS = {
    "on_bad": "a record that cannot be read, for whatever reason: error, or drop the record",
    "skip_lines": "how many lines stand before the first record, or the header, of a text file",
    "most_bytes": "how large a compressed file may grow",
}
_NOTHING: Mapping[str, str] = MappingProxyType({})


def any_kind(kind: str) -> Kind:
    """Return how a kind is read, also one that is only written beside data."""
    return BESIDE.get(kind) or find_kind(kind)


def find_kind(kind: str) -> Kind:
    """Return how a kind is read."""
    if kind not in KINDS:
        msg = f"there is no kind {kind!r} of data; there are: {', '.join(KINDS)}"
        raise ParameterError(msg)
    return KINDS[kind]


def format_of(name: str | None, ending: Ending) -> tuple[str, Format]:
    """Find the layout that was asked for, or that the ending means."""
    if name is None:
        found = [held for held, (_, endings) in FORMATS.items() if ending.form in endings]
        if not found:
            msg = (
                f"a file that ends in {'.' + str(ending) if str(ending) else 'nothing'} may be "
                f"anything; say its format: {', '.join(FORMATS)}"
            )
            raise ParameterError(msg)
        name = found[0]
    if name not in FORMATS:
        msg = f"there is no format {name!r}; there are: {', '.join(FORMATS)}"
        raise ParameterError(msg)
    return name, cast("Format", import_module(FORMATS[name][0]))


def read(
    source: Any,
    *,
    kind: str,
    domain: Domain | None = None,
    assert_public_domain: bool = False,
    records_per_person: int | None = None,
    format: str | None = None,  # noqa: A002 - the word of the command line
    columns: Mapping[str, str] = _NOTHING,
    options: Mapping[str, str] = _NOTHING,
) -> Any:
    """Read private data.

    Parameters
    ----------
    source
        The path of a file; or a polars, pandas or Arrow table; or a list of records.
    kind
        What the data is: `sets`, `sequences` or `trajectories`.
    domain
        Public knowledge. Without it the values seen are taken and the domain is marked as inferred,
        which a differentially private method refuses, unless `assert_public_domain` says
        that what the data shows is public.
    records_per_person
        The declared maximum of records a person may own, for unit `person`; it may also stand in
        the domain.
    format
        The layout of a file, if its ending does not tell.
    columns
        The name of the column of each role, where it is not the role's own.
    options
        The reading options of the kind, as texts.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"basket": [1, 1, 2], "item": ["tea", "milk", "tea"]})
    >>> data = read(table, kind="sets", columns={"unit": "basket"})
    >>> data.domain.values("item"), data.domain.source.value
    (('milk', 'tea'), 'inferred from the data')
    """
    held = any_kind(kind)
    long = _long(source, _wanted(held, columns, options), format, options)
    seen = Source.ASSERTED if assert_public_domain else Source.INFERRED
    data = held.make(long, domain, seen, options)
    if records_per_person is None:
        return data
    return replace(data, domain=data.domain.with_records_per_person(records_per_person))


def _wanted(kind: Kind, columns: Mapping[str, str], options: Mapping[str, str]) -> Wanted:
    """What is read: the column of every role, further columns, and how bad records are met."""
    _require_names("reading option", options, {**kind.options, **COMMON_OPTIONS})
    _require_names("column", columns, kind.roles)
    names = {role: columns.get(role, role) for role in kind.roles}
    if len(set(names.values())) < len(names):
        msg = "one column cannot have two roles; name another one"
        raise ParameterError(msg)
    further = kind.further(options)
    for name in further:
        if name in names.values() or name in kind.roles:
            msg = f"the column {name!r} says who, where or when; it cannot be sensitive or carried"
            raise ParameterError(msg)
    return kind.wanted._replace(
        columns=names,
        further=further,
        named=frozenset(columns),
        drop=choice(options, "on_bad", "error", "drop") == "drop",
        skip=whole(options, "skip_lines", "lines") or 0,
    )


def _long(source: Any, wanted: Wanted, form: str | None, options: Mapping[str, str]) -> Long:
    if isinstance(source, (str, PathLike)):
        path = Path(cast("str", source))
        _, layout = format_of(form, ending_of(path))
        most = whole(options, "most_bytes", "bytes")
        content = read_bytes(path, most=most)
        return layout.read(str(path), content, wanted, most or MOST_BYTES)
    table = as_table(source, wanted)
    if table is not None:
        line = np.arange(1, len(table.frame) + 1)
        return long_from("the table", table.frame, wanted, line, table.unreadable)
    if isinstance(source, (list, tuple)):
        return _from_lists(cast("list[Any]", source), wanted)
    msg = f"read takes a path, a table or a list of records; got {type(source).__name__}"
    raise ReadError(msg)


def _from_lists(records: list[Any], wanted: Wanted) -> Long:
    """Read plain lists by way of a table with a list column."""
    import polars as pl  # noqa: PLC0415 - as everywhere in this package, but the name is used here only

    role = wanted.role_in_lines("the list")
    frame = pl.DataFrame({wanted.columns[role]: lists_of(records)})
    return long_from("the list", frame, wanted, np.arange(1, len(frame) + 1))


def _require_names(what: str, given: Mapping[str, str], known: Any) -> None:
    for name in given:
        if name not in known:
            msg = f"there is no {what} {name!r}; there are: {', '.join(known)}"
            raise ParameterError(msg)
