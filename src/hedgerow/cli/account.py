"""hedgerow account: the epsilon that may be spent on a data set, and what was spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option

if TYPE_CHECKING:  # a command imports what it needs when it runs
    from hedgerow.releases.account import Account

_COLUMNS = ("epsilon", "state", "made", "method", "out")


@click.command("account")
@click.argument("file", type=click.Path())
@click.option("--total", metavar="NUMBER", help="Create the account: the total epsilon of all releases.")
@click.option("--unit", metavar="UNIT", help="Create the account: who or what is protected, such as record or person.")
@json_option
def command(file: str, total: str | None, unit: str | None, *, as_json: bool) -> None:
    """List what was spent of the account FILE, or create it with --total and --unit.

    Entries of publications that were killed are settled: if the release folder is in its place, the entry is "out",
    otherwise "failed: charged". Both count, because the data was queried.
    """
    from hedgerow.releases.account import create_account, settle_account

    path = Path(file)
    if total is not None and unit is not None:
        create_account(path, total, unit)
    elif total is not None or unit is not None:
        msg = "--total and --unit create an account together; give both, or neither to list it"
        raise click.UsageError(msg)
    account = settle_account(path)
    emit(_document(path, account), _text(path, account), as_json=as_json)


def _document(path: Path, account: Account) -> dict[str, Any]:
    return {
        "account": str(path),
        "unit": account.unit,
        "total": str(account.total),
        "spent": str(account.spent),
        "left": str(account.total - account.spent),
        "releases": [{name: _cell(entry, name) for name in _COLUMNS} for entry in account.releases],
    }


def _text(path: Path, account: Account) -> str:
    from hedgerow.privacy.numbers import show

    spent, left = show(account.spent), show(account.total - account.spent)
    lines = [f"{path}: epsilon {spent} of {show(account.total)} spent per {account.unit}, {left} left"]
    rows = [[_cell(entry, name) for name in _COLUMNS] for entry in account.releases]
    if rows:
        table = [list(_COLUMNS), *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines.append("")
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
    return "\n".join(lines)


def _cell(entry: dict[str, Any], name: str) -> str:
    """Show a field of an entry; control characters are shown as escapes."""
    text = str(entry.get(name, "-"))
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
