"""hedgerow methods: what exists."""

from __future__ import annotations

import inspect
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option

__all__ = ["command"]


@click.command("methods")
@click.argument("name", required=False)
@click.option("--kind", help="Only methods for this kind of data.")
@json_option
def command(name: str | None, kind: str | None, *, as_json: bool) -> None:
    """List the methods, or say all about one: NAME."""
    from hedgerow.publishers import METHODS, find_method  # noqa: PLC0415

    if name is not None:
        held = _facts(find_method(name))
        emit(held, _one(held), as_json=as_json)
        return
    found = [_facts(find_method(method)) for method in METHODS]
    found = [held for held in found if kind is None or kind in held["kinds"]]
    if not found:
        msg = f"there is no method for {kind!r} yet"
        raise click.UsageError(msg)
    lines = [
        f"{held['name']:18} {', '.join(held['kinds']):8} {', '.join(held['keeps']):8} {held['summary']}"
        for held in found
    ]
    emit(found, "\n".join(lines), as_json=as_json)


def _facts(method: Any) -> dict[str, Any]:
    from hedgerow.publishers.settings import parameters_of  # noqa: PLC0415

    text = inspect.getdoc(method) or ""
    paper = text.partition("References\n----------\n")[2]
    return {
        "name": method.name,
        "summary": text.splitlines()[0],
        "kinds": [kind.kind for kind in method.kinds],
        "keeps": [kept.name for kept in method.keeps],
        "units": list(method.units),
        "paper": " ".join(paper.removeprefix(".. [1] ").split()),
        "parameters": [held._asdict() for held in parameters_of(method)],
    }


def _one(held: dict[str, Any]) -> str:
    lines = [
        f"{held['name']}: {held['summary']}",
        "",
        f"  kind       {', '.join(held['kinds'])}",
        f"  guarantee  {', '.join(held['keeps'])}",
        f"  unit       {' or '.join(held['units'])}",
        f"  paper      {held['paper']}",
        "",
        "  parameters (--set name=value)" if held["parameters"] else "  no parameters",
    ]
    for held_parameter in held["parameters"]:
        lines.append(f"    {held_parameter['name']} = {held_parameter['default']}")
        lines.append(f"      {held_parameter['help']} ({held_parameter['range']})")
    return "\n".join(lines)
