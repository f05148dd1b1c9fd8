"""What a command is told about its data, and recipes: all that a publication is told, to be run again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.errors import InputError
from hedgerow.io.files import write_file
from hedgerow.io.toml import read_toml, toml_key, toml_value

__all__ = ["Job", "Reading", "load_job", "save_job"]

_PATHS = ("data", "out", "domain", "account", "sign")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How private data is read."""

    data: str
    kind: str
    format: str | None = None
    columns: dict[str, str] = {}
    read: dict[str, str] = {}
    domain: str | None = None
    assert_public_domain: bool = False
    records_per_person: int | None = None


class Job(Reading, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One publication, repeatable: the content of a recipe file."""

    method: str
    out: str
    promise: dict[str, str | list[str]] = {}
    set: dict[str, str | int | float | bool] = {}
    seed: int | None = None
    account: str | None = None
    sign: str | None = None
    overwrite: bool = False
    engine: str = "local"


def save_job(job: Job, path: Path) -> None:
    """Write a recipe file; its paths are relative to where it lies."""
    told: dict[str, Any] = msgspec.to_builtins(job)
    for name in _PATHS:
        if told.get(name) and not Path(told[name]).is_absolute():
            told[name] = os.path.relpath(told[name], path.parent)
    tables: dict[str, dict[str, Any]] = {name: told.pop(name) for name in list(told) if isinstance(told[name], dict)}
    parts = ["# run it again: hedgerow publish --recipe FILE", *_lines(told)]
    for name, table in tables.items():
        parts += ["", f"[{name}]", *_lines(table)]
    write_file(path, ("\n".join(parts) + "\n").encode(), private=True)


def load_job(path: Path, **changes: Any) -> Job:
    """Read a recipe file; what is given besides replaces what it says."""
    told = read_toml(path, InputError)
    for name in _PATHS:
        if isinstance(told.get(name), str):
            told[name] = str(path.parent / told[name])
    for name, value in changes.items():
        # a table is added to, entry by entry
        both = isinstance(value, dict) and isinstance(told.get(name), dict)
        told[name] = {**told[name], **value} if both else value
    try:
        return msgspec.convert(told, Job)
    except msgspec.ValidationError as error:
        msg = f"{path} is not a recipe: {str(error).replace('`', chr(39))}"
        raise InputError(msg) from None


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{toml_key(name)} = {toml_value(value)}" for name, value in table.items()]
