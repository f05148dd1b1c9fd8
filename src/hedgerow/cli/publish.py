"""hedgerow publish: private data in, release out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hedgerow.cli.app import emit
from hedgerow.cli.options import (
    ReadingCommand,
    columns_given,
    json_option,
    pairs,
    promise_given,
    promise_options,
    reading_options,
    shown,
    typed_after,
)

__all__ = ["command"]

#: options that stand in a recipe under the same name
_SAME = ("kind", "method", "out", "domain", "records_per_person", "seed", "account", "sign", "engine")


class _Publish(ReadingCommand):
    """Shows the parameters of the method that is named, too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        method = typed_after("--method")
        if method is None:
            formatter.write_paragraph()
            formatter.write_text("With --method NAME --help also shows what --set may set.")
            return
        from hedgerow.publishers import find_method  # noqa: PLC0415
        from hedgerow.publishers.settings import parameters_of  # noqa: PLC0415

        parameters = parameters_of(find_method(method))
        with formatter.section(f"Parameters of {method} (--set name=value)"):
            formatter.write_dl(
                [(f"{each.name} = {each.default}", f"{each.help} ({each.range})") for each in parameters]
            )


@click.command("publish", cls=_Publish)
@click.argument("data", type=click.Path(), required=False)
@reading_options
@click.option("--method", help="How: see hedgerow methods.")
@promise_options
@click.option("--out", type=click.Path(), help="The folder of the release; it must not exist.")
@click.option("--domain", type=click.Path(), help="Public knowledge: which values exist (TOML).")
@click.option("--assert-public-domain", is_flag=True, help="What the data shows is public.")
@click.option("--records-per-person", type=int, help="Of one person at most this many are used.")
@click.option("--carry", multiple=True, metavar="COLUMN", help="Publish this column too; not protected.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@click.option("--seed", type=click.IntRange(min=0), help="Repeatable, and therefore not for publication.")
@click.option("--engine", metavar="NAME", help="Where to count: local (this machine).")
@click.option("--overwrite", is_flag=True, help="Replace a release of ours.")
@click.option("--dry-run", is_flag=True, help="Check everything; publish nothing.")
@click.option("--recipe", type=click.Path(), help="Take all of this from a TOML file.")
@click.option("--save-recipe", type=click.Path(), help="Write that file.")
@click.option("--sign", type=click.Path(), help="Sign it with this Ed25519 key (PEM).")
@click.option("--account", type=click.Path(), help="Sums epsilon over releases, up to a total.")
@json_option
def command(*, as_json: bool, **given: Any) -> None:
    """Turn private DATA into a release.

    Epsilon and the unit have no default: whoever publishes says what is promised, and to whom.
    """
    from hedgerow.jobs.publish import plan_job, run_job  # noqa: PLC0415
    from hedgerow.jobs.recipe import save_job  # noqa: PLC0415

    job = _job(given)
    recipe = Path(given["save_recipe"]) if given["save_recipe"] else None
    if given["dry_run"]:
        with shown():
            plan = plan_job(job, recipe)
        if recipe is not None:
            save_job(job, recipe)
        text = f"Nothing was published. It would be:\n{plan.guarantee.sentence()}"
        emit({"published": False, "promise": plan.guarantee.sentence()}, text, as_json=as_json)
        return
    with shown():
        release, folder = run_job(job, recipe)
    promise = release.guarantee.sentence()
    warning = "" if release.publishable else "\n\nNot for publication: the run is repeatable."
    text = f"Published in {folder}\n\n{promise}{warning}\n\nRead {folder / 'STATEMENT.md'}."
    facts = {"published": True, "for_publication": release.publishable, "out": str(folder)}
    emit({**facts, "promise": promise}, text, as_json=as_json)


def _job(given: dict[str, Any]) -> Any:
    """Gather the options; a recipe gives the rest."""
    import msgspec  # noqa: PLC0415

    from hedgerow.jobs.recipe import Job, load_job  # noqa: PLC0415

    options: dict[str, Any] = {name: given[name] for name in _SAME if given[name] is not None}
    more = {
        "data": given["data"],
        "format": given["form"],
        "columns": columns_given(given["columns"]),
        "read": pairs("--read", given["read_options"]) | _carried(given["carry"]),
        "set": pairs("--set", given["settings"]),
        "promise": promise_given(given),
        "assert_public_domain": given["assert_public_domain"],
        "overwrite": given["overwrite"],
    }
    options |= {name: value for name, value in more.items() if value}
    if given["recipe"]:
        return load_job(Path(given["recipe"]), **options)
    for name, option in (
        ("data", "DATA"),
        ("kind", "--kind"),
        ("method", "--method"),
        ("out", "--out"),
    ):
        if name not in options:
            msg = f"{option} is missing; see hedgerow publish --help"
            raise click.UsageError(msg)
    return msgspec.convert(options, Job)


def _carried(columns: tuple[str, ...]) -> dict[str, str]:
    return {"carry": ",".join(columns)} if columns else {}
