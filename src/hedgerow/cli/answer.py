"""hedgerow answer: the inner products of `hedgerow query`, under their older name."""

from __future__ import annotations

from typing import Any

import click

from hedgerow.cli.options import json_option, trusted_option
from hedgerow.cli.query import multiply, product_options


@click.command("answer")
@click.argument("folder", type=click.Path())
@product_options(required=True)
@trusted_option
@json_option
def command(folder: str, *, as_json: bool, **arguments: Any) -> None:
    """Estimate inner products of a vector with queries: FOLDER is its release by private-retrieval.

    Each column of the query is one query. Mode local multiplies by the exact query on this machine: nobody learns it,
    and the error is that of the vector alone. The other modes multiply by a release of the query, where the vector is;
    in mode centred, whoever asks adds a part that takes the exact query. Answers cost no privacy: they are computed
    from releases, and from what you know.

    hedgerow query does the same with the same options.
    """
    multiply(folder, arguments, as_json=as_json)
