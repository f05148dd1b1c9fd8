"""How data of a kind is read, written, and read again by a receiver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from hedgerow.data import Domain, Source, Value
from hedgerow.errors import ParameterError
from hedgerow.formats.files import Ending
from hedgerow.kind_registry import find_output_kind
from hedgerow.statement import File


class FormatModule(Protocol):
    """The functions of a format's module; what they return and take is agreed with the codec."""

    def read(self, where: str, content: bytes, request: Any, most: int) -> Any:
        """Read bytes according to the request of the codec; unpacked they may take at most `most` bytes."""
        ...

    def check(self, values: Sequence[Value]) -> None:
        """Refuse values that the format cannot write."""
        ...

    def write(self, laid_out: Any, columns: Mapping[str, str]) -> bytes | Iterator[bytes]:
        """Turn what `lay_out` of the codec returned into bytes, at once or part by part."""
        ...


class Format(NamedTuple):
    """A file format: its module, the file endings that mean it, and how a statement describes it.

    Files are written with the first ending. `has_columns` is set if the format has columns with names. `written_as` is
    the format that releases of such data have, if it is another one. `libraries` are those whose version decides which
    bytes the same data has.
    """

    module_name: str
    endings: tuple[str, ...]
    layout: str
    has_columns: bool = False
    written_as: str = ""
    libraries: tuple[str, ...] = ()

    def module(self) -> FormatModule:
        """Import its module."""
        return cast("FormatModule", import_module(self.module_name))


def _never(options: Mapping[str, str]) -> bool:
    del options
    return False


def _no_options(data: Any, form: str) -> dict[str, str]:
    del data, form
    return {}


def _is_empty(options: Mapping[str, str]) -> bool:
    return not options


@dataclass(frozen=True, eq=False, kw_only=True)
class Codec:
    """How files of a kind are read and written; `hedgerow.kinds.<kind>.files.CODEC`.

    Format and codec work together: `read(bytes, request)` of the format, then `make` of the codec, gives data;
    `lay_out(data)` of the codec, then `write` of the format, gives bytes. In between is a long table if the kind uses
    `hedgerow.formats.long_table_codec.FORMATS`, and whatever a kind likes if it has formats of its own.

    Parameters
    ----------
    columns
        A short description of the column of each role; `written` are the roles that are written.
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
        Describes for a receiver what the order of published data means.
    reread_options
        The reading options with which published data is read again from a format.
    accepts_reread
        Whether `reread_options` can return these options; a received folder may contain any.
    keeps_order
        Whether data that is read with these options is in the order of the original, which its owner chose to publish.
    open_file
        Takes the name of a file, its format, the request and the size it may unpack to, if files are not read at once:
        what it returns is passed to `make`.
    in_parts
        Whether `write` of its formats yields bytes part by part, while data comes.
    """

    kind: str
    columns: Mapping[str, str]
    written: tuple[str, ...]
    options: Mapping[str, str]
    formats: Mapping[str, Format]
    request: Callable[[Mapping[str, str], Mapping[str, str]], Any]
    from_memory: Callable[[Any, Any], Any]
    make: Callable[[Any, Domain | None, Source, Mapping[str, str]], Any]
    lay_out: Callable[[Any], Any]
    explain: Callable[[File], str]
    order: str = "Records have new numbers and are in an order that says nothing about the original."
    reread_options: Callable[[Any, str], dict[str, str]] = _no_options
    accepts_reread: Callable[[Mapping[str, str]], bool] = _is_empty
    keeps_order: Callable[[Mapping[str, str]], bool] = _never
    open_file: Callable[[str, str, Any, int | None], Any] | None = None
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

    def write(self, data: Any, form: str, columns: Mapping[str, str]) -> bytes:
        """Write data in a format."""
        return b"".join(self.write_parts(data, form, columns))

    def write_parts(self, data: Any, form: str, columns: Mapping[str, str]) -> Iterator[bytes]:
        """Write data in a format, all at once or part by part."""
        written = self.formats[form].module().write(self.lay_out(data), columns)
        if isinstance(written, bytes):
            yield written
        else:
            yield from written


def codec_of(kind: str) -> Codec:
    """Return the codec of a kind, also of one that is only published next to data."""
    return find_output_kind(kind).module("files").CODEC


def explain(files: Sequence[File], *, in_folder: bool = True) -> str:
    """Describe how the files of a release are read, for its statement; a pipe has no `release.json` beside them."""
    codecs = [codec_of(file.kind) for file in files]
    lines = (f"- `{file.file}`: {codec.explain(file)}" for file, codec in zip(files, codecs, strict=True))
    order = " ".join(dict.fromkeys(codec.order for codec in codecs))
    values = "The values that may occur, whether or not they do, are listed in `release.json` if they are public."
    return "\n".join(lines) + f"\n\n{order}" + (f" {values}" if in_folder else "")
