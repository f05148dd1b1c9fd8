"""hedgerow answer: inner products of releases of private-retrieval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, parse_pairs, show_progress, trusted_option

_FOR_WHO_ASKS = "For whoever asks only: the exact query was used here, and was not sent."


@click.command("answer")
@click.argument("folder", type=click.Path())
@click.option(
    "--mode",
    required=True,
    metavar="MODE",
    help="local (the exact query, here), centred, naive, or sparse (Haar coefficients); see above.",
)
@click.option("--query", type=click.Path(), help="The release folder of the noisy query.")
@click.option("--exact", type=click.Path(), help="The file of the exact query; it is read here and sent nowhere.")
@click.option("--column", metavar="NAME", help="The column of the release that is asked, if it has several.")
@click.option(
    "--threshold",
    type=float,
    default=1.0,
    show_default=True,
    help="For sparse: coefficients of so many times their mean size are kept.",
)
@click.option(
    "--read",
    "read_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option for reading the exact query, such as drop=date; repeatable.",
)
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **arguments: Any) -> None:
    """Estimate inner products of a vector with queries: FOLDER is its release by private-retrieval.

    Each column of the query is one query. Mode local multiplies by the exact query on this machine: nobody learns it,
    and the error is that of the vector alone. The other modes multiply by a release of the query, where the vector is;
    in mode centred, whoever asks adds a part that takes the exact query. Answers cost no privacy: they are computed
    from releases, and from what you know.
    """
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
