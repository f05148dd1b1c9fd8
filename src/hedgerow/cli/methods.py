"""hedgerow methods: list the methods."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option

__all__ = ["command"]


@click.command("methods")
@click.argument("name", required=False)
@click.option("--kind", help="List only the methods for this kind of data.")
@json_option
def command(name: str | None, kind: str | None, *, as_json: bool) -> None:
    """List the methods, or show the details of the method NAME."""
    from hedgerow.publishers import METHODS, find_method  # noqa: PLC0415

    if name is not None:
        facts = _facts(find_method(name))
        emit(facts, _details(facts), as_json=as_json)
        return
    methods = [_facts(find_method(method)) for method in METHODS]
    methods = [facts for facts in methods if kind is None or kind in facts["kinds"]]
    if not methods:
        msg = f"there is no method for the kind {kind!r}; hedgerow methods lists all"
        raise click.UsageError(msg)
    emit(methods, _table(methods), as_json=as_json)


def _table(methods: list[dict[str, Any]]) -> str:
    """One line per method, with a star if it is recommended, and then for which data it is."""
    rows = [
        (
            "*" if facts["recommended"] else " ",
            facts["name"],
            ", ".join(facts["kinds"]),
            ", ".join(facts["keeps"]),
            facts["summary"],
        )
        for facts in methods
    ]
    recommended = [(" ", facts["name"], facts["recommended"]) for facts in methods if facts["recommended"]]
    return "\n".join([*_align(rows), *(["", "* recommended for", *_align(recommended)] if recommended else [])])


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _facts(method: Any) -> dict[str, Any]:
    from hedgerow.publishers.settings import parameters_of  # noqa: PLC0415

    text = inspect.getdoc(method) or ""
    papers = re.split(r"\.\. \[\d+\] ", text.partition("References\n----------\n")[2])
    return {
        "name": method.name,
        "summary": text.splitlines()[0],
        "kinds": [kind.kind for kind in method.kinds],
        "keeps": [kept.name for kept in method.keeps],
        "units": list(method.units),
        "recommended": method.recommended,
        "papers": [" ".join(paper.split()) for paper in papers if paper.strip()],
        "parameters": [parameter._asdict() for parameter in parameters_of(method)],
    }


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
