"""hedgerow methods: list the methods."""

from __future__ import annotations

from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option


@click.command("methods")
@click.argument("name", required=False)
@click.option("--kind", help="List only the methods for this kind of data.")
@json_option
def command(name: str | None, kind: str | None, *, as_json: bool) -> None:
    """List the methods, or show the details of the method NAME."""
    from hedgerow.kind_registry import KINDS
    from hedgerow.methods import facts_of, find_method, list_methods

    if name is not None:
        facts = facts_of(find_method(name))
        emit(facts, _details(facts), as_json=as_json)
        return
    groups = {each: list_methods(each) for each in KINDS if kind in {None, each}}
    if not any(groups.values()):
        msg = f"there is no method for the kind {kind!r}; hedgerow methods lists all"
        raise click.UsageError(msg)
    distinct = {facts["name"]: facts for methods in groups.values() for facts in methods}
    emit([distinct[name] for name in sorted(distinct)], _lists(groups), as_json=as_json)


def _lists(groups: dict[str, list[dict[str, Any]]]) -> str:
    """One list per kind: for which data a method is recommended, or else what it does."""
    rows = [(kind, *_row(facts)) for kind, methods in groups.items() for facts in methods]
    lines = _align([row[1:] for row in rows])
    lists = [[kind, *(line for row, line in zip(rows, lines, strict=True) if row[0] == kind)] for kind in groups]
    end = "* recommended for these data; hedgerow methods NAME shows what a method promises, does and takes"
    return "\n".join([*("\n".join([*lines, ""]) for lines in lists), end])


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    star = "*" if facts["recommended"] else " "
    return f"  {star} {facts['name']}", ", ".join(facts["keeps"]), facts["recommended"] or facts["summary"]


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _details(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['name']}: {facts['summary']}",
        "",
        f"  kind       {', '.join(facts['kinds'])}",
        f"  guarantee  {', '.join(facts['keeps'])}",
        *([f"  unit       {' or '.join(facts['units'])}"] if facts["units"] else []),
        *(f"  paper      {paper}" for paper in facts["papers"]),
    ]
    if facts["recommended"]:
        lines.append(f"  best for   {facts['recommended']}")
    lines += ["", "  parameters (--set name=value)" if facts["parameters"] else "  no parameters"]
    for parameter in facts["parameters"]:
        lines.append(f"    {parameter['name']} = {parameter['default']}")
        lines.append(f"      {parameter['help']} ({parameter['range']})")
    return "\n".join(lines)
