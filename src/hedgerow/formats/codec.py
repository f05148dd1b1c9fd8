"""How data of a kind is read, written, and read again by a receiver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from hedgerow.data import Dataset, Domain, Source, Value
from hedgerow.errors import InternalError, ParameterError
from hedgerow.formats.files import MOST_BYTES, Ending, read_bytes
from hedgerow.kind_registry import find_output_kind
from hedgerow.statement import File

#: what a format must know to read; what it reads; the published data of a kind; and what a format writes of it
Request = TypeVar("Request")
Content = TypeVar("Content")
Published = TypeVar("Published")
Laid = TypeVar("Laid")
Request_contra = TypeVar("Request_contra", contravariant=True)
Content_co = TypeVar("Content_co", covariant=True)
Laid_contra = TypeVar("Laid_contra", contravariant=True)


def _opened_only(where: str, content: bytes, request: object, most: int) -> NoReturn:
    del content, request, most
    msg = f"{where} has a format whose files are opened, and not read at once"
    raise InternalError(msg)


def _any_values(values: Sequence[Value]) -> None:
    del values


@dataclass(frozen=True, eq=False, kw_only=True)
class Format(Generic[Request_contra, Content_co, Laid_contra]):
    """A file format of a kind: how its bytes are read and written, and how a statement describes it.

    Parameters
    ----------
    endings
        The file endings that mean it; files are written with the first one.
    layout
        A short description for receivers.
    read
        Reads the bytes of a file according to a request. Its arguments: the name of the file for messages, the bytes,
        the request, and the most bytes that they may take when unpacked further.
    open_file
        Instead of `read`: opens a file that may be longer than memory. Its arguments: the name of the file, the
        request, and the size it may unpack to.
    write
        Turns what `lay_out` of the codec returned into bytes, at once or part by part; the columns are named by role.
    check
        Refuses values of a domain that the format cannot write; by default it can write all.
    has_columns
        Whether it has columns with names.
    written_as
        The format that releases of such data have, if it is another one.
    libraries
        Those whose version decides which bytes the same data has.
    """

    endings: tuple[str, ...]
    layout: str
    write: Callable[[Laid_contra, Mapping[str, str]], bytes | Iterator[bytes]]
    read: Callable[[str, bytes, Request_contra, int], Content_co] = _opened_only
    open_file: Callable[[str, Request_contra, int | None], Content_co] | None = None
    check: Callable[[Sequence[Value]], None] = _any_values
    has_columns: bool = False
    written_as: str = ""
    libraries: tuple[str, ...] = ()

    def read_file(self, name: str, request: Request_contra, most: int | None) -> Content_co:
        """Read a file of this format, or open it."""
        if self.open_file is not None:
            return self.open_file(name, request, most)
        path = Path(name)
        return self.read(str(path), read_bytes(path, most=most), request, most or MOST_BYTES)


def _never(options: Mapping[str, str]) -> bool:
    del options
    return False


def _no_options(data: object, form: str) -> dict[str, str]:
    del data, form
    return {}


def _is_empty(options: Mapping[str, str]) -> bool:
    return not options


def _nothing_declared(options: Mapping[str, str]) -> None:
    del options


@dataclass(frozen=True, eq=False, kw_only=True)
class Codec(Generic[Request, Content, Published, Laid]):
    """How files of a kind are read and written; `hedgerow.kinds.<kind>.files.CODEC`.

    Format and codec work together. Reading: `request` of the codec, `read` of the format, `make` of the codec. Writing:
    `lay_out` of the codec, `write` of the format. What they hand to each other is up to the kind; the type checker sees
    that all formats of a codec agree with it. A kind that is a long table has its parts in
    `hedgerow.formats.long_table_codec`.

    Parameters
    ----------
    columns
        A short description of the column of each role; `written` are the roles that are written, and
        `sometimes_written` those that only some data has.
    written_columns
        The name of the column of each role that data has, in a format, given names for some; by default, of each of
        `written`.
    named_files
        The reading options whose value is the name of a file of the caller's.
    options
        A short description of each reading option, beyond those of all kinds.
    formats
        The formats that the kind can be read from and written to; the first one is the default for writing.
    request
        Turns the names of columns and the reading options into what a format must know to read.
    from_memory
        Turns a table or list from memory into what a format would have read, or returns None.
    make
        Makes data of what was read, over the domain; without one, over the values that occur, marked with the source.
    lay_out
        Lays published data out for a format to write.
    explain
        Describes for a receiver how a file is read, for the statement.
    order
        Describes for a receiver what the order of published data means, if need be by file.
    reread_options
        The reading options with which published data is read again from a format.
    accepts_reread
        Whether `reread_options` can return these options; a received folder may contain any.
    keeps_order
        Whether data that is read with these options is in the order of the original, which its owner chose to publish.
    expect
        Makes data without records of what the reading options declare, with the axes that are declared only: promises
        are judged by it before records are read. None if nothing is declared.
    in_parts
        Whether `write` of its formats yields bytes part by part, while data comes.
    """

    kind: str
    columns: Mapping[str, str]
    written: tuple[str, ...]
    options: Mapping[str, str]
    formats: Mapping[str, Format[Request, Content, Laid]]
    request: Callable[[Mapping[str, str], Mapping[str, str]], Request]
    from_memory: Callable[[Any, Request], Content | None]
    make: Callable[[Content, Domain | None, Source, Mapping[str, str]], Dataset]
    lay_out: Callable[[Published], Laid]
    explain: Callable[[File], str]
    order: str | Callable[[File], str] = (
        "Records have new numbers and are in an order that says nothing about the original."
    )
    sometimes_written: tuple[str, ...] = ()
    written_columns: Callable[[Published, str, Mapping[str, str]], dict[str, str]] | None = None
    named_files: tuple[str, ...] = ()
    reread_options: Callable[[Published, str], dict[str, str]] = _no_options
    accepts_reread: Callable[[Mapping[str, str]], bool] = _is_empty
    keeps_order: Callable[[Mapping[str, str]], bool] = _never
    expect: Callable[[Mapping[str, str]], Dataset | None] = _nothing_declared
    in_parts: bool = False

    def format_name(self, name: str | None, ending: Ending) -> str:
        """Return the format of this name; without a name, the one that the file ending means."""
        if name is None:
            for known, form in self.formats.items():
                if ending.form in form.endings:
                    return known
            name_ends = f"the ending .{ending} does" if str(ending) else "a file name without ending does"
            formats = ", ".join(self.formats)
            msg = f"{name_ends} not tell the format of {self.kind}; give one with --format: {formats}"
            raise ParameterError(msg)
        if name not in self.formats:
            msg = f"{self.kind} have no format {name!r}; choose one of: {', '.join(self.formats)}"
            raise ParameterError(msg)
        return name

    def name_columns(self, data: Published, form: str, names: Mapping[str, str]) -> dict[str, str]:
        """Return the name of the column of each role that data has, in a format, given names for some."""
        if self.written_columns is not None:
            return self.written_columns(data, form, names)
        return {role: names.get(role, role) for role in self.written}

    def can_write(self, roles: Collection[str]) -> bool:
        """Whether a file can have these roles."""
        return set(self.written) <= set(roles) <= {*self.written, *self.sometimes_written}

    def explain_order(self, file: File) -> str:
        """Describe for a receiver what the order of a file means."""
        return self.order if isinstance(self.order, str) else self.order(file)

    def write(self, data: Published, form: str, columns: Mapping[str, str]) -> bytes:
        """Write data in a format."""
        return b"".join(self.write_parts(data, form, columns))

    def write_parts(self, data: Published, form: str, columns: Mapping[str, str]) -> Iterator[bytes]:
        """Write data in a format, all at once or part by part."""
        written = self.formats[form].write(self.lay_out(data), columns)
        if isinstance(written, bytes):
            yield written
        else:
            yield from written


#: a codec of whichever kind: what it and its formats hand to each other is known to them only
AnyCodec: TypeAlias = Codec[Any, Any, Any, Any]


def codec_of(kind: str) -> AnyCodec:
    """Return the codec of a kind, also of one that is only published next to data."""
    return find_output_kind(kind).module("files").CODEC


def explain(files: Sequence[File], *, in_folder: bool = True) -> str:
    """Describe how the files of a release are read, for its statement; a pipe has no `release.json` beside them."""
    codecs = [codec_of(file.kind) for file in files]
    lines = (f"- `{file.file}`: {codec.explain(file)}" for file, codec in zip(files, codecs, strict=True))
    order = " ".join(dict.fromkeys(codec.explain_order(file) for file, codec in zip(files, codecs, strict=True)))
    values = "The values that may occur, whether or not they do, are listed in `release.json` if they are public."
    return "\n".join(lines) + f"\n\n{order}" + (f" {values}" if in_folder else "")
