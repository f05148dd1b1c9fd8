"""hedgerow verify: an independent check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    ReadingCommand,
    columns_given,
    json_option,
    pairs,
    promise_given,
    promise_options,
    reading_options,
    shown,
    trusted_option,
)

__all__ = ["command"]

_NOT_SATISFIED = 3
_MARKS = {True: "yes", False: "NO", None: "?"}


@click.command("verify", cls=ReadingCommand)
@click.argument("place", type=click.Path())
@reading_options
@promise_options
@click.option(
    "--promise", "promises", multiple=True, metavar="NAME", help="Which promise, where the options may mean several."
)
@click.option("--key", type=click.Path(), help="The public key of whoever signed it (PEM).")
@trusted_option
@json_option
def command(place: str, *, as_json: bool, **given: Any) -> None:
    """Check PLACE, a release folder or a file, by itself: 0 satisfied, 3 not.

    A release of another version of Hedgerow cannot be checked: 3 as well.
    """
    from hedgerow.audit.folder import verify_data, verify_folder  # noqa: PLC0415
    from hedgerow.errors import ReadError  # noqa: PLC0415
    from hedgerow.io.read import read  # noqa: PLC0415
    from hedgerow.io.signing import read_public_key  # noqa: PLC0415
    from hedgerow.jobs.reading import with_columns  # noqa: PLC0415
    from hedgerow.privacy.parsing import from_options  # noqa: PLC0415

    options = promise_given(given)
    expected = from_options(options, given["promises"]) if options or given["promises"] else None
    key = read_public_key(Path(given["key"])) if given["key"] else None
    if not Path(place).exists():
        msg = f"there is nothing at {place}"
        raise ReadError(msg)
    with shown():
        if Path(place).is_dir():
            _refuse(given, ("form", "columns", "read_options"), "a release says how it is read")
            checks = verify_folder(Path(place), expected, kind=given["kind"], key=key, trusted=given["trusted"])
        else:
            _refuse(given, ("key",), "a file has no signature; verify the folder it is in")
            if given["kind"] is None or expected is None:
                msg = "to verify a file, say its --kind and the promise"
                raise click.UsageError(msg)
            columns = columns_given(given["columns"])
            reading = with_columns(pairs("--read", given["read_options"]), expected.columns)
            kind: str = given["kind"]
            data = read(place, kind=kind, format=given["form"], columns=columns, options=reading)
            verify_data(data, expected)
            checks: dict[str, bool | None] = {f"{expected.name} holds": True}
    satisfied = all(checks.values())
    result = "satisfied" if satisfied else "NOT satisfied"
    if not satisfied and False not in checks.values():
        result = "cannot be checked"
    lines = [f"{_MARKS[passed]:4} {check}" for check, passed in checks.items()]
    if key is None and (Path(place) / "release.json.sig").exists():
        lines += ["", "There is a signature; it was not checked (give the public key: --key)."]
    document = {"satisfied": satisfied, "result": result, "checks": checks}
    emit(document, [*lines, "", result], as_json=as_json)
    if not satisfied:
        sys.exit(_NOT_SATISFIED)


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """Refuse options that would be ignored."""
    options = {"form": "--format", "columns": "--columns", "read_options": "--read", "key": "--key"}
    for name in names:
        if given[name]:
            msg = f"{options[name]} cannot be given here: {why}"
            raise click.UsageError(msg)
