"""hedgerow schema: draft the schema file of nested records."""

from __future__ import annotations

from pathlib import Path

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import json_option, show_progress


@click.command("schema")
@click.argument("data", type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="The file to write the draft to; it must not exist.")
@click.option("--format", "form", metavar="NAME", help="The format of the file; by default its ending tells.")
@click.option(
    "--record",
    metavar="PATH",
    help="For XML: where records are, as names of elements joined by dots, such as people.person.",
)
@click.option(
    "--split",
    metavar="LIST=FIELD",
    multiple=True,
    help="A list with elements of several types, and the field that names their types: entry=resource.resourceType.",
)
@click.option("--flat", is_flag=True, help="Make lists that never have two elements fields, not types of their own.")
@json_option
def command(
    data: str, *, out: str, form: str | None, record: str | None, split: tuple[str, ...], flat: bool, as_json: bool
) -> None:
    """Draft the schema file of DATA: its types and fields, without roles. For the owner only.

    Replace each "?" by "drop", "sensitive", or the hierarchy of a quasi-identifier.
    """
    from hedgerow.formats.files import write_file
    from hedgerow.jobs.parts import find_part

    path = Path(out)
    lists = {name: field for name, _, field in (each.partition("=") for each in split)}
    if not all(lists) or not all(lists.values()):
        msg = "--split must be a list and a field of its elements, such as entry=resource.resourceType"
        raise click.UsageError(msg)
    if path.exists():
        msg = f"{path} exists already; a draft does not replace it"
        raise click.UsageError(msg)
    with show_progress():
        draft = find_part("schema_draft").draft_record_schema(data, form=form, record=record, split=lists, flat=flat)
    write_file(path, draft.text.encode(), private=True)
    text = (
        f'Written to {path}: types: {draft.types}, fields: {draft.fields}. Replace each "?" by the role of the field.'
    )
    emit(
        {"scope": "for the owner only", "out": out, "types": draft.types, "fields": draft.fields}, text, as_json=as_json
    )
