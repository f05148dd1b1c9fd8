"""hedgerow publish: private data in, release out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

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
    typed_after,
)
from hedgerow.cli.printing import say

if TYPE_CHECKING:  # a command imports what it needs when it runs
    from hedgerow.jobs.recipe import Job

#: options that have the same name in a recipe
_SAME = (
    "kind",
    "method",
    "out",
    "schema",
    "domain",
    "records_per_person",
    "seed",
    "account",
    "sign",
    "owners",
    "key",
    "engine",
)


class _Publish(ReadingCommand):
    """A command whose help also shows the parameters of the method named by --method."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        method = typed_after("--method")
        if method is None:
            formatter.write_paragraph()
            formatter.write_text("With --method NAME, --help also lists the parameters of the method.")
            return
        from hedgerow.methods import find_method
        from hedgerow.settings import parameters_of

        parameters = parameters_of(find_method(method))
        with formatter.section(f"Parameters of {method} (--set name=value)"):
            formatter.write_dl(
                [(f"{each.name} = {each.default}", f"{each.help} ({each.range})") for each in parameters]
            )


@click.command("publish", cls=_Publish)
@click.argument("data", type=click.Path(), required=False)
@reading_options
@click.option("--method", metavar="NAME", help="The method; hedgerow methods lists them.")
@promise_options
@click.option(
    "--out", type=click.Path(), help="The folder to write the release to; it must not exist. For a stream, - is a pipe."
)
@click.option("--domain", type=click.Path(), help="Domain file (TOML): the values that exist, from public knowledge.")
@click.option(
    "--assert-public-domain",
    is_flag=True,
    help="Instead of --domain: declare that it is public which values occur in the data.",
)
@click.option("--records-per-person", type=int, help="For unit person: use at most this many records of one person.")
@click.option(
    "--carry", multiple=True, metavar="COLUMN", help="Publish this column as it is; it is not protected. Repeatable."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Make the run repeatable; the release is then not for publication."
)
@click.option("--engine", metavar="NAME", help="Where the data is counted: local (this machine).")
@click.option("--overwrite", is_flag=True, help="Replace the folder if it holds a release.")
@click.option("--even-if-useless", is_flag=True, help="Write the release even if it is empty or rests on noise.")
@click.option("--dry-run", is_flag=True, help="Check everything, but publish nothing and spend nothing.")
@click.option(
    "--recipe", type=click.Path(), help="Read all options from this recipe file (TOML); other options override it."
)
@click.option("--save-recipe", type=click.Path(), help="Write the options to this recipe file.")
@click.option("--sign", type=click.Path(), help="Sign the release with this private Ed25519 key (PEM).")
@click.option(
    "--owners",
    type=click.Path(),
    help="Write whose each published record is, if the promise counts persons; for verify, never published.",
)
@click.option(
    "--key",
    type=click.Path(),
    help="For a network that grows: draw by this key file, so that unchanged weights keep their published values; "
    "made if there is none, never published.",
)
@click.option(
    "--account", type=click.Path(), help="Charge epsilon to this account, which limits the total over all releases."
)
@json_option
def command(*, as_json: bool, **arguments: Any) -> None:
    """Turn private DATA into a release.

    The options of the promise, such as --epsilon and --unit, have no default: you decide what is promised, and to whom.
    """
    from hedgerow.jobs.pipes import PIPE, Pipe
    from hedgerow.jobs.publish import plan_job, run_job
    from hedgerow.jobs.recipe import save_job
    from hedgerow.progress import counting

    job = _job(arguments)
    recipe = Path(arguments["save_recipe"]) if arguments["save_recipe"] else None
    if arguments["dry_run"]:
        with show_progress():
            plan = plan_job(job, recipe)
        if recipe is not None:
            save_job(job, recipe)
        promise = plan.method.word(plan.guarantee).sentence()
        text = f"Nothing was published. The promise would be:\n{promise}"
        emit({"published": False, "promise": promise}, text, as_json=as_json)
        return
    new_key = job.key is not None and not Path(job.key).exists()
    pipe = Pipe(_standard_output(), _announce) if job.out == PIPE else None
    if pipe is not None and as_json:
        msg = "--json prints one document, and --out - prints rows; give one of them"
        raise click.UsageError(msg)
    with show_progress(), counting() as counts:
        release, folder = run_job(job, recipe, pipe)
    if pipe is not None:
        _announce(release.describe_use())
        return
    promise = release.promise.sentence()
    counted = ", ".join(f"{what}: {number:,}" for what, number in counts.items())
    use = release.describe_use()
    told = [
        f"Published in {folder}",
        promise,
        use,
        "" if release.publishable else "Not for publication: the run is repeatable.",
        f"For the owner only: {counted}." if counted else "",
        f"Made the key {job.key}: keep it, and a copy of it, where nobody else can read it." if new_key else "",
        f"Read {folder / 'STATEMENT.md'}.",
    ]
    facts = {"published": True, "for_publication": release.publishable, "out": str(folder), "promise": promise}
    text = "\n\n".join(part for part in told if part)
    emit({**facts, "use": use, "for_the_owner_only": counts}, text, as_json=as_json)


def _standard_output() -> BinaryIO:
    """Where rows go."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - it was closed
        msg = "standard output is closed; name a folder with --out"
        raise click.UsageError(msg)
    return sys.stdout.buffer


def _announce(text: str) -> None:
    """Tell people what the rows on standard output are."""
    if text:
        say(text.splitlines(), err=True)


def _job(arguments: dict[str, Any]) -> Job:
    """Collect the options of a job; a recipe gives the rest."""
    import msgspec

    from hedgerow.jobs.recipe import Job, load_job

    options: dict[str, Any] = {name: arguments[name] for name in _SAME if arguments[name] is not None}
    more = {
        "data": arguments["data"],
        "format": arguments["form"],
        "columns": parse_columns(arguments["columns"]),
        "read": parse_pairs("--read", arguments["read_options"]) | _carried(arguments["carry"]),
        "set": parse_pairs("--set", arguments["settings"]),
        "promise": select_promise(arguments),
        "assert_public_domain": arguments["assert_public_domain"],
        "overwrite": arguments["overwrite"],
        "even_if_useless": arguments["even_if_useless"],
    }
    options |= {name: value for name, value in more.items() if value}
    if arguments["recipe"]:
        return load_job(Path(arguments["recipe"]), **options)
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
