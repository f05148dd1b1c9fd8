"""Jobs: how data is read and published; a recipe is the file of a job, to run it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.errors import InputError
from hedgerow.formats.codec import codec_of
from hedgerow.formats.files import write_file
from hedgerow.formats.toml import read_toml, toml_key, toml_value
from hedgerow.promises import list_options

_PATHS = ("data", "out", "domain", "schema", "account", "sign", "owners", "key")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How private data is read: the file, its kind, format, columns, schema and domain."""

    data: str
    kind: str
    format: str | None = None
    columns: dict[str, str] = {}
    read: dict[str, str] = {}
    schema: str | None = None
    domain: str | None = None
    assert_public_domain: bool = False
    records_per_person: int | None = None

    def named_files(self) -> dict[str, str]:
        """The files that reading options name, by option."""
        return _named_files(self.kind, self.read)


def _named_files(kind: str, options: Mapping[str, str]) -> dict[str, str]:
    names = codec_of(kind).named_files if options and kind else ()
    return {name: options[name] for name in names if name in options}


class Job(Reading, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One publication, repeatable: the content of a recipe file."""

    method: str
    out: str
    promise: dict[str, str | list[str]] = {}
    set: dict[str, str | int | float | bool] = {}
    seed: int | None = None
    account: str | None = None
    sign: str | None = None
    owners: str | None = None
    key: str | None = None
    overwrite: bool = False
    even_if_useless: bool = False
    engine: str = "local"


def save_job(job: Job, path: Path) -> None:
    """Write a recipe file; its paths are relative to its folder."""
    fields: dict[str, Any] = msgspec.to_builtins(job)
    for name in _PATHS:
        if fields.get(name):
            fields[name] = _relative(fields[name], path)
    for name, file in job.named_files().items():
        fields["read"][name] = _relative(file, path)
    fields["promise"] = {**job.promise, **{name: _relative(f, path) for name, f in promise_files(job.promise).items()}}
    tables: dict[str, dict[str, Any]] = {
        name: fields.pop(name) for name in list(fields) if isinstance(fields[name], dict)
    }
    parts = ["# run it again: hedgerow publish --recipe FILE", *_lines(fields)]
    for name, table in tables.items():
        parts += ["", f"[{name}]", *_lines(table)]
    write_file(path, ("\n".join(parts) + "\n").encode(), private=True)


def load_job(path: Path, **changes: Any) -> Job:
    """Read a recipe file; `changes` replace its fields."""
    fields = read_toml(path, InputError)
    for name in _PATHS:
        if isinstance(fields.get(name), str):
            fields[name] = str(path.parent / fields[name])
    if isinstance(fields.get("read"), dict):
        named = _named_files(str(changes.get("kind", fields.get("kind", ""))), fields["read"])
        fields["read"] |= {name: str(path.parent / str(file)) for name, file in named.items()}
    if isinstance(fields.get("promise"), dict):
        promised: dict[str, Any] = fields["promise"]
        promised |= {name: str(path.parent / file) for name, file in promise_files(promised).items()}
    for name, value in changes.items():
        # tables are merged, entry by entry
        tables = isinstance(value, dict) and isinstance(fields.get(name), dict)
        fields[name] = {**fields[name], **value} if tables else value
    try:
        return msgspec.convert(fields, Job)
    except msgspec.ValidationError as error:
        msg = f"{path} is not a recipe: {str(error).replace('`', chr(39))}"
        raise InputError(msg) from None


def promise_files(promise: Mapping[str, Any]) -> dict[str, str]:
    """The options of a promise that are files."""
    options = list_options()
    return {
        name: typed
        for name, typed in promise.items()
        if isinstance(typed, str) and name in options and options[name].reads
    }


def _relative(file: str, path: Path) -> str:
    """A file as the recipe at this path names it."""
    return file if Path(file).is_absolute() else os.path.relpath(file, path.parent)


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{toml_key(name)} = {toml_value(value)}" for name, value in table.items()]
