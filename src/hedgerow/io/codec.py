"""How data of a kind is read, written, and read again by whoever receives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from hedgerow.data import Domain, Source, Value
from hedgerow.errors import ParameterError
from hedgerow.io.files import Ending
from hedgerow.kinds import find_output_kind
from hedgerow.statement import File

__all__ = ["Codec", "Format", "FormatModule", "codec_of", "explain"]


class FormatModule(Protocol):
    """What a module of a format has; what it reads into, and writes from, is between it and the codec."""

    def read(self, where: str, content: bytes, request: Any, most: int) -> Any:
        """Read bytes, as the request of the codec says; what they unfold to may take `most` bytes."""
        ...

    def check(self, values: Sequence[Value]) -> None:
        """Refuse values that cannot be written."""
        ...

    def write(self, laid_out: Any, columns: Mapping[str, str]) -> bytes:
        """Turn what a codec laid out into bytes."""
        ...


class Format(NamedTuple):
    """A format of files: where its module is, the endings that mean it, and how a statement describes it.

    The first ending is the one that is written. `named` says whether columns stand under their names.
    """

    place: str
    endings: tuple[str, ...]
    layout: str
    named: bool = False

    def module(self) -> FormatModule:
        """Import it."""
        return cast("FormatModule", import_module(self.place))


def _no_options(data: Any) -> dict[str, str]:
    del data
    return {}


def _are_none(options: Mapping[str, str]) -> bool:
    return not options


@dataclass(frozen=True, eq=False, kw_only=True)
class Codec:
    """All that is known of the files of a kind; `hedgerow.io.<kind>.CODEC`.

    A file goes through the format and the codec: `read(bytes, request)`, then `make`, gives data; `lay_out(data)`,
    then `write`, gives bytes. What is handed over between the two is a long table where a kind has
    `hedgerow.io.long_table.FORMATS`, and anything else where it brings formats of its own.

    Parameters
    ----------
    columns
        What the column of each role is, in a few words; `written` are the roles that are written.
    options
        What each reading option says, beyond those that all kinds have.
    formats
        The formats it can be read from and written to; where nothing is said, the first one is written.
    request
        Turns the names of columns and the reading options into what a format must know to read.
    take
        Takes what is in the caller's memory as a format would have read it, or returns None.
    make
        Makes data of what was read, with the domain or, without one, with what was seen on that source's word.
    lay_out
        Lays published data out for a format to write.
    explain
        Tells a receiver how a file is read, for the statement.
    order
        Tells a receiver what the order of published data means.
    reread
        The reading options by which published data is read again.
    is_reread
        Whether `reread` could have said these options: a folder may come from a stranger.
    """

    kind: str
    columns: Mapping[str, str]
    written: tuple[str, ...]
    options: Mapping[str, str]
    formats: Mapping[str, Format]
    request: Callable[[Mapping[str, str], Mapping[str, str]], Any]
    take: Callable[[Any, Any], Any]
    make: Callable[[Any, Domain | None, Source, Mapping[str, str]], Any]
    lay_out: Callable[[Any], Any]
    explain: Callable[[File], str]
    order: str = "Records are numbered afresh and stand in an order that says nothing about the original."
    reread: Callable[[Any], dict[str, str]] = _no_options
    is_reread: Callable[[Mapping[str, str]], bool] = _are_none

    def format_name(self, name: str | None, ending: Ending) -> str:
        """The format that was asked for, or that the ending means."""
        if name is None:
            for known, form in self.formats.items():
                if ending.form in form.endings:
                    return known
            ends = f".{ending}" if str(ending) else "nothing"
            formats = ", ".join(self.formats)
            msg = f"a file of {self.kind} that ends in {ends} may be anything; say its format: {formats}"
            raise ParameterError(msg)
        if name not in self.formats:
            msg = f"{self.kind} have no format {name!r}; there are: {', '.join(self.formats)}"
            raise ParameterError(msg)
        return name

    def write(self, data: Any, form: str, columns: Mapping[str, str]) -> bytes:
        """Write data in a format."""
        return self.formats[form].module().write(self.lay_out(data), columns)


def codec_of(kind: str) -> Codec:
    """Return how a kind is read and written, also one that is only published beside data."""
    return find_output_kind(kind).module("io").CODEC


def explain(files: Sequence[File]) -> str:
    """Say how the files of a release are read, for its statement."""
    codecs = [codec_of(file.kind) for file in files]
    lines = (f"- `{file.file}`: {codec.explain(file)}" for file, codec in zip(files, codecs, strict=True))
    order = " ".join(dict.fromkeys(codec.order for codec in codecs))
    values = "The values that may occur, whether they do or not, are listed in `release.json` where they are public."
    return "\n".join(lines) + f"\n\n{order} {values}"
