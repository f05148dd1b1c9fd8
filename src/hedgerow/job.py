"""The steps of a publication as the command line and others take them: recipe in, folder out."""

from __future__ import annotations

import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hedgerow import progress
from hedgerow.data import Dataset
from hedgerow.errors import InputError, ParameterError
from hedgerow.io.account import Account, charged
from hedgerow.io.domains import read_domain
from hedgerow.io.files import ending_of, read_bytes, write_file
from hedgerow.io.folder import Layout, check_free, write_folder
from hedgerow.io.read import format_of, read
from hedgerow.privacy import Guarantee
from hedgerow.publishers import Publisher, find_method
from hedgerow.publishers.base import require_support
from hedgerow.publishers.settings import configure, promise
from hedgerow.release import Release

__all__ = ["Job", "Plan", "Reading", "load_job", "plan_job", "read_data", "run_job", "save_job"]

_PATHS = ("data", "out", "domain", "account")


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
    promise: dict[str, str] = {}
    set: dict[str, str | int | float | bool] = {}
    seed: int | None = None
    account: str | None = None
    overwrite: bool = False


class Plan(NamedTuple):
    """What a job comes to, with everything checked that can be checked without spending."""

    data: Dataset
    method: Publisher[Any]
    guarantee: Guarantee
    layout: Layout


def read_data(reading: Reading) -> Any:
    """Read the private data of a job."""
    progress.tell("reading")
    declared = read_domain(Path(reading.domain)) if reading.domain else None
    if declared and reading.assert_public_domain:
        msg = "give either a domain or --assert-public-domain, not both"
        raise ParameterError(msg)
    return read(
        reading.data,
        kind=reading.kind,
        domain=declared,
        records_per_person=reading.records_per_person,
        assert_public_domain=reading.assert_public_domain,
        format=reading.format,
        columns=reading.columns,
        options=reading.read,
    )


def plan_job(job: Job) -> Plan:
    """Check a job: method, promise, place, account and data; nothing is asked of the data yet."""
    method_class = find_method(job.method)
    guarantee = promise(method_class, job.promise)
    method = configure(method_class, job.set)
    source = Path(job.data)
    name, _ = format_of(job.format, ending_of(source))
    check_free(Path(job.out), overwrite=job.overwrite)
    if job.account:
        Account.read(Path(job.account)).require_room(Path(job.account), guarantee)
    data = read_data(job)
    require_support(method, data, guarantee)
    return Plan(data, method, guarantee, Layout(name, ending_of(source), job.columns))


def run_job(job: Job) -> tuple[Release, Path]:
    """Publish, verify, charge and write."""
    plan = plan_job(job)
    progress.tell("publishing")
    release = plan.method.publish(plan.data, plan.guarantee, seed=job.seed)
    progress.tell("writing and verifying")
    made = {
        "method": job.method,
        "out": job.out,
        "made": datetime.now(UTC).date().isoformat(),
    }
    with charged(Path(job.account) if job.account else None, plan.guarantee, made):
        folder = write_folder(release, Path(job.out), plan.layout, overwrite=job.overwrite)
    return release, folder


def save_job(job: Job, path: Path) -> None:
    """Write a recipe file; its paths are relative to where it lies."""
    held: dict[str, Any] = msgspec.to_builtins(job)
    for name in _PATHS:
        if held.get(name) and not Path(held[name]).is_absolute():
            held[name] = os.path.relpath(held[name], path.parent)
    tables: dict[str, dict[str, Any]] = {
        name: held.pop(name) for name in list(held) if isinstance(held[name], dict)
    }
    parts = ["# run it again: hedgerow publish --recipe FILE", *_lines(held)]
    for name, table in tables.items():
        parts += ["", f"[{name}]", *_lines(table)]
    write_file(path, ("\n".join(parts) + "\n").encode())


def load_job(path: Path, **changes: Any) -> Job:
    """Read a recipe file; what is given besides replaces what it says."""
    try:
        held = tomllib.loads(read_bytes(path).decode())
        for name in _PATHS:
            if isinstance(held.get(name), str):
                held[name] = str(path.parent / held[name])
        return msgspec.convert({**held, **changes}, Job)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        msg = f"{path} is not a TOML file"
        raise InputError(msg) from None
    except msgspec.ValidationError as error:
        msg = f"{path} is not a recipe: {str(error).replace('`', chr(39))}"
        raise InputError(msg) from None


def _lines(table: dict[str, Any]) -> list[str]:
    """Write plain values: a text, number or truth value of JSON is one of TOML."""
    return [
        f"{_key(name)} = {msgspec.json.encode(value).decode()}" for name, value in table.items()
    ]


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else msgspec.json.encode(name).decode()
