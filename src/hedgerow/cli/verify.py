"""hedgerow verify: an independent check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    columns_given,
    json_option,
    pairs,
    promise_given,
    promise_options,
    reading_options,
    shown,
)

__all__ = ["command"]

_NOT_SATISFIED = 3


@click.command("verify")
@click.argument("place", type=click.Path())
@reading_options
@promise_options
@json_option
def command(place: str, *, as_json: bool, **given: Any) -> None:
    """Check PLACE, a release folder or a file, by itself: 0 satisfied, 3 not."""
    from hedgerow.audit.folder import verify_data, verify_folder  # noqa: PLC0415
    from hedgerow.errors import ReadError  # noqa: PLC0415
    from hedgerow.io.read import read  # noqa: PLC0415
    from hedgerow.job import with_sensitive  # noqa: PLC0415
    from hedgerow.privacy.restoring import restore_options  # noqa: PLC0415

    promise = promise_given(given)
    expected = restore_options(promise) if promise else None
    if not Path(place).exists():
        msg = f"there is nothing at {place}"
        raise ReadError(msg)
    with shown():
        if Path(place).is_dir():
            checks = verify_folder(Path(place), expected)
        else:
            if given["kind"] is None or expected is None:
                msg = "to verify a file, say its --kind and the promise"
                raise click.UsageError(msg)
            columns = columns_given(given["columns"])
            options = with_sensitive(pairs("--read", given["read_options"]), promise)
            form = given["form"]
            data = read(place, kind=given["kind"], format=form, columns=columns, options=options)
            for part in expected.parts():
                part.notice(data)
            verify_data(data, expected)
            checks = {f"{expected.name} holds": True}
    satisfied = all(checks.values())
    lines = [f"{'yes' if passed else 'NO':4} {check}" for check, passed in checks.items()]
    text = "\n".join([*lines, "", "satisfied" if satisfied else "NOT satisfied"])
    emit({"satisfied": satisfied, "checks": checks}, text, as_json=as_json)
    if not satisfied:
        sys.exit(_NOT_SATISFIED)
