"""The steps of a publication as the command line and others take them: recipe in, folder out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from hedgerow import progress
from hedgerow.data import Dataset, Source
from hedgerow.errors import (
    GuaranteeError,
    InputError,
    ParameterError,
    UnsupportedGuarantee,
)
from hedgerow.evaluate import evaluate
from hedgerow.frontiers import find_engine
from hedgerow.io.account import Account
from hedgerow.io.charge import Charge
from hedgerow.io.domains import read_domain
from hedgerow.io.files import read_bytes, write_file
from hedgerow.io.folder import Layout, check_free, open_folder, write_folder
from hedgerow.io.placement import Placement
from hedgerow.io.read import format_of, read
from hedgerow.io.scores import check_owners_file, read_scores, write_scores
from hedgerow.io.signing import read_private_key
from hedgerow.io.toml import read_toml, toml_key, toml_value
from hedgerow.privacy import Guarantee, PureDP
from hedgerow.publishers import Publisher, find_method
from hedgerow.publishers.base import require_support
from hedgerow.publishers.settings import configure, promise
from hedgerow.release import Release, Written
from hedgerow.report import report
from hedgerow.score import Score

__all__ = [
    "Job",
    "Plan",
    "Reading",
    "load_job",
    "plan_job",
    "read_data",
    "run_evaluation",
    "run_job",
    "run_report",
    "save_job",
    "with_sensitive",
]

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_PATHS = ("data", "out", "domain", "account", "sign")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How private data is read."""

    data: str
    kind: str
    format: str | None = None
    columns: dict[str, str] = {}
    read: dict[str, str] = {}
    domain: str | None = None
    assert_public_domain: bool = False
    records_per_person: int | None = None


class Job(Reading, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One publication, repeatable: the content of a recipe file."""

    method: str
    out: str
    promise: dict[str, str | list[str]] = {}
    set: dict[str, str | int | float | bool] = {}
    seed: int | None = None
    account: str | None = None
    sign: str | None = None
    overwrite: bool = False
    engine: str = "local"


class Plan(NamedTuple):
    """What a job comes to, with everything checked that can be checked without spending."""

    data: Dataset
    method: Publisher[Any]
    guarantee: Guarantee
    layout: Layout
    key: Any = None


def read_data(reading: Reading, promise: Mapping[str, Any] = _NOTHING) -> Any:
    """Read private data, with the columns that a promise calls sensitive."""
    progress.tell("reading")
    declared = read_domain(Path(reading.domain)) if reading.domain else None
    if declared and reading.assert_public_domain:
        msg = "give either a domain or --assert-public-domain, not both"
        raise ParameterError(msg)
    return read(
        reading.data,
        kind=reading.kind,
        domain=declared,
        records_per_person=reading.records_per_person,
        assert_public_domain=reading.assert_public_domain,
        format=reading.format,
        columns=reading.columns,
        options=with_sensitive(reading.read, promise),
    )


def with_sensitive(options: dict[str, str], promise: Mapping[str, Any]) -> dict[str, str]:
    """Add the columns that the promise calls sensitive to the reading options."""
    named = [text.partition("=")[0] for text in promise.get("sensitive", ())]
    listed = [*options.get("sensitive", "").split(","), *named]
    wanted = ",".join(dict.fromkeys(name for name in listed if name))
    return {**options, "sensitive": wanted} if wanted else options


def plan_job(job: Job, recipe: Path | None = None) -> Plan:
    """Check a job: method, promise, places, account and data; nothing is asked of the data yet."""
    method_class = find_method(job.method)
    guarantee = promise(method_class, job.promise)
    method = configure(method_class, job.set)
    layout = Layout.like(Path(job.data), job.format, job.columns)
    check_free(Path(job.out), overwrite=job.overwrite)
    _check_owners_files(job, recipe)
    key = read_private_key(Path(job.sign)) if job.sign else None
    if job.account:
        Account.read(Path(job.account)).require_room(Path(job.account), guarantee)
    private = any(isinstance(part, PureDP) for part in guarantee.parts())
    if private and job.read.get("carry"):
        msg = "differential privacy publishes no column as it is; leave --carry out"
        raise UnsupportedGuarantee(msg)
    engine = find_engine(job.engine)
    data = read_data(job, job.promise).on(engine)
    require_support(method, data, guarantee)
    _, form = format_of(layout.format, layout.ending)
    for _, axis in (data.bare() if private else data).domain.axes:
        form.check(axis.values)
    return Plan(data, method, guarantee, layout, key)


def run_job(job: Job, recipe: Path | None = None) -> tuple[Release, Path]:
    """Charge, publish, verify and write; the recipe, if wanted, before anything is asked."""
    plan = plan_job(job, recipe)
    if recipe is not None:
        save_job(job, recipe)
    folder = Path(job.out)
    placement = Placement(folder)
    charge = _charge(job, plan, placement)
    progress.promise_outcome(lambda: _outcome(placement, charge))
    with charge or nullcontext():
        progress.tell("publishing")
        release = plan.method.publish(plan.data, plan.guarantee, seed=job.seed, before_asking=charge and charge.enter)
        progress.tell("writing and verifying")
        write_folder(
            release,
            folder,
            plan.layout,
            overwrite=job.overwrite,
            placement=placement,
            ready=charge and charge.ready,
            key=plan.key,
        )
    return release, folder


def _charge(job: Job, plan: Plan, placement: Placement) -> Charge | None:
    if not job.account:
        return None
    return Charge(Path(job.account), plan.guarantee, method=job.method, placement=placement)


def _outcome(placement: Placement, charge: Charge | None) -> progress.Outcome:
    published = f"published in {placement.folder}" if placement.is_out() else ""
    return progress.Outcome(published, charge.says() if charge else "")


def _check_owners_files(job: Job, recipe: Path | None) -> None:
    """Keep the owner's files out of the release, and the release from replacing them."""
    out = Path(job.out).resolve()
    inputs = [Path(held) for held in (job.data, job.domain, job.account, job.sign) if held]
    for path in (*inputs, *((recipe,) if recipe else ())):
        if path.resolve().is_relative_to(out):
            msg = f"{path} is inside {job.out}, which is what goes out; keep it somewhere else"
            raise GuaranteeError(msg)
    if recipe is not None:
        check_owners_file(recipe, inputs, lambda path: bool(load_job(path)))


def run_evaluation(
    folder: Path,
    reading: Reading,
    scores: Path,
    *,
    seed: int | None = None,
    trusted: bool = False,
) -> list[Score]:
    """Compare a release with the data it was made of, and write the scores."""
    check_owners_file(scores, [Path(reading.data)], read_scores)
    progress.tell("reading the release")
    release, held = open_folder(folder, trusted=trusted)
    if reading.kind not in {"", held.kind}:
        msg = f"{folder} is a release of {held.kind}; got {reading.kind!r}"
        raise ParameterError(msg)
    progress.tell("reading the data")
    original = read(
        reading.data,
        kind=held.kind,
        domain=None if release.domain.source is Source.INFERRED else release.domain,
        format=reading.format,
        columns=reading.columns,
        options=with_sensitive(reading.read, _promised(held)),
    )
    progress.tell("measuring")
    found = evaluate(release, original, seed=seed)
    write_scores(scores, found, kind=held.kind, method=held.method, guarantee=held.guarantee)
    return found


def _promised(held: Written) -> dict[str, Any]:
    """What a release calls sensitive, as the options of a promise do."""
    text = held.guarantee.get("sensitive", "[]")
    return {"sensitive": msgspec.json.decode(text, type=list[str])}


def run_report(folders: Sequence[Path], scores: Sequence[Path], html: Path, *, trusted: bool = False) -> None:
    """Draw one page of releases; with scores it is for the owner only."""
    inputs = [*scores, *(folder / "release.json" for folder in folders)]
    check_owners_file(html, inputs, _is_page)
    progress.tell("reading")
    held = [open_folder(folder, trusted=trusted) for folder in folders]
    measured = [read_scores(path) for path in scores]
    for (_, written), path, score in zip(held, scores, measured, strict=False):
        if (score.method, score.guarantee) != (written.method, written.guarantee):
            msg = f"{path} was measured on another release; give the scores in the same order"
            raise ParameterError(msg)
    progress.tell("drawing")
    names = [f"{n}. {folder.name}" for n, folder in enumerate(folders, start=1)]
    pages = [(name, release) for name, (release, _) in zip(names, held, strict=True)]
    page = report(pages, [score.scores for score in measured])
    write_file(html, page.encode(), private=bool(scores))


def _is_page(path: Path) -> bool:
    return b"Made by Hedgerow" in read_bytes(path)


def save_job(job: Job, path: Path) -> None:
    """Write a recipe file; its paths are relative to where it lies."""
    held: dict[str, Any] = msgspec.to_builtins(job)
    for name in _PATHS:
        if held.get(name) and not Path(held[name]).is_absolute():
            held[name] = os.path.relpath(held[name], path.parent)
    tables: dict[str, dict[str, Any]] = {name: held.pop(name) for name in list(held) if isinstance(held[name], dict)}
    parts = ["# run it again: hedgerow publish --recipe FILE", *_lines(held)]
    for name, table in tables.items():
        parts += ["", f"[{name}]", *_lines(table)]
    write_file(path, ("\n".join(parts) + "\n").encode(), private=True)


def load_job(path: Path, **changes: Any) -> Job:
    """Read a recipe file; what is given besides replaces what it says."""
    held = read_toml(path, InputError)
    for name in _PATHS:
        if isinstance(held.get(name), str):
            held[name] = str(path.parent / held[name])
    for name, value in changes.items():
        # a table is added to, entry by entry
        both = isinstance(value, dict) and isinstance(held.get(name), dict)
        held[name] = {**held[name], **value} if both else value
    try:
        return msgspec.convert(held, Job)
    except msgspec.ValidationError as error:
        msg = f"{path} is not a recipe: {str(error).replace('`', chr(39))}"
        raise InputError(msg) from None


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{toml_key(name)} = {toml_value(value)}" for name, value in table.items()]
