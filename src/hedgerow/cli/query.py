"""hedgerow query: counts from releases by conditions, and inner products of releases of private-retrieval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, parse_pairs, show_progress, trusted_option

_FOR_WHO_ASKS = "For whoever asks only: the exact query was used here, and was not sent."
#: the parameters of inner products, with what they are if nothing is given
_PRODUCT = {"mode": None, "query": None, "exact": None, "column": None, "threshold": 1.0, "read_options": ()}
#: a line with \\b keeps the lines of the paragraph below it apart
_HELP = """Estimate counts, or inner products, from the release in FOLDER. It costs no privacy.

Nested records are counted by conditions. Those on one type are about one vertex, which lies below the vertices of
the types above it; a second vertex of a type is written TYPE#2.

\b
  hedgerow query release --where "course.grade in (A, B+)"
  hedgerow query release --where "student.born in [1990, 1995)" --where "course.id = CS301"
  hedgerow query release --where "course.id in (MATH, CS)" --count course
  hedgerow query release --where "visit.diagnosis = Flu" --where "visit#2.diagnosis = Flu"

Releases of private-retrieval are multiplied with queries (--mode). Mode local multiplies by the exact query on
this machine; the other modes multiply by a release of the query.

\b
  hedgerow query release --mode local --exact campus.csv
"""
Command = TypeVar("Command", bound=Callable[..., Any])


def product_options(*, required: bool) -> Callable[[Command], Command]:
    """The options of inner products."""
    options = [
        click.option(
            "--mode",
            required=required,
            metavar="MODE",
            help="local (the exact query, here), centred, naive, or sparse (Haar coefficients); see above.",
        ),
        click.option("--query", type=click.Path(), help="The release folder of the noisy query."),
        click.option(
            "--exact", type=click.Path(), help="The file of the exact query; it is read here and sent nowhere."
        ),
        click.option("--column", metavar="NAME", help="The column of the release that is asked, if it has several."),
        click.option(
            "--threshold",
            type=float,
            default=1.0,
            show_default=True,
            help="For sparse: coefficients of so many times their mean size are kept.",
        ),
        click.option(
            "--read",
            "read_options",
            multiple=True,
            metavar="NAME=VALUE",
            help="An option for reading the exact query, such as drop=date; repeatable.",
        ),
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@click.command("query", help=_HELP)
@click.argument("folder", type=click.Path())
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help='A condition, such as "course.grade in (A, B)"; repeatable, and all of them hold.',
)
@click.option("--count", metavar="WHAT", help="What is counted: record, or a type of vertex.  [default: record]")
@product_options(required=False)
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **arguments: Any) -> None:
    """Estimate counts, or inner products, from a release."""
    if arguments["mode"] is None:
        _require_none_of_product(arguments)
        _count(folder, arguments, as_json=as_json)
    elif arguments["where"] or arguments["count"] is not None:
        msg = "--mode multiplies vectors, and --where and --count are for nested records; give the one or the other"
        raise click.UsageError(msg)
    else:
        multiply(folder, arguments, as_json=as_json)


def _require_none_of_product(arguments: dict[str, Any]) -> None:
    for name, default in _PRODUCT.items():
        if arguments[name] != default:
            option = "--read" if name == "read_options" else f"--{name}"
            msg = f"{option} belongs to inner products, which need --mode; conditions are given by --where"
            raise click.UsageError(msg)


def _count(folder: str, arguments: dict[str, Any], *, as_json: bool) -> None:
    """Print a count with its interval."""
    import msgspec

    from hedgerow.jobs.query import run_query

    count = "record" if arguments["count"] is None else arguments["count"]
    with show_progress():
        answer = run_query(Path(folder), arguments["where"], count=count, trusted=arguments["trusted"])
    document = {"where": list(arguments["where"]), **msgspec.to_builtins(answer)}
    emit(document, [str(answer), "", *answer.notes], as_json=as_json)


def multiply(folder: str, arguments: dict[str, Any], *, as_json: bool) -> None:
    """Print inner products with their errors."""
    import msgspec

    from hedgerow.jobs.answer import find_answers, run_answer

    confidence = find_answers().CONFIDENCE
    places = {name: Path(arguments[name]) if arguments[name] else None for name in ("query", "exact")}
    with show_progress():
        answers = run_answer(
            Path(folder),
            mode=arguments["mode"],
            column=arguments["column"],
            threshold=arguments["threshold"],
            read_options=parse_pairs("--read", arguments["read_options"]),
            trusted=arguments["trusted"],
            **places,
        )
    head = ("query", "estimate", "standard error", f"half-width at {confidence:.0%}", "bytes sent")
    rows = [
        (name, f"{each.estimate:.10g}", f"{each.standard_error:.4g}", f"{each.half_width:.5g}", f"{each.sent:,}")
        for name, each in answers.items()
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    added = [
        f"{name}: whoever asks adds {each.to_add:.10g} times the sum of the exact query."
        for name, each in answers.items()
        if each.to_add
    ]
    document = {"mode": arguments["mode"], "confidence": confidence, "answers": msgspec.to_builtins(answers)}
    notes = [_FOR_WHO_ASKS] if places["exact"] else added
    emit(document, [*lines, *([""] if notes else []), *notes], as_json=as_json)
