"""Read private data: a file, a table or plain lists in, a data set out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

from hedgerow.data import Domain, Source
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.codec import AnyCodec, codec_of
from hedgerow.formats.files import ending_of
from hedgerow.formats.options import COMMON_OPTIONS, read_whole_number
from hedgerow.kind_registry import find_output_kind

if TYPE_CHECKING:  # which classes there are is known to a type checker only: a kind is imported when it is read
    from hedgerow.kinds.graphs.data import Graph
    from hedgerow.kinds.matrices.data import Matrix
    from hedgerow.kinds.records.data import Records
    from hedgerow.kinds.sequences.data import Sequences
    from hedgerow.kinds.sets.data import Sets
    from hedgerow.kinds.streams.data import Stream
    from hedgerow.kinds.trajectories.data import Trajectories

_NOTHING: Mapping[str, str] = MappingProxyType({})


class ReadArguments(TypedDict, total=False):
    """The arguments of `read` other than the source and its kind."""

    domain: Domain | None
    assert_public_domain: bool
    records_per_person: int | None
    format: str | None
    columns: Mapping[str, str]
    options: Mapping[str, str]


@overload
def read(source: Any, *, kind: Literal["sets"], **arguments: Unpack[ReadArguments]) -> Sets: ...


@overload
def read(source: Any, *, kind: Literal["sequences"], **arguments: Unpack[ReadArguments]) -> Sequences: ...


@overload
def read(source: Any, *, kind: Literal["trajectories"], **arguments: Unpack[ReadArguments]) -> Trajectories: ...


@overload
def read(source: Any, *, kind: Literal["graphs"], **arguments: Unpack[ReadArguments]) -> Graph: ...


@overload
def read(source: Any, *, kind: Literal["records"], **arguments: Unpack[ReadArguments]) -> Records: ...


@overload
def read(source: Any, *, kind: Literal["matrices"], **arguments: Unpack[ReadArguments]) -> Matrix: ...


@overload
def read(source: Any, *, kind: Literal["streams"], **arguments: Unpack[ReadArguments]) -> Stream: ...


@overload
def read(source: Any, *, kind: str, **arguments: Unpack[ReadArguments]) -> Any: ...


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
        The path of a file; or a polars, pandas or Arrow table; or a list of records. A graph may also be a networkx
        graph, a sparse adjacency matrix, or an array with two columns; a matrix may be an array of numbers; a stream
        may be a pipe, standard input by the name `-`, an array or an iterator.
    kind
        What the data is: the name of a kind, such as `sets`, `sequences`, `trajectories`, `graphs`,
        `records`, `matrices` or `streams`.
    domain
        Public knowledge. Without it the domain is inferred from the values in the data and marked as inferred, which
        differentially private methods refuse, unless `assert_public_domain` declares that these values are public.
    records_per_person
        The declared maximum of records per person, for unit `person`; the domain may declare it instead.
    format
        The format of a file, if its ending does not tell.
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
    codec = codec_of(kind)
    if records_per_person is not None and "person" not in find_output_kind(kind).type.units:
        msg = f"{kind} have no unit 'person'; omit --records-per-person"
        raise ParameterError(msg)
    _require_names("reading option", options, {**codec.options, **COMMON_OPTIONS})
    _require_names("column role", columns, codec.columns)
    drops_bad = options.get("on_bad") == "drop"
    if drops_bad:
        _require_removable(kind)
    content = _content(source, codec, codec.request(columns, options), format, options)
    data = codec.make(content, domain, Source.ASSERTED if assert_public_domain else Source.INFERRED, options)
    data = replace(data, drops_bad=drops_bad)
    if records_per_person is None:
        return data
    return replace(data, domain=data.domain.with_records_per_person(records_per_person))


def _require_removable(kind: str) -> None:
    """Refuse to drop units of a kind whose units are all changed, and never left out."""
    row = find_output_kind(kind)
    if row.changed and set(row.type.units) <= set(row.changed):
        unit = row.type.units[0]
        msg = (
            f"an {unit} of {kind} cannot be dropped: how many there are is public, and all after it would have other "
            "numbers; put a number in its place with on_bad=NUMBER"
        )
        raise ParameterError(msg)


def _content(source: Any, codec: AnyCodec, request: Any, form: str | None, options: Mapping[str, str]) -> Any:
    """Return what a format reads from a file, or the codec from memory."""
    if isinstance(source, (str, PathLike)):
        name = os.fspath(cast("str | PathLike[str]", source))
        layout = codec.formats[codec.format_name(form, ending_of(Path(name)))]
        return layout.read_file(name, request, read_whole_number(options, "most_bytes", "bytes"))
    content = codec.from_memory(source, request)
    if content is None:
        msg = f"read takes a path, a table or a list of records; got {type(source).__name__}"
        raise ReadError(msg)
    return content


def _require_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            msg = f"there is no {what} {name!r}; choose one of: {', '.join(known)}"
            raise ParameterError(msg)
