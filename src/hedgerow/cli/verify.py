"""hedgerow verify: check the promise of a release or file independently."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    ReadingCommand,
    json_option,
    parse_columns,
    parse_pairs,
    promise_options,
    reading_options,
    select_promise,
    show_progress,
    trusted_option,
)

_NOT_SATISFIED = 3
_MARKS = {True: "yes", False: "NO", None: "?"}


@click.command("verify", cls=ReadingCommand)
@click.argument("place", type=click.Path())
@reading_options
@promise_options
@click.option(
    "--promise",
    "promises",
    multiple=True,
    metavar="NAME",
    help="The name of the promise, if the options fit several. Repeatable.",
)
@click.option("--key", type=click.Path(), help="The public key (PEM) to check the signature with.")
@click.option("--no-signature", is_flag=True, help="Leave a signature out of the verdict, if you have no key.")
@click.option(
    "--owners",
    type=click.Path(),
    help="Whose each record is, as publish --owners wrote it, if the promise counts persons.",
)
@trusted_option
@json_option
def command(place: str, *, as_json: bool, **arguments: Any) -> None:
    """Check the promise of PLACE, a release folder or a file, independently of the method.

    The exit code is 0 if the promise is satisfied, and 3 if it is not or cannot be checked (as for a release of another
    version of Hedgerow).
    """
    from hedgerow.audit.verification import verify_data
    from hedgerow.errors import ReadError
    from hedgerow.jobs.reading import with_columns
    from hedgerow.privacy.parsing import from_options
    from hedgerow.progress import counting
    from hedgerow.reading import read
    from hedgerow.settings import read_files

    options = select_promise(arguments)
    expected = None
    if options or arguments["promises"]:
        expected = from_options(
            read_files(options), arguments["promises"], kind=arguments["kind"] or _find_kind(Path(place))
        )
    key = _read_key(arguments)
    if not Path(place).exists():
        msg = f"there is no file or folder {place}"
        raise ReadError(msg)
    with show_progress():
        if Path(place).is_dir():
            checks = _check_folder(Path(place), expected, key, arguments)
        else:
            _refuse(arguments, ("key", "no_signature"), "a file has no signature; verify the folder it is in")
            _refuse(arguments, ("owners",), "name the column of the owners in the file with --columns person=NAME")
            if arguments["kind"] is None or expected is None:
                msg = "to verify a file, give its --kind and the promise"
                raise click.UsageError(msg)
            columns = parse_columns(arguments["columns"])
            given = {"schema": arguments["schema"]} if arguments["schema"] else {}
            reading = with_columns(parse_pairs("--read", arguments["read_options"]) | given, expected.columns)
            kind: str = arguments["kind"]
            with counting() as unread:
                data = read(place, kind=kind, format=arguments["form"], columns=columns, options=reading)
            verify_data(data, expected)
            checks = {f"{expected.name} holds": True}
            # what is in the file is published, whether or not it was read
            checks |= {f"nothing else is in the file ({what}: {number:,})": False for what, number in unread.items()}
    satisfied = all(checks.values())
    result = "satisfied" if satisfied else "NOT satisfied"
    if not satisfied and False not in checks.values():
        result = "cannot be checked"
    lines = [f"{_MARKS[passed]:4} {check}" for check, passed in checks.items()]
    left_out = ["release.json.sig"] if arguments["no_signature"] and _is_signed(place) else []
    lines += [f"-    {name} is no part of this verdict: it was not checked (--no-signature)" for name in left_out]
    document = {"satisfied": satisfied, "result": result, "checks": checks, "left_out": left_out}
    emit(document, [*lines, "", result], as_json=as_json)
    if not satisfied:
        sys.exit(_NOT_SATISFIED)


def _check_folder(folder: Path, expected: Any, key: Any, arguments: dict[str, Any]) -> dict[str, bool | None]:
    from hedgerow.audit.verification import verify_folder

    _refuse(arguments, ("form", "columns", "read_options", "schema"), "release.json tells how the data is read")
    return verify_folder(
        folder,
        expected,
        kind=arguments["kind"],
        key=key,
        leave_out_signature=arguments["no_signature"],
        trusted=arguments["trusted"],
        owners=Path(arguments["owners"]) if arguments["owners"] else None,
    )


def _read_key(arguments: dict[str, Any]) -> Any:
    """Read the public key, if one was given."""
    from hedgerow.releases.signing import read_public_key

    if arguments["key"] and arguments["no_signature"]:
        msg = "--key checks a signature and --no-signature leaves it out; give one of them"
        raise click.UsageError(msg)
    return read_public_key(Path(arguments["key"])) if arguments["key"] else None


def _is_signed(place: str) -> bool:
    return os.path.lexists(Path(place) / "release.json.sig")


def _find_kind(place: Path) -> str | None:
    """The kind of data in a release folder, as it states itself; None if that cannot be read, which is said later."""
    from hedgerow.errors import HedgerowError
    from hedgerow.releases.reader import read_manifest

    try:
        return read_manifest(place).kind if place.is_dir() else None
    except HedgerowError:
        return None


def _refuse(arguments: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """Refuse options that would have no effect."""
    options = {
        "form": "--format",
        "columns": "--columns",
        "read_options": "--read",
        "schema": "--schema",
        "key": "--key",
        "no_signature": "--no-signature",
        "owners": "--owners",
    }
    for name in names:
        if arguments[name]:
            msg = f"{options[name]} cannot be given here: {why}"
            raise click.UsageError(msg)
